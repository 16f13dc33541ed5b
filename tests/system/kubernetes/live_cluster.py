"""A real Kubernetes control plane on loopback: etcd, API server, controller manager and scheduler, of programs that are given.

There is no kubelet and no node. Nodes are objects made here, and `Kubelet` writes what a kubelet would, under the node's own
identity. Everything lies in a temporary folder and ends with it. For tests only; standard library only.
"""

import base64
import datetime
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
PEOPLE = {"admin": "system:masters", "alice": "people", "kcm": "", "scheduler": ""}
NAMES = {"kcm": "system:kube-controller-manager", "scheduler": "system:kube-scheduler"}
STRATEGIC = "application/strategic-merge-patch+json"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def stamp(ago_s=0):
    moment = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=ago_s)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


class LiveCluster:
    """`with LiveCluster(folder_of_programs, certificate, key) as cluster:`; the certificate is its own CA, for localhost."""

    def __init__(self, programs, cert, key):
        self.programs = pathlib.Path(programs)
        missing = [name for name in PROGRAMS if not os.access(self.programs / name, os.X_OK)]
        if missing:
            raise SystemExit(f"{self.programs} lacks {', '.join(missing)}")
        self.cert, self.key = cert, key
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corehour-live-"))
        self.port, self.etcd_port, self.peer_port = free_port(), free_port(), free_port()
        self.running = {}
        self.token = None  # of the agent: the service account's, when the manifests are applied
        text = subprocess.run([self.programs / "kube-apiserver", "--version"], check=True, capture_output=True, text=True).stdout
        self.version = text.split()[-1]
        self.minor = int(re.search(r"v1\.(\d+)", text)[1])

    def __enter__(self):
        try:
            self.make_keys()
            self.start_etcd()
            self.start_api_server()
            self.start_controllers()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for name in ("kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"):
            self.kill(name)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- programs

    def make_keys(self):
        subprocess.run(["openssl", "genrsa", "-out", self.folder / "sa.key", "2048"], check=True, capture_output=True)
        rows = [f'{who}-token,{NAMES.get(who, who)},u-{who},"{group}"' for who, group in PEOPLE.items()]
        (self.folder / "tokens.csv").write_text("\n".join(rows) + "\n", encoding="ascii")
        for who in PEOPLE:
            self.write_kubeconfig(self.folder / who, f"{who}-token")

    def write_kubeconfig(self, path, token):
        path.write_text(
            "apiVersion: v1\nkind: Config\nclusters:\n- name: live\n  cluster:\n"
            f"    server: https://127.0.0.1:{self.port}\n    certificate-authority: {self.cert}\n"
            f"users:\n- name: u\n  user:\n    token: {token}\n"
            "contexts:\n- name: live\n  context:\n    cluster: live\n    user: u\ncurrent-context: live\n",
            encoding="ascii",
        )

    def launch(self, name, *options):
        with open(self.folder / (name + ".log"), "ab") as log:
            command = [self.programs / name, *options]
            self.running[name] = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)

    def kill(self, name):
        process = self.running.pop(name, None)
        if process is not None:
            process.send_signal(signal.SIGKILL)
            process.wait()

    def wait(self, name, test, within_s=180):
        deadline = time.monotonic() + within_s
        while not test():
            if self.running[name].poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{name} does not come up:\n" + self.log(name))
            time.sleep(0.1)

    def log(self, name):
        return (self.folder / (name + ".log")).read_text(encoding="utf-8", errors="replace")[-3000:]

    def start_etcd(self):
        client, peer = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{self.peer_port}"
        options = ["--data-dir", self.folder / "etcd", "--name", "live", "--listen-client-urls", client, "--advertise-client-urls", client]
        options += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "live=" + peer]
        self.launch("etcd", *options)

        def healthy():
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.etcd_port, timeout=5)
                connection.request("GET", "/health")
                return connection.getresponse().status == 200
            except (OSError, http.client.HTTPException):
                return False

        self.wait("etcd", healthy)

    def start_api_server(self):
        self.launch(
            "kube-apiserver",
            f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self.port}",
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.96.0.0/16",
            f"--tls-cert-file={self.cert}",
            f"--tls-private-key-file={self.key}",
            "--token-auth-file=tokens.csv",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-key-file=sa.key",
            "--service-account-signing-key-file=sa.key",
            f"--cert-dir={self.folder}/made",
        )
        self.wait("kube-apiserver", lambda: self.call("GET", "/readyz")[0] == 200)

    def start_controllers(self):
        common = ["--bind-address=127.0.0.1", "--leader-elect=false", f"--cert-dir={self.folder}/made"]
        common += ["--port=0"] if self.minor < 23 else []
        left_out = "nodeipam route service cloud-node-lifecycle attachdetach persistentvolume-binder persistentvolume-expander"
        self.launch(
            "kube-controller-manager",
            "--kubeconfig=kcm",
            f"--secure-port={free_port()}",
            "--controllers=*," + ",".join("-" + name for name in left_out.split()),
            "--use-service-account-credentials=true",
            "--service-account-private-key-file=sa.key",
            f"--root-ca-file={self.cert}",
            "--node-monitor-period=1s",
            "--node-monitor-grace-period=24h",  # nothing beats here: what the nodes say of themselves counts
            *common,
        )
        self.launch("kube-scheduler", "--kubeconfig=scheduler", f"--secure-port={free_port()}", *common)
        account = "/api/v1/namespaces/default/serviceaccounts/default"
        self.wait("kube-controller-manager", lambda: self.call("GET", account)[0] == 200)

    # ---- requests

    def call(self, method, path, body=None, token="admin-token", kind="application/json", node=None):
        """Status and what was answered; status 0: nobody is there. node: under the identity of its kubelet."""
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json", "Content-Type": kind}
        if node:
            headers |= {"Impersonate-User": f"system:node:{node}", "Impersonate-Group": "system:nodes"}
        context = ssl.create_default_context(cafile=str(self.cert))
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=40)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            return 0, None
        finally:
            connection.close()
        return answer.status, json.loads(text) if text.startswith(b"{") else text

    def ok(self, method, path, body=None, **options):
        status, answer = self.call(method, path, body, **options)
        assert 200 <= status < 300, (method, path, status, answer)
        return answer

    def kubectl(self, who, *words, text=None):
        """Exit code and everything that kubectl printed."""
        command = [self.programs / "kubectl", "--kubeconfig", self.folder / who, f"--cache-dir={self.folder}/cache", *words]
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout + done.stderr

    def pod(self, namespace, name):
        status, item = self.call("GET", f"/api/v1/namespaces/{namespace}/pods/{name}")
        return item if status == 200 else None


