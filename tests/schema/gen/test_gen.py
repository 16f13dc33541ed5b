"""The generators: what they write compiles and holds the bytes; what breaks their rules is refused with the file's name.

usage: test_gen.py COMPILER...
"""

import pathlib
import subprocess
import sys
import tempfile

GEN = pathlib.Path(__file__).resolve().parents[3] / "schema" / "gen"

ODD = "-- All of: \\ \" ' ? \t ü ;\nSELECT ';' AS \"a;b\" /* ; */ FROM t\nWHERE x = 'it''s;';\n"
GOOD = {
    "queries/odd_one.sql": ODD,
    "queries/plain.sql": "-- Purpose.\nSELECT 1;\n",
    "queries/postgres/plain.sql": "-- Purpose.\nSELECT 2;\n",
    "migrations/0001_init.sqlite.sql": "CREATE TABLE t (x);\nCREATE TABLE u (y);\n",
    "migrations/0002_more.sqlite.sql": "CREATE TABLE v (z);\n",
    "migrations/0001_init.postgres.sql": "CREATE TABLE t (x int);\n",
}

# A file that joins the good ones, and words of the refusal.
BAD = [
    ("queries/Upper.sql", "-- P.\nSELECT 1;\n", "lower-case"),
    ("queries/no_comment.sql", "SELECT 1;\n", "comment"),
    ("queries/two.sql", "-- P.\nSELECT 1; SELECT 2;\n", "exactly one"),
    ("queries/none.sql", "-- SELECT 1;\n", "exactly one"),
    ("queries/open_end.sql", "-- P.\nSELECT 1\n", "exactly one"),
    ("queries/postgres/stray.sql", "-- P.\nSELECT 1;\n", "no query of this name"),
    ("migrations/1_init.sqlite.sql", "", "NNNN_name"),
    ("migrations/0001_init.oracle.sql", "", "NNNN_name"),
    ("migrations/0004_gap.sqlite.sql", "", "without gaps"),
    ("migrations/0001_again.sqlite.sql", "", "without gaps"),
]

ROW = 'ERROR_ROW(OK, 0, "ok", 200, NEVER, "done")\nERROR_ROW(A, 1000, "a", 400, NEVER, "first")\n'
BAD_ERRORS = [
    (ROW + 'ERROR_ROW(A, 1001, "b", 400, NEVER, "x")\n', "name occurs twice"),
    (ROW + 'ERROR_ROW(B, 1000, "b", 400, NEVER, "x")\n', "number occurs twice"),
    (ROW + 'ERROR_ROW(B, 1001, "a", 400, NEVER, "x")\n', "slug occurs twice"),
    (ROW + 'ERROR_ROW(B, "b", 400, NEVER, "x")\n', "form of the others"),
]

# Prints every text with its size, separated by NUL bytes.
PRINTER = """
#include <stdio.h>
#include "schema/sql.h"
int main(void)
{
    for (int i = 0; i < QUERY__COUNT; i++) {
        const struct query_text *q = &query_texts[i];
        printf("%s%c%s%c%zu%c%s%c", q->name, 0, q->text, 0, q->bytes, 0, q->postgres_text ? q->postgres_text : "-", 0);
    }
    for (int i = 0; i < MIGRATION_COUNT; i++) {
        const struct migration_text *m = &migration_texts[i];
        printf("%s%c%d%c%s%c%s%c", m->engine, 0, m->number, 0, m->name, 0, m->text, 0);
    }
    return QUERY_ODD_ONE == 0 && QUERY_PLAIN == 1 && query_texts[QUERY__COUNT].name == NULL ? 0 : 1;
}
"""


def make_tree(top, files):
    for name, content in files.items():
        path = pathlib.Path(top) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def embed(top, files):
    """Run embed_sql.py on a schema folder of these files; results go to top/schema."""
    make_tree(pathlib.Path(top) / "in", files)
    out = pathlib.Path(top) / "schema"
    out.mkdir()
    script = GEN / "embed_sql.py"
    return run(sys.executable, "-B", script, pathlib.Path(top) / "in", out / "sql.c", out / "sql.h", out / "sql.d")


