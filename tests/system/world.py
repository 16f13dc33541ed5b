"""A world of its own for each check of a rule: a root, an organization, a project and a cluster in one running daemon.

The daemon's wall clock can be moved forward (tests/lib/shift_clock.c), so that months turn while the test waits a moment.
"""

import datetime
import json
import mmap
import os
import pathlib
import struct
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import daemon as d  # noqa: E402

HOUR = 3600000  # mcs of a core-hour
GPU5 = 4800000  # one A100 for five minutes

CARD = {
    "effective_from": "2020-01-01T00:00:00Z",
    "combine": "max",
    "price_per_core_hour": "0.12",
    "currency": "CNY",
    "rows": [
        {
            "core_mcores": 1000,
            "gpus": {
                "a100": {"mcores": 16000, "memory_mib": 81920},
                "h100": {"mcores": 32000},
                "a100-1g.10gb": {"mcores": 2286},
            },
        }
    ],
}


class Clock:
    """The wall clock of the daemon: the real one and what was added."""

    def __init__(self, library):
        self.folder = tempfile.TemporaryDirectory(prefix="corehour-clock-")
        path = os.path.join(self.folder.name, "offset")
        with open(path, "wb") as file:
            file.write(struct.pack("=q", 0))
        self.file = open(path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), 8)
        # A sanitizer wants to be loaded first, and is told not to mind.
        options = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        self.environment = {"LD_PRELOAD": library, "COREHOUR_TEST_CLOCK": path, "ASAN_OPTIONS": options}

    def offset(self):
        return struct.unpack("=q", self.map[:8])[0]

    def now(self):
        return int(time.time()) + self.offset()

    def move(self, seconds):
        self.map[:8] = struct.pack("=q", self.offset() + int(seconds))

    def move_to(self, then):
        assert then >= self.now(), "the clock only moves forward"
        self.move(then - self.now())

    def close(self):
        self.map.close()
        self.file.close()
        self.folder.cleanup()


