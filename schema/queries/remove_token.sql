-- remove_token: a token, by its key; none there is no error.
-- Parameters: ?1 hash.
-- Columns: none.
DELETE FROM token
WHERE hash = ?1;
