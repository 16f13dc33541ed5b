"""What the tests of the agent share: the agent's process, submissions, and what Slurm's records say they cost."""

import datetime
import re
import signal
import subprocess
import time
import uuid

import lab as l

HOUR = 3600000
OPEN_STATES = ("waiting", "frozen", "running", "suspended")


def uuid7():
    raw = f"{int(time.time() * 1000):012x}7{uuid.uuid4().hex[:3]}8{uuid.uuid4().hex[:15]}"
    return f"{raw[:8]}-{raw[8:12]}-{raw[12:16]}-{raw[16:20]}-{raw[20:]}"


class Agent:
    """The agent of a lab. `hooked`: the submit plugin is there; without it submit() does what the plugin would."""

    def __init__(self, lab):
        self.lab = lab
        self.program = str(lab.build / "clients" / "slurm" / "agent" / "corehour-slurm")
        self.state = lab.folder / "agent-state"
        self.state.mkdir(exist_ok=True)
        self.hooked = lab.submit == "corehour"
        self.keys = {
            "state_dir": self.state,
            "poll_s": 1,
            "heartbeat_s": 1,
            "orphan_s": 10,
            "reconcile_s": 20,
            "door": lab.folder / "run" / "door.sock",
            "munge_socket": lab.munge_socket,
        }
        lab.reconfigure(**self.keys)

    def start(self):
        self.lab.spawn("corehour-slurm", [self.program])

    def kill(self):
        """As a crash would."""
        self.lab.end("corehour-slurm", how=signal.SIGKILL)

    def command(self, *words, environment=()):
        """Another run of the program: its finished process."""
        env = ["env", f"COREHOUR_SLURM_CONF={self.lab.etc / 'corehour.conf'}", *environment]
        return self.lab.try_run([*env, self.program, *words], 120)

    def log(self):
        return (self.lab.log / "corehour-slurm.out").read_text(encoding="utf-8")

    def submit(self, user, account, *options, cores=1, gpus=0, minutes=5, tasks=1, script="true", held=False, waits=False):
        """A job and its hold. Without the plugin the hold is frozen here and written into the admin comment."""
        size = ["-A", account, f"-n{cores}", f"-t{minutes}", *options]
        if gpus:
            size += ["-p", "gpu", f"--gres=gpu:a100:{gpus}"]
        if self.hooked:
            job = self.lab.sbatch(user, *size, *(["-H"] if held else []), script=script)
            return job, self.lab.hold_of(job)
        hold = f"{l.CLUSTER}-{uuid7()}"
        resources = {"cores": cores, "gpus": [{"model": "a100", "count": gpus}] if gpus else []}
        body = {"id": hold, "cluster": l.CLUSTER, "account": account, "user": user, "resources": resources}
        self.lab.ok("POST", "/holds", {**body, "tasks": tasks, "time_limit_s": minutes * 60})
        job = self.lab.sbatch(user, "-H", *size, script=script)
        self.lab.admin("scontrol", "update", f"jobid={job}", f"admincomment=corehour:{hold}")
        if not held and not waits:
            self.lab.admin("scontrol", "release", job)
        return job, hold

    def settled(self, hold, runs=1, within_s=60):
        """Wait until the hold has that many settled runs and is open no more: it."""

        def is_settled():
            if not self.lab.has_hold(hold):
                return None
            shown = self.lab.hold(hold)
            done = [run for run in shown["runs"] if run["state"] == "settled"]
            return shown if len(done) == runs and shown["state"] not in OPEN_STATES else None

        return l.wait_for(f"{runs} settled runs of {hold}", is_settled, within_s)

    def released(self, hold, within_s=60):
        return l.wait_for(f"{hold} released", lambda: self.lab.hold(hold)["state"] in ("released", "expired"), within_s)

    def agrees(self):
        """Nothing is open and nothing differs."""
        return not self.open_holds() and "all agree" in self.command("reconcile", "--dry-run", "--since", "-2h").stdout

    def open_holds(self):
        found = []
        for state in OPEN_STATES:
            found += self.lab.ok("GET", f"/holds?cluster={l.CLUSTER}&state={state}&page_size=500")["items"]
        return found


def rows_of(lab, *job_ids):
    """Slurm's records of jobs, all attempts."""
    fields = "JobIDRaw,State,Submit,Start,ElapsedRaw,AllocTRES,DBIndex,Account,AdminComment,End"
    ids = ",".join(str(job) for job in job_ids)
    text = lab.admin("sacct", "-X", "-D", "-P", "-n", "-a", "-j", ids, "-o", fields)
    return [dict(zip(fields.split(","), line.split("|"))) for line in text.splitlines()]


def seconds_of(row):
    """How long a record's run took. The record after a resize repeats the first start: it counts from the resize."""
    times = [datetime.datetime.fromisoformat(row[name]) for name in ("Submit", "Start")]
    return int(row["ElapsedRaw"]) - max(0, int((times[0] - times[1]).total_seconds()))


def cost_of(row):
    """mcs of a record by the lab's rate card: the larger of cores and GPUs at 16 cores; node failures are waived."""
    if row["State"].startswith("NODE_FAIL") or not row["AllocTRES"]:
        return 0
    cores = int(re.search(r"\bcpu=(\d+)", row["AllocTRES"])[1])
    gpus = re.search(r"gres/gpu=(\d+)", row["AllocTRES"])
    return seconds_of(row) * max(cores * 1000, int(gpus[1]) * 16000 if gpus else 0)


def cost_in_slurm(lab, job_id, hold):
    """Of all attempts and tasks of a job that carry this hold."""
    return sum(cost_of(row) for row in rows_of(lab, job_id) if row["AdminComment"].endswith(":" + hold))
