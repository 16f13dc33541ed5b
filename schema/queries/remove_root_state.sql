-- remove_root_state: what a root counts on, by its key; none there is no error.
-- Parameters: ?1 root_no.
-- Columns: none.
DELETE FROM root_state
WHERE root_no = ?1;
