"""The parts of the Slurm suite on real clusters.

usage: main.py BUILD [PART[.CLASS]...]      parts: see PARTS
With parts they run one after the other on one cluster; without any, all run side by side, each on a cluster of its own: they
wait more than they work. Exit status 77 when this machine cannot run a cluster (meson: skipped).
"""

import importlib
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import lab as l  # noqa: E402
import part  # noqa: E402

PARTS = ("fates", "submit")  # modules test_<part>.py, the longest first


def suites(names):
    loader = unittest.TestLoader()
    folder = pathlib.Path(__file__).resolve().parent
    for name in names:
        name, _, one = name.partition(".")
        if one:
            yield loader.loadTestsFromTestCase(getattr(importlib.import_module(f"test_{name}"), one))
        elif (folder / f"test_{name}.py").exists():
            yield loader.loadTestsFromModule(importlib.import_module(f"test_{name}"))


class Timed(unittest.TextTestResult):
    """Says how long each case took, and what was done for its class before."""

    last_s = time.monotonic()

    def startTest(self, test):
        self.began_s = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        now_s = time.monotonic()
        print(f"#   {now_s - self.began_s:.1f} s, before it {self.began_s - self.last_s:.1f} s", flush=True)
        self.last_s = now_s


def side_by_side(build):
    """Every part in a process of its own; what each has said is shown when it has ended."""
    began, running = time.monotonic(), []
    try:
        for name in PARTS:
            out = tempfile.TemporaryFile("w+", encoding="utf-8")
            running.append((name, out, subprocess.Popen([sys.executable, __file__, build, name], stdout=out, stderr=out)))
        codes = [process.wait() for _, _, process in running]
    finally:
        for name, out, process in running:
            process.terminate()
            process.wait()
            out.seek(0)
            print(f"# ==== {name}\n{out.read()}", flush=True)
    print(f"# all parts: {time.monotonic() - began:.1f} s", flush=True)
    return max(codes)


def main(build, *names):
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a time-out takes the cluster down; unittest would catch an exit
    missing = l.what_is_missing()
    if missing:
        print(f"skipped: {missing}")
        return 77
    return on_one_cluster(build, names) if names else side_by_side(build)


def on_one_cluster(build, names):
    tests = unittest.TestSuite(suites(names))
    began = time.monotonic()
    with l.Lab(build) as lab:
        print(f"# the cluster is up after {time.monotonic() - began:.1f} s, in {lab.folder}", flush=True)
        part.Part.lab = lab
        result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout, resultclass=Timed).run(tests)
        if not result.wasSuccessful():
            lab.print_logs()
    print(f"# {result.testsRun} run, {time.monotonic() - began:.1f} s", flush=True)
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if len(sys.argv) < 2:
    sys.exit(__doc__)
sys.exit(main(*sys.argv[1:]))
