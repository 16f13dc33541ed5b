-- insert_token: a token that is new; its key must not be there.
-- Parameters: ?1 to ?13, the columns in the order of the table.
-- Columns: none.
INSERT INTO token (
    hash, token_no, role, revoked, place_no, expires_s, used_s, created_ms, id, name, place,
    old_hash, old_until_s
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13
);
