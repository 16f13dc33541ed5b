"""Write docs/errors.md from ledger/base/errors.def.

usage: errors_md.py ERRORS_DEF OUT_MD            write the page
       errors_md.py --check ERRORS_DEF OUT_MD    exit 1 when the page is not what would be written
"""

import pathlib
import re
import sys

ROW = re.compile(
    r'^ERROR_ROW\(\s*([A-Z_]+)\s*,\s*(\d+)\s*,\s*"([a-z_]+)"\s*,\s*(\d+)\s*,\s*([A-Z_]+)\s*,\s*"([^"]*)"\s*\)',
    re.MULTILINE,
)
RETRY = {
    "NEVER": "no: change the request or wait for the world to change",
    "SAME_REQUEST": "yes, the same request",
    "AFTER_BACKOFF": "yes, after a pause (`Retry-After`)",
}

PAGE = """# Errors

<!-- Generated from ledger/base/errors.def by schema/gen/errors_md.py; do not edit. -->

Every answer that is not a success is an RFC 9457 document, `application/problem+json`. Its `code` is one of the slugs
below and never changes its meaning; `status` follows from it; `detail` says what happened with the numbers;
`field` names the field at fault where there is one. The number is permanent and appears in logs.

A refusal writes nothing and is decided anew when the request is sent again. "Retry" says whether sending the same
request again can help: every command carries its own identity, so a repeat never counts twice.

| code | status | number | meaning | retry |
|---|---|---|---|---|
{rows}
"""


def read_rows(path):
    """Tuples (name, number, slug, status, retry, meaning) in the order of the file, checked for double entries."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    rows = ROW.findall(text)
    if len(rows) != len(re.findall(r"^ERROR_ROW\(", text, re.MULTILINE)):
        sys.exit(f"{path}: a row does not have the form of the others")
    for column, what in ((0, "name"), (1, "number"), (2, "slug")):
        values = [row[column] for row in rows]
        if len(values) != len(set(values)):
            sys.exit(f"{path}: a {what} occurs twice")
    return rows


def page(rows):
    lines = [
        f"| `{slug}` | {status} | {number} | {meaning} | {RETRY[retry]} |"
        for name, number, slug, status, retry, meaning in rows
        if name != "OK"
    ]
    return PAGE.format(rows="\n".join(lines))


def main(arguments):
    check = arguments[:1] == ["--check"]
    if check:
        arguments = arguments[1:]
    if len(arguments) != 2:
        sys.exit(__doc__)
    source, out = arguments
    text = page(read_rows(source))
    if not check:
        pathlib.Path(out).write_text(text, encoding="utf-8")
    elif pathlib.Path(out).read_text(encoding="utf-8") != text:
        sys.exit(f"{out} is out of date: run schema/gen/errors_md.py {source} {out}")


if __name__ == "__main__":
    main(sys.argv[1:])
