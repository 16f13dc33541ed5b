"""Compare a JSON value with a schema of the OpenAPI document.

Only what the document uses of JSON Schema is known; a keyword that is not known is an error, so that none is passed over.
Members that the schema does not name are faults too: an answer has nothing that is not documented.
"""

import re

SILENT = {"description", "example", "examples", "format", "title", "summary"}
TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
}


class Shapes:
    def __init__(self, document):
        self.document = document

    def resolve(self, node):
        while "$ref" in node:
            target = self.document
            for name in node["$ref"].removeprefix("#/").split("/"):
                target = target[name]
            node = target
        return node

    def faults(self, schema, value, where="answer"):
        """Texts that say where the value is not as the schema wants."""
        schema = self.resolve(schema)
        found = []
        for keyword, argument in schema.items():
            check = getattr(self, "check_" + keyword, None)
            if check:
                found += check(schema, argument, value, where)
            elif keyword not in SILENT and keyword not in ("properties", "additionalProperties", "pattern"):
                raise ValueError(f"{where}: keyword {keyword} is not known here")
        if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
            found.append(f"{where}: {value!r} does not match {schema['pattern']}")
        if isinstance(value, dict):
            found += self.members(schema, value, where)
        return found

    def known(self, schema):
        """Every member that a schema and its parts name; None when any may be there."""
        schema = self.resolve(schema)
        if schema.get("additionalProperties") is True or schema == {"type": "object"}:
            return None
        names = dict(schema.get("properties", {}))
        for part in schema.get("allOf", []):
            more = self.known(part)
            if more is None:
                return None
            names.update(more)
        return names

    def members(self, schema, value, where):
        found = []
        properties = schema.get("properties", {})
        for name, member in value.items():
            if name in properties:
                found += self.faults(properties[name], member, f"{where}.{name}")
            elif isinstance(schema.get("additionalProperties"), dict):
                found += self.faults(schema["additionalProperties"], member, f"{where}.{name}")
        return found

    def undocumented(self, schema, value, where="answer"):
        """Members of an object that its schema does not name, at the top."""
        schema = self.resolve(schema)
        known = self.known(schema)
        if known is None or not isinstance(value, dict) or "anyOf" in schema:
            return []
        if isinstance(schema.get("additionalProperties"), dict):
            return []
        return [f"{where}.{name} is not documented" for name in value if name not in known]

    def everywhere(self, schema, value, where="answer"):
        """faults() and undocumented(), all the way down."""
        schema = self.resolve(schema)
        found = self.undocumented(schema, value, where)
        if isinstance(value, dict):
            for name, member in (self.known(schema) or {}).items():
                if name in value:
                    found += self.everywhere(member, value[name], f"{where}.{name}")
        if isinstance(value, list) and "items" in schema:
            for i, item in enumerate(value):
                found += self.everywhere(schema["items"], item, f"{where}[{i}]")
        return found

    def check_type(self, schema, argument, value, where):
        types = argument if isinstance(argument, list) else [argument]
        return [] if any(TYPES[t](value) for t in types) else [f"{where}: {value!r} is not {argument}"]

    def check_enum(self, schema, argument, value, where):
        return [] if value in argument else [f"{where}: {value!r} is not one of {argument}"]

    def check_const(self, schema, argument, value, where):
        return [] if value == argument else [f"{where}: {value!r} is not {argument!r}"]

    def check_required(self, schema, argument, value, where):
        if not isinstance(value, dict):
            return []
        return [f"{where}.{name} is missing" for name in argument if name not in value]

    def check_items(self, schema, argument, value, where):
        if not isinstance(value, list):
            return []
        return [fault for i, item in enumerate(value) for fault in self.faults(argument, item, f"{where}[{i}]")]

    def check_minimum(self, schema, argument, value, where):
        return [f"{where}: {value} is below {argument}"] if isinstance(value, int) and value < argument else []

    def check_maximum(self, schema, argument, value, where):
        return [f"{where}: {value} is above {argument}"] if isinstance(value, int) and value > argument else []

    def check_maxItems(self, schema, argument, value, where):
        return [f"{where} has more than {argument} items"] if isinstance(value, list) and len(value) > argument else []

    def check_minItems(self, schema, argument, value, where):
        return [f"{where} has fewer than {argument} items"] if isinstance(value, list) and len(value) < argument else []

    def check_minLength(self, schema, argument, value, where):
        return [f"{where} is too short"] if isinstance(value, str) and len(value) < argument else []

    def check_maxLength(self, schema, argument, value, where):
        return [f"{where} is too long"] if isinstance(value, str) and len(value) > argument else []

    def check_allOf(self, schema, argument, value, where):
        return [fault for part in argument for fault in self.faults(part, value, where)]

    def check_anyOf(self, schema, argument, value, where):
        return [] if any(not self.faults(part, value, where) for part in argument) else [f"{where}: none of the shapes"]

    def check_oneOf(self, schema, argument, value, where):
        fitting = sum(not self.faults(part, value, where) for part in argument)
        return [] if fitting == 1 else [f"{where}: {fitting} of the shapes fit, not one"]
