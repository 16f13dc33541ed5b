"""The route table and the OpenAPI document say the same, both ways.

usage: test_routes.py SOURCE_DIR COREHOURD

`corehourd routes` prints the table. Compared are: method and path, the roles, the largest body, the parameters of the
query.
"""

import json
import pathlib
import re
import subprocess
import sys
import unittest

COREHOURD = sys.argv.pop(2)
SOURCE = pathlib.Path(sys.argv.pop(1))
DOCUMENT = json.loads((SOURCE / "schema/api/openapi.json").read_text(encoding="utf-8"))
METHODS = ("get", "put", "post", "patch", "delete")
BODY_BYTES = 64 * 1024  # SPEC 1.6, where the operation says nothing else


def plain(path):
    """A path without the names of its parameters."""
    return re.sub(r"{\w+}", "{}", path)


def query_of(operation):
    names = set()
    for parameter in operation.get("parameters", []):
        if "$ref" in parameter:
            parameter = DOCUMENT["components"]["parameters"][parameter["$ref"].rsplit("/", 1)[1]]
        if parameter["in"] == "query":
            names.add(parameter["name"])
    return names


def documented():
    """{(METHOD, path): (roles, body bytes, query)} of the document."""
    rows = {}
    for path, item in DOCUMENT["paths"].items():
        for method in METHODS:
            if method in item:
                operation = item[method]
                body = operation.get("x-body-max-bytes", BODY_BYTES) if "requestBody" in operation else 0
                rows[method.upper(), plain(path)] = (set(operation["x-role"]), body, query_of(operation))
    return rows


def coded():
    """The same of the route table; a row that stands there twice is an error."""
    rows = {}
    printed = subprocess.run([COREHOURD, "routes"], capture_output=True, text=True, check=True).stdout
    for line in printed.splitlines():
        method, path, roles, body, *query = line.split(" ")
        key = method, plain(path)
        if key in rows:
            sys.exit(f"{line}: twice in the table")
        rows[key] = (set(roles.split(",")), int(body), set(query))
    return rows


class Routes(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.documented, cls.coded = documented(), coded()

    def test_every_route_is_documented(self):
        self.assertEqual(sorted(set(self.coded) - set(self.documented)), [])

    def test_every_documented_route_exists(self):
        self.assertEqual(sorted(set(self.documented) - set(self.coded)), [])

    def compare(self, column):
        for key in sorted(set(self.documented) & set(self.coded)):
            with self.subTest(route=key):
                self.assertEqual(self.coded[key][column], self.documented[key][column])

    def test_the_roles_agree(self):
        self.compare(0)

    def test_the_largest_bodies_agree(self):
        self.compare(1)

    def test_the_parameters_of_the_query_agree(self):
        self.compare(2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
