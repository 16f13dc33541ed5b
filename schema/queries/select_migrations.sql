-- select_migrations: migrations that have been applied.
-- Parameters: none.
-- Columns: number, name, checksum (SHA-256 in hex).
SELECT number, name, checksum
FROM schema_migration
ORDER BY number;
