-- remove_period: a closed month of a root, by its key; none there is no error.
-- Parameters: ?1 root_no, ?2 month.
-- Columns: none.
DELETE FROM period
WHERE root_no = ?1
    AND month = ?2;
