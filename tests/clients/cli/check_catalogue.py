"""Every text that the command line shows has a Chinese entry with the same conversions, and no entry is left over.

usage: check_catalogue.py TOP
"""

import pathlib
import re
import sys

LITERAL = r'"(?:[^"\\]|\\.)*"'
TEXT = rf"((?:{LITERAL}|PRId64|\s)+)"
CONVERSION = re.compile(r"%(?:%|[-0-9.*]*(?:\w*?)[sduzxc])")
CATALOGUES = ("catalogue.c", "catalogue_help.c")
# What the daemon names in an answer and no schema lists.
FROM_DAEMON = {"funds"}


def joined(tokens):
    """The text of adjacent literals; PRId64 as ld."""
    parts = re.findall(rf"{LITERAL}|PRId64", tokens)
    return "".join("ld" if part == "PRId64" else part[1:-1] for part in parts)


def shown_texts(top):
    """Literals given to tr(), and those of the tables that are given to it."""
    texts = {}
    for path in sorted((top / "clients/cli").glob("*.c")):
        if path.name in CATALOGUES:
            continue
        source = path.read_text(encoding="utf-8")
        found = re.findall(rf"\btr\(\s*{TEXT}\)", source)
        if path.name == "refusal.c":
            for table in re.findall(r"\} (?:advices|silences)\[\] = \{(.*?)\n\};", source, re.DOTALL):
                found += re.findall(rf",\s*{TEXT}\}}", table)
        if path.name == "kinds.c":
            found += re.findall(rf"_convert,\s*(?:NULL|{LITERAL}),\s*{TEXT}\}}", source)
        found += re.findall(rf"\{{{TEXT}, (?:true|false)\}}", source)
        if path.name in ("commands.c", "fields.c", "args.c"):
            found += re.findall(rf"\.(?:summary|help) =\s*{TEXT},", source)
            found += re.findall(rf"^#define [A-Z]+ +{TEXT}$", source, re.MULTILINE)
            value = rf"(?:NULL|{LITERAL})"
            found += re.findall(rf"\{{{LITERAL},\s*CLI_\w+,\s*{value},\s*{value},\s*{TEXT},\s*(?:\w+|{LITERAL})\}}", source)
        for tokens in found:
            text = joined(tokens)
            if text:
                texts[text] = path.name
    return texts


def entries(top):
    source = "".join((top / "clients/cli" / name).read_text(encoding="utf-8") for name in CATALOGUES)
    return [(joined(a), joined(b)) for a, b in re.findall(rf"\{{{TEXT},\s*{TEXT}\}}", source)]


def field_titles(top):
    """Titles as show_title makes them, from every field name and value of the API and of columns."""
    names = set()
    sources = [top / "schema/api/openapi.json", *sorted((top / "clients/cli").glob("*.c"))]
    for path in sources:
        if path.name not in CATALOGUES:
            names |= set(re.findall(r'"([A-Za-z_ -]+)"', path.read_text(encoding="utf-8")))
    titles = set(names)
    for name in names:
        title = re.sub(r"(_mcs|_mcores|_mgpus|_mib|_s|_core_hours|_at)$", "", name)
        titles.add(title.replace("_", " "))
    return titles


def main(top):
    texts = shown_texts(top)
    table = entries(top)
    known = dict(table)
    faults = [f"{name}: no Chinese for: {text}" for text, name in texts.items() if text not in known]
    allowed = set(texts) | field_titles(top) | FROM_DAEMON
    for english, chinese in table:
        if CONVERSION.findall(english) != CONVERSION.findall(chinese):
            faults.append(f"other conversions in: {english} / {chinese}")
        if english not in allowed:
            faults.append(f"nothing shows: {english}")
    if len(texts) < 50 or len(table) < 100:
        faults.append(f"only {len(texts)} texts and {len(table)} entries were found: this check is broken")
    for fault in faults:
        print(fault)
    print(f"{len(texts)} texts, {len(table)} entries, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
