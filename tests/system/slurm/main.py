"""The parts of the Slurm suite on one real cluster, one after the other.

usage: main.py BUILD [PART[.CLASS]...]      parts: see PARTS; without any, all of them
Exit status 77 when this machine cannot run a cluster (meson: skipped).
"""

import importlib
import pathlib
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import lab as l  # noqa: E402
import part  # noqa: E402

PARTS = ("submit", "fates")  # modules test_<part>.py, in this order


def suites(names):
    loader = unittest.TestLoader()
    folder = pathlib.Path(__file__).resolve().parent
    for name in names:
        name, _, one = name.partition(".")
        if one:
            yield loader.loadTestsFromTestCase(getattr(importlib.import_module(f"test_{name}"), one))
        elif (folder / f"test_{name}.py").exists():
            yield loader.loadTestsFromModule(importlib.import_module(f"test_{name}"))


def main(build, *names):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # a time-out takes the cluster down, too
    missing = l.what_is_missing()
    if missing:
        print(f"skipped: {missing}")
        return 77
    tests = unittest.TestSuite(suites(names or PARTS))
    began = time.monotonic()
    with l.Lab(build) as lab:
        print(f"# the cluster is up after {time.monotonic() - began:.1f} s, in {lab.folder}", flush=True)
        part.Part.lab = lab
        result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(tests)
        if not result.wasSuccessful():
            lab.print_logs()
    print(f"# {result.testsRun} run, {time.monotonic() - began:.1f} s", flush=True)
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if len(sys.argv) < 2:
    sys.exit(__doc__)
sys.exit(main(*sys.argv[1:]))
