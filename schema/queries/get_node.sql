-- get_node: an organization, project or member, by its key.
-- Parameters: ?1 node_no.
-- Columns: all of node, in the order of the table; at most one row.
SELECT
    node_no, root_no, parent_no, kind, state, funding, membership, mode, on_insufficient,
    fiscal_year_start, names_visible, window_s, ttl_s, waived_outcomes, overdraft_mcs,
    default_member_no, version, created_ms, flags, name, contact, timezone, caps
FROM node
WHERE node_no = ?1;
