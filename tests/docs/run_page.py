"""Run the commands of a page of documentation and compare their output with the page.

usage: run_page.py BUILD_DIR PAGE.md...

All ```sh blocks of a page run in one shell, in order, with the programs of BUILD_DIR in PATH; the page's data folder
(/tmp/corehour-tour) and port (127.0.0.1:8480) are replaced by temporary ones. A ```json block after one is what it must
print: members that are not shown are ignored, "…" is anything (at the end of a list: any more). A ```text block is compared
line by line, … is any run of characters, and a line of … alone is any lines. A block without either must exit with 0.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

DATA, PORT, MARK = "/tmp/corehour-tour", "127.0.0.1:8480", "--end-of-block--"
BLOCK = re.compile(r"^```(sh|json|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def read_blocks(page):
    """[line, commands, form of the expectation or None, expectation] of each sh block."""
    text = pathlib.Path(page).read_text(encoding="utf-8")
    steps = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match[1] == "sh":
            steps.append([line, match[2], None, ""])
        elif steps and steps[-1][2] is None:
            steps[-1][2:] = match[1], match[2]
    return steps


class Shell:
    """One shell that lives as long as the page."""

    def __init__(self, build, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{probe.getsockname()[1]}"
        self.data = f"{folder}/tour"
        path = f"{build}/server:{build}/clients/cli:{os.environ['PATH']}"
        environment = dict(os.environ, PATH=path, HOME=folder, LC_ALL="C.UTF-8", TZ="UTC")
        for name in ("COREHOUR_URL", "COREHOUR_TOKEN", "XDG_CONFIG_HOME"):
            environment.pop(name, None)
        self.log = open(f"{folder}/stderr", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            ["sh"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )

    def translate(self, text):
        return text.replace(DATA, self.data).replace(PORT, self.address)

    def run(self, commands):
        """(exit status, what it printed)."""
        self.process.stdin.write(self.translate(commands) + f"\nprintf '\\n{MARK}%s\\n' $?\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.startswith(MARK):
                return int(line[len(MARK) :]), "".join(lines)[:-1]
            lines.append(line)
        return -1, "".join(lines)

    def close(self):
        """End the shell and what it left running; returns what was written to stderr."""
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.communicate(timeout=30)
        self.log.seek(0)
        return self.log.read()


def documents(text):
    """All JSON values of a text."""
    decoder, values, at = json.JSONDecoder(), [], 0
    text = text.strip()
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        values.append(value)
        at += len(text[at:]) - len(text[at:].lstrip())
    return values


def differ(wanted, found, where=""):
    """The first place where found is not as wanted, or None."""
    if wanted == "…":
        return None
    if isinstance(wanted, dict) and isinstance(found, dict):
        for name, value in wanted.items():
            if name not in found:
                return f"{where}.{name} is missing"
            difference = differ(value, found[name], f"{where}.{name}")
            if difference:
                return difference
        return None
    if isinstance(wanted, list) and isinstance(found, list):
        more = wanted[-1:] == ["…"]
        wanted = wanted[:-1] if more else wanted
        if len(found) < len(wanted) or (len(found) > len(wanted) and not more):
            return f"{where} has {len(found)} items, not {len(wanted)}"
        pairs = enumerate(zip(wanted, found))
        return next(filter(None, (differ(w, f, f"{where}[{i}]") for i, (w, f) in pairs)), None)
    return None if type(wanted) is type(found) and wanted == found else f"{where}: {found!r} is not {wanted!r}"


def differ_json(wanted, found):
    try:
        return differ(documents(wanted), documents(found))
    except json.JSONDecodeError as error:
        return f"not JSON: {error}"


def differ_text(wanted, found):
    pattern = ""
    for line in wanted.rstrip("\n").split("\n"):
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += "[^\n]*?".join(re.escape(part.rstrip()) for part in line.split("…")) + r"[ \t]*\n"
    return None if re.fullmatch(pattern, found.rstrip("\n") + "\n") else "the text differs"


COMPARE = {"json": differ_json, "text": differ_text}


def check_page(build, page):
    """Run one page; returns how many blocks failed."""
    folder = tempfile.mkdtemp(prefix="docs.")
    shell, failed, steps = Shell(build, folder), 0, read_blocks(page)
    for line, commands, form, wanted in steps:
        status, found = shell.run(commands)
        wanted = shell.translate(wanted)
        difference = COMPARE[form](wanted, found) if form else (f"exit status {status}" if status else None)
        if difference:
            failed += 1
            print(f"{page}:{line}: {difference}\n--- ran\n{commands}--- wanted\n{wanted}--- printed\n{found}\n")
        if status == -1:
            break
    log = shell.close()
    if failed:
        print(f"--- stderr\n{log[-4000:]}")
    print(f"{page}: {len(steps)} blocks, {failed} failed")
    shutil.rmtree(folder)
    return failed


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    build = pathlib.Path(arguments[0]).resolve()
    sys.exit(1 if sum(check_page(build, page) for page in arguments[1:]) else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
