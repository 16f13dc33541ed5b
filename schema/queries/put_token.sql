-- put_token: a token, new or in place of the one with its key.
-- Parameters: ?1 to ?11, the columns in the order of the table.
-- Columns: none.
INSERT INTO token (
    hash, token_no, role, revoked, place_no, expires_s, used_s, created_ms, id, name, place
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
)
ON CONFLICT (hash) DO UPDATE SET
    token_no = excluded.token_no,
    role = excluded.role,
    revoked = excluded.revoked,
    place_no = excluded.place_no,
    expires_s = excluded.expires_s,
    used_s = excluded.used_s,
    created_ms = excluded.created_ms,
    id = excluded.id,
    name = excluded.name,
    place = excluded.place;
