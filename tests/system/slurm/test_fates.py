"""Every fate of a job on the real cluster, from its hold to its charge: the agent tells, the ledger books, and the sum is what
Slurm's own records say, to the mcs; also of what ended while the agent was away (SPEC 11.2)."""

import json
import re
import signal
import subprocess
import time
import unittest

import agent as a
import lab as l
import part


EATS = r"x=$(head -c 150000000 /dev/zero | tr '\0' x); sleep 60"


class World(part.Part):
    """One agent for all classes here."""

    agent = None
    jobs = {}
    baseline = {}

    def settled(self, name, runs=1, within_s=120):
        """The settled hold of a job, its charge compared with Slurm's record."""
        return self.settled_hold(*self.jobs[name], runs, within_s)

    def settled_hold(self, job, hold, runs=1, within_s=120):
        shown = self.agent.settled(hold, runs, within_s)
        self.assertEqual(shown["used_mcs"], a.cost_in_slurm(self.lab, job, hold), f"{shown}")
        self.assertEqual(shown["frozen_mcs"], 0)
        self.assertEqual(shown["job_id"], str(job))
        return shown

    def outcomes(self, shown):
        return [run["outcome"] for run in sorted(shown["runs"], key=lambda run: (run["task"], run["attempt"]))]


class Fates(World):
    """All jobs are submitted at once, the slow ones first; each test then looks at its own."""

    @classmethod
    def setUpClass(cls):
        lab = part.Part.lab
        if lab is None:
            return
        World.agent = a.Agent(lab)
        cls.agent.start()
        l.wait_for("what was before to be settled", cls.agent.agrees, 180)
        World.baseline = {account: lab.balance(account)["used_mcs"] for account in l.ACCOUNTS}
        World.first_id = lab.sbatch("alice", "-A", "physics", "-n1", "-t1", "-H")
        lab.admin("scancel", cls.first_id)
        cls._seen_before(lab)
        submit = cls.agent.submit
        safe = ("-x", "node3")  # which crashes
        yields = ("-w", "node2", "--requeue")  # to the urgent
        World.jobs = {
            "timeout": submit("alice", "physics", *safe, cores=2, minutes=1, script="sleep 300"),
            "completed": submit("alice", "physics", "-w", "node1", cores=4, script="sleep 1"),
            "gpu": submit("alice", "physics", cores=8, gpus=2, script="sleep 2"),
            "failed": submit("bob", "bio", *safe, script="sleep 1; exit 3"),
            "cancelled_pending": submit("bob", "bio", held=True),
            "cancelled_running": submit("bob", "bio", *safe, script="sleep 60"),
            "requeued": submit("alice", "physics", "--requeue", "-w", "node2", script=cls._once("sleep 60")),
            "suspended": submit("alice", "physics", "-w", "node1", script="sleep 30"),
            "array": submit("alice", "physics", *safe, "--array=1-9:2%2", tasks=5, script="sleep 1; [ $SLURM_ARRAY_TASK_ID != 5 ]"),
            "array_cancelled": submit("bob", "bio", "--array=0-3", tasks=4, held=True),
            "preempted_requeue": submit("alice", "physics", *yields, "-p", "yields", cores=30, script=cls._once("sleep 60")),
            "preempted_cancel": submit("bob", "bio", *yields, "-p", "dies", cores=30, script="sleep 60"),
            "oom": submit("bob", "bio", *safe, "--mem=40M", script=EATS),
            "limit_changed": submit("alice", "physics", *safe, script=cls._until("limit")),
            "shrunk": submit("alice", "physics", *safe, "-N2", cores=2, script=cls._until("shrunk")),
            "node_fail": submit("bob", "bio", "--no-requeue", "-w", "node3", script="sleep 60"),
            "node_fail_requeue": submit("bob", "bio", "--requeue", "-w", "node3", script=cls._once("sleep 60")),
        }
        cls._act(lab)

    @staticmethod
    def _once(script):
        return f'if [ "${{SLURM_RESTART_COUNT:-0}}" = 0 ]; then {script}; fi; true'

    @staticmethod
    def _until(name):
        """It runs until go_on(name)."""
        return f"until [ -e $HOME/{name} ]; do sleep 0.2; done"

    def go_on(self, user, name):
        (self.lab.folder / "home" / user / name).touch()

    @classmethod
    def _seen_before(cls, lab):
        """The next job's number was used before, by a job that is long settled."""
        World.old = f"{l.CLUSTER}-{a.uuid7()}"
        body = {"id": cls.old, "cluster": l.CLUSTER, "account": "bio", "user": "bob", "resources": {"cores": 1}}
        lab.ok("POST", "/holds", {**body, "time_limit_s": 60})
        number = cls.first_id + 1
        lab.ok("POST", f"/holds/{cls.old}/bind", {"job_id": str(number), "job_key": f"{number}@1700000000"})
        run = {"started_at": "2026-01-01T00:00:00Z", "ended_at": "2026-01-01T00:00:00Z", "outcome": "failed"}
        lab.ok("POST", f"/holds/{cls.old}/settle", run)

    @classmethod
    def _act(cls, lab):
        """What happens to them from outside."""
        number = {name: str(job) for name, (job, _) in cls.jobs.items()}
        for name in ("cancelled_running", "requeued", "suspended", "node_fail", "node_fail_requeue"):
            lab.wait_state(int(number[name]), "RUNNING")
        for name in ("preempted_requeue", "preempted_cancel", "limit_changed", "shrunk"):
            lab.wait_state(int(number[name]), "RUNNING")
        cls.jobs["urgent"] = cls.agent.submit("alice", "physics", "-N1", "-w", "node2", "-p", "urgent", cores=60, script="sleep 1")
        l.wait_for("the suspended job's start", lambda: lab.hold(cls.jobs["suspended"][1])["state"] == "running")
        lab.admin("scontrol", "suspend", number["suspended"])
        lab.admin("scontrol", "requeue", number["requeued"])
        lab.run("bob", "scancel", number["cancelled_pending"], number["array_cancelled"])
        lab.run("bob", "scancel", number["cancelled_running"])
        lab.end("slurmd-node3", how=signal.SIGKILL)
        lab.admin("scontrol", "update", "nodename=node3", "state=down", "reason=crash")
        l.wait_for("the suspension", lambda: lab.hold(cls.jobs["suspended"][1])["state"] == "suspended")
        time.sleep(2)
        lab.admin("scontrol", "resume", number["suspended"])
        lab.spawn("slurmd-node3", ["slurmd", "-D", "-N", "node3", "-f", lab.slurm_conf])
        time.sleep(2)
        lab.try_run(["scontrol", "update", "nodename=node3", "state=resume"])

    def test_completed(self):
        shown = self.settled("completed")
        self.assertEqual(self.outcomes(shown), ["completed"])
        self.assertGreaterEqual(shown["used_mcs"], 4000)

    def test_a_preempted_job_that_runs_again_is_charged_for_both_attempts(self):
        self.assertEqual(self.outcomes(self.settled("urgent")), ["completed"])
        shown = self.settled("preempted_requeue", runs=2)
        self.assertEqual(self.outcomes(shown), ["preempted", "completed"])

    def test_a_preempted_job_that_is_cancelled_is_charged_for_what_it_had(self):
        shown = self.settled("preempted_cancel")
        self.assertEqual(self.outcomes(shown), ["preempted"])
        self.assertGreater(shown["used_mcs"], 0)

    def test_a_job_that_is_killed_for_its_memory_is_charged(self):
        """Without cgroups Slurm calls that FAILED; its OUT_OF_MEMORY is tried by records, in BadDays."""
        self.assertEqual(self.outcomes(self.settled("oom")), ["failed"])

    def test_a_running_jobs_limit_is_followed(self):
        """What is frozen is what the limit says, shortened by its owner or lengthened by an administrator."""
        lab, (job, hold) = self.lab, self.jobs["limit_changed"]
        frozen = lambda: lab.hold(hold)["frozen_mcs"]  # noqa: E731
        l.wait_for("its start to be told", lambda: lab.hold(hold)["state"] == "running")
        self.assertEqual(frozen(), 300000)
        self.assertEqual(lab.run("alice", "scontrol", "update", f"jobid={job}", "timelimit=3").returncode, 0)
        l.wait_for("the difference to come back", lambda: frozen() == 180000)
        lab.admin("scontrol", "update", f"jobid={job}", "timelimit=8")
        l.wait_for("the longer limit to be frozen for", lambda: frozen() == 480000)
        self.go_on("alice", "limit")
        self.settled("limit_changed")

    def test_a_job_that_shrinks_is_charged_for_what_it_had_when(self):
        job, _ = self.jobs["shrunk"]
        self.assertEqual(self.lab.run("alice", "scontrol", "update", f"jobid={job}", "numnodes=1").returncode, 0)
        l.wait_for("the record of the smaller size", lambda: len(a.rows_of(self.lab, job)) == 2)
        self.go_on("alice", "shrunk")
        shown = self.settled("shrunk", runs=2)
        self.assertEqual(self.outcomes(shown), ["other", "completed"])
        first, second = sorted(shown["runs"], key=lambda run: run["attempt"])
        self.assertEqual(second["started_at"], first["ended_at"], "no second is charged twice")

    def test_gpus_are_charged_by_their_model(self):
        shown = self.settled("gpu")
        self.assertGreaterEqual(shown["used_mcs"], 2 * 32000)

    def test_what_srun_and_salloc_have_run_is_settled_too(self):
        for command in ("srun", "salloc"):
            words = [command, "-A", "bio", "-n2", "-t5", "-J", f"by-{command}", "sleep", "1"]
            self.assertEqual(self.lab.run("bob", *words, timeout_s=120).returncode, 0)
            job = next(job["job_id"] for job in self.lab.jobs() if job["name"] == f"by-{command}")
            shown = self.settled_hold(job, self.lab.hold_of(job))
            self.assertEqual(self.outcomes(shown), ["completed"])

    def test_failed(self):
        self.assertEqual(self.outcomes(self.settled("failed")), ["failed"])

    def test_cancelled_while_running(self):
        self.assertEqual(self.outcomes(self.settled("cancelled_running")), ["cancelled"])

    def test_cancelled_while_pending_returns_everything(self):
        for name in ("cancelled_pending", "array_cancelled"):
            hold = self.jobs[name][1]
            self.agent.released(hold)
            self.assertEqual((self.lab.hold(hold)["used_mcs"], self.lab.hold(hold)["frozen_mcs"]), (0, 0), name)

    def test_each_attempt_of_a_requeued_job_is_charged(self):
        shown = self.settled("requeued", runs=2)
        self.assertEqual(self.outcomes(shown), ["other", "completed"])
        keys = [run["run_key"] for run in shown["runs"]]
        self.assertEqual(len(set(keys)), 2, "each attempt has its own DBIndex")

    def test_suspended_time_is_not_charged(self):
        shown = self.settled("suspended")
        run = shown["runs"][0]
        rows = self.lab.sacct(self.jobs["suspended"][0], "ElapsedRaw", "Suspended")
        self.assertNotEqual(rows[0]["Suspended"], "00:00:00")
        self.assertEqual(run["charged_mcs"], int(rows[0]["ElapsedRaw"]) * 1000)

    def test_array_tasks_are_settled_one_by_one(self):
        shown = self.settled("array", runs=5)
        self.assertEqual(self.outcomes(shown), ["completed", "completed", "failed", "completed", "completed"])

    def test_a_node_failure_is_waived(self):
        shown = self.settled("node_fail")
        self.assertEqual(self.outcomes(shown), ["node_fail"])
        self.assertEqual(shown["used_mcs"], 0)

    def test_after_a_node_failure_the_next_attempt_is_charged(self):
        shown = self.settled("node_fail_requeue", runs=2)
        self.assertEqual(self.outcomes(shown), ["node_fail", "completed"])


