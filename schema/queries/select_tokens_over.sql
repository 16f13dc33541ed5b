-- select_tokens_over: tokens that have ended, up to a time.
-- Parameters: ?1 expires_s, the last one, ?2 at most so many rows.
-- Columns: all of token, in the order of the table.
SELECT
    hash, token_no, role, revoked, place_no, expires_s, used_s, created_ms, id, name, place,
    old_hash, old_until_s
FROM token
WHERE expires_s > 0
    AND expires_s <= ?1
ORDER BY expires_s, hash
LIMIT ?2;
