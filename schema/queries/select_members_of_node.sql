-- select_members_of_node: children of a node.
-- Parameters: ?1 parent_no, ?2 node_no, exclusive, ?3 at most so many rows.
-- Columns: all of node, in the order of the table.
SELECT
    node_no, root_no, parent_no, kind, state, funding, membership, mode, on_insufficient,
    fiscal_year_start, names_visible, window_s, ttl_s, waived_outcomes, overdraft_mcs,
    default_member_no, version, created_ms, flags, name, contact, timezone, caps
FROM node
WHERE parent_no = ?1
    AND node_no > ?2
ORDER BY node_no
LIMIT ?3;