def print_tables(top, compiler):
    """Compile what embed_sql.py wrote and return the texts that the program sees."""
    (pathlib.Path(top) / "print.c").write_text(PRINTER, encoding="utf-8")
    flags = ["-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{top}"]
    built = run(*compiler, *flags, f"{top}/print.c", f"{top}/schema/sql.c", "-o", f"{top}/print")
    if built.returncode != 0:
        return built.stderr
    done = run(f"{top}/print")
    return done.stdout.split("\0")[:-1] if done.returncode == 0 else f"status {done.returncode}"


def expected_tables():
    queries = [
        ["odd_one", ODD, str(len(ODD.encode())), "-"],
        ["plain", GOOD["queries/plain.sql"], "22", GOOD["queries/postgres/plain.sql"]],
    ]
    names = [("postgres", 1, "0001_init"), ("sqlite", 1, "0001_init"), ("sqlite", 2, "0002_more")]
    migrations = [
        [engine, str(number), f"{name}.{engine}.sql", GOOD[f"migrations/{name}.{engine}.sql"]]
        for engine, number, name in names
    ]
    return [text for row in queries + migrations for text in row]


def sql_cases(compiler):
    with tempfile.TemporaryDirectory() as top:
        done = embed(top, GOOD)
        yield "good SQL files are accepted", done.returncode == 0, done.stderr
        found = print_tables(top, compiler)
        yield "a C program sees every text as it is in its file", found == expected_tables(), found
        named = pathlib.Path(top, "schema", "sql.d").read_text(encoding="utf-8")
        yield "the depfile names folders and files", "in/queries " in named and "in/queries/plain.sql" in named, named
    with tempfile.TemporaryDirectory() as top:
        done = embed(top, {"config.def": ""})
        yield "a schema without SQL is accepted", done.returncode == 0, done.stderr
    for name, content, words in BAD:
        with tempfile.TemporaryDirectory() as top:
            done = embed(top, {**GOOD, name: content})
            yield f"{name} is refused: {words}", done.returncode == 1 and words in done.stderr, done.stderr


def errors_cases():
    script = GEN / "errors_md.py"
    with tempfile.TemporaryDirectory() as top:
        make_tree(top, {"errors.def": ROW})
        source, page = pathlib.Path(top, "errors.def"), pathlib.Path(top, "errors.md")
        run(sys.executable, "-B", script, source, page)
        yield "the page has a row for each error but ok", page.read_text(encoding="utf-8").count("\n| `") == 1, ""
        done = run(sys.executable, "-B", script, "--check", source, page)
        yield "a fresh page passes its check", done.returncode == 0, done.stderr
        make_tree(top, {"errors.def": ROW.replace("first", "second")})
        done = run(sys.executable, "-B", script, "--check", source, page)
        yield "an old page does not", done.returncode == 1 and "out of date" in done.stderr, done.stderr
    for rows, words in BAD_ERRORS:
        with tempfile.TemporaryDirectory() as top:
            make_tree(top, {"errors.def": rows})
            done = run(sys.executable, "-B", script, f"{top}/errors.def", f"{top}/errors.md")
            yield f"a registry is refused: {words}", done.returncode == 1 and words in done.stderr, done.stderr


def main(compiler):
    failed = 0
    rows = list(sql_cases(compiler)) + list(errors_cases())
    print(f"1..{len(rows)}")
    for sentence, holds, output in rows:
        print(("ok" if holds else "not ok") + f" - {sentence}")
        if not holds:
            failed += 1
            print("\n".join(f"# {line}" for line in str(output).splitlines()))
    sys.exit(1 if failed else 0)


if len(sys.argv) < 2:
    sys.exit(__doc__)
main(sys.argv[1:])
