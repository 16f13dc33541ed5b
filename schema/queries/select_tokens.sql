-- select_tokens: all tokens.
-- Parameters: ?1 at most so many rows.
-- Columns: all of token, in the order of the table.
SELECT
    hash, token_no, role, revoked, place_no, expires_s, used_s, created_ms, id, name, place,
    old_hash, old_until_s
FROM token
ORDER BY token_no, hash
LIMIT ?1;
