"""Submissions on the real cluster: what the hook lets through, refuses, holds, and does when nobody answers.

Everything is tried with the plugin and again with its Lua variant. No agent runs here: what an agent would tell the ledger
(bind), the tests tell it themselves.
"""

import json
import os
import pathlib
import re
import socket
import subprocess
import threading
import time

import lab as l
import part

BIG = ("-n2", "--gres=gpu:a100:1", "-p", "gpu", "-t5")  # 16 cores x 5 min = 1.33 core-hours
GPU5 = 4800000
REFUSED = "Job violates accounting/QOS policy"


OTHER_PLUGIN = """function slurm_job_submit(job, parts, uid) job.time_limit = 7 return slurm.SUCCESS end
function slurm_job_modify(job, record, parts, uid) return slurm.SUCCESS end
return slurm.SUCCESS
"""


class Hook:
    """Which hook is loaded; both kinds of it run the same tests."""

    KIND = None

    @classmethod
    def setUpClass(cls):
        if cls.lab is None:
            return
        cls.lab.reconfigure()
        if cls.lab.submit != cls.KIND:
            cls.lab.restart_controller(submit=cls.KIND)
        wait_for_site(cls.lab)

    def setUp(self):
        super().setUp()
        self.caps = []

    def tearDown(self):
        for project, name in self.caps:
            self.lab.uncap(project, name)
        for user in l.USERS:
            self.lab.admin("scancel", "-f", "-u", user)
        for state in ("frozen", "waiting"):
            for hold in self.lab.ok("GET", f"/holds?cluster={l.CLUSTER}&state={state}&page_size=1000")["items"]:
                self.lab.ok("POST", f"/holds/{hold['id']}/release", {})

    def cap(self, project, name, **limit):
        self.caps.append((project, name))
        self.lab.cap(project, name, **limit)

    def submit(self, user, *options, script="sleep 600"):
        """sbatch that is accepted but does not run: the job's hold."""
        self.job_id = self.lab.sbatch(user, "-H", *options, script=script)
        return self.lab.hold(self.lab.hold_of(self.job_id))

    def bind(self, hold, job_id=None):
        body = {"job_id": str(job_id or self.job_id), "job_key": f"{job_id or self.job_id}@{time.time_ns()}"}
        self.lab.ok("POST", f"/holds/{hold['id']}/bind", body)

    def reconfigure(self, **keys):
        self.lab.reconfigure(**keys)


def wait_for_site(lab):
    """The hook has asked for the partitions: -p cpu without a limit has the partition's default time."""

    def knows():
        result = lab.run("bob", "sbatch", "--parsable", "-H", "-A", "bio", "--wrap", "true")
        if result.returncode != 0:
            assert re.search(r"the quota (service gave no answer \(slurmctld has just started|hook cannot work)", result.stderr)
            return False
        job_id = int(result.stdout)
        hold = lab.hold(lab.hold_of(job_id))
        lab.admin("scancel", "-f", job_id)
        return hold["time_limit_s"] == 600

    if lab.submit:
        l.wait_for("the hook's picture of the partitions", knows)