class Kubelet:
    """Stands in for the kubelets: no container runs; their states are written as kubelets write them."""

    def __init__(self, cluster):
        self.cluster = cluster

    def add_node(self, name, gpus):
        labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        self.cluster.ok("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}})
        room = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}
        self.patch_node(name, {"capacity": room, "allocatable": room, "conditions": [self.ready("True")]})

    @staticmethod
    def ready(status):
        return {"type": "Ready", "status": status, "lastHeartbeatTime": stamp(), "lastTransitionTime": stamp()}

    def patch_node(self, name, status):
        self.cluster.ok("PATCH", f"/api/v1/nodes/{name}/status", {"status": status}, kind=STRATEGIC)

    def lose(self, name):
        """What the node controller writes of a node that no longer beats."""
        self.patch_node(name, {"conditions": [self.ready("Unknown")]})

    def write(self, item, **status):
        path = f"/api/v1/namespaces/{item['metadata']['namespace']}/pods/{item['metadata']['name']}/status"
        return self.cluster.ok("PATCH", path, {"status": status}, kind=STRATEGIC, node=item["spec"]["nodeName"])

    @staticmethod
    def condition(kind, status):
        return {"type": kind, "status": status, "lastTransitionTime": stamp(), "lastProbeTime": None}

    def container(self, item, state):
        return [
            {"name": c["name"], "image": c["image"], "imageID": "", "ready": "running" in state, "restartCount": 0, "state": state}
            for c in item["spec"]["containers"]
        ]

    def run(self, item):
        now = stamp()
        conditions = [self.condition(kind, "True") for kind in ("Initialized", "Ready", "ContainersReady")]
        containers = self.container(item, {"running": {"startedAt": now}})
        return self.write(item, phase="Running", startTime=now, conditions=conditions, containerStatuses=containers)

    def end(self, item, code=0, reason=None, pod_reason=None):
        """Its containers have ended now; returns when, as written."""
        now = stamp()
        word = reason or ("Completed" if code == 0 else "Error")
        begun = item["status"]["containerStatuses"][0]["state"]["running"]["startedAt"]
        state = {"running": None, "terminated": {"exitCode": code, "reason": word, "startedAt": begun, "finishedAt": now}}
        more = {"reason": pod_reason} if pod_reason else {}
        conditions = [self.condition(kind, "False") for kind in ("Ready", "ContainersReady")]
        phase = "Succeeded" if code == 0 else "Failed"
        self.write(item, phase=phase, conditions=conditions, containerStatuses=self.container(item, state), **more)
        return now

    def throw_out(self, item, reason):
        """Node pressure: the phase and nothing of the containers."""
        self.write(item, phase="Failed", reason=reason, message="The node was low on resource: memory.")

    def remove(self, item):
        """The last that a kubelet does for a pod that was to be deleted."""
        path = f"/api/v1/namespaces/{item['metadata']['namespace']}/pods/{item['metadata']['name']}"
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "preconditions": {"uid": item["metadata"]["uid"]}}
        self.cluster.ok("DELETE", path, body, node=item["spec"]["nodeName"])


def service_account_token(cluster, namespace, name):
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
    body = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {"expirationSeconds": 7200}}
    return cluster.ok("POST", path, body)["status"]["token"]


def adapted(text, minor, port=None, ca=None):
    """A manifest as this API server can take it: (text, what was changed and why)."""
    changes = []
    if minor < 21 and "policy/v1\n" in text:
        text = text.replace("apiVersion: policy/v1\n", "apiVersion: policy/v1beta1\n")
        changes.append("PodDisruptionBudget as policy/v1beta1: policy/v1 came with 1.21")
    if port:
        bundle = base64.b64encode(pathlib.Path(ca).read_bytes()).decode()
        text = re.sub(r"\n *cert-manager.io/inject-ca-from:.*", "", text)
        service = re.compile(r"service:\n +name: corehour-kubernetes\n +namespace: corehour-system\n( +)path: (/\w+)")
        text = service.sub(lambda m: f"url: https://127.0.0.1:{port}{m[2]}\n      caBundle: {bundle}", text)
        changes.append("webhooks by url, not by service: the agent runs beside the cluster, and no node has a proxy for services")
    return text, changes
