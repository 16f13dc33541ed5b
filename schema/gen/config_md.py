"""Make what people read of the configuration keys from schema/config.def.

usage: config_md.py FORM CONFIG_DEF OUT            write OUT
       config_md.py --check FORM CONFIG_DEF OUT    exit 1 when OUT is not what would be written

FORM is `md` (docs/config.md), `scd` (the keys in corehourd.conf.5) or `conf` (the example file that is installed).
"""

import pathlib
import re
import sys

ROW = re.compile(
    r'CONFIG_ROW\(\s*(\w+),\s*(INTEGER|TEXT|LEVEL|SWITCH),\s*("[^"]*"|\d+),\s*(\d+),\s*(\d+),\s*([01]),'
    r'\s*"([^"]*)"\s*\)'
)
NAMES = ("name", "type", "default", "min", "max", "reloadable", "meaning")

PAGE = """# Configuration keys

<!-- Generated from schema/config.def by schema/gen/config_md.py; do not edit. -->

The daemon needs no file. `corehourd serve --config FILE` reads one: `name = value` lines, blank lines, and comments that
begin with `#`. An unknown key, a key given twice and a value out of range are refused at start with file and line. Options
of the command line win over the file. SIGHUP reads the file again; keys marked "restart" then keep their old value until
the next start. What the ledger itself bounds (SPEC 1.6) is not configurable.

| key | default | values | on SIGHUP | meaning |
|---|---|---|---|---|
{rows}
"""

CONF = "# corehourd.conf: every key with its default. See corehourd.conf(5).\n\n{rows}\n"


def read_rows(path):
    """All rows in file order, as dictionaries; a row that does not parse is an error, never skipped."""
    text = re.sub(r"/\*.*?\*/", "", pathlib.Path(path).read_text(encoding="utf-8"), flags=re.DOTALL)
    rows = [dict(zip(NAMES, match.groups())) for match in ROW.finditer(text)]
    rest = ROW.sub("", text).strip()
    if rest or not rows:
        sys.exit(f"{path}: not a CONFIG_ROW: {rest[:60]!r}")
    if len({row["name"] for row in rows}) != len(rows):
        sys.exit(f"{path}: a key occurs twice")
    for row in rows:
        row["default"] = row["default"].strip('"')
    return rows


def values(row):
    """What a key takes, in words."""
    if row["type"] == "INTEGER":
        return f"{row['min']} to {row['max']}"
    if row["type"] == "TEXT":
        return f"{row['min']} to {row['max']} bytes"
    return {"LEVEL": "error, warning, info, debug", "SWITCH": "0 or 1"}[row["type"]]


def to_md(row):
    default = f"`{row['default']}`" if row["default"] else "empty"
    on_reload = "read" if row["reloadable"] == "1" else "restart"
    return f"| `{row['name']}` | {default} | {values(row)} | {on_reload} | {row['meaning']} |"


def to_scd(row):
    note = "Read again on SIGHUP." if row["reloadable"] == "1" else "A change needs a restart."
    default = f"Default: {row['default'] or 'empty'}."
    text = f"{row['meaning']}. Values: {values(row)}. {default} {note}".replace("_", "\\_")
    return f"*{row['name']}*\n\t{text[0].upper()}{text[1:]}\n".replace(row["name"], row["name"].replace("_", "\\_"), 1)


def to_conf(row):
    return f"# {row['meaning']} ({values(row)})\n#{row['name']} = {row['default']}".rstrip() + "\n"


FORMS = {"md": (PAGE, to_md), "scd": ("{rows}\n", to_scd), "conf": (CONF, to_conf)}


def main(arguments):
    check = arguments[:1] == ["--check"]
    if check:
        arguments = arguments[1:]
    if len(arguments) != 3 or arguments[0] not in FORMS:
        sys.exit(__doc__)
    form, source, out = arguments
    frame, one = FORMS[form]
    text = frame.format(rows="\n".join(one(row) for row in read_rows(source)))
    if not check:
        pathlib.Path(out).write_text(text, encoding="utf-8")
    elif pathlib.Path(out).read_text(encoding="utf-8") != text:
        sys.exit(f"{out} is out of date: run schema/gen/config_md.py {form} {source} {out}")


if __name__ == "__main__":
    main(sys.argv[1:])
