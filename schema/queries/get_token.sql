-- get_token: a token, by its key.
-- Parameters: ?1 hash.
-- Columns: all of token, in the order of the table; at most one row.
SELECT
    hash, token_no, role, revoked, place_no, expires_s, used_s, created_ms, id, name, place
FROM token
WHERE hash = ?1;