def at(then):
    """Seconds since 1970 as the API writes them."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(then))


def seconds(text):
    return int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


def utc(*parts):
    return int(datetime.datetime(*parts, tzinfo=datetime.timezone.utc).timestamp())


def month_after(then, months=1):
    """The first second of a later month in UTC."""
    day = time.gmtime(then)
    index = day.tm_year * 12 + day.tm_mon - 1 + months
    return utc(index // 12, index % 12 + 1, 1)


class Case(unittest.TestCase):
    """One daemon for a class, one world for a test. PROGRAM and LIBRARY are set by main()."""

    PROGRAM = None
    LIBRARY = None
    CONFIG = ""
    count = 0

    @classmethod
    def setUpClass(cls):
        cls.clock = Clock(cls.LIBRARY)
        cls.daemon = d.Daemon(cls.PROGRAM, cls.CONFIG, environment=cls.clock.environment)
        # Noon in the middle of a month: the hours around it are of one day and one month everywhere.
        cls.clock.move_to(month_after(cls.clock.now()) + 14 * 86400 + 43200)
        cls.daemon.__enter__()

    @classmethod
    def tearDownClass(cls):
        code, output = cls.daemon.check()
        stopped = cls.daemon.stop()
        after = cls.daemon.check()
        failed = (code, stopped, after[0]) != (0, 0, 0)
        cls.daemon.__exit__(RuntimeError if failed else None)
        cls.clock.close()
        assert not failed, f"check while serving {code}: {output}; stop {stopped}; check after {after}"

    def setUp(self):
        Case.count += 1
        self.name = f"w{Case.count}"
        self.root, self.org = self.name, self.name + "-o"
        self.project, self.cluster = self.name + "-p", self.name + "-c"
        self.real = time.time()

    # ---- the daemon

    def now(self):
        return self.clock.now()

    def ago(self, delta_s):
        """Before the test began, by the moved clock: the same text for as long as the clock is not moved."""
        return at(int(self.real) + self.clock.offset() - delta_s)

    def call(self, method, path, body=None, headers=(), token=None):
        return self.daemon.call(method, "/v1" + path, body, headers, token, timeout_s=40)

    def get(self, path, **headers):
        answer = self.call("GET", path, headers=headers)
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def ok(self, method, path, body=None, headers=(), token=None):
        answer = self.call(method, path, body, headers, token)
        self.assertIn(answer.status, (200, 201, 202, 204), answer)
        return answer.json if answer.body else None

    def refused(self, code, status, method, path, body=None, headers=(), token=None, field=None):
        answer = self.call(method, path, body, headers, token)
        self.assertEqual((answer.status, answer.json.get("code")), (status, code), answer)
        self.assertEqual(answer.header("content-type"), "application/problem+json")
        if field is not None:
            self.assertEqual(answer.json.get("field"), field)
        return answer.json

    def until(self, test, within_s=30):
        """Wait until test() is true: clockwork takes a moment."""
        deadline = time.monotonic() + within_s
        while True:
            value = test()
            if value or time.monotonic() > deadline:
                self.assertTrue(value, "it never happened")
                return value
            time.sleep(0.02)

    # ---- the world

    def make(self, grant="1000000", root=(), org=(), project=(), cluster=(), card=None):
        """A root that pays for its project; what is given changes the settings of each."""
        self.ok("PUT", f"/organizations/{self.root}", {"funding": "self", "timezone": "UTC", **dict(root)})
        self.ok("PUT", f"/organizations/{self.org}", {"parent": self.root, **dict(org)})
        self.ok("PUT", f"/projects/{self.project}", {"organization": self.org, **dict(project)})
        self.make_cluster(self.cluster, cluster, card)
        if grant is not None:
            self.grant("g0", grant)

    def make_cluster(self, name, settings=(), card=None):
        self.ok("PUT", f"/clusters/{name}", {"kind": "slurm", "roots": [self.root], **dict(settings)})
        self.ok("PUT", f"/clusters/{name}/rates/1", {**CARD, **(card or {})})

    def grant(self, key, core_hours, node=None, **more):
        return self.ok(
            "POST", "/grants", {"id": f"{self.name}-{key}", "node": node or self.root, "core_hours": core_hours, **more}
        )

    def cap(self, name, limit, path=None, **more):
        key = {"job_duration": "limit_s"}.get(name)
        if key is None:
            key = "limit" if name.split(":")[0] in ("gpus", "cores", "jobs", "job_gpus") else "core_hours"
        path = path or f"/projects/{self.project}"
        return self.ok("PUT", f"{path}/caps/{name}", {key: limit, **more}, {"If-Match": "*"})

    def body(self, key, **changes):
        body = d.freeze_body(f"{self.name}-{key}", cluster=self.cluster, account=self.project)
        body.update(changes)
        return {name: value for name, value in body.items() if value is not ...}

    def freeze(self, key, status=201, **changes):
        answer = self.call("POST", "/holds", self.body(key, **changes))
        self.assertEqual(answer.status, status, answer)
        return answer.json

    def short(self, key, **changes):
        """A freeze that quota refuses."""
        problem = self.freeze(key, 409, **changes)
        self.assertEqual(problem["code"], "quota_insufficient")
        return problem

    def verb(self, key, verb, status=200, query="", **body):
        answer = self.call("POST", f"/holds/{self.name}-{key}/{verb}{query}", body)
        self.assertEqual(answer.status, status, answer)
        return answer.json

    def refused_verb(self, code, status, key, verb, **body):
        problem = self.verb(key, verb, status, **body)
        self.assertEqual(problem["code"], code)
        return problem

    def hold(self, key):
        return self.get(f"/holds/{self.name}-{key}")

    def run_of(self, key, task=0, attempt=0):
        runs = [run for run in self.hold(key)["runs"] if (run["task"], run["attempt"]) == (task, attempt)]
        self.assertEqual(len(runs), 1, self.hold(key))
        return runs[0]

    def balance(self, path=None):
        return self.get(f"{path or '/projects/' + self.project}/balance")

    def money(self, path=None):
        """(used, frozen, available) of a node in mcs."""
        balance = self.balance(path)
        return balance["used_mcs"], balance["frozen_mcs"], balance["available_mcs"]

    def beat(self, *keys, when=None, **more):
        runs = [{"hold": f"{self.name}-{key}", **more} for key in keys]
        body = {"cluster": self.cluster, "at": at(self.now() if when is None else when), "runs": runs}
        return [row["result"] for row in self.ok("POST", "/heartbeats", body)["results"]]

    def feed(self, after=0, wait_s=0):
        return self.get(f"/clusters/{self.cluster}/feed?after={after}&wait_s={wait_s}")

    def usage(self, **query):
        query = {"root": self.root, **query}
        words = "&".join(f"{key}={value}" for key, value in query.items())
        return self.get(f"/reports/usage?{words}")["rows"]

    def months(self):
        """{period: used} of the world over three years, whatever the kind."""
        sums = {}
        year = time.gmtime(self.now()).tm_year
        span = {"from": f"{year - 3}-01-01", "to": f"{year + 2}-01-01"}
        for row in self.usage(group_by="month", **span):
            sums[row["period"]] = sums.get(row["period"], 0) + row["used_mcs"]
        return {period: used for period, used in sums.items() if used}

    def journal(self, root=None):
        answer = self.call("GET", f"/journal?root={root or self.root}&after=0")
        self.assertEqual(answer.status, 200, answer)
        return [json.loads(line) for line in answer.body.decode().splitlines()]

    def everything(self):
        """All that a command could change in this world, to see that a dry run does not."""
        return (
            [self.balance(f"/organizations/{name}") for name in (self.root, self.org)],
            self.balance(),
            self.journal(),
            self.get(f"/holds?cluster={self.cluster}"),
            self.get(f"/grants?node={self.root}"),
            self.feed(),
        )


def main(module):
    """usage: test_x.py COREHOURD SHIFT_CLOCK [unittest's arguments]"""
    Case.PROGRAM, Case.LIBRARY = sys.argv[1:3]
    unittest.main(module=module, argv=sys.argv[:1] + sys.argv[3:])
