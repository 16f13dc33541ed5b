"""The contract agrees with itself, with the error registry, with the bounds and with its own layout.

usage: test_contract.py SOURCE_DIR
"""

import json
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(SOURCE / "schema/gen"))

import config_md  # noqa: E402
import errors_md  # noqa: E402

DOCUMENT_PATH = SOURCE / "schema/api/openapi.json"
DOCUMENT = json.loads(DOCUMENT_PATH.read_text(encoding="utf-8"))
STATUS_OF = {row[2]: int(row[3]) for row in errors_md.read_rows(SOURCE / "ledger/base/errors.def")}
ROLES = {"admin", "scheduler", "lead", "finance", "viewer", "member"}
METHODS = ("get", "put", "post", "patch", "delete")
# Any operation that needs a token may answer these.
COMMON = {"malformed", "unauthenticated", "not_allowed", "rate_limited", "internal", "unavailable"}


def operations():
    """(method, path, operation) of the document, in its order."""
    for path, item in DOCUMENT["paths"].items():
        for method in METHODS:
            if method in item:
                yield method, path, item[method]


def resolve(node):
    """What a $ref points to, or the node itself."""
    while "$ref" in node:
        target = DOCUMENT
        for name in node["$ref"].removeprefix("#/").split("/"):
            target = target[name.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def refs(node):
    """Every $ref below a node."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for member in node.values():
            yield from refs(member)
    elif isinstance(node, list):
        for member in node:
            yield from refs(member)


def bound(name):
    """A number of ledger/base/limits.h."""
    text = (SOURCE / "ledger/base/limits.h").read_text(encoding="utf-8")
    match = re.search(rf"#define {name}\s+\\?\s*(.+?)\s*(?:/\*|\n)", text)
    expression = re.sub(r"INT64_C\((\d+)\)", r"\1", match.group(1))
    factors = re.findall(r"\d+", expression)
    product = 1
    for factor in factors:
        product *= int(factor)
    return product


class Operations(unittest.TestCase):
    def test_every_operation_has_a_name_of_its_own(self):
        names = [operation["operationId"] for _, _, operation in operations()]
        self.assertEqual(len(names), len(set(names)))
        for name in names:
            self.assertRegex(name, r"^[a-z]+(_[a-z]+)*$")

    def test_every_operation_states_its_roles_and_a_summary(self):
        for method, path, operation in operations():
            with self.subTest(method=method, path=path):
                roles = operation["x-role"]
                self.assertTrue(roles == ["public"] or (roles and set(roles) <= ROLES))
                self.assertEqual(roles == ["public"], operation.get("security") == [])
                self.assertTrue(operation["summary"])

    def test_the_statuses_of_an_operation_are_those_of_its_codes(self):
        for method, path, operation in operations():
            if operation["x-role"] == ["public"]:
                continue
            with self.subTest(method=method, path=path):
                codes = COMMON | set(operation.get("x-codes", []))
                if "requestBody" in operation:
                    codes.add("too_large")
                self.assertLessEqual(codes, set(STATUS_OF))
                wanted = {str(STATUS_OF[code]) for code in codes}
                self.assertEqual(wanted, {s for s in operation["responses"] if s[0] in "45"})

    def test_every_error_code_is_said_somewhere(self):
        said = COMMON | {"too_large", "overloaded", "method_not_allowed", "rolled_back", "ok"}
        for _, _, operation in operations():
            said |= set(operation.get("x-codes", []))
        self.assertEqual(set(STATUS_OF) - said, set())

    def test_every_path_parameter_is_declared(self):
        for method, path, operation in operations():
            with self.subTest(method=method, path=path):
                declared = [resolve(p)["name"] for p in operation.get("parameters", []) if resolve(p)["in"] == "path"]
                self.assertEqual(sorted(declared), sorted(re.findall(r"{(\w+)}", path)))

    def test_the_verbs_by_job_are_the_verbs_by_hold(self):
        verbs = {p.rsplit("/", 1)[1] for _, p, _ in operations() if p.startswith("/v1/holds/{id}/")}
        by_job = {p.rsplit("/", 1)[1] for _, p, _ in operations() if "/jobs/{job_id}/" in p}
        self.assertEqual(verbs, by_job)
        for verb in verbs:
            one = DOCUMENT["paths"][f"/v1/holds/{{id}}/{verb}"]["post"]
            other = DOCUMENT["paths"][f"/v1/clusters/{{c}}/jobs/{{job_id}}/{verb}"]["post"]
            self.assertEqual(one["requestBody"], other["requestBody"], verb)
            self.assertEqual(one["x-role"], other["x-role"], verb)


class Shapes(unittest.TestCase):
    def test_every_reference_leads_somewhere_and_every_component_is_used(self):
        used = set(refs(DOCUMENT))
        for ref in used:
            resolve({"$ref": ref})
        for kind, members in DOCUMENT["components"].items():
            if kind == "securitySchemes":
                continue
            for name in members:
                self.assertIn(f"#/components/{kind}/{name}", used)

    def test_requests_refuse_members_that_they_do_not_know(self):
        for method, path, operation in operations():
            if "requestBody" not in operation:
                continue
            for media, content in resolve(operation["requestBody"])["content"].items():
                if media == "application/json":
                    with self.subTest(method=method, path=path):
                        schema = resolve(content["schema"])
                        schema = resolve(schema["items"]) if schema["type"] == "array" else schema
                        self.assertIs(schema["additionalProperties"], False)

    def test_an_amount_that_is_shown_is_shown_both_ways(self):
        for name, schema in DOCUMENT["components"]["schemas"].items():
            members = schema.get("properties", {})
            if schema.get("additionalProperties") is False:
                continue
            for member in members:
                if member.endswith("_mcs"):
                    with self.subTest(schema=name, member=member):
                        self.assertIn(member[: -len("mcs")] + "core_hours", members)

    def test_the_bounds_are_those_of_the_code(self):
        schemas = DOCUMENT["components"]["schemas"]
        self.assertEqual(schemas["mcs_in"]["maximum"], bound("LIMIT_COMMAND_MCS"))
        self.assertEqual(schemas["resources"]["properties"]["gpus"]["maxItems"], bound("LIMIT_GPU_ENTRIES"))
        self.assertEqual(schemas["freeze"]["properties"]["tasks"]["maximum"], bound("LIMIT_TASKS"))
        self.assertEqual(schemas["heartbeats"]["properties"]["runs"]["maxItems"], bound("LIMIT_HEARTBEAT_RUNS"))
        self.assertEqual(schemas["violation"]["properties"]["holders"]["maxItems"], bound("LIMIT_HOLDERS"))
        self.assertEqual(schemas["name"]["maxLength"], bound("LIMIT_NAME_BYTES"))
        parameters = DOCUMENT["components"]["parameters"]
        self.assertEqual(parameters["page_size"]["schema"]["maximum"], bound("LIMIT_PAGE_SIZE"))
        bodies = {path: o.get("x-body-max-bytes") for method, path, o in operations() if method == "post"}
        self.assertEqual(bodies["/v1/batch"], bound("LIMIT_BATCH_BYTES"))
        self.assertEqual(bodies["/v1/events"], bound("LIMIT_BATCH_BYTES"))
        self.assertEqual(bodies["/v1/heartbeats"], bound("LIMIT_HEARTBEAT_BYTES"))


class Keys(unittest.TestCase):
    def test_every_configuration_key_is_read_by_the_daemon(self):
        source = "".join(path.read_text(encoding="utf-8") for path in (SOURCE / "server").glob("*.c"))
        for row in config_md.read_rows(SOURCE / "schema/config.def"):
            with self.subTest(key=row["name"]):
                self.assertTrue(re.search(rf"config(->|\.){row['name']}\b", source), "no code reads it")

    def test_every_default_is_in_its_range(self):
        for row in config_md.read_rows(SOURCE / "schema/config.def"):
            with self.subTest(key=row["name"]):
                if row["type"] in ("INTEGER", "SWITCH"):
                    self.assertTrue(int(row["min"]) <= int(row["default"]) <= int(row["max"]))
                if row["type"] == "TEXT":
                    self.assertTrue(int(row["min"]) <= len(row["default"].encode()) <= int(row["max"]))


class Layout(unittest.TestCase):
    def run_check(self, *arguments):
        done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_document_is_laid_out_for_people(self):
        self.run_check(SOURCE / "schema/gen/json_format.py", "--check", DOCUMENT_PATH)

    def test_the_page_of_keys_is_made_from_the_registry(self):
        self.run_check(
            SOURCE / "schema/gen/config_md.py", "--check", "md", SOURCE / "schema/config.def", SOURCE / "docs/config.md"
        )

    def test_the_page_of_errors_is_made_from_the_registry(self):
        self.run_check(
            SOURCE / "schema/gen/errors_md.py", "--check", SOURCE / "ledger/base/errors.def", SOURCE / "docs/errors.md"
        )


if __name__ == "__main__":
    unittest.main(verbosity=2)
