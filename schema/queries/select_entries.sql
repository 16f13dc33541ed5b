-- select_entries: journal of a root after a number.
-- Parameters: ?1 root_no, ?2 seq, exclusive, ?3 at most so many rows.
-- Columns: all of entry, in the order of the table.
SELECT
    root_no, seq, kind, from_part, to_part, from_grant_no, to_grant_no, amount_mcs, hold_no, task,
    attempt, month, period, at_ms
FROM entry
WHERE root_no = ?1
    AND seq > ?2
ORDER BY seq
LIMIT ?3;
