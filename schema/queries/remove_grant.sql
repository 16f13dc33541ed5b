-- remove_grant: a grant, by its key; none there is no error.
-- Parameters: ?1 grant_no.
-- Columns: none.
DELETE FROM "grant"
WHERE grant_no = ?1;
