"""Turn schema/queries/*.sql and schema/migrations/*.sql into C tables.

usage: embed_sql.py SCHEMA_DIR OUT_C OUT_H DEPFILE

A query file NAME.sql holds one statement under comment lines that say purpose, parameters and columns; it becomes the enum
value QUERY_NAME. A file of the same name in queries/postgres/ replaces it on that engine. A migration is named
NNNN_NAME.ENGINE.sql and numbered from 1 without gaps, per engine.
"""

import pathlib
import re
import sys

import embed

QUERY_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}\Z")
MIGRATION_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.(sqlite|postgres)\.sql\Z")
# What may stand around the semicolons of a statement: comments and quoted texts.
NOT_CODE = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"[^\"]*\"", re.DOTALL)

HEADER = embed.NOTE.format(script="embed_sql.py") + """
/*
 * The SQL of the engines: one query a file in schema/queries, forward migrations in schema/migrations.
 */
#ifndef SCHEMA_SQL_H
#define SCHEMA_SQL_H

#include <stddef.h>
#include <stdint.h>

enum query {{
{enum}    QUERY__COUNT,
}};

struct query_text {{
    const char *name;          /* of the file, without .sql */
    const char *text;          /* NUL-terminated */
    size_t bytes;              /* without the NUL */
    const char *postgres_text; /* NULL: text serves every engine, after its placeholders are rewritten */
}};

/* By enum query, and a zero row at the end. */
extern const struct query_text query_texts[QUERY__COUNT + 1];

struct migration_text {{
    int32_t number;     /* from 1, ascending without gaps within an engine */
    const char *engine; /* "sqlite" or "postgres" */
    const char *name;   /* of the file */
    const char *text;   /* NUL-terminated, any number of statements */
    size_t bytes;       /* without the NUL */
}};

/* Sorted by engine and number. */
#define MIGRATION_COUNT {migrations}

/* MIGRATION_COUNT rows, and a zero row at the end. */
extern const struct migration_text migration_texts[MIGRATION_COUNT + 1];

#endif
"""


def fail(path, why):
    sys.exit(f"{path}: {why}")


def read_query(path):
    """The bytes of one query, after the checks that keep the catalogue uniform."""
    text = path.read_text(encoding="utf-8")
    if not QUERY_NAME.match(path.stem):
        fail(path, "a query is named with lower-case letters, digits and underscores")
    if not text.startswith("--"):
        fail(path, "a query begins with comment lines: purpose, parameters, columns")
    code = NOT_CODE.sub(" ", text).strip()
    if not code.endswith(";") or code.count(";") != 1:
        fail(path, "a query file holds exactly one statement that ends with a semicolon")
    return text.encode("utf-8")


def read_queries(folder):
    """Pairs of name and bytes, sorted by name."""
    return [(path.stem, read_query(path)) for path in sorted(folder.glob("*.sql"))]


def read_migrations(folder):
    """Tuples (engine, number, file name, bytes), sorted."""
    rows = []
    for path in sorted(folder.glob("*.sql")):
        match = MIGRATION_NAME.match(path.name)
        if not match:
            fail(path, "a migration is named NNNN_name.sqlite.sql or NNNN_name.postgres.sql")
        rows.append((match[3], int(match[1]), path.name, path.read_bytes()))
    rows.sort()
    for engine in sorted({row[0] for row in rows}):
        numbers = [row[1] for row in rows if row[0] == engine]
        if numbers != list(range(1, len(numbers) + 1)):
            fail(folder, f"the {engine} migrations are not numbered 0001, 0002, ... without gaps: {numbers}")
    return rows


def source_text(queries, postgres, migrations):
    parts = [embed.NOTE.format(script="embed_sql.py"), '#include "schema/sql.h"\n']
    parts += [embed.byte_array(f"query_{name}", content) for name, content in queries]
    parts += [embed.byte_array(f"postgres_{name}", content) for name, content in postgres.items()]
    parts += [embed.byte_array(f"migration_{i}", row[3]) for i, row in enumerate(migrations)]
    parts.append("const struct query_text query_texts[QUERY__COUNT + 1] = {")
    for name, _ in queries:
        other = f"(const char *)postgres_{name}" if name in postgres else "NULL"
        parts.append(
            f'    [QUERY_{name.upper()}] = {{"{name}", (const char *)query_{name}, sizeof query_{name} - 1, {other}}},'
        )
    parts.append("    [QUERY__COUNT] = {NULL, NULL, 0, NULL},\n};\n")
    parts.append("const struct migration_text migration_texts[MIGRATION_COUNT + 1] = {")
    for i, (engine, number, name, _) in enumerate(migrations):
        parts.append(
            f'    {{{number}, "{engine}", "{name}", (const char *)migration_{i}, sizeof migration_{i} - 1}},'
        )
    parts.append("    {0, NULL, NULL, NULL, 0},\n};\n")
    return "\n".join(parts)


def main(schema, out_c, out_h, dep):
    schema = pathlib.Path(schema)
    folders = [schema / "queries", schema / "queries" / "postgres", schema / "migrations"]
    queries = read_queries(folders[0])
    postgres = dict(read_queries(folders[1]))
    migrations = read_migrations(folders[2])
    strays = set(postgres) - {name for name, _ in queries}
    if strays:
        fail(folders[1], f"no query of this name: {', '.join(sorted(strays))}")
    enum = "".join(f"    QUERY_{name.upper()},\n" for name, _ in queries)
    embed.write(out_c, source_text(queries, postgres, migrations))
    embed.write(out_h, HEADER.format(enum=enum, migrations=len(migrations)))
    present = [schema] + [folder for folder in folders if folder.is_dir()]
    files = [path for folder in present for path in sorted(folder.glob("*.sql"))]
    embed.depfile(dep, out_c, present + files)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
