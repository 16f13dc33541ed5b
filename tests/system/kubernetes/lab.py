"""A ledger, an API server that replays, and real agents beside each other, all on loopback with TLS.

Clocks are real unless a Clock is given; recorded times lie in 2026, so daemon and agents then live a little later.
"""

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "lib"))
sys.path.insert(0, str(HERE.parent))
import daemon as d  # noqa: E402
import world as w  # noqa: E402

from replay_api import ApiServer  # noqa: E402

HOUR = 3600000
GPU = 16000  # mcores of a GPU by the card below
RECORDED_S = w.utc(2026, 11, 30, 18)  # after the last recorded line

CARD = {
    "effective_from": "2020-01-01T00:00:00Z",
    "combine": "max",
    "price_per_core_hour": "0.12",
    "currency": "CNY",
    "rows": [
        {
            "core_mcores": 1000,
            "gpus": {
                "a100": {"mcores": GPU, "memory_mib": 40960},
                "v100": {"mcores": 8000, "memory_mib": 32768},
                "mig-1g.5gb": {"mcores": 2286},
                "ascend910": {"mcores": 12000, "memory_mib": 32768},
            },
            "gpu_default_mcores": GPU,
        }
    ],
}


def fixtures():
    """The recorded exchanges, unpacked once for a run."""
    folder = tempfile.TemporaryDirectory(prefix="corehour-recorded-")
    with tarfile.open(HERE / "recorded.tar.xz") as archive:
        archive.extractall(folder.name)
    return folder


def make_certificate(folder, name="server", days=36500):
    """A CA of its own for each pair; paths of (certificate, key, CA)."""
    folder = pathlib.Path(folder)
    cert, key = folder / f"{name}.crt", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out"]
        + [cert, "-days", str(days), "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        check=True,
        capture_output=True,
    )
    return cert, key, cert