class Accepted(Hook):
    WHOLE_NODE = (("a100", 8),)

    def test_a_job_is_frozen_for_and_carries_its_hold(self):
        job_id = self.lab.sbatch("alice", "-A", "physics", *BIG, "-J", "train")
        hold = self.lab.hold(self.lab.hold_of(job_id))
        self.assertEqual((hold["state"], hold["frozen_mcs"]), ("frozen", GPU5))
        self.assertEqual((hold["project"], hold["user"], hold["time_limit_s"]), ("physics", "alice", 300))
        self.assertEqual(hold["job"], {"name": "train", "partition": "gpu"})
        self.assertTrue(hold["id"].startswith("lab-"))
        self.lab.wait_state(job_id, "COMPLETED")

    def test_srun_and_salloc_pass_too(self):
        for command in (("srun", "-t1", "true"), ("salloc", "-t1", "true")):
            result = self.lab.run("bob", command[0], "-A", "bio", *command[1:])
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_what_is_not_given_comes_from_partition_and_account(self):
        hold = self.submit("alice")
        self.assertEqual((hold["time_limit_s"], hold["project"]), (600, "physics"))
        self.assertEqual(hold["job"]["partition"], "cpu")
        self.assertEqual(hold["resources"]["cores"], 1)

    def test_every_form_of_resources(self):
        gpus = lambda *pairs: [{"model": model, "count": count} for model, count in pairs]  # noqa: E731
        cases = [
            (("-n2", "-c2"), 4, []),
            (("-N2", "--ntasks-per-node=3", "-c2"), 12, []),
            (("-N2-3",), 3, []),
            (("-p", "gpu", "--gres=gpu:a100:1"), 1, gpus(("a100", 1))),
            (("-p", "gpu", "--gres=gpu:2", "-N2"), 2, gpus((None, 4))),
            (("-p", "gpu", "--gpus=a100:2"), 1, gpus(("a100", 2))),
            (("-p", "gpu", "--gpus=2", "--cpus-per-gpu=4"), 8, gpus((None, 2))),
            (("-p", "gpu", "--gpus-per-node=a100:4", "-N2"), 2, gpus(("a100", 8))),
            (("-p", "gpu", "--gpus-per-task=1", "-n3"), 3, gpus((None, 3))),
            (("-p", "gpu", "--gpus-per-socket=2", "--sockets-per-node=1"), 1, gpus((None, 2))),
            (("--exclusive", "-p", "gpu", "-N1"), 64, gpus(*self.WHOLE_NODE)),
        ]
        for options, cores, want in cases:
            with self.subTest(options=options):
                resources = self.submit("alice", *options)["resources"]
                self.assertEqual((resources["cores"], resources["gpus"]), (cores, want))

    def test_an_array_is_one_hold_for_all_its_tasks(self):
        hold = self.submit("alice", "--array=0-9:3,20%2", "-t5")
        self.assertEqual((hold["tasks"], hold["max_running"], hold["frozen_mcs"]), (5, 2, 5 * 300000))

    def test_components_have_holds_of_their_own(self):
        job_id = self.lab.sbatch("alice", "-H", "-n1", "-t5", ":", "-n2", "-t5", script="true")
        jobs = [job for job in self.lab.jobs() if job["het_job_id"] == job_id]
        holds = [self.lab.hold(job["admin_comment"].split(":")[1]) for job in sorted(jobs, key=lambda j: j["job_id"])]
        self.assertEqual([hold["resources"]["cores"] for hold in holds], [1, 2])

    def test_test_only_leaves_nothing_for_ever(self):
        before = self.holds()
        self.assertEqual(self.lab.run("alice", "sbatch", "--test-only", "-t5", "--wrap", "true").returncode, 0)
        new = [hold for hold in self.holds() if hold["id"] not in {known["id"] for known in before}]
        self.assertEqual(len(new), 1)
        self.assertIsNotNone(new[0]["expires_at"], "the hook cannot tell a try: the hold ends by its ttl")

    def holds(self):
        return self.lab.ok("GET", "/holds?user=alice&page_size=1000")["items"]


