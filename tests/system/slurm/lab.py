"""A real Slurm cluster of Debian's packages on this machine, below one temporary folder, and a real corehourd beside it.

Everything listens on 127.0.0.1 on a block of ports that no other lab has, so that labs may run side by side. Needs root: the
daemons run as their own users, and jobs as alice and bob, who are made when they are missing. What was started is ended by its
pid.
"""

import fcntl
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import daemon as d  # noqa: E402

USERS = ("alice", "bob")
ACCOUNTS = ("physics", "bio")
CLUSTER = "lab"
PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "munged", "mariadbd", "sbatch", "sacct", "scontrol")
RUN = pathlib.Path("/run/corehour-slurm-lab")
PORTS = 200  # of one lab: 16 to 99 for daemons, 100 to 199 for srun
HOUR = 3600000

CARD = {
    "effective_from": "2020-01-01T00:00:00Z",
    "combine": "max",
    "rows": [{"core_mcores": 1000, "gpus": {"a100": {"mcores": 16000}}, "gpu_default_mcores": 16000}],
}


def what_is_missing():
    """Why a lab cannot start here, or None."""
    if os.geteuid() != 0:
        return "this is not root, and slurmd runs jobs as other users"
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    missing = [program for program in PROGRAMS if not shutil.which(program, path=path)]
    if missing:
        return f"not installed: {', '.join(missing)} (tests/packages.txt, group slurm)"
    try:
        socket.gethostbyname(socket.gethostname())
    except OSError:
        return f"this machine cannot look up its own name, which Slurm must: write '127.0.0.1 {socket.gethostname()}' into /etc/hosts"
    return None


def wait_for(what, test, within_s=120):
    """Wait until test() is true; its value."""
    end = time.monotonic() + within_s
    while True:
        value = test()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {within_s} s")
        time.sleep(0.02)


class Ports:
    """A block of ports that is ours as long as we hold its lock."""

    def __init__(self):
        RUN.mkdir(mode=0o755, exist_ok=True)
        for base in range(20000, 32000, PORTS):
            self.file = open(RUN / f"ports-{base}", "w", encoding="utf-8")
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self.file.close()
                continue
            if all(self._is_free(base + n) for n in (16, 17, 18, 19, 21, 22, 23, 30, 100, 101)):
                self.base = base
                return
            self.file.close()
        raise RuntimeError("no free block of ports")

    @staticmethod
    def _is_free(port):
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                return False
        return True

    def close(self):
        self.file.close()


class Users:
    """alice and bob. The last lab to go removes those that labs have made."""

    MADE = RUN / "users-made"

    def __init__(self, home):
        RUN.mkdir(mode=0o755, exist_ok=True)
        self.lock = open(RUN / "users", "w", encoding="utf-8")
        with self._changing():
            for name in USERS:
                self._make(name)
                (home / name).mkdir(parents=True)
                shutil.chown(home / name, name)
            fcntl.flock(self.lock, fcntl.LOCK_SH)

    @staticmethod
    def _changing():
        """Held while users are made or removed, not while a lab runs."""
        lock = open(RUN / "users-changing", "w", encoding="utf-8")
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lock

    def _make(self, name):
        try:
            pwd.getpwnam(name)
        except KeyError:
            subprocess.run(["useradd", "-M", "-d", "/nonexistent", "-s", "/bin/bash", name], check=True)
            with open(self.MADE, "a", encoding="utf-8") as made:
                made.write(name + "\n")

    def close(self):
        with self._changing():
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return  # another lab runs
            if self.MADE.exists():
                for name in self.MADE.read_text(encoding="utf-8").split():
                    subprocess.run(["userdel", name], check=False, capture_output=True)
                self.MADE.unlink()
            self.lock.close()