class Waiting(World):
    """Jobs that wait for quota, and jobs whose quota is used up."""

    def cluster(self, **keys):
        self.lab.ok("PATCH", f"/clusters/{l.CLUSTER}", keys, {"If-Match": "*"})

    def test_a_waiting_job_starts_soon_after_the_cap_was_raised_and_not_before(self):
        lab, agent = self.lab, self.agent
        filler, filling = agent.submit("bob", "bio", held=True)  # 5 core minutes of the 6 that the cap leaves
        used = lab.balance("bio")["used_mcs"] + lab.balance("bio")["frozen_mcs"]
        lab.cap("bio", "total", mcs=used + 60000)
        self.cluster(on_insufficient="wait")
        try:
            job, hold = agent.submit("bob", "bio", script="sleep 1", waits=True)
            self.assertEqual(lab.hold(hold)["state"], "waiting")
            self.assertEqual((lab.job(job)["job_state"], lab.job(job)["priority"]), ("PENDING", 0))
            if agent.hooked:
                refused = lab.run("bob", "scontrol", "release", job)
                self.assertNotEqual(refused.returncode, 0, "its owner may not release it")
            l.wait_for("the agent to follow it", lambda: lab.hold(hold).get("job_id"))
            self.assertEqual(lab.job(job)["job_state"], "PENDING")
            raised, stalled = time.time(), 0
            lab.cap("bio", "total", mcs=used + 10 * a.HOUR)
            while lab.job(job)["job_state"] == "PENDING":
                before = time.time()
                time.sleep(0.1)
                stalled += max(0, time.time() - before - 0.5)  # all processes were stopped
                self.assertLess(time.time() - raised, 120)
            self.assertLessEqual(lab.job(job)["start_time"] - raised, 5 + stalled)
            self.settled_hold(job, hold)
        finally:
            self.cluster(on_insufficient="reject")
            lab.uncap("bio", "total")
            lab.run("bob", "scancel", filler)
        agent.released(filling)

    def test_a_job_without_quota_is_told_and_stopped_after_the_grace(self):
        lab, agent = self.lab, self.agent
        out = lab.folder / "home" / "bob" / "stopped.out"
        self.cluster(mode="window", window_s=4, on_exhausted="stop", stop_grace_s=3)
        used = lab.balance("bio")["used_mcs"] + lab.balance("bio")["frozen_mcs"]
        lab.cap("bio", "total", mcs=used + 6000)
        try:
            job, hold = agent.submit("bob", "bio", "-o", out, script="sleep 100")
            lab.wait_state(job, "CANCELLED")
            shown = self.settled_hold(job, hold)
            self.assertEqual(self.outcomes(shown), ["cancelled"])
            self.assertGreaterEqual(shown["used_mcs"], 5000)
            self.assertIn("corehour: this job ends in", out.read_text(encoding="utf-8"))
            self.assertIn("corehour: cancelled", lab.admin("scontrol", "show", "job", job))
        finally:
            self.cluster(mode="full", window_s=300, on_exhausted="continue", stop_grace_s=120)
            lab.uncap("bio", "total")