class Refused(Hook):
    def test_each_command_says_the_line_and_exits_1(self):
        self.cap("physics", "month", core_hours="1")
        for command in (("sbatch", "--wrap", "true"), ("srun", "true"), ("salloc", "true")):
            with self.subTest(command=command[0]):
                result = self.lab.run("alice", command[0], "-A", "physics", *BIG, *command[1:])
                self.assertEqual(result.returncode, 1, result.stderr)
                lines = result.stderr.splitlines()
                line = "quota insufficient to pre-freeze 1.33 core-hours (16.000 cores x 5.00 min)"
                self.assertEqual(lines[0], f"{command[0]}: error: {line}")
                self.assertIn(REFUSED, lines[-1])

    def test_every_limit_that_fails_is_a_line_with_its_holders(self):
        held = self.submit("alice", "-A", "physics", "-p", "gpu", "--gres=gpu:a100:1", "-t5")
        self.lab.ok("PATCH", "/projects/physics", {"contact": "pi@example.org"}, {"If-Match": "*"})
        self.cap("physics", "gpus", limit=1)
        self.cap("physics", "job_duration", limit_s=60)
        for _ in range(20):  # holders have 20 ms or are left out (SPEC 6.4)
            text = self.lab.run("alice", "sbatch", "-A", "physics", *BIG, "--wrap", "true").stderr
            if "held by" in text:
                break
        self.lab.ok("PATCH", "/projects/physics", {"contact": None}, {"If-Match": "*"})
        self.assertRegex(text, r"project physics, gpus: limit 1\.000, used 0\.000, frozen 1\.000, .* missing 1\.000 GPUs")
        self.assertRegex(text, r"project physics, job_duration: limit 1m, .* requested 5m, ")
        self.assertRegex(text, rf"held by physics/alice: 1\.33 core-hours, {held['id']}, since ")
        self.assertEqual(text.count("held by"), 1, "nobody holds a limit of one job")
        self.assertIn("ask: pi@example.org", text)

    def test_a_list_of_indices_that_would_keep_the_controller_busy(self):
        """64 KiB of overlapping ranges: 25 thousand million indices to look at."""
        began = time.monotonic()
        result = self.lab.run("alice", "sbatch", "--array=" + ",".join(["0-3999999"] * 6000), "-t5", "--wrap", "true")
        self.assertEqual(result.returncode, 1)
        self.assertIn("what the job asks for cannot be worked out: its array", result.stderr)
        self.assertLess(time.monotonic() - began, 10)

    def test_a_refusal_freezes_nothing(self):
        before = self.lab.balance("physics")["frozen_mcs"]
        self.cap("physics", "month", core_hours="1")
        self.lab.run("alice", "sbatch", "-A", "physics", *BIG, "--wrap", "true")
        self.assertEqual(self.lab.balance("physics")["frozen_mcs"], before)

    def test_the_first_component_comes_back_when_the_second_is_refused(self):
        before = self.lab.balance("physics")["frozen_mcs"]
        self.cap("physics", "job_core_hours", core_hours="1")
        result = self.lab.run("alice", "sbatch", "-n1", "-t5", ":", "-p", "gpu", "--gres=gpu:1", "-t5", "--wrap", "true")
        self.assertEqual(result.returncode, 1)
        self.assertIn("sbatch: error: 1: quota insufficient", result.stderr)
        self.assertEqual(self.lab.balance("physics")["frozen_mcs"], before)

    def test_a_project_that_is_closed(self):
        self.lab.ok("PATCH", "/projects/bio", {"state": "closed"}, {"If-Match": "*"})
        result = self.lab.run("bob", "sbatch", "-A", "bio", "-t5", "--wrap", "true")
        self.lab.ok("PATCH", "/projects/bio", {"state": "open"}, {"If-Match": "*"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("closed", result.stderr.splitlines()[0])
        self.assertIn(REFUSED, result.stderr)

    def test_chinese_where_the_site_says_so(self):
        self.cap("physics", "month", core_hours="1")
        self.reconfigure(language="zh")
        result = self.lab.run("alice", "sbatch", "-A", "physics", *BIG, "--wrap", "true")
        self.reconfigure()
        self.assertIn("配额已不够预冻结，冻结时间5.00 min，折合1.33核时", result.stderr)
        self.assertIn("项目 physics, month: 上限 1.00", result.stderr)


class Waits(Hook):
    """SPEC 5.3, 5.13."""

    def setUp(self):
        super().setUp()
        self.lab.ok("PATCH", f"/clusters/{l.CLUSTER}", {"on_insufficient": "wait"}, {"If-Match": "*"})
        self.other = self.submit("alice", "-A", "physics", *BIG)
        self.cap("physics", "gpus", limit=1)

    def tearDown(self):
        self.lab.ok("PATCH", f"/clusters/{l.CLUSTER}", {"on_insufficient": "reject"}, {"If-Match": "*"})
        super().tearDown()

    def waiting(self):
        result = self.lab.run("alice", "sbatch", "--parsable", "-A", "physics", *BIG, "--wrap", "true")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("the job waits for quota (1.33 core-hours)", result.stderr)
        return int(result.stdout)

    def test_it_is_accepted_held_and_its_owner_cannot_release_it(self):
        job_id = self.waiting()
        job = self.lab.job(job_id)
        self.assertEqual((job["job_state"], job["priority"]), ("PENDING", 0))
        hold = self.lab.hold(self.lab.hold_of(job_id))
        self.assertEqual(hold["state"], "waiting")
        for bound in (False, True):
            with self.subTest(bound=bound):
                if bound:
                    self.bind(hold, job_id)
                result = self.lab.run("alice", "scontrol", "release", job_id)
                self.assertNotEqual(result.returncode, 0)
                self.assertEqual(self.lab.job(job_id)["priority"], 0)
                result = self.lab.run("alice", "scontrol", "update", f"jobid={job_id}", "priority=100")
                self.assertNotEqual(result.returncode, 0)
        self.lab.admin("scontrol", "release", job_id)
        self.assertGreater(self.lab.job(job_id)["priority"], 0)
        self.lab.ok("POST", f"/holds/{hold['id']}/release", {})

    def test_what_waits_and_becomes_no_job_expires(self):
        """No agent binds it here. The job of an expired hold is its owner's to release; what it uses is booked late."""
        self.lab.ok("PATCH", f"/clusters/{l.CLUSTER}", {"ttl_s": 2}, {"If-Match": "*"})
        try:
            job_id = self.waiting()
            hold = self.lab.hold_of(job_id)
            l.wait_for("the waiting hold to expire", lambda: self.lab.hold(hold)["state"] == "expired")
        finally:
            self.lab.ok("PATCH", f"/clusters/{l.CLUSTER}", {"ttl_s": 600}, {"If-Match": "*"})
        self.assertEqual(self.lab.run("alice", "scontrol", "release", job_id).returncode, 0)

    def test_a_held_job_that_does_not_wait_is_its_owners(self):
        self.bind(self.other)
        job_id = self.job_id
        result = self.lab.run("alice", "scontrol", "release", job_id)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(self.lab.job(job_id)["priority"], 0)
        self.assertEqual(self.lab.hold(self.other["id"])["state"], "frozen")


class Changes(Hook):
    """SPEC 5.5."""

    def setUp(self):
        super().setUp()
        self.hold = self.submit("alice", "-A", "physics", *BIG)
        self.bind(self.hold)

    def update(self, user, *words):
        return self.lab.run(user, "scontrol", "update", f"jobid={self.job_id}", *words)

    def frozen(self):
        return self.lab.hold(self.hold["id"])["frozen_mcs"]

    def test_a_longer_limit_is_frozen_for_and_a_shorter_comes_back(self):
        self.assertEqual(self.update("alice", "timelimit=10").returncode, 0)
        self.assertEqual(self.frozen(), 2 * GPU5)
        self.assertEqual(self.update("alice", "timelimit=5").returncode, 0)
        self.assertEqual(self.frozen(), GPU5)

    def test_what_does_not_fit_is_refused_and_changes_nothing(self):
        self.cap("physics", "job_core_hours", core_hours="2")
        result = self.update("alice", "timelimit=10")
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual((self.frozen(), self.lab.job(self.job_id)["time_limit"]), (GPU5, 5))

    def test_more_cpus_are_frozen_for(self):
        self.assertEqual(self.update("alice", "numcpus=32").returncode, 0)
        self.assertEqual(self.lab.hold(self.hold["id"])["resources"]["cores"], 32)
        self.assertEqual(self.frozen(), 2 * GPU5)

    def test_another_account_or_size_is_another_submission(self):
        for words in (("account=bio",), ("numnodes=2",), ("gres=gpu:a100:2",)):
            with self.subTest(words=words):
                self.assertNotEqual(self.update("alice", *words).returncode, 0)
        self.assertEqual((self.frozen(), self.lab.job(self.job_id)["account"]), (GPU5, "physics"))

    def test_another_partition_is_known_to_the_ledger(self):
        self.assertEqual(self.update("alice", "partition=cpu,gpu").returncode, 0)
        self.assertEqual(self.lab.hold(self.hold["id"])["job"], {"name": "wrap", "partition": "cpu,gpu"})

    def test_root_passes_unasked(self):
        self.assertEqual(self.update(None, "timelimit=20").returncode, 0)
        self.assertEqual(self.frozen(), GPU5)

    def test_what_costs_nothing_passes(self):
        self.assertEqual(self.update("alice", "comment=hello", "nice=5").returncode, 0)

    def test_the_throttle_of_an_array_only_narrows(self):
        hold = self.submit("alice", "--array=0-9%4", "-t5")
        self.bind(hold)
        self.assertEqual(self.update("alice", "arraytaskthrottle=2").returncode, 0)
        self.assertNotEqual(self.update("alice", "arraytaskthrottle=8").returncode, 0)
        self.assertNotEqual(self.update("alice", "arraytaskthrottle=0").returncode, 0)

    def test_a_job_that_is_not_bound_yet_follows_the_fail_policy(self):
        self.submit("alice", "-t5")
        self.assertNotEqual(self.update("alice", "timelimit=10").returncode, 0)
        self.reconfigure(fail_policy="open")
        self.assertEqual(self.update("alice", "timelimit=10").returncode, 0)
        self.reconfigure()


class Impostor:
    """A server that answers everything with the same bytes, in its own time."""

    def __init__(self, data, wait_s=0, drip_s=None):
        self.data, self.wait_s, self.drip_s = data, wait_s, drip_s
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.count = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection):
        try:
            with connection:
                connection.recv(65536)
                self.count += 1
                time.sleep(self.wait_s)
                if self.drip_s is None:
                    connection.sendall(self.data)
                for byte in self.data if self.drip_s is not None else b"":
                    connection.sendall(bytes([byte]))
                    time.sleep(self.drip_s)
        except OSError:
            return

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def http(body, status="200 OK", length=None):
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body) if length is None else length}\r\n\r\n"
    return head.encode() + body


