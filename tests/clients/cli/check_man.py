"""The man page names every command and every option of every command; and no command that is not there.

usage: check_man.py COREHOUR PAGE
"""

import pathlib
import re
import subprocess
import sys


def main(corehour, page):
    text = pathlib.Path(page).read_text(encoding="utf-8")
    listed = subprocess.run([corehour, "help", "--list"], capture_output=True, text=True, check=True).stdout
    commands = {}
    for line in listed.splitlines():
        name, options = line.split("\t")
        commands[name] = re.findall(r"--([a-z-]+)", options)
    section = text.partition("# COMMANDS")[2].partition("\n# ")[0]
    written = re.findall(r"^\*([a-z ]+)\*", section, re.MULTILINE)
    faults = [f"the page does not tell of: {name}" for name in commands if name and name not in written]
    faults += [f"there is no such command: {name}" for name in written if name not in commands]
    faults += [f"the page does not tell of: --{option}" for option in commands[""] if f"*--{option}*" not in text]
    for name in (name for name in commands if name):
        shown = subprocess.run([corehour, "help", *name.split()], capture_output=True, text=True, check=True).stdout
        summary = re.match(r"corehour [^:]*: (.*)", shown)[1]
        if summary not in section and summary[0].upper() + summary[1:] not in section:
            faults.append(f"another summary than help's: {name}: {summary}")
    for fault in faults:
        print(fault)
    print(f"{len(commands) - 1} commands, {len(faults)} faults")
    return 1 if faults or len(commands) < 20 else 0


sys.exit(main(*sys.argv[1:]))
