"""Every rule that code, tests and documents cite (`SPEC 4.3`) is a numbered rule of docs/spec.md."""

import re

import tree

CITED = re.compile(r"\bSPEC\s+((?:\d+(?:\.\d+)?(?:\s*(?:,|to|and)\s+)?)+)")
RULE = re.compile(r"^(\d+\.\d+)\b|^#+\s*(\d+)\b", re.MULTILINE)

rules = {rule for pair in RULE.findall(tree.read("docs/spec.md").replace("**", "")) for rule in pair if rule}
sources = tree.c_files(*tree.PRODUCT, "tests")
sources += sorted(p.relative_to(tree.TOP) for p in (tree.TOP / "schema").rglob("*.sql"))

faults = []
cited = 0
for path in sources:
    text = tree.read(path)
    for match in CITED.finditer(text):
        for number in re.findall(r"\d+(?:\.\d+)?", match[1]):
            cited += 1
            if number not in rules:
                faults.append(f"{path}:{tree.line_of(text, match.start())}: SPEC {number} is not a rule of docs/spec.md")
if len(rules) < 50:
    faults.append(f"docs/spec.md: only {len(rules)} rules were found")
tree.finish(faults, cited)
