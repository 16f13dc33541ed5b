-- update_node: an organization, project or member that is there, found by its key; no row is
--   changed when it is not.
-- Parameters: ?1 to ?23, the columns in the order of the table.
-- Columns: none.
UPDATE node
SET
    root_no = ?2,
    parent_no = ?3,
    kind = ?4,
    state = ?5,
    funding = ?6,
    membership = ?7,
    mode = ?8,
    on_insufficient = ?9,
    fiscal_year_start = ?10,
    names_visible = ?11,
    window_s = ?12,
    ttl_s = ?13,
    waived_outcomes = ?14,
    overdraft_mcs = ?15,
    default_member_no = ?16,
    version = ?17,
    created_ms = ?18,
    flags = ?19,
    name = ?20,
    contact = ?21,
    timezone = ?22,
    caps = ?23
WHERE node_no = ?1;