class Agent:
    """One corehour-kubernetes."""

    count = 0

    def __init__(self, lab, **keys):
        Agent.count += 1
        self.lab = lab
        self.name = f"agent{Agent.count}"
        self.folder = lab.folder / self.name
        self.folder.mkdir()
        self.log = self.folder / "log"
        self.process = None
        self.port = None
        kubeconfig = self.folder / "kubeconfig"
        kubeconfig.write_text(
            "apiVersion: v1\nkind: Config\nclusters:\n- name: lab\n  cluster:\n"
            f"    server: https://127.0.0.1:{lab.api.port}\n    certificate-authority: {lab.ca}\n"
            f"users:\n- name: agent\n  user:\n    token: {lab.api.token}\n",
            encoding="utf-8",
        )
        self.keys = {
            "url": lab.ledger_url(),
            "token_file": lab.token_file,
            "cluster": lab.cluster,
            "listen": "127.0.0.1:0",
            "tls_cert_file": lab.cert,
            "tls_key_file": lab.key,
            "kubeconfig": kubeconfig,
            "namespace": "corehour",
            "lease": "off",
            "spool_dir": self.folder / "spool",
            "heartbeat_s": "3600",
            "sweep_s": "3600",
            **{key: str(value) for key, value in keys.items()},
        }

    def start(self):
        config = self.folder / "kubernetes.conf"
        config.write_text("".join(f"{k} = {v}\n" for k, v in self.keys.items()), encoding="utf-8")
        environment = {**os.environ, **(self.lab.clock.environment if self.lab.clock else {})}
        place = self.log.stat().st_size if self.log.exists() else 0
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [self.lab.program, "--config", config], stderr=log, stdout=subprocess.DEVNULL, env=environment
            )
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with open(self.log, encoding="utf-8") as log:
                log.seek(place)
                found = re.search(r"event=listening port=(\d+)", log.read())
            if found:
                self.port = int(found[1])
                return self
            if self.process.poll() is not None:
                break
            time.sleep(0.005)
        raise RuntimeError("the agent does not listen: " + self.text()[-2000:])

    def text(self):
        return self.log.read_text(encoding="utf-8") if self.log.exists() else ""

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)

    def memory_kib(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmHWM:\s+(\d+)", text)[1])

    # ---- its HTTPS

    def connect(self, ca=None, timeout_s=30):
        context = ssl.create_default_context(cafile=str(ca or self.lab.ca))
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=timeout_s)

    def call(self, method, path, body=None, connection=None):
        own = connection or self.connect()
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        own.request(method, path, data, {"Content-Type": "application/json"} if data is not None else {})
        answer = own.getresponse()
        text = answer.read()
        if connection is None:
            own.close()
        return answer.status, text

    def review(self, path, body, connection=None):
        """The response member of a review's answer."""
        status, text = self.call("POST", path, body, connection)
        assert status == 200, (status, text)
        answer = json.loads(text)
        wanted = body if isinstance(body, dict) else json.loads(body)
        assert (answer["kind"], answer["apiVersion"]) == ("AdmissionReview", "admission.k8s.io/v1"), answer
        assert answer["response"]["uid"] == wanted["request"]["uid"], answer
        return answer["response"]

    def metrics(self, connection=None):
        status, text = self.call("GET", "/metrics", connection=connection)
        assert status == 200
        rows = re.findall(r"^corehour_kubernetes_(\w+) (-?\d+)$", text.decode(), re.M)
        return {name: int(value) for name, value in rows}

    def until(self, test, within_s=40, what="it never happened"):
        """Wait until test(metrics) is true."""
        deadline = time.monotonic() + within_s
        connection = self.connect()
        while True:
            metrics = self.metrics(connection)
            if test(metrics):
                connection.close()
                return metrics
            if time.monotonic() > deadline:
                raise AssertionError(f"{what}: {metrics}\n{self.text()[-3000:]}")
            time.sleep(0.01)

    def settle_down(self, lists=1, events=None):
        """Until everything that was sent is with the ledger."""
        return self.until(
            lambda m: m["watch_lists_total"] >= lists
            and (events is None or m["watch_events_total"] >= events)
            and m["pods_pending"] == 0,
            within_s=int(os.environ.get("COREHOUR_WAIT_S", "60")),
            what=f"not told: lists {lists}, events {events}",
        )


