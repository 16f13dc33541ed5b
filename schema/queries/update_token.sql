-- update_token: a token that is there, found by its key; no row is changed when it is not.
-- Parameters: ?1 to ?13, the columns in the order of the table.
-- Columns: none.
UPDATE token
SET
    token_no = ?2,
    role = ?3,
    revoked = ?4,
    place_no = ?5,
    expires_s = ?6,
    used_s = ?7,
    created_ms = ?8,
    id = ?9,
    name = ?10,
    place = ?11,
    old_hash = ?12,
    old_until_s = ?13
WHERE hash = ?1;