class People(World):
    """A user of the cluster needs no token: MUNGE says who asks."""

    @classmethod
    def setUpClass(cls):
        lab = part.Part.lab
        if lab is None:
            return
        for made in ("would put|there", "put|there", "there"):
            words = ["--dry-run"] if made.startswith("would") else []
            token = [f"COREHOUR_TOKEN={lab.corehour.token}"]
            result = cls.agent.command("import", "--organization", "acme", *words, environment=token)
            assert result.returncode == 0, result.stdout + result.stderr
            lines = result.stdout.splitlines()[:-1]
            assert len(lines) == 6 and all(re.match(made, line) for line in lines), result.stdout

    def corehour(self, user, *words):
        door = [f"COREHOUR_DOOR={self.agent.keys['door']}", f"COREHOUR_MUNGE_SOCKET={self.lab.munge_socket}"]
        return self.lab.run(user, "env", *door, self.lab.build / "clients" / "cli" / "corehour", *words)

    def test_everybody_sees_their_own_balance(self):
        result = self.corehour("alice", "balance", "--json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        shown = json.loads(result.stdout)
        self.assertEqual((shown["kind"], shown["path"][-1]), ("member", "alice"))
        self.assertEqual(shown["path"][-2], "physics", "the default account")
        self.assertEqual(self.corehour("alice", "balance", "bio/alice").returncode, 0)

    def test_nobody_sees_what_is_somebody_elses(self):
        job, hold = self.agent.submit("alice", "physics", held=True)
        try:
            self.assertEqual(self.corehour("alice", "hold", "show", hold).returncode, 0)
            self.assertNotEqual(self.corehour("bob", "hold", "show", hold).returncode, 0)
            self.assertNotEqual(self.corehour("bob", "balance", "physics/alice").returncode, 0)
            self.assertEqual(self.corehour("bob", "release", hold).returncode, 4, "a member changes nothing")
        finally:
            self.lab.run("alice", "scancel", job)

    def test_why_says_which_limit_fails_and_who_holds_it(self):
        lab, agent = self.lab, self.agent
        filler, _ = agent.submit("bob", "bio", held=True)
        used = lab.balance("bio")["used_mcs"] + lab.balance("bio")["frozen_mcs"]
        lab.cap("bio", "total", mcs=used + 60000)
        lab.ok("PATCH", f"/clusters/{l.CLUSTER}", {"on_insufficient": "wait"}, {"If-Match": "*"})
        try:
            job, hold = agent.submit("bob", "bio", waits=True)
            l.wait_for("the agent to follow it", lambda: lab.hold(hold).get("job_id"))
            result = self.corehour("bob", "why", job)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertIn("it waits for core-hours: 0.08 core-hours", result.stdout)
            self.assertRegex(result.stdout, r"project bio +total")
            self.assertIn("most is held there", result.stdout)
            result = self.corehour("bob", "why", filler)
            self.assertIn("quota does not hold it", result.stdout)
        finally:
            lab.ok("PATCH", f"/clusters/{l.CLUSTER}", {"on_insufficient": "reject"}, {"If-Match": "*"})
            lab.run("bob", "scancel", "-u", "bob")
            lab.uncap("bio", "total")


class BadDays(World):
    """Everything dies in the middle; nothing is lost and nothing is booked twice (SPEC 11.1, 11.2)."""

    def jobs_run(self, count, script="sleep 2"):
        return [self.agent.submit("alice", "physics", cores=2, script=script) for _ in range(count)]

    def all_settled(self, jobs):
        for job, hold in jobs:
            self.settled_hold(job, hold)

    def test_the_agent_is_killed_and_slurmdbd_stopped_in_the_middle(self):
        lab = self.lab
        first = self.jobs_run(3)
        for job, _ in first:
            lab.wait_state(job, "RUNNING", "COMPLETED")
        self.agent.kill()
        second = self.jobs_run(2)
        for job, _ in first:
            lab.wait_state(job, "COMPLETED")
        lab.end("slurmdbd")
        self.agent.start()
        third = self.jobs_run(2, "sleep 1")
        for job, _ in second + third:
            lab.wait_state(job, "COMPLETED")
        self.agent.kill()
        self.agent.start()
        self.assertTrue([hold for _, hold in third if lab.hold(hold)["state"] != "settled"], "ends wait for slurmdbd")
        lab.start_slurmdbd()
        self.all_settled(first + second + third)

    def test_events_wait_on_disk_while_the_daemon_is_away_also_over_a_crash(self):
        lab = self.lab
        jobs = self.jobs_run(2)
        lab.corehour.stop()
        for job, _ in jobs:
            lab.wait_state(job, "COMPLETED")
        outbox = self.agent.state / "outbox.ndjson"
        l.wait_for("the ends to be written down", lambda: outbox.read_text(encoding="utf-8").count('"settle"') >= 2)
        self.agent.kill()
        self.agent.start()
        lab.corehour.start()
        self.all_settled(jobs)

    def let_through(self, script, with_file):
        """A job that the plugin let through because the daemon was away; without a file the spool's disk was away, too."""
        lab, agent = self.lab, self.agent
        lab.reconfigure(**agent.keys, fail_policy="open", **({} if with_file else {"spool_dir": "/nonexistent/folder"}))
        if agent.hooked:
            job = lab.sbatch("bob", "-A", "bio", "-n1", "-t5", script=script)
            hold = lab.hold_of(job).removeprefix("open:")
        else:
            hold = f"{l.CLUSTER}-{a.uuid7()}"
            job = lab.sbatch("bob", "-A", "bio", "-n1", "-t5", "-H", script=script)
            lab.admin("scontrol", "update", f"jobid={job}", f"admincomment=corehour:open:{hold}")
            body = {"id": hold, "cluster": l.CLUSTER, "account": "bio", "user": "bob", "resources": {"cores": 1}}
            fact = {**body, "time_limit_s": 300, "at": "2026-11-30T00:00:00Z"}
            if with_file:
                (lab.spool / f"{hold}.json").write_text(json.dumps(fact), encoding="utf-8")
            lab.admin("scontrol", "release", job)
        self.assertEqual((lab.spool / f"{hold}.json").exists(), with_file)
        return job, hold

    def test_what_was_let_through_is_charged_later(self):
        lab, agent = self.lab, self.agent
        lab.corehour.stop()
        late = self.let_through("sleep 2", True)
        lost = self.let_through("sleep 1", False)
        for job, _ in (late, lost):
            lab.wait_state(job, "COMPLETED")
        lab.corehour.start()
        self.settled_hold(*late)
        self.assertFalse((lab.spool / f"{late[1]}.json").exists(), "its fact is used up")
        job, hold = lost
        l.wait_for("the charge", lambda: lab.has_hold(f"{hold}.0.0"))
        charge = lab.hold(f"{hold}.0.0")
        self.assertEqual(charge["used_mcs"], a.cost_in_slurm(lab, job, hold))
        self.assertIn("unfrozen", charge["flags"])
        lab.reconfigure(**agent.keys)

    def test_what_never_became_a_job_comes_back(self):
        lab, agent = self.lab, self.agent
        before = lab.balance("bio")["frozen_mcs"]
        orphan = {"id": f"{l.CLUSTER}-{a.uuid7()}", "cluster": l.CLUSTER, "account": "bio", "user": "bob"}
        lab.ok("POST", "/holds", {**orphan, "resources": {"cores": 1}, "time_limit_s": 60})
        if agent.hooked:
            size = ["-A", "bio", "-n1", "-t5"]
            lab.run("bob", "sbatch", "--test-only", *size, "--wrap", "true")
            self.assertNotEqual(lab.run("bob", "sbatch", *size, "--qos=nosuch", "--wrap", "true").returncode, 0)
            lab.cap("bio", "job_gpus", limit=1)
            het = lab.run("bob", "sbatch", *size, ":", "-p", "gpu", "--gres=gpu:a100:4", *size, "--wrap", "true")
            lab.uncap("bio", "job_gpus")
            self.assertNotEqual(het.returncode, 0, "its second component is too large")
        self.assertGreater(lab.balance("bio")["frozen_mcs"], before)
        l.wait_for("everything to come back", lambda: lab.balance("bio")["frozen_mcs"] == before, 180)
        self.assertEqual(lab.hold(orphan["id"])["state"], "released")

    def test_both_components_of_a_heterogeneous_job_are_charged(self):
        lab, agent = self.lab, self.agent
        if not agent.hooked:
            self.skipTest("needs the plugin")
        size = ["-A", "physics", "-t5"]
        job = lab.sbatch("alice", *size, "-n1", ":", *size, "-p", "gpu", "-n2", "--gres=gpu:1", script="sleep 2")
        lab.wait_state(job, "COMPLETED")
        lab.wait_state(job + 1, "COMPLETED")
        self.settled_hold(job, lab.hold_of(job))
        self.settled_hold(job + 1, lab.hold_of(job + 1))

    def test_reconciliation_repairs_what_has_evidence_and_lists_what_has_none(self):
        lab, agent = self.lab, self.agent
        self.agent.kill()
        jobs = self.jobs_run(4, "sleep 1")
        for job, _ in jobs:
            lab.wait_state(job, "COMPLETED")
        l.wait_for("the records", lambda: all(row["End"] != "Unknown" for row in a.rows_of(lab, *(job for job, _ in jobs))))
        self.record(jobs[1][0], "state=1, time_end=0")
        self.record(jobs[2][0], "state=11")
        self.record(jobs[3][0], "state=10")
        dry = agent.command("reconcile", "--dry-run")
        self.assertEqual(dry.returncode, 1, dry.stdout + dry.stderr)
        self.assertIn("would settle", dry.stdout)
        self.assertIn("runaway", dry.stdout)
        self.assertNotEqual(lab.hold(jobs[0][1])["state"], "settled", "a dry run writes nothing")
        once = agent.command("reconcile", "--since", "-1h")
        self.assertEqual(once.returncode, 1, once.stdout + once.stderr)
        self.settled_hold(*jobs[0])
        self.assertEqual(self.outcomes(self.settled_hold(*jobs[2])), ["oom"])
        self.assertEqual(self.outcomes(self.settled_hold(*jobs[3])), ["deadline"])
        self.assertNotEqual(lab.hold(jobs[1][1])["state"], "settled", "a runaway is not settled at 0")
        self.record(jobs[1][0], "state=3, time_end=time_start+1")
        again = agent.command("reconcile")
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.settled_hold(*jobs[1])
        self.agent.start()

    def record(self, job, values):
        """Changes Slurm's record of a job, as lost messages or a node with cgroups would have left it."""
        data = self.lab.folder / "db"
        sql = f"update slurm_acct.{l.CLUSTER}_job_table set {values} where id_job={job}"
        self.lab.admin("mariadb", "--no-defaults", "-uroot", f"--socket={data}/s.sock", "-e", sql)


class Slow(World):
    def test_a_job_number_that_was_seen_before_is_another_job(self):
        shown = self.settled("timeout")
        self.assertEqual(self.lab.hold(self.old)["used_mcs"], 0)
        self.assertNotEqual(shown["id"], self.old)

    def test_timeout_books_the_overrun(self):
        shown = self.settled("timeout")
        self.assertEqual(self.outcomes(shown), ["timeout"])
        self.assertGreaterEqual(shown["used_mcs"], 2 * 60000)
        self.assertEqual(shown["runs"][0]["overrun_mcs"], shown["used_mcs"] - 2 * 60000)


class AllAgree(World):
    """At the end both sides agree, to the mcs."""

    def test_at_the_end_reconciliation_says_that_all_agree_and_the_sums_are_those_of_slurm(self):
        lab, agent = self.lab, self.agent
        l.wait_for("all holds to be resolved", lambda: not agent.open_holds(), 180)
        result = agent.command("reconcile", "--since", "-1h")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("all agree", result.stdout)
        text = lab.admin("sacct", "-a", "-n", "-X", "-P", "-S", "now-2hours", "-o", "JobIDRaw")
        ids = sorted({job for job in map(int, text.split()) if job > self.first_id})
        rows = [row for row in a.rows_of(lab, *ids) if row["AdminComment"].startswith("corehour:")]
        self.assertGreater(len(rows), 20)
        for account in l.ACCOUNTS:
            in_slurm = sum(a.cost_of(row) for row in rows if row["Account"] == account)
            in_ledger = lab.balance(account)["used_mcs"] - self.baseline[account]
            self.assertEqual(in_ledger, in_slurm, account)
        check = subprocess.run(
            [lab.corehour.program, "check", "--data", lab.corehour.data], capture_output=True, text=True, check=False
        )
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        rejected = agent.state / "rejected.ndjson"
        self.assertFalse(rejected.exists(), rejected.exists() and rejected.read_text(encoding="utf-8"))
        self.assertEqual(lab.end("corehour-slurm"), 0)


def load_tests(loader, _tests, _pattern):
    """In this order: the time-outs, which take more than a minute, run beside the others."""
    suite = unittest.TestSuite()
    for case in (Fates, Waiting, People, BadDays, Slow, AllAgree):
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite
