-- remove_dims: dimensions and path, by its key; none there is no error.
-- Parameters: ?1 dims_no.
-- Columns: none.
DELETE FROM dims
WHERE dims_no = ?1;
