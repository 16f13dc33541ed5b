"""Every SQL file says what it is for, and holds what its name says.

usage: test_sql.py SOURCE_DIR
"""

import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
QUERIES = sorted((SOURCE / "schema/queries").rglob("*.sql"))
MIGRATIONS = sorted((SOURCE / "schema/migrations").glob("*.sql"))


def header(path):
    """The comment lines that a file begins with."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("--"):
            break
        lines.append(line[2:].strip())
    return lines


def said_parameters(text):
    """The numbers of ?1, ?2 and of ?1 to ?48 in a header."""
    numbers = {int(number) for number in re.findall(r"\?(\d+)", text)}
    for first, last in re.findall(r"\?(\d+) to \?(\d+)", text):
        numbers |= set(range(int(first), int(last)))
    return numbers


def without_comments(path):
    return re.sub(r"--[^\n]*", "", path.read_text(encoding="utf-8"))


class SqlFiles(unittest.TestCase):
    def test_there_are_some(self):
        self.assertTrue(QUERIES)
        self.assertTrue(MIGRATIONS)

    def test_every_file_begins_with_what_it_is_for(self):
        for path in QUERIES + MIGRATIONS:
            with self.subTest(file=path.name):
                text = " ".join(header(path))
                self.assertGreaterEqual(len(text.split()), 3, "a comment of three words or more comes first")

    def test_a_query_says_each_of_its_parameters(self):
        for path in QUERIES:
            with self.subTest(file=path.name):
                used = {int(number) for number in re.findall(r"\?(\d+)", without_comments(path))}
                self.assertLessEqual(used, said_parameters(" ".join(header(path))))

    def test_a_query_is_one_statement(self):
        for path in QUERIES:
            with self.subTest(file=path.name):
                statements = [s for s in without_comments(path).split(";") if s.strip()]
                self.assertEqual(len(statements), 1)

    def test_migrations_are_numbered_without_gaps(self):
        numbers = {}
        for path in MIGRATIONS:
            number, engine = re.fullmatch(r"(\d{4})_\w+\.(\w+)\.sql", path.name).groups()
            numbers.setdefault(engine, []).append(int(number))
        for engine, found in numbers.items():
            self.assertEqual(found, list(range(1, len(found) + 1)), engine)

    def test_tables_are_strict(self):
        for path in MIGRATIONS:
            if path.name.endswith(".sqlite.sql"):
                for table in re.findall(r"CREATE TABLE.*?;", without_comments(path), re.DOTALL):
                    self.assertRegex(table, r"\bSTRICT\b", table.split("(")[0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
