-- select_nodes: nodes, of a root or of all, of a kind or of all.
-- Parameters: ?1 root_no, 0 any, ?2 kind, -1 any, ?3 node_no, exclusive, ?4 at most so many
--   rows.
-- Columns: all of node, in the order of the table.
SELECT
    node_no, root_no, parent_no, kind, state, funding, membership, mode, on_insufficient,
    fiscal_year_start, names_visible, window_s, ttl_s, waived_outcomes, overdraft_mcs,
    default_member_no, version, created_ms, flags, name, contact, timezone, caps
FROM node
WHERE (?1 = 0 OR root_no = ?1)
    AND (?2 = -1 OR kind = ?2)
    AND node_no > ?3
ORDER BY node_no
LIMIT ?4;
