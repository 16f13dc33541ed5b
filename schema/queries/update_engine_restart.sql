-- update_engine_restart: the writer starts over after an I/O error.
-- Parameters: none.
-- Columns: none.
UPDATE engine_restart
SET count = count + 1
WHERE restart_no = 1;