class Corehour(d.Daemon):
    """corehourd on a port that it keeps when it is started again."""

    def __init__(self, program, port):
        super().__init__(program)
        self.fixed = port

    def start(self, limits=None):
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.fixed}", "--config", self.config],
                stderr=log,
                stdout=subprocess.DEVNULL,
            )
        self.port = self.fixed
        wait_for("corehourd", lambda: self._is_ready() or self.process.poll() is not None, 20)
        assert self.process.poll() is None, self.log.read_text(encoding="utf-8")

    def _is_ready(self):
        try:
            return self.call("GET", "/readyz").status == 200
        except OSError:
            return False

    def pause(self):
        """It hangs: connections are taken, nothing is answered."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)


class Lab:
    """`with Lab(build) as lab:` -- build is the meson build folder with corehourd, corehour and the plugin.

    lab.corehour   the daemon (tests/lib/daemon.py), with a world: root acme pays, projects physics and bio, cluster lab
    lab.ok(...)    a request to it that must succeed; lab.hold(id), lab.balance(project)
    lab.sbatch(...), lab.run(user, ...), lab.jobs(), lab.job(id), lab.sacct(id), lab.wait_state(id, state)
    lab.configure(**keys)   writes slurm.conf of Corehour; lab.restart_controller(submit=...) makes it count
    """

    NODES, CPUS, MEMORY_MB, GPUS = 3, 64, 256000, 8

    def __init__(self, build, nodes=NODES):
        self.build = pathlib.Path(build).resolve()
        self.source = pathlib.Path(__file__).resolve().parents[3]
        self.nodes = nodes
        self.processes = {}
        self.settings = {}
        self.extra_conf = []  # lines for Slurm's slurm.conf
        self.site_lua = None  # a submit script of the site's own instead of ours
        self.submit = "corehour" if self.plugin().exists() else ""

    def plugin(self):
        return self.build / "clients" / "slurm" / "job_submit_corehour.so"

    # ---- up and down

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corehour-lab-"))
        self.folder.chmod(0o755)
        self.etc, self.log, self.spool = self.folder / "etc", self.folder / "log", self.folder / "corehour-spool"
        for path in (self.etc, self.log, self.folder / "run", self.folder / "plugins", self.folder / "db", self.spool):
            path.mkdir(mode=0o755)
        self.ports = Ports()
        self.users = Users(self.folder / "home")
        try:
            self._up()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def _up(self):
        try:
            pwd.getpwnam("slurm")
        except KeyError:
            subprocess.run(["useradd", "-r", "-M", "-s", "/usr/sbin/nologin", "slurm"], check=True)
        for name in ("state", "log", "run", "corehour-spool"):
            (self.folder / name).mkdir(exist_ok=True)
            shutil.chown(self.folder / name, "slurm")
        self._start_corehour()
        self._start_munge()
        self._write_conf()
        self._start_accounting()
        self._start_controller()
        for n in range(1, self.nodes + 1):
            (self.folder / "spool" / f"node{n}").mkdir(parents=True)
            self.spawn(f"slurmd-node{n}", ["slurmd", "-D", "-N", f"node{n}", "-f", self.slurm_conf])
        wait_for("idle nodes", self._are_nodes_idle)

    def __exit__(self, kind, *_):
        if kind is not None:
            self.print_logs()
        if "slurmctld" in self.processes:
            self.try_run(["scancel", "-f", *[f"--user={user}" for user in USERS[:1]]], 10)
            self.try_run(["scancel", "-f", f"--user={USERS[1]}"], 10)
        for name in reversed(list(self.processes)):
            self.end(name)
        self._end_strays()
        if getattr(self, "corehour", None):
            if self.corehour.process and self.corehour.process.poll() is None:
                self.corehour.go_on()
            self.corehour.__exit__(None)
        self.users.close()
        self.ports.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end_strays(self):
        """Job processes of this cluster whose slurmd has gone: known by the SLURM_CONF in their environment."""
        mine = f"SLURM_CONF={self.slurm_conf}".encode()
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                name = (entry / "comm").read_text(encoding="utf-8").strip()
                if name in ("slurmstepd", "slurm_script") and mine in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                continue

    def spawn(self, name, command, environment=None, user=None):
        """Start a process that end(name) ends. Its environment is bare: what daemons carry reaches prologs."""
        bare = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/",
            "LANG": "C.UTF-8",
            "SLURM_CONF": str(self.slurm_conf),
            "COREHOUR_SLURM_CONF": str(self.etc / "corehour.conf"),
            **(environment or {}),
        }
        prefix = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"] if user else []
        out = open(self.log / f"{name}.out", "ab")
        self.processes[name] = subprocess.Popen(
            prefix + [str(word) for word in command],
            env=bare,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        out.close()
        return self.processes[name]

    def end(self, name, within_s=15, how=signal.SIGTERM):
        process = self.processes.pop(name)
        if process.poll() is None:
            process.send_signal(how)
            try:
                process.wait(within_s)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        return process.returncode

    def print_logs(self):
        for path in sorted(self.log.iterdir()):
            text = path.read_text(encoding="utf-8", errors="replace")[-2500:]
            if text.strip():
                print(f"# ---- {path.name}\n# " + text.replace("\n", "\n# "))

    # ---- the daemons

    @property
    def slurm_conf(self):
        return self.etc / "slurm.conf"

    @property
    def munge_socket(self):
        return self.folder / "munge" / "munge.socket"

    def _start_corehour(self):
        program = str(self.build / "server" / "corehourd")
        self.corehour = Corehour(program, self.ports.base + 30)
        self.corehour.init()
        self.corehour.start()
        self.ok("PUT", "/organizations/acme", {"funding": "self", "timezone": "UTC"})
        for project in ACCOUNTS:
            self.ok("PUT", f"/projects/{project}", {"organization": "acme"})
        self.ok("PUT", f"/clusters/{CLUSTER}", {"kind": "slurm"})
        self.ok("PUT", f"/clusters/{CLUSTER}/rates/1", CARD)
        self.ok("POST", "/grants", {"id": "grant-1", "node": "acme", "core_hours": "1000000"})
        token = self.ok("POST", "/tokens", {"name": "slurm", "role": "scheduler", "place": CLUSTER})["token"]
        self.token_file = self.etc / "corehour.token"
        self.token_file.write_text(token + "\n", encoding="utf-8")
        shutil.chown(self.token_file, "slurm")
        self.token_file.chmod(0o600)
        self.configure()

    def configure(self, **keys):
        """slurm.conf of Corehour: the lab's own keys and these. Returns whether that changes it."""
        self.settings = {
            "url": f"http://127.0.0.1:{self.corehour.fixed}",
            "token_file": self.token_file,
            "cluster": CLUSTER,
            "spool_dir": self.spool,
            "deadline_ms": 5000,  # the machine may be busy; what the deadline does is tried with others
            **keys,
        }
        text = "".join(f"{key} = {value}\n" for key, value in self.settings.items())
        path = self.etc / "corehour.conf"
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return False
        path.write_text(text, encoding="utf-8")
        return True

    def log_of_controller(self):
        return (self.log / "slurmctld.log").read_text(encoding="utf-8", errors="replace")

    def reconfigure(self, **keys):
        """configure(), and waits until the plugin has read it. The Lua variant looks at the file each time."""
        before = self.log_of_controller().count("corehour.conf read")
        if self.configure(**keys) and self.submit == "corehour":
            wait_for("the hook to read its file", lambda: self.log_of_controller().count("corehour.conf read") > before)

    def _start_munge(self):
        folder = self.folder / "munge"
        folder.mkdir(mode=0o711)
        (folder / "munge.key").write_bytes(os.urandom(128))
        (folder / "munge.key").chmod(0o400)
        for path in (folder, folder / "munge.key"):
            shutil.chown(path, "munge", "munge")
        words = {"socket": self.munge_socket, "key-file": folder / "munge.key", "pid-file": folder / "munged.pid"}
        words.update({"log-file": folder / "munged.log", "seed-file": folder / "munged.seed", "num-threads": 4})
        options = [f"--{key}={value}" for key, value in words.items()]
        self.spawn("munged", ["munged", "--foreground", *options], user="munge")
        wait_for("munged", self.munge_socket.exists)

    def _start_accounting(self):
        base, data, scratch = self.ports.base, self.folder / "db", self.folder / "db-tmp"
        scratch.mkdir()
        for path in (data, scratch):
            shutil.chown(path, "mysql", "mysql")
        # A MariaDB that starts removes the temporary tables that it finds in its tmpdir, those of a neighbour too.
        own = ["--no-defaults", "--user=mysql", f"--datadir={data}", f"--tmpdir={scratch}"]
        command = ["mariadb-install-db", *own, "--skip-test-db", "--auth-root-authentication-method=normal"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        words = [*own, f"--socket={data}/s.sock", f"--pid-file={data}/pid"]
        words += ["--bind-address=127.0.0.1", f"--port={base + 16}", "--innodb-buffer-pool-size=64M", "--skip-log-bin"]
        words += ["--innodb-log-file-size=32M", "--innodb-flush-log-at-trx-commit=0", "--skip-name-resolve"]
        self.spawn("mariadbd", ["mariadbd", *words, "--innodb-lock-wait-timeout=900"])
        client = ["mariadb", "--no-defaults", "-uroot", f"--socket={data}/s.sock", "-e"]
        sql = "create database slurm_acct; create user slurm@'127.0.0.1' identified by 'slurmdb';"
        sql += "grant all on slurm_acct.* to slurm@'127.0.0.1'"
        wait_for("mariadbd", lambda: self.try_run(client + ["select 1"]).returncode == 0)
        subprocess.run(client + [sql], check=True)
        self.start_slurmdbd()
        self.admin("sacctmgr", "-i", "add", "cluster", CLUSTER)
        self.admin("sacctmgr", "-i", "add", "account", ",".join(ACCOUNTS), f"cluster={CLUSTER}")
        for user in USERS:
            self.admin("sacctmgr", "-i", "add", "user", user, f"account={','.join(ACCOUNTS)}", f"defaultaccount={ACCOUNTS[0]}")

    def start_slurmdbd(self):
        self.spawn("slurmdbd", ["slurmdbd", "-D"])
        wait_for("slurmdbd", lambda: self.try_run(["sacctmgr", "-n", "-i", "list", "cluster"], 5).returncode == 0)

    def _start_controller(self):
        home = {"HOME": "/"}
        self.spawn("slurmctld", ["slurmctld", "-D", "-f", self.slurm_conf], home, user="slurm")
        wait_for("slurmctld", self.is_controller_up)

    def is_controller_up(self):
        assert self.processes["slurmctld"].poll() is None, "slurmctld has ended"
        return "is UP" in self.try_run(["scontrol", "ping"], 5).stdout

    def stop_controller(self):
        return self.end("slurmctld")

    def restart_controller(self, submit=None):
        """With other submit plugins ("", "corehour", "lua"), or after configure()."""
        if submit is not None:
            self.submit = submit
        self.stop_controller()
        self._write_conf()
        self._start_controller()
        wait_for("idle nodes", self._are_nodes_idle)

    def reload_controller(self, submit):
        """Other submit plugins, without a new start."""
        self.submit = submit
        self._write_conf()
        self.admin("scontrol", "reconfigure")

    def _are_nodes_idle(self):
        lines = self.try_run(["sinfo", "-h", "-N", "-p", "cpu", "-o", "%T"], 5).stdout.split()
        return len(lines) == self.nodes and all(re.fullmatch("idle|mixed|allocated", line) for line in lines)

    def _write_conf(self):
        if self.plugin().exists():
            fresh = self.folder / "plugins" / "fresh"
            shutil.copy(self.plugin(), fresh)
            fresh.rename(self.folder / "plugins" / self.plugin().name)  # never written over while slurmctld has it
        lua = (self.source / "clients" / "slurm" / "job_submit.lua").read_text(encoding="utf-8")
        (self.etc / "job_submit.lua").write_text(self.site_lua or lua, encoding="utf-8")
        self._write_gres()
        (self.etc / "cgroup.conf").write_text("CgroupAutomount=no\n", encoding="utf-8")
        (self.etc / "slurmdbd.conf").write_text(self._slurmdbd_conf(), encoding="utf-8")
        shutil.chown(self.etc / "slurmdbd.conf", "slurm")
        (self.etc / "slurmdbd.conf").chmod(0o600)
        self.slurm_conf.write_text(self._slurm_conf(), encoding="utf-8")

    def _write_gres(self):
        """GPUs must be devices: null devices of our own."""
        (self.folder / "dev").mkdir(exist_ok=True)
        for n in range(self.GPUS):
            path = self.folder / "dev" / f"gpu{n}"
            if not path.exists():
                os.mknod(path, 0o666 | 0o020000, os.makedev(1, 3))
        line = f"NodeName={self.gpu_nodes()} Name=gpu Type=a100 File={self.folder}/dev/gpu[0-{self.GPUS - 1}]\n"
        (self.etc / "gres.conf").write_text("AutoDetect=off\n" + line, encoding="utf-8")

    def gpu_nodes(self):
        """All but the last node have GPUs."""
        return "node1" if self.nodes < 3 else f"node[1-{self.nodes - 1}]"

    def _plugin_dir(self):
        owner = self.try_run(["dpkg", "-L", "slurm-wlm-basic-plugins"]).stdout
        found = re.search(r"^(.*)/job_submit_lua\.so$", owner, re.M)
        return found[1]

    def _slurmdbd_conf(self):
        base = self.ports.base
        return f"""AuthType=auth/munge
AuthInfo=socket={self.munge_socket},cred_expire=10
CommunicationParameters=NoInAddrAny
DbdHost={socket.gethostname().split(".")[0]}
DbdAddr=127.0.0.1
DbdPort={base + 19}
SlurmUser=slurm
LogFile={self.log}/slurmdbd.log
PidFile={self.folder}/run/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={base + 16}
StorageUser=slurm
StoragePass=slurmdb
StorageLoc=slurm_acct
PluginDir={self._plugin_dir()}
"""

    def _slurm_conf(self):
        base, host = self.ports.base, socket.gethostname().split(".")[0]
        lines = f"""ClusterName={CLUSTER}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={base + 17}
SlurmdPort={base + 18}
SrunPortRange={base + 100}-{base + PORTS - 1}
SlurmUser=slurm
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={self.munge_socket},cred_expire=10
CryptoType=crypto/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool/%n
SlurmctldPidFile={self.folder}/run/slurmctld.pid
SlurmdPidFile={self.folder}/run/slurmd-%n.pid
SlurmctldLogFile={self.log}/slurmctld.log
SlurmdLogFile={self.log}/slurmd-%n.log
SlurmctldDebug=info
LogTimeFormat=iso8601_ms
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,bf_interval=1,sched_interval=1
GresTypes=gpu
ReturnToService=2
SlurmdTimeout=10
KillWait=2
MinJobAge=300
MailProg=/bin/true
SlurmdParameters=config_overrides
PropagateResourceLimits=NONE
DefMemPerCPU=1000
PriorityType=priority/multifactor
PluginDir={self.folder}/plugins:{self._plugin_dir()}
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePass={self.munge_socket}
AccountingStoragePort={base + 19}
AccountingStorageTRES=gres/gpu,gres/gpu:a100
AccountingStorageEnforce=associations,limits,qos
AccountingStoreFlags=job_comment
""".splitlines()
        if self.submit:
            lines.append(f"JobSubmitPlugins={self.submit}")
        for n in range(1, self.nodes + 1):
            gpus = f"Gres=gpu:a100:{self.GPUS}" if n < max(self.nodes, 2) else ""
            place = f"NodeHostname={host} NodeAddr=127.0.0.1 Port={base + 20 + n}"
            size = f"CPUs={self.CPUS} CoresPerSocket={self.CPUS} ThreadsPerCore=1 RealMemory={self.MEMORY_MB}"
            lines.append(f"NodeName=node{n} {place} Boards=1 SocketsPerBoard=1 {size} {gpus} State=UNKNOWN")
        limits = "DefaultTime=00:10:00 MaxTime=2-00:00:00 State=UP"
        lines.append(f"PartitionName=cpu Nodes=node[1-{self.nodes}] Default=YES PreemptMode=OFF {limits}")
        lines.append(f"PartitionName=gpu Nodes={self.gpu_nodes()} PreemptMode=OFF {limits}")
        for name, tier, mode in (("urgent", 2, "OFF"), ("yields", 1, "REQUEUE"), ("dies", 1, "CANCEL")):
            lines.append(f"PartitionName={name} Nodes={self.gpu_nodes()} PriorityTier={tier} PreemptMode={mode} {limits}")
        return "\n".join(lines + self.extra_conf) + "\n"

    # ---- the cluster

    def try_run(self, command, timeout_s=30, user=None, folder=None):
        """Run a command against this cluster, as root or as a user; the finished process, 124 as code when it took too long."""
        path = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SLURM_CONF": str(self.slurm_conf), "LANG": "C.UTF-8"}
        prefix = ["timeout", "-k", "1", str(timeout_s)]
        if user:
            path.update({"HOME": str(self.folder / "home" / user), "USER": user})
            prefix += ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
            folder = folder or self.folder / "home" / user
        words = prefix + [str(word) for word in command]
        return subprocess.run(
            words, env=path, cwd=folder or "/", stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )

    def run(self, user, *command, timeout_s=30):
        """A command as a user: the finished process."""
        return self.try_run(command, timeout_s, user)

    def admin(self, *command):
        """A command as root that must succeed: its output."""
        result = self.try_run(command)
        assert result.returncode == 0, f"{command}: {result.stderr}{result.stdout}"
        return result.stdout

    def sbatch(self, user, *options, script="true"):
        """A batch job that must be accepted: its id."""
        result = self.run(user, "sbatch", "--parsable", "-o", "/dev/null", *options, "--wrap", script)
        assert result.returncode == 0, f"sbatch {options}: {result.stderr}"
        return int(re.match(r"(\d+)", result.stdout)[1])

    def jobs(self):
        """All jobs that the controller knows, as squeue --json gives them."""
        return json.loads(self.admin("squeue", "-t", "all", "--json"))["jobs"]

    def job(self, job_id):
        return next(job for job in self.jobs() if job["job_id"] == job_id)

    def hold_of(self, job_id):
        """What the admin comment of a job says behind `corehour:`."""
        comment = self.job(job_id)["admin_comment"]
        assert comment.startswith("corehour:"), comment
        return comment.split(":", 1)[1]

    def wait_state(self, job_id, *states, within_s=60):
        return wait_for(
            f"job {job_id} {'/'.join(states)}",
            lambda: next((job for job in self.jobs() if job["job_id"] == job_id and job["job_state"] in states), None),
            within_s,
        )

    def sacct(self, job_id, *fields):
        """Rows of sacct -D -X of a job, each a dict."""
        fields = fields or ("JobID", "JobIDRaw", "State", "Elapsed", "ElapsedRaw", "AllocTRES", "DBIndex", "AdminComment", "End")
        text = self.admin("sacct", "-X", "-D", "-P", "-n", "-j", job_id, "-o", ",".join(fields))
        return [dict(zip(fields, line.split("|"))) for line in text.splitlines()]

    # ---- the ledger

    def ok(self, method, path, body=None, headers=()):
        answer = self.corehour.call(method, "/v1" + path, body, headers)
        assert 200 <= answer.status < 300, f"{method} {path}: {answer}"
        return answer.json if answer.body else None

    def hold(self, hold_id):
        return self.ok("GET", f"/holds/{hold_id}")

    def has_hold(self, hold_id):
        return self.corehour.call("GET", f"/v1/holds/{hold_id}").status == 200

    def balance(self, project):
        return self.ok("GET", f"/projects/{project}/balance")

    def cap(self, project, name, **limit):
        return self.ok("PUT", f"/projects/{project}/caps/{name}", limit, {"If-Match": "*"})

    def uncap(self, project, name):
        return self.ok("DELETE", f"/projects/{project}/caps/{name}", None, {"If-Match": "*"})
