"""What the layering checks share: the project's own files and C text without comments and literals."""

import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
PRODUCT = ("ledger", "schema", "server", "clients")

COMMENT_OR_LITERAL = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


def c_files(*folders, suffixes=(".c", ".h", ".def")):
    """The C files below the given folders, as paths relative to the top, sorted."""
    found = []
    for folder in folders or PRODUCT:
        found += [p.relative_to(TOP) for p in (TOP / folder).rglob("*") if p.suffix in suffixes and p.is_file()]
    return sorted(found)


def read(path):
    return (TOP / path).read_text(encoding="utf-8")


def code_only(text):
    """The text with comments and literals blanked out; line numbers stay."""
    return COMMENT_OR_LITERAL.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def finish(faults, checked):
    """Print the faults and end the test; a check that saw nothing is a fault too."""
    if not checked:
        faults = faults + ["nothing was checked"]
    for fault in faults:
        print(fault)
    print(f"{checked} checked, {len(faults)} faults")
    sys.exit(1 if faults else 0)
