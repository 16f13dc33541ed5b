"""Count the tests of meson's last run, single Criterion tests included, and print `N passed, N failed`, and
`, N skipped` when there were: whole tests, single Criterion tests, and those of Python's unittest.

usage: count_results.py BUILD_DIR

Exit status 1 when a test failed or none passed.
"""

import json
import pathlib
import re
import sys

TAP_LINE = re.compile(r"^(not ok|ok)\b(.*)$", re.MULTILINE)
UNITTEST_END = re.compile(r"^(?:OK|FAILED) \(.*?\bskipped=(\d+)", re.MULTILINE)
GOOD = ("OK", "EXPECTEDFAIL")


def count(result):
    """Tuple (passed, failed, skipped) of one entry of testlog.json."""
    lines = TAP_LINE.findall(result.get("stdout") or "")
    skipped = sum("# SKIP" in rest for _, rest in lines)
    failed = sum(word == "not ok" for word, _ in lines)
    passed = len(lines) - failed - skipped
    good = result["result"] in GOOD
    if result["result"] == "SKIP":
        return 0, 0, max(skipped, 1)
    if not lines:
        ends = UNITTEST_END.findall((result.get("stderr") or "") + "\n" + (result.get("stdout") or ""))
        return int(good), int(not good), sum(map(int, ends))
    # A program may fail beside its tests: a sanitizer's report, a timeout, a wrong plan.
    return passed, failed if good or failed else 1, skipped


def main(build):
    log = pathlib.Path(build) / "meson-logs" / "testlog.json"
    results = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line]
    counts = [count(result) for result in results]
    passed, failed, skipped = (sum(column) for column in zip(*counts)) if counts else (0, 0, 0)
    for result, (_, bad, _) in zip(results, counts):
        if bad:
            print(f"failed: {result['name']} ({result['result']})")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(1 if failed or not passed else 0)


if len(sys.argv) != 2:
    sys.exit(__doc__)
main(sys.argv[1])
