-- select_tokens_of_id: the token of an id.
-- Parameters: ?1 id, ?2 at most so many rows.
-- Columns: all of token, in the order of the table.
SELECT
    hash, token_no, role, revoked, place_no, expires_s, used_s, created_ms, id, name, place,
    old_hash, old_until_s
FROM token
WHERE id = ?1
ORDER BY hash
LIMIT ?2;
