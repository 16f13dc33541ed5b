-- select_holds_by_id: an id in every cluster that knows it: one look-up a cluster.
-- Parameters: ?1 id, ?2 at most so many rows.
-- Columns: all of hold_id, in the order of the table.
SELECT
    hold_id.cluster_no, hold_id.id, hold_id.hold_no
FROM cluster
JOIN hold_id ON hold_id.cluster_no = cluster.cluster_no
WHERE hold_id.id = ?1
ORDER BY hold_id.cluster_no
LIMIT ?2;
