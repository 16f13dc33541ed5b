-- get_token: a token, by its key.
-- Parameters: ?1 hash.
-- Columns: all of token, in the order of the table; at most one row.
SELECT
    hash, token_no, role, revoked, place_no, expires_s, used_s, created_ms, id, name, place,
    old_hash, old_until_s
FROM token
WHERE hash = ?1;
