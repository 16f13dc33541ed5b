-- put_node: an organization, project or member, new or in place of the one with its key.
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
)
ON CONFLICT (node_no) DO UPDATE SET
    root_no = excluded.root_no,
    parent_no = excluded.parent_no,
    kind = excluded.kind,
    state = excluded.state,
    funding = excluded.funding,
    membership = excluded.membership,
    mode = excluded.mode,
    on_insufficient = excluded.on_insufficient,
    fiscal_year_start = excluded.fiscal_year_start,
    names_visible = excluded.names_visible,
    window_s = excluded.window_s,
    ttl_s = excluded.ttl_s,
    waived_outcomes = excluded.waived_outcomes,
    overdraft_mcs = excluded.overdraft_mcs,
    default_member_no = excluded.default_member_no,
    version = excluded.version,
    created_ms = excluded.created_ms,
    flags = excluded.flags,
    name = excluded.name,
    contact = excluded.contact,
    timezone = excluded.timezone,
    caps = excluded.caps;