ODDITIES = {
    "not HTTP": b"\x00\xff\x13garbage" * 100,
    "no answer at all": b"",
    "half an answer": http(b'{"id": "lab-', length=4000),
    "a page of a proxy": http(b"<html>hello</html>", "502 Bad Gateway"),
    "not JSON": http(b"this is no JSON", "201 Created"),
    "JSON of another kind": http(b"[1, 2]", "201 Created"),
    "somebody else's hold": http(b'{"id": "lab-1", "state": "frozen"}', "201 Created"),
    "deep JSON": http(b"[" * 100000, "201 Created"),
    "8 MiB": http(b'{"x": "' + b"y" * (8 << 20) + b'"}', "201 Created"),
    "an endless header": b"HTTP/1.1 201 Created\r\n" + b"X-Y: " + b"z" * (2 << 20),
    "not allowed": http(b'{"code": "not_allowed", "title": "no"}', "403 Forbidden"),
    "a problem without its members": http(b'{"code": 7, "violations": 3}', "409 Conflict"),
}


class NoAnswer(Hook):
    """The daemon is down, slow or somebody else (SPEC 11.1)."""

    DEADLINE_MS = 300

    def setUp(self):
        super().setUp()
        self.plain_ms = min(self.timed()[1] for _ in range(3))

    def tearDown(self):
        self.lab.corehour.go_on()
        super().tearDown()

    @classmethod
    def tearDownClass(cls):
        if cls.lab is not None:
            cls.lab.reconfigure()

    def timed(self, user="alice"):
        began = time.monotonic()
        result = self.lab.run(user, "sbatch", "--parsable", "-H", "-A", "physics", "-t5", "--wrap", "true")
        return result, (time.monotonic() - began) * 1000

    def within(self, limit_ms, check):
        """The best of several tries, beside what sbatch takes by itself: the machine may be busy, the hook may not."""
        times = []
        limit_ms += self.plain_ms
        for _ in range(20):
            result, took_ms = self.timed()
            check(result)
            times.append(took_ms)
            if took_ms < limit_ms:
                break
        print(f"# {self.id()}: {min(times):.0f} ms of {limit_ms:.0f}, {self.plain_ms:.0f} without trouble", flush=True)
        self.assertLess(min(times), limit_ms)

    def refused(self, result):
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("sbatch: error: the quota service gave no answer", result.stderr)
        self.assertNotIn(REFUSED, result.stderr)

    def test_a_daemon_that_hangs_costs_the_deadline_and_no_more(self):
        self.reconfigure(deadline_ms=self.DEADLINE_MS, breaker_s=0)
        self.lab.corehour.pause()
        self.within(self.DEADLINE_MS + 100, self.refused)

    def test_nobody_else_stalls(self):
        self.reconfigure(deadline_ms=self.DEADLINE_MS, breaker_s=1)
        self.lab.corehour.pause()
        submitters = [threading.Thread(target=self.timed, args=("alice",)) for _ in range(4)]
        for thread in submitters:
            thread.start()
        best = {}
        for command in (("squeue",), ("scontrol", "show", "partition"), ("sinfo",)):
            for _ in range(4):
                began = time.monotonic()
                self.assertEqual(self.lab.try_run(command).returncode, 0)
                best[command[0]] = min(best.get(command[0], 9e9), (time.monotonic() - began) * 1000)
        result, took_ms = self.timed("bob")
        for thread in submitters:
            thread.join()
        self.refused(result)
        print(f"# while four submissions hang: {best}, another sbatch {took_ms:.0f} ms", flush=True)
        self.assertLess(best["squeue"], self.DEADLINE_MS + 100)
        self.assertLess(took_ms, 5 * self.DEADLINE_MS + 2000, "the breaker answers those behind it at once")

    def test_a_daemon_that_is_gone_refuses_at_once(self):
        self.reconfigure(deadline_ms=self.DEADLINE_MS, breaker_s=0)
        self.lab.corehour.kill()
        try:
            self.within(self.DEADLINE_MS + 100, self.refused)
        finally:
            self.lab.corehour.start()
        result, _ = self.timed()
        self.assertEqual(result.returncode, 0, "it goes on as soon as the daemon is back: " + result.stderr)

    def test_answers_of_ten_seconds_and_drops(self):
        for wait_s, drip_s in ((10, None), (0, 0.05)):
            with Impostor(http(b'{"id": "x"}' + b" " * 500), wait_s, drip_s) as server:
                self.reconfigure(url=server.url, deadline_ms=self.DEADLINE_MS, breaker_s=0)
                self.within(self.DEADLINE_MS + 100, self.refused)
                self.assertGreater(server.count, 0)

    def test_garbage_is_no_answer(self):
        with Impostor(b"") as server:
            self.reconfigure(url=server.url, deadline_ms=self.DEADLINE_MS, breaker_s=0)
            for name, data in ODDITIES.items():
                with self.subTest(answer=name):
                    server.data, server.count = data, 0
                    result, took_ms = self.timed()
                    if name != "a problem without its members":
                        self.refused(result)
                    self.assertEqual(result.returncode, 1)
                    self.assertGreater(server.count, 0)
                    self.assertLess(took_ms, 10000)
        self.assertEqual(self.lab.try_run(["scontrol", "ping"]).returncode, 0)

    def test_open_lets_through_says_so_and_leaves_the_fact(self):
        self.reconfigure(deadline_ms=self.DEADLINE_MS, breaker_s=0, fail_policy="open")
        self.lab.corehour.pause()
        result, _ = self.timed()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("the job goes ahead and is charged later", result.stderr)
        word, hold = self.lab.hold_of(int(result.stdout)).split(":")
        self.assertEqual(word, "open")
        path = self.lab.spool / f"{hold}.json"
        fact = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual((fact["id"], fact["account"], fact["user"], fact["time_limit_s"]), (hold, "physics", "alice", 300))
        self.assertRegex(fact.pop("at"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.lab.corehour.go_on()
        self.assertEqual(self.lab.ok("POST", "/holds", fact)["state"], "frozen")
        path.unlink()

    def test_open_needs_no_spool(self):
        self.reconfigure(deadline_ms=self.DEADLINE_MS, breaker_s=0, fail_policy="open", spool_dir="/nonexistent/folder")
        self.lab.corehour.pause()
        result, _ = self.timed()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(self.lab.hold_of(int(result.stdout)), r"^open:lab-")

    def test_after_an_outage_the_deadline_is_not_spent_again_for_everybody(self):
        self.reconfigure(deadline_ms=2000, breaker_s=30)
        self.lab.corehour.pause()
        self.refused(self.timed()[0])
        best = min(self.timed()[1] for _ in range(3))
        print(f"# behind the breaker: {best:.0f} ms", flush=True)
        self.assertLess(best, 1900)


class Observes(Hook):
    def test_it_only_says_what_it_would_refuse(self):
        self.cap("physics", "month", core_hours="1")
        before = self.lab.balance("physics")["frozen_mcs"]
        self.reconfigure(mode="observe")
        job_id = self.lab.sbatch("alice", "-H", "-A", "physics", *BIG)
        self.reconfigure()
        self.assertEqual(self.lab.job(job_id)["admin_comment"], "corehour:observe")
        self.assertEqual(self.lab.balance("physics")["frozen_mcs"], before)
        self.assertRegex(self.lab.log_of_controller(), r"user alice account physics hold lab-\S+: observe: would be refused: quota insuff")

    def test_a_daemon_that_is_away_does_not_matter(self):
        self.reconfigure(mode="observe", url="http://127.0.0.1:1", breaker_s=0)
        job_id = self.lab.sbatch("alice", "-H", "-A", "physics", *BIG)
        self.reconfigure()
        self.assertEqual(self.lab.job(job_id)["admin_comment"], "corehour:observe")


class PluginAccepted(Accepted, part.Part):
    KIND = "corehour"


class PluginRefused(Refused, part.Part):
    KIND = "corehour"


class PluginWaits(Waits, part.Part):
    KIND = "corehour"


class PluginChanges(Changes, part.Part):
    KIND = "corehour"


class PluginNoAnswer(NoAnswer, part.Part):
    KIND = "corehour"


class PluginObserves(Observes, part.Part):
    KIND = "corehour"


class PluginConfiguration(Hook, part.Part):
    KIND = "corehour"

    def test_a_wrong_file_leaves_the_last_one_in_force(self):
        (self.lab.etc / "corehour.conf").write_text("colour = red\n", encoding="utf-8")
        said = "corehour.conf:1: colour: unknown key"
        l.wait_for("the hook says what is wrong", lambda: said in self.lab.log_of_controller())
        self.submit("alice", "-t5")
        self.reconfigure()

    def test_without_a_configuration_slurmctld_starts_and_submissions_are_refused(self):
        (self.lab.etc / "corehour.conf").unlink()
        self.lab.restart_controller()
        result = self.lab.run("alice", "sbatch", "-t5", "--wrap", "true")
        self.assertEqual(result.returncode, 1)
        self.assertIn("the quota hook cannot work", result.stderr)
        self.assertIn("No such file", result.stderr)
        self.reconfigure()
        wait_for_site(self.lab)

    def threads(self):
        """Of the hook's own in slurmctld, and connections to the daemon."""
        process = pathlib.Path(f"/proc/{self.lab.processes['slurmctld'].pid}")
        names = [(task / "comm").read_text(encoding="utf-8").strip() for task in (process / "task").iterdir()]
        links = {os.readlink(fd) for fd in (process / "fd").iterdir() if fd.is_symlink()}
        port = f":{self.lab.corehour.fixed:04X}"
        rows = [line.split() for line in (process / "net/tcp").read_text(encoding="utf-8").splitlines()[1:]]
        return names.count("corehour"), sum(row[2].endswith(port) and f"socket:[{row[9]}]" in links for row in rows)

    def test_taken_out_and_put_in_again_it_leaves_nothing_behind(self):
        for _ in range(3):
            self.submit("alice", "-t5")
            self.assertEqual(self.threads(), (1, 1))
            self.lab.reload_controller("")
            job_id = self.lab.sbatch("alice", "-H", "-t5")
            self.assertEqual(self.lab.job(job_id)["admin_comment"], "")
            l.wait_for("the thread and the connection to end", lambda: self.threads() == (0, 0))
            self.lab.reload_controller("corehour")
            wait_for_site(self.lab)

    def test_it_freezes_what_the_plugin_before_it_made_of_the_job(self):
        self.lab.site_lua = OTHER_PLUGIN
        try:
            self.lab.reload_controller("lua,corehour")
            l.wait_for("the site's own rule to hold", lambda: self.submit("alice", "-t5")["time_limit_s"] == 420)
        finally:
            self.lab.site_lua = None
            self.lab.reload_controller("corehour")
        wait_for_site(self.lab)

    def test_a_new_token_is_used_without_touching_the_configuration(self):
        old = self.lab.token_file.read_text(encoding="utf-8")
        read = lambda: self.lab.log_of_controller().count("corehour.conf read")  # noqa: E731
        for token, code in (("ch_wrong\n", 1), (old, 0)):
            before = read()
            self.lab.token_file.write_text(token, encoding="utf-8")
            l.wait_for("the hook to read the token", lambda: read() > before)  # noqa: B023
            self.assertEqual(self.lab.run("alice", "sbatch", "-H", "-t5", "--wrap", "true").returncode, code)

    def test_a_token_that_comes_after_the_start_is_found(self):
        kept = self.lab.token_file.rename(self.lab.etc / "kept")
        self.lab.restart_controller()
        result = self.lab.run("alice", "sbatch", "-t5", "--wrap", "true")
        self.assertIn("the quota hook cannot work (token_file", result.stderr)
        self.assertEqual(result.returncode, 1)
        kept.rename(self.lab.token_file)
        wait_for_site(self.lab)

    def test_an_operator_passes_when_the_file_names_him(self):
        hold = self.submit("alice", "-t5")
        self.bind(hold)
        update = ("scontrol", "update", f"jobid={self.job_id}", "account=bio")
        self.assertNotEqual(self.lab.run("alice", *update).returncode, 0)
        uid = self.lab.run("alice", "id", "-u").stdout.strip()
        self.reconfigure(admin_uids=uid)
        self.assertEqual(self.lab.run("alice", *update).returncode, 0)
        self.reconfigure()


class Cost(Hook, part.Part):
    KIND = "corehour"

    def test_the_quote_is_what_the_hook_freezes(self):
        corehour = self.lab.build / "clients" / "cli" / "corehour"
        environment = {"COREHOUR_URL": self.lab.settings["url"], "COREHOUR_TOKEN": self.lab.corehour.token, "HOME": "/nonexistent"}
        for options in (("-n2", "--gres=gpu:a100:1", "-p", "gpu"), ("-N2", "--gpus-per-node=2", "-p", "gpu"), ("-a", "0-3%2", "-c", "4")):
            with self.subTest(options=options):
                words = [corehour, "cost", "--json", "-M", l.CLUSTER, "-A", "physics", "-u", "alice", "-t", "5", *options]
                result = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
                self.assertEqual(result.returncode, 0, result.stderr)
                hold = self.submit("alice", "-A", "physics", "-t", "5", *options)
                self.assertEqual(json.loads(result.stdout)["requested_mcs"], hold["frozen_mcs"])


class LuaAccepted(Accepted, part.Part):
    KIND = "lua"
    WHOLE_NODE = ()  # Lua is not told what nodes have; what was allocated settles it


class LuaRefused(Refused, part.Part):
    KIND = "lua"


class LuaWaits(Waits, part.Part):
    KIND = "lua"


class LuaChanges(Changes, part.Part):
    KIND = "lua"


class LuaNoAnswer(NoAnswer, part.Part):
    KIND = "lua"


class LuaObserves(Observes, part.Part):
    KIND = "lua"


class Speed(Hook, part.Part):
    KIND = "corehour"
    COUNT = 50
    ROUNDS = 4 if os.environ.get("COREHOUR_QUIET_MACHINE") else 1

    def round(self, count=COUNT):
        """50 sbatch in a row: the sum of their times in ms."""
        script = "for i in $(seq %d); do sbatch --parsable -H -A bio -t5 -o /dev/null --wrap true >/dev/null || exit 1; done"
        began = time.monotonic()
        result = self.lab.run("bob", "sh", "-c", script % count, timeout_s=120)
        took_ms = (time.monotonic() - began) * 1000
        self.assertEqual(result.returncode, 0, result.stderr)
        self.lab.admin("scancel", "-f", "-u", "bob")
        return took_ms

    def test_fifty_in_a_row_cost_what_they_cost_without_the_hook(self):
        self.round(10)
        with_hook = min(self.round() for _ in range(self.ROUNDS))
        self.lab.restart_controller(submit="")
        self.round(10)
        without = min(self.round() for _ in range(self.ROUNDS))
        ratio = with_hook / without
        print(f"# sbatch: {with_hook / self.COUNT:.2f} ms with the hook, {without / self.COUNT:.2f} without: {ratio:.3f}", flush=True)
        limit = 1.15 if os.environ.get("COREHOUR_QUIET_MACHINE") else 3
        self.assertLess(ratio, limit)


def load_tests(loader, _tests, _pattern):
    """In the order of this file, all of the plugin before all of the Lua variant: the controller is started again in between."""
    suite = part.unittest.TestSuite()
    classes = [value for value in globals().values() if isinstance(value, type) and issubclass(value, part.Part)]
    for value in sorted(classes, key=lambda each: getattr(each, "KIND", "") == "lua"):
        suite.addTests(loader.loadTestsFromTestCase(value))
    return suite
