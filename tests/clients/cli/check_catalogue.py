"""Every text that the command line shows has a Chinese entry with the same conversions, and no entry is left over.

usage: check_catalogue.py TOP
"""

import pathlib
import re
import sys

LITERAL = r'"(?:[^"\\]|\\.)*"'
TEXT = rf"((?:{LITERAL}|PRId64|\s)+)"
CONVERSION = re.compile(r"%(?:%|[-0-9.*]*(?:\w*?)[sduzxc])")
CATALOGUE = re.compile(r"^(?:static )?const struct catalogue_entry \w+_chinese\[\] = \{$(.*?)^\};$", re.DOTALL | re.MULTILINE)
# What the daemon names in an answer and no schema lists.
FROM_DAEMON = {"funds"}


def joined(tokens):
    """The text of adjacent literals; PRId64 as ld."""
    parts = re.findall(rf"{LITERAL}|PRId64", tokens)
    return "".join("ld" if part == "PRId64" else part[1:-1] for part in parts)


def sources(top):
    return sorted((top / "clients/cli").rglob("*.c"))


def without_catalogue(path):
    """A file's text but for its Chinese."""
    return CATALOGUE.sub("", path.read_text(encoding="utf-8"))


def shown_texts(top):
    """Literals given to tr(), and those of the tables that are given to it."""
    texts = {}
    for path in sources(top):
        source = without_catalogue(path)
        found = re.findall(rf"\btr\(\s*{TEXT}\)", source)
        if path.name == "refusal.c":
            for table in re.findall(r"\} (?:advices|silences)\[\] = \{(.*?)\n\};", source, re.DOTALL):
                found += re.findall(rf",\s*{TEXT}\}}", table)
        if path.name == "kinds.c":
            found += re.findall(rf"_convert,\s*(?:NULL|{LITERAL}),\s*{TEXT}\}}", source)
        found += re.findall(rf"\{{{TEXT}, (?:true|false)\}}", source)
        if path.name == "commands.c":
            found += re.findall(rf"\{{{TEXT}, \w+_commands\}}", source)
        if path.name == "fields.c" or path.parent.name == "commands":
            found += re.findall(rf"\.(?:summary|help) =\s*{TEXT}[,}}]", source)
            value = rf"(?:NULL|{LITERAL})"
            found += re.findall(rf"\{{{LITERAL},\s*CLI_\w+,\s*{value},\s*{value},\s*{TEXT},\s*(?:\w+|{LITERAL})\}}", source)
        for tokens in found:
            text = joined(tokens)
            if text:
                texts[text] = path.name
    return texts


def entries(top):
    source = "".join(table for path in sources(top) for table in CATALOGUE.findall(path.read_text(encoding="utf-8")))
    return [(joined(a), joined(b)) for a, b in re.findall(rf"\{{{TEXT},\s*{TEXT}\}}", source)]


def field_titles(top):
    """Titles as show_title makes them, from every field name and value of the API and of columns."""
    names = set()
    for path in (top / "schema/api/openapi.json", *sources(top)):
        names |= set(re.findall(r'"([A-Za-z_ -]+)"', without_catalogue(path)))
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
