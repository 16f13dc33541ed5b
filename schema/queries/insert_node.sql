-- insert_node: an organization, project or member that is new; its key must not be there.
-- Parameters: ?1 to ?23, the columns in the order of the table.
-- Columns: none.
INSERT INTO node (
    node_no, root_no, parent_no, kind, state, funding, membership, mode, on_insufficient,
    fiscal_year_start, names_visible, window_s, ttl_s, waived_outcomes, overdraft_mcs,
    default_member_no, version, created_ms, flags, name, contact, timezone, caps
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
    ?22, ?23
);
