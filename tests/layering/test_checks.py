"""The checks themselves can fail: each is run on a small tree with one fault, and on one without."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

GOOD = {
    "docs/spec.md": "".join(f"{section}.{rule} A rule.\n" for section in range(1, 7) for rule in range(1, 11)),
    "ledger/ledger.h": '#include "ledger/core/a.h"\n',
    "ledger/base/amount.h": "#include <stdint.h>\n",
    "ledger/core/a.h": '#include "ledger/base/amount.h"\n/* SPEC 1.1 and 2.3 */\n',
    "ledger/core/a.c": '#include "ledger/core/a.h"\n',
    "server/s.c": '#include "ledger/ledger.h"\n#include "ledger/core/a.h"\n/* 1.5 and "time(2.5)" are words here */\n',
}

# check, path, content that replaces or joins the good tree, words of the fault
BAD = [
    ("includes", "ledger/base/up.c", '#include "ledger/core/a.h"\n', "not below"),
    ("includes", "ledger/base/noisy.c", '#include "ledger/base/log.h"\n', "not below"),
    ("includes", "ledger/core/b.c", '#include "ledger/store/store.h"\n', "not below"),
    ("includes", "ledger/core/b.c", '#include "ledger/base/clock.h"\n', "not below"),
    ("includes", "ledger/core/b.c", "#include <time.h>\n", "pure core"),
    ("includes", "ledger/core/b.c", "#  include <stdlib.h>\n", "pure core"),
    ("includes", "ledger/core/a.c", '#include "ledger/base/amount.h"\n#include "ledger/core/a.h"\n', "not first"),
    ("includes", "ledger/core/b.c", '#include "a.h"\n', "top of the tree"),
    ("includes", "ledger/store/s.c", '#include "server/s.h"\n', "not below"),
    ("includes", "ledger/store/s.c", "#include <jansson.h>\n", "belongs to"),
    ("includes", "server/t.c", '#include "ledger/store/sqlite.h"\n', "not below"),
    ("includes", "server/t.c", "#include <sqlite3.h>\n", "belongs to"),
    ("includes", "clients/c.c", '#include "ledger/ledger.h"\n', "not below"),
    ("includes", "clients/c.c", '#include "server/s.h"\n', "not below"),
    ("banned", "server/t.c", "int f(char *s) { return sprintf(s, s); }\n", "sprintf"),
    ("banned", "ledger/core/b.c", "long f(void) { return time (0); }\n", "time"),
    ("banned", "ledger/core/b.c", "void f(void) { clock_gettime(0, 0); }\n", "clock"),
    ("banned", "ledger/core/b.c", "double x;\n", "floating point"),
    ("banned", "ledger/core/b.c", "int x = 2 * 1.5;\n", "floating point"),
    ("banned", "clients/c.c", "/* TODO */\n", "unfinished"),
    ("banned", "clients/c.c", "\n" * 1001, "longer than"),
    ("spec", "ledger/core/b.c", "/* SPEC 9.99 */\n", "SPEC 9.99"),
    ("spec", "ledger/core/b.c", "/* SPEC 1.1, 1.77 */\n", "SPEC 1.77"),
]

RESULTS = [
    {"name": "tap", "stdout": "1..3\nok - a\nnot ok - b\nok - c # SKIP why\n", "result": "FAIL"},
    {"name": "plain", "stdout": "hello\n", "result": "OK"},
    {"name": "late", "stdout": "1..1\nok - a\n", "result": "TIMEOUT"},
    {"name": "skipped", "stdout": "", "result": "SKIP"},
    {"name": "unittest", "stdout": "", "stderr": "...\nOK (expected failures=1, skipped=4)\n", "result": "OK"},
    {"name": "broken", "stdout": "", "result": "FAIL"},
]


def make_tree(top, files):
    for name, content in files.items():
        path = pathlib.Path(top) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def run_check(name, files):
    """Exit status and output of one check on a tree of these files."""
    with tempfile.TemporaryDirectory() as top:
        make_tree(top, files)
        scripts = pathlib.Path(top) / "tests" / "layering"
        scripts.mkdir(parents=True)
        for script in ("tree.py", f"check_{name}.py"):
            shutil.copy(HERE / script, scripts)
        done = subprocess.run(
            [sys.executable, "-B", str(scripts / f"check_{name}.py")], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr


def run_count(results):
    """Exit status and last line of count_results.py on these entries."""
    with tempfile.TemporaryDirectory() as build:
        make_tree(build, {"meson-logs/testlog.json": "".join(json.dumps(result) + "\n" for result in results)})
        done = subprocess.run(
            [sys.executable, "-B", str(HERE.parent / "count_results.py"), build], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout.splitlines()[-1]


def cases():
    """Pairs of a sentence and whether it holds."""
    for name in ("includes", "banned", "spec"):
        status, output = run_check(name, GOOD)
        yield f"{name} accepts a good tree", status == 0, output
    for name, path, content, words in BAD:
        status, output = run_check(name, {**GOOD, path: content})
        yield f"{name} sees {content.strip()[:50]!r} in {path}", status == 1 and words in output, output
    yield "results are counted one by one", run_count(RESULTS) == (1, "4 passed, 3 failed, 6 skipped"), run_count(RESULTS)
    yield "no test at all is red", run_count([]) == (1, "0 passed, 0 failed"), run_count([])
    yield "good results are green", run_count(RESULTS[1:2]) == (0, "1 passed, 0 failed"), run_count(RESULTS[1:2])


def main():
    failed = 0
    rows = list(cases())
    print(f"1..{len(rows)}")
    for sentence, holds, output in rows:
        print(("ok" if holds else "not ok") + f" - {sentence}")
        if not holds:
            failed += 1
            print("\n".join(f"# {line}" for line in str(output).splitlines()))
    sys.exit(1 if failed else 0)


main()
