"""Whatever a request of the contract may hold can be given on the command line.

usage: check_fields.py TOP
"""

import json
import pathlib
import re
import sys

# Given otherwise: pages by run_list(), amounts as core-hours, lines and lists by files and arguments, caps by their limit, rates by a file.
OTHERWISE = {
    "dry_run", "page_token", "amounts", "format", "mcs", "overdraft_mcs", "runs", "atomic", "wait_s",
    "limit", "limit_s", "soft",
    "rows", "combine", "effective_from", "currency", "price_per_core_hour",
}


def properties(schema, schemas):
    """The members of a body, through references and alternatives."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    found = set(schema.get("properties", {}))
    for key in ("allOf", "oneOf", "anyOf"):
        for part in schema.get(key, []):
            found |= properties(part, schemas)
    return found


def wanted(operation, components):
    """What a request of this operation may hold in its body and its query."""
    found = set()
    body = operation.get("requestBody", {})
    if "$ref" in body:
        body = components["requestBodies"][body["$ref"].rpartition("/")[2]]
    for kind, content in body.get("content", {}).items():
        if kind == "application/json":
            found |= properties(content["schema"], components["schemas"])
    for parameter in operation.get("parameters", []):
        if "$ref" in parameter:
            parameter = components["parameters"][parameter["$ref"].rpartition("/")[2]]
        if parameter["in"] == "query":
            found.add(parameter["name"])
    return found


def main(top):
    document = json.loads((top / "schema/api/openapi.json").read_text(encoding="utf-8"))
    files = [top / "clients/cli/fields.c", *sorted((top / "clients/cli/commands").glob("*.c"))]
    source = "".join(path.read_text(encoding="utf-8") for path in files)
    fields = re.findall(r'CLI_\w+,\s*"([a-z_.]+)"', source) + re.findall(r'\.field = "([a-z_.]+)"', source)
    given = {field.partition(".")[0] for field in fields} | OTHERWISE
    faults = []
    operations = 0
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in ("get", "post", "put", "patch", "delete") and path != "/v1/events":
                operations += 1
                missing = wanted(operation, document["components"]) - given
                faults += [f"{method.upper()} {path}: no option for {name}" for name in sorted(missing)]
    for fault in faults:
        print(fault)
    print(f"{operations} operations, {len(faults)} faults")
    return 1 if faults or operations < 40 else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
