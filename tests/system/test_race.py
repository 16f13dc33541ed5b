"""64 clients race for room for 10: exactly 10 get it, at every kind of limit (SPEC 4.3).

usage: test_race.py COREHOURD
"""

import pathlib
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "lib"))

import daemon as d  # noqa: E402

PROGRAM = sys.argv.pop(1)
CLIENTS = 64
ROOM = 10
JOB_MCS = 4800000  # one GPU for five minutes

# What each world limits: (name, grant in mcs, caps as (path under /v1, body)). R, O, P: its root, organization, project.
PLENTY = JOB_MCS * 1000
WORLDS = [
    ("member-month", PLENTY, [("projects/P/members/alice/caps/month", {"mcs": ROOM * JOB_MCS})]),
    ("member-default", PLENTY, [("projects/P/members/*/caps/jobs", {"limit": ROOM})]),
    ("project-month", PLENTY, [("projects/P/caps/month", {"mcs": ROOM * JOB_MCS})]),
    ("project-jobs", PLENTY, [("projects/P/caps/jobs", {"limit": ROOM})]),
    ("project-gpus", PLENTY, [("projects/P/caps/gpus", {"limit": ROOM})]),
    ("project-model", PLENTY, [("projects/P/caps/gpus:a100", {"limit": ROOM})]),
    ("organization-total", PLENTY, [("organizations/O/caps/total", {"mcs": ROOM * JOB_MCS})]),
    ("organization-quarter", PLENTY, [("organizations/O/caps/quarter", {"mcs": ROOM * JOB_MCS + JOB_MCS - 1})]),
    ("root-year", PLENTY, [("organizations/R/caps/year", {"mcs": ROOM * JOB_MCS})]),
    ("root-cores", PLENTY, [("organizations/R/caps/cores", {"limit": 16 * ROOM})]),
    ("grant", ROOM * JOB_MCS, []),
    ("grant-and-a-bit", ROOM * JOB_MCS + JOB_MCS - 1, []),
]


class Race(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = d.Daemon(PROGRAM)
        cls.daemon.__enter__()
        cls.daemon.make_world()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()
        code, output = cls.daemon.check()
        cls.daemon.__exit__(None)
        assert code == 0, output

    def make_world(self, name, grant, caps):
        daemon, parts = self.daemon, {"R": "r-" + name, "O": "o-" + name, "P": "p-" + name}
        daemon.ok("PUT", f"/v1/organizations/{parts['R']}", {"funding": "self", "timezone": "UTC"})
        daemon.ok("PUT", f"/v1/organizations/{parts['O']}", {"parent": parts["R"]})
        daemon.ok("PUT", f"/v1/projects/{parts['P']}", {"organization": parts["O"]})
        daemon.ok("POST", "/v1/grants", {"id": "g-" + name, "node": parts["R"], "mcs": grant})
        for path, body in caps:
            path = "/".join(parts.get(part, part) for part in path.split("/"))
            daemon.ok("PUT", "/v1/" + path, body)
        return parts["P"]

    def race(self, project, turn=1):
        """Each client sends one freeze at the same moment; the answers."""
        answers, barrier = [None] * CLIENTS, threading.Barrier(CLIENTS)

        def run(i):
            with self.daemon.connect(30) as connection:
                data = self.daemon.bytes_of("POST", "/v1/holds", d.freeze_body(f"{project}-{turn}-{i}", account=project))
                barrier.wait()
                connection.send(data)
                answers[i] = connection.read()

        threads = [threading.Thread(target=run, args=(i,)) for i in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answers

    def test_exactly_as_many_pass_as_fit(self):
        for name, grant, caps in WORLDS:
            with self.subTest(name):
                project = self.make_world(name, grant, caps)
                answers = self.race(project)
                passed = [answer for answer in answers if answer.status == 201]
                refused = [answer for answer in answers if answer.status == 409]
                self.assertEqual((len(passed), len(refused)), (ROOM, CLIENTS - ROOM))
                self.assertEqual({answer.json["code"] for answer in refused}, {"quota_insufficient"})
                balance = self.daemon.ok("GET", f"/v1/projects/{project}/balance").json
                self.assertEqual(balance["frozen_mcs"], ROOM * JOB_MCS)

    def test_room_that_comes_back_is_given_once(self):
        project = self.make_world("again", PLENTY, [("projects/P/caps/jobs", {"limit": ROOM})])
        first = [answer.json["id"] for answer in self.race(project) if answer.status == 201]
        for hold in first[:3]:
            self.daemon.ok("POST", f"/v1/holds/{hold}/release", {})
        answers = self.race(project, 2)
        self.assertEqual(sum(answer.status == 201 for answer in answers), 3)


if __name__ == "__main__":
    unittest.main()
