-- select_entries_of_hold: journal entries of a hold, by walking through a part of the journal.
-- Parameters: ?1 root_no, ?2 hold_no, ?3 seq, exclusive, ?4 seq, the last one, 0 no end, ?5 at
--   most so many rows.
-- Columns: all of entry, in the order of the table.
SELECT
    root_no, seq, kind, from_part, to_part, from_grant_no, to_grant_no, amount_mcs, hold_no, task,
    attempt, month, period, at_ms
FROM entry
WHERE root_no = ?1
    AND hold_no = ?2
    AND seq > ?3
    AND seq <= CASE ?4 WHEN 0 THEN 9223372036854775807 ELSE ?4 END
ORDER BY seq
LIMIT ?5;
