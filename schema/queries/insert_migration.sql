-- insert_migration: a migration that has just been applied.
-- Parameters: ?1 number, ?2 name, ?3 checksum (SHA-256 in hex).
-- Columns: none.
INSERT INTO schema_migration (number, name, checksum)
VALUES (?1, ?2, ?3);