class Lab:
    """`with Lab(corehourd, agent) as lab:`; lab.agent(**keys) starts an agent."""

    def __init__(self, corehourd, program, clock=None, cluster="kube", make_api=ApiServer):
        self.program = program
        self.clock = clock
        self.cluster = cluster
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corehour-kube-"))
        self.daemon = d.Daemon(corehourd, environment=clock.environment if clock else None)
        self.agents = []
        self.cert, self.key, self.ca = make_certificate(self.folder)
        self.api = make_api(self.cert, self.key)

    def ledger_url(self):
        return f"http://127.0.0.1:{self.daemon.port}"

    def __enter__(self):
        self.daemon.__enter__()
        self.api.__enter__()
        self.daemon.ok("PUT", "/v1/organizations/acme", {"funding": "unlimited", "timezone": "UTC"})
        for team in ("team-a", "team-b", "team-c"):
            self.daemon.ok("PUT", f"/v1/projects/{team}", {"organization": "acme"})
        self.add_cluster(self.cluster)
        return self

    def add_cluster(self, name):
        self.cluster = name
        self.daemon.ok("PUT", f"/v1/clusters/{name}", {"kind": "kubernetes", "mode": "window"})
        self.daemon.ok("PUT", f"/v1/clusters/{name}/rates/1", CARD)
        token = self.daemon.ok("POST", "/v1/tokens", {"name": f"agent-{name}", "role": "scheduler", "place": name}).json
        self.token_file = self.folder / f"token-{name}"
        self.token_file.write_text(token["token"] + "\n", encoding="ascii")

    def fresh_api(self):
        """A new, empty API server at another port."""
        self.api.close()
        self.api = ApiServer(self.cert, self.key).__enter__()
        return self.api

    def agent(self, **keys):
        agent = Agent(self, **keys)
        self.agents.append(agent)
        return agent.start()

    def __exit__(self, kind, *_):
        for agent in self.agents:
            if agent.process is not None and agent.process.poll() is None:
                agent.kill()
            if kind is not None:
                print(f"# log of {agent.name}:\n# " + agent.text()[-6000:].replace("\n", "\n# "))
        self.api.close()
        self.daemon.__exit__(kind)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- the ledger

    def hold(self, uid):
        answer = self.daemon.call("GET", f"/v1/holds/pod-{uid}?cluster={self.cluster}")
        return answer.json if answer.status == 200 else None

    def holds(self, cluster=None):
        """Everything the ledger has of a cluster, by uid: what must be the same however it came."""
        found = {}
        for state in ("waiting", "frozen", "running", "suspended", "settled", "released", "expired"):
            token = ""
            while token is not None:
                page = self.daemon.call(
                    "GET", f"/v1/holds?cluster={cluster or self.cluster}&state={state}&page_size=1000{token}"
                ).json
                for hold in page["items"]:
                    full = self.daemon.call("GET", f"/v1/holds/{hold['id']}?cluster={cluster or self.cluster}").json
                    run = (full.get("runs") or [{}])[0]
                    found[hold["id"][4:]] = {
                        "state": hold["state"],
                        "project": hold["project"],
                        "user": hold["user"],
                        "used_mcs": hold["used_mcs"],
                        "frozen_mcs": hold["frozen_mcs"],
                        "job": hold["job"]["name"],
                        "started_at": run.get("started_at"),
                        "ended_at": run.get("ended_at"),
                        "outcome": run.get("outcome"),
                    }
                token = page["next_page_token"] and f"&page_token={page['next_page_token']}"
        return found


def pod(name, uid, namespace="team-a", gpus=1, **changes):
    """A Pod as the API server shows it just after its creation."""
    item = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": uid,
            "creationTimestamp": w.at(int(time.time()) - 600),
        },
        "spec": {
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example/train:1.0",
                    "resources": {"limits": {"nvidia.com/gpu": str(gpus)}, "requests": {"nvidia.com/gpu": str(gpus)}},
                }
            ],
            "restartPolicy": "Never",
            "serviceAccountName": "default",
        },
        "status": {"phase": "Pending"},
    }
    for part, values in changes.items():
        item[part].update(values)
    return item


def run_pod(item, at_s, node="gpu-node-1"):
    """Scheduled and running since then."""
    item = json.loads(json.dumps(item))
    item["spec"]["nodeName"] = node
    item["spec"].pop("schedulingGates", None)
    when = w.at(at_s)
    item["status"] = {
        "phase": "Running",
        "startTime": when,
        "conditions": [
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": when},
            {"type": "Ready", "status": "True", "lastTransitionTime": when},
        ],
        "containerStatuses": [{"name": "main", "state": {"running": {"startedAt": when}}}],
    }
    return item


def end_pod(item, at_s, phase="Succeeded"):
    """Its container has finished then."""
    item = json.loads(json.dumps(item))
    item["status"]["phase"] = phase
    item["status"]["containerStatuses"] = [
        {"name": "main", "state": {"terminated": {"exitCode": 0 if phase == "Succeeded" else 1, "finishedAt": w.at(at_s)}}}
    ]
    return item


def review(item, username="alice", operation="CREATE", dry_run=False, uid="11111111-2222-3333-4444-555555555555", **request):
    """A review as the API server sends it."""
    return {
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": uid,
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "name": item["metadata"].get("name", ""),
            "namespace": item["metadata"].get("namespace", ""),
            "operation": operation,
            "userInfo": {"username": username, "groups": ["system:authenticated"]},
            "object": item,
            "oldObject": None,
            "dryRun": dry_run,
            **request,
        },
    }
