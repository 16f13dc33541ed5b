"""The real agents with a real API server, controller manager and scheduler, and a real corehourd: every mode that the server knows, and
pods through every end, while the API server, the agents and the ledger are killed and come back.

usage: python3 live.py COREHOURD AGENT PROGRAMS     PROGRAMS: the folder of etcd, kube-apiserver, kube-controller-manager,
kube-scheduler and kubectl (live_cluster.py). No kubelet: `Kubelet` there writes the states of containers. Exit 0: all was as it should.
"""

import json
import os
import pathlib
import sys
import time

import lab as l
import live_cluster as c
import world as w

MANIFESTS = pathlib.Path(__file__).resolve().parents[3] / "clients" / "kubernetes" / "manifests"
SYSTEM = "corehour-system"
TEAMS = {"team-a": "enforce", "team-b": "gate", "team-c": "observe", "team-d": "enforce", "team-q": "enforce", "team-free": None}
NODES = {"node-1": 32, "node-tight": 1, "node-lost": 4, "node-gone": 4}
WAIT_S = int(os.environ.get("COREHOUR_WAIT_S", "150"))


class Live:
    """What stands, and what is expected of each pod in the end."""

    def __init__(self, lab):
        self.lab = lab
        self.cluster = lab.api
        self.kubelet = c.Kubelet(lab.api)
        self.agents = []
        self.rows = []  # (pod, how it ended, state, outcome, used mcs)
        self.checks = 0
        self.pods = {}

    def check(self, what, seen, wanted):
        if callable(wanted):
            good = wanted(seen)
        elif isinstance(wanted, str) and isinstance(seen, str):
            good = wanted in seen
        else:
            good = seen == wanted
        if not good:
            raise AssertionError(f"{what}: {seen!r}, wanted {wanted!r}")
        self.checks += 1
        print(f"  ok  {what}", flush=True)

    def until(self, what, test, within_s=WAIT_S):
        deadline = time.monotonic() + within_s
        while True:
            found = test()
            if found:
                return found
            if time.monotonic() > deadline:
                raise AssertionError(f"{what}: it never happened")
            time.sleep(0.1)

    # ---- pods

    def manifest(self, name, namespace="team-a", gpus=1, **spec):
        item = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}}
        limits = {"nvidia.com/gpu": str(gpus)}
        container = {"name": "main", "image": "registry.example/train:1", "resources": {"limits": limits}}
        item["spec"] = {"restartPolicy": "Never", "containers": [container], **spec}
        node = item["spec"].pop("on", "node-1")
        if node:
            item["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
        return item

    def create(self, name, namespace="team-a", gpus=1, who="alice", **spec):
        code, text = self.cluster.kubectl(who, "create", "-f", "-", text=json.dumps(self.manifest(name, namespace, gpus, **spec)))
        assert code == 0, text
        self.pods[name] = self.cluster.pod(namespace, name)
        return self.pods[name]

    def refused(self, name, namespace="team-a", gpus=8, *options, **spec):
        text = json.dumps(self.manifest(name, namespace, gpus, **spec))
        code, said = self.cluster.kubectl("alice", "create", "-f", "-", *options, text=text)
        assert code == 1 and self.cluster.pod(namespace, name) is None, said
        return said.strip()

    def placed(self, name):
        """As soon as the scheduler has bound it."""
        space = self.pods[name]["metadata"]["namespace"]

        def bound():
            item = self.cluster.pod(space, name)
            return item if item["spec"].get("nodeName") else None

        self.pods[name] = self.until(f"{name} is scheduled", bound)
        return self.pods[name]

    def run(self, *names):
        for name in names:
            self.pods[name] = self.kubelet.run(self.placed(name))
        for name in names:
            self.hold(name, state="running")

    def uid(self, name):
        return self.pods[name]["metadata"]["uid"]

    def started_s(self, name):
        rows = self.pods[name]["status"]["conditions"]
        return w.seconds(next(row["lastTransitionTime"] for row in rows if row["type"] == "PodScheduled"))

    def fresh(self, name):
        return self.cluster.pod(self.pods[name]["metadata"]["namespace"], name)

    # ---- the ledger

    def hold(self, name, **wanted):
        seen = {}

        def same():
            hold = self.lab.hold(self.uid(name)) or {}
            run = (hold.get("runs") or [{}])[0]
            seen.update({**{k: run.get(k) for k in ("started_at", "ended_at", "outcome")}, **hold})
            return all(seen.get(key) == value for key, value in wanted.items())

        try:
            self.until(name, same)
        except AssertionError as error:
            raise AssertionError(f"{name}: { {k: seen.get(k) for k in wanted} }, wanted {wanted}") from error
        return dict(seen)

    def ended(self, name, how, outcome, at=None, gpus=1, slack_s=0):
        """It is settled with this outcome, for the seconds from its scheduling to `at`, which is known to slack_s."""
        seen = self.hold(name, state="settled", outcome=outcome)
        end_s = w.seconds(seen["ended_at"])
        seconds = end_s - self.started_s(name)
        if at is not None and abs(end_s - w.seconds(at)) > slack_s:
            raise AssertionError(f"{name}: ended at {seen['ended_at']}, wanted {at}")
        waived = outcome == "node_fail"  # the ledger's root gives these back
        used = 0 if waived else seconds * gpus * l.GPU
        self.check(f"{how}: {outcome}, {seconds} s, {used} mcs", (seen["used_mcs"], seen["frozen_mcs"]), (used, 0))
        self.rows.append((name, how, "settled", outcome, seconds, seen["used_mcs"]))

    def released(self, name, how):
        seen = self.hold(name, state="released")
        self.check(f"{how}: returned, nothing charged", (seen["used_mcs"], seen["frozen_mcs"]), (0, 0))
        self.rows.append((name, how, "released", "-", 0, 0))

    # ---- agents

    def start_agents(self):
        for _ in range(2):
            agent = l.Agent(self.lab, **self.agent_keys())
            self.lab.agents.append(agent)
            self.agents.append(agent.start())
            agent.keys["listen"] = f"127.0.0.1:{agent.port}"  # also when it is started again
        self.until("the agents are ready", lambda: all(a.call("GET", "/readyz")[0] == 200 for a in self.agents))

    def agent_keys(self):
        keys = {"namespace": SYSTEM, "lease": "on", "lease_s": 3, "heartbeat_s": 1, "sweep_s": 1, "unseen_s": 3, "lost_after_s": 1}
        return {**keys, "stop_grace_s": 1, "breaker_s": 1}

    def revive(self, **keys):
        for agent in self.agents:
            agent.keys |= {"url": self.lab.ledger_url(), **keys}
            agent.start()
        self.until("the agents are ready", lambda: all(a.call("GET", "/readyz")[0] == 200 for a in self.agents))

    def leaders(self):
        return [a for a in self.agents if a.process.poll() is None and a.metrics()["leader"]]

    def lists(self):
        return sum(a.metrics()["watch_lists_total"] for a in self.agents)


# ---- what is done, in this order


def manifests(live):
    """The manifests as they are shipped, validated by the server's own schema, and the agents with the rights that they give."""
    cluster = live.cluster
    text, changes = c.adapted((MANIFESTS / "corehour-kubernetes.yaml").read_text(encoding="utf-8"), cluster.minor)
    for change in changes:
        print(f"  --  {change}")
    code, said = cluster.kubectl("admin", "apply", "-f", "-", text=text)
    live.check("kubectl apply -f corehour-kubernetes.yaml", (code, said.count("created")), (0, text.count("\nkind:")))
    for part in (MANIFESTS / "kueue.yaml").read_text(encoding="utf-8").split("\n---\n")[:2]:
        live.check("kubectl apply: roles of kueue.yaml", cluster.kubectl("admin", "apply", "-f", "-", text=part)[0], 0)
    print("  --  certificate.yaml and Kueue's AdmissionCheck are not applied: their kinds are of cert-manager and Kueue")
    cluster.token = c.service_account_token(cluster, SYSTEM, "corehour-kubernetes")
    for space, mode in TEAMS.items():
        labels = {"corehour.io/mode": mode} if mode else {}
        cluster.ok("POST", "/api/v1/namespaces", {"metadata": {"name": space, "labels": labels}})
        words = ["create", "rolebinding", "alice", "--clusterrole=edit", "--user=alice", "-n", space]
        assert cluster.kubectl("admin", *words)[0] == 0
    for name, gpus in NODES.items():
        live.kubelet.add_node(name, gpus)
    live.start_agents()
    for agent in live.agents:
        done = l.subprocess.run([live.lab.program, "--config", agent.folder / "kubernetes.conf", "--check"], capture_output=True, text=True, check=False)
        live.check("corehour-kubernetes --check with the service account of the manifest", done.returncode, 0)
    text, changes = c.adapted((MANIFESTS / "webhooks.yaml").read_text(encoding="utf-8"), cluster.minor, live.agents[0].port, live.lab.cert)
    for change in changes:
        print(f"  --  {change}")
    code, said = cluster.kubectl("admin", "apply", "-f", "-", text=text)
    live.check("kubectl apply -f webhooks.yaml", (code, said.count("created")), (0, 2))
    live.until("one agent leads", lambda: len(live.leaders()) == 1)
    live.check("one of two agents holds the Lease", len(live.leaders()), 1)
    # The API server asks its webhooks some moments after they are applied.
    live.until("the webhook is asked", lambda: "denied the request" in live.cluster.kubectl(
        "alice", "create", "-f", "-", "--dry-run=server", text=json.dumps(live.manifest("probe", gpus=32)))[1])


def enforce(live):
    """Mode enforce: what kubectl shows, dry runs, controllers, other webhooks' and quotas' no after our yes."""
    said = live.refused("too-big")
    print("      | " + said)
    wanted = 'Error from server (Forbidden): error when creating "STDIN": admission webhook "enforce.corehour.io" denied the request: '
    line = "quota insufficient to pre-freeze 10.67 core-hours (128.000 cores x 5.00 min): project team-a job_gpus cap 4.000, used 0.000, "
    live.check("kubectl shows the line", said, wanted + line + "frozen 0.000, available 4.000, missing 4.000")
    live.check("--dry-run=server shows it, too", live.refused("too-big", "team-a", 8, "--dry-run=server"), line)
    before = len(live.lab.holds())
    code, said = live.cluster.kubectl("alice", "create", "--dry-run=server", "-f", "-", text=json.dumps(live.manifest("dry")))
    live.check("a dry run that fits is let through", (code, "dry run" in said), (0, True))
    said = live.refused("huge", gpus="9223372036854775807")
    live.check("a quantity that no hold can carry", said, "is more than a hold can carry")
    template = live.manifest("x", gpus=8)["spec"]
    template.pop("restartPolicy")
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "team-a"}}
    web["spec"] = {"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": template}}
    assert live.cluster.kubectl("alice", "create", "-f", "-", text=json.dumps(web))[0] == 0
    refusals = live.agents[0].metrics()["reviews_refused_total"]
    live.until("the ReplicaSet tries again", lambda: live.agents[0].metrics()["reviews_refused_total"] > refusals + 5)
    said = live.until("an Event", lambda: [t for t in [live.cluster.kubectl("alice", "describe", "rs", "-n", "team-a")[1]] if "job_gpus" in t])
    live.check("kubectl describe shows the line of a refused ReplicaSet", said[0], "Error creating: admission webhook")
    live.check("nothing of all that left a hold", len(live.lab.holds()), before)
    template["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "1"
    assert live.cluster.kubectl("alice", "apply", "-f", "-", text=json.dumps(web))[0] == 0
    name = take_pod(live, "app=web")
    live.check("a Deployment's pod is alice's, by the owner chain", live.hold(name)["user"], "alice")
    live.run(name)
    assert live.cluster.kubectl("alice", "delete", "deployment", "web", "-n", "team-a")[0] == 0
    finish(live, name, "its Deployment deleted", "cancelled")
    quota = {"metadata": {"name": "none"}, "spec": {"hard": {"requests.nvidia.com/gpu": "0"}}}
    live.cluster.ok("POST", "/api/v1/namespaces/team-q/resourcequotas", quota)
    live.until("the quota counts", lambda: "used" in live.cluster.ok("GET", "/api/v1/namespaces/team-q/resourcequotas/none").get("status", {}))
    live.check("a ResourceQuota refuses after our yes", live.refused("quota", "team-q", 1), "exceeded quota: none")

    def taken_back():
        found = [h for h in live.lab.holds().values() if h["project"] == "team-q"]
        return found and all((h["state"], h["frozen_mcs"], h["used_mcs"]) == ("released", 0, 0) for h in found)

    live.until("the hold of a pod that never came is returned", taken_back)
    live.check("and that pod's hold is returned", taken_back(), True)
    live.create("system", "kube-system", who="admin")
    live.create("free", "team-free")
    live.check("kube-system and namespaces without the label are not touched", [live.lab.hold(live.uid(n)) for n in ("system", "free")], [None, None])


def take_pod(live, selector):
    """The pod of a controller in team-a, as soon as it is there; its name."""
    path = f"/api/v1/namespaces/team-a/pods?labelSelector={selector}"
    item = live.until(f"a pod of {selector}", lambda: live.cluster.ok("GET", path)["items"])[0]
    live.pods[item["metadata"]["name"]] = item
    return item["metadata"]["name"]


def other_modes(live):
    """Modes observe and gate."""
    live.create("seen", "team-c", gpus=8)
    live.pods["seen"] = live.kubelet.run(live.placed("seen"))
    item = live.create("behind", "team-b")
    if item["spec"].get("schedulingGates"):
        live.hold("behind", state="frozen")
        live.until("the gate is lifted", lambda: not live.fresh("behind")["spec"].get("schedulingGates"))
        live.check("mode gate: frozen, then the gate is lifted", live.fresh("behind")["spec"].get("schedulingGates"), None)
        live.create("waits", "team-b", gpus=8)
        said = live.until("an Event", lambda: [t for t in [live.cluster.kubectl("alice", "describe", "pod", "waits", "-n", "team-b")[1]] if "Corehour" in t])
        live.check("mode gate: an Event says what is missing", said[0], "job_gpus")
        live.cluster.kubectl("alice", "delete", "pod", "waits", "-n", "team-b")
    else:
        print(f"  --  mode gate: {live.cluster.version} drops scheduling gates (they came with 1.27); its pods start, and are charged")
    live.pods["behind"] = live.kubelet.run(live.placed("behind"))
    time.sleep(2)
    live.ended("seen", "observe: completed", "completed", live.kubelet.end(live.pods["seen"]), gpus=8)
    live.ended("behind", "gate: completed", "completed", live.kubelet.end(live.pods["behind"]))


def ends(live):
    """Pods through every end that a cluster without kubelets can be brought to."""
    names = "done fail oom limit evicted pressure cancel force".split()
    for name in names:
        live.create(name, **({"activeDeadlineSeconds": 3600} if name == "limit" else {}))
    tolerate = [{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}]
    live.create("lost", on="node-lost", tolerations=tolerate)
    live.create("orphan", on="node-gone")
    live.create("low", on="node-tight")
    live.create("space", "team-d")
    live.create("nowhere", on="no-such-node")
    live.check("activeDeadlineSeconds is frozen in full", live.hold("limit")["seconds"], 3600)
    live.run(*names, "lost", "orphan", "low", "space")
    at = {"done": live.kubelet.end(live.pods["done"]), "fail": live.kubelet.end(live.pods["fail"], 1)}
    at["oom"] = live.kubelet.end(live.pods["oom"], 137, "OOMKilled")
    at["limit"] = live.kubelet.end(live.pods["limit"], 143, None, "DeadlineExceeded")
    live.ended("done", "completed", "completed", at["done"])
    live.ended("fail", "failed", "failed", at["fail"])
    live.ended("oom", "out of memory", "oom", at["oom"])
    live.ended("limit", "its own deadline", "deadline", at["limit"])
    live.kubelet.throw_out(live.pods["pressure"], "Evicted")
    live.ended("pressure", "evicted by node pressure", "preempted", c.stamp(), slack_s=10)
    policy = "policy/v1" if live.cluster.minor >= 22 else "policy/v1beta1"
    body = {"apiVersion": policy, "kind": "Eviction", "metadata": {"name": "evicted", "namespace": "team-a"}}
    live.cluster.ok("POST", "/api/v1/namespaces/team-a/pods/evicted/eviction", body)
    disrupted = live.cluster.minor >= 26
    finish(live, "evicted", "evicted by the API", "preempted" if disrupted else "cancelled")
    live.cluster.kubectl("alice", "delete", "pod", "cancel", "-n", "team-a", "--wait=false")
    finish(live, "cancel", "deleted by its user", "cancelled")
    live.cluster.kubectl("alice", "delete", "pod", "force", "-n", "team-a", "--force", "--grace-period=0", "--wait=false")
    live.ended("force", "force-deleted", "cancelled", c.stamp(), slack_s=10)
    live.cluster.kubectl("alice", "delete", "pod", "nowhere", "-n", "team-a")
    live.released("nowhere", "never scheduled")
    preempt(live)
    lose_nodes(live)
    code, _ = live.cluster.kubectl("admin", "delete", "namespace", "team-d", "--wait=false")
    finish(live, "space", "its namespace deleted", "cancelled")
    live.until("the namespace is gone", lambda: live.cluster.call("GET", "/api/v1/namespaces/team-d")[0] == 404)
    live.check("the namespace goes: nothing of ours holds it up", code, 0)
    job_deadline(live)


def finish(live, name, how, outcome):
    """Its deletion is asked for: the containers end, and the kubelet removes it."""
    live.until(f"{name} is to be deleted", lambda: "deletionTimestamp" in (live.fresh(name) or {}).get("metadata", {}))
    at = live.kubelet.end(live.pods[name], 143)
    live.kubelet.remove(live.pods[name])
    live.ended(name, how, outcome, at)


def preempt(live):
    live.cluster.ok("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "urgent"}, "value": 1000})
    live.create("urgent", on="node-tight", priorityClassName="urgent")
    disrupted = live.cluster.minor >= 26
    finish(live, "low", "preempted by the scheduler", "preempted" if disrupted else "cancelled")
    live.run("urgent")
    time.sleep(1)
    live.ended("urgent", "the one that preempted", "completed", live.kubelet.end(live.pods["urgent"]))


def lose_nodes(live):
    lost_at = c.stamp()
    live.kubelet.lose("node-lost")
    live.until("the lost node's pod is to be deleted", lambda: "deletionTimestamp" in live.fresh("lost")["metadata"])
    live.ended("lost", "its node lost", "node_fail", lost_at, slack_s=40)
    live.cluster.ok("DELETE", "/api/v1/nodes/node-gone")
    live.until("pod GC", lambda: live.fresh("orphan") is None)
    live.ended("orphan", "its node removed, then pod GC", "node_fail", c.stamp(), slack_s=120)


def job_deadline(live):
    template = {"spec": live.manifest("x")["spec"], "metadata": {"labels": {"job": "short"}}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "short", "namespace": "team-a"}}
    job["spec"] = {"activeDeadlineSeconds": 5, "template": template}
    assert live.cluster.kubectl("alice", "create", "-f", "-", text=json.dumps(job))[0] == 0
    name = take_pod(live, "job=short")
    live.run(name)
    finish(live, name, "a Job's deadline", "cancelled")


def api_server_killed(live):
    """kill -9 of the API server while pods run, come and end; then of the API server and the agents at once."""
    for name in ("over", "under", "away"):
        live.create(name)
    live.run("over", "under", "away")
    lists = live.lists()
    live.cluster.kill("kube-apiserver")
    live.check("pods run on in the ledger", live.lab.hold(live.uid("over"))["state"], "running")
    time.sleep(3)
    live.cluster.start_api_server()
    live.ended("over", "completed after a restart of the API server", "completed", live.kubelet.end(live.pods["over"]))
    live.until("a new list", lambda: live.lists() > lists)
    too_old(live)
    seen = live.lab.hold(live.uid("away"))["last_seen_at"]
    for agent in live.agents:
        agent.kill()
    live.cluster.kill("kube-apiserver")
    live.cluster.start_api_server()
    said = live.refused("unheard", gpus=1)
    print("      | " + said)
    live.check("no agent: enforce refuses by failurePolicy", said, 'failed calling webhook "enforce.corehour.io"')
    live.create("alone", "team-c")
    live.pods["alone"] = live.kubelet.run(live.placed("alone"))
    at = live.kubelet.end(live.pods["under"])
    gone = live.kubelet.end(live.pods["alone"])
    live.cluster.kubectl("admin", "delete", "pod", "away", "-n", "team-a", "--force", "--grace-period=0")
    live.revive()
    live.ended("under", "completed while API server and agents were gone", "completed", at)
    live.ended("alone", "observe: made and completed while no agent was there", "completed", gone)
    live.ended("away", "force-deleted while no agent was there: as long as it was seen", "cancelled", seen, slack_s=5)


def too_old(live):
    """410 from the real server. An agent that came back before its rights did has listed anew without it: then once more."""
    for _ in range(5):
        if any("too old resource version" in agent.text() for agent in live.agents):
            break
        live.cluster.kill("kube-apiserver")
        live.cluster.start_api_server()
        time.sleep(10)
    seen = [agent.name for agent in live.agents if "too old resource version" in agent.text()]
    live.check("a restarted API server finds old versions too old (410), and all is listed anew", bool(seen), True)


def one_agent_killed(live):
    """The leader dies; the other one goes on with its work."""
    live.create("heir")
    live.run("heir")
    leader = live.until("a leader", live.leaders)[0]
    leader.kill()
    other = next(a for a in live.agents if a is not leader)
    at = live.kubelet.end(live.pods["heir"])
    live.until("the other one leads", lambda: other.metrics()["leader"])
    live.ended("heir", "completed while the leader was dead", "completed", at)
    leader.start()
    live.until("it is ready", lambda: leader.call("GET", "/readyz")[0] == 200)
    time.sleep(4)
    live.check("one leader when it is back", len(live.leaders()), 1)


def ledger_killed(live):
    """kill -9 of the ledger: observe lives on, enforce follows fail_policy, what ended is told when it is back."""
    for name in ("before", "vanish"):
        live.create(name)
    live.run("before", "vanish")
    live.lab.daemon.kill()
    said = live.refused("silent", gpus=1)
    print("      | " + said)
    live.check("enforce, fail_policy closed: refused, and not for want of quota", said, "Corehour gives no answer, and this cluster admits nothing without one")
    live.create("calm", "team-c")
    live.create("calm-b", "team-b")
    live.check("observe lets the cluster live", live.pods["calm"]["metadata"]["name"], "calm")
    waits = bool(live.pods["calm-b"]["spec"].get("schedulingGates"))
    live.check("gate: the pod is made" + (", and waits" if waits else ""), live.pods["calm-b"]["metadata"]["name"], "calm-b")
    live.pods["calm"] = live.kubelet.run(live.placed("calm"))
    at = {"before": live.kubelet.end(live.pods["before"]), "calm": live.kubelet.end(live.pods["calm"])}
    live.cluster.kubectl("admin", "delete", "pod", "vanish", "-n", "team-a", "--force", "--grace-period=0")
    at["vanish"] = c.stamp()
    time.sleep(3)
    for agent in live.agents:  # and the agents, too, which then let pods in
        agent.kill()
    for agent in live.agents:
        agent.keys["fail_policy"] = "open"
        agent.start()
    live.until("the agents are ready", lambda: all(a.call("GET", "/readyz")[0] == 200 for a in live.agents))
    code, said = live.cluster.kubectl("alice", "create", "-f", "-", text=json.dumps(live.manifest("trusted")))
    print("      | " + said.strip().replace("\n", "\n      | "))
    live.check("enforce, fail_policy open: let in with a warning", (code, "charged later" in said), (0, True))
    live.pods["trusted"] = live.cluster.pod("team-a", "trusted")
    live.pods["trusted"] = live.kubelet.run(live.placed("trusted"))
    time.sleep(2)
    at["trusted"] = live.kubelet.end(live.pods["trusted"])
    live.cluster.kill("kube-apiserver")
    live.lab.daemon.start()
    live.cluster.start_api_server()
    for agent in live.agents:
        agent.kill()
    live.revive(fail_policy="closed")
    live.ended("before", "completed while the ledger was down", "completed", at["before"])
    live.ended("calm", "observe: made and completed while the ledger was down", "completed", at["calm"])
    live.ended("vanish", "force-deleted while the ledger was down", "cancelled", at["vanish"], slack_s=10)
    live.ended("trusted", "let in by fail_policy open, completed", "completed", at["trusted"])
    live.pods["calm-b"] = live.kubelet.run(live.placed("calm-b"))
    live.ended("calm-b", "gate: made while the ledger was down, completed", "completed", live.kubelet.end(live.pods["calm-b"]))


def exhausted(live):
    """on_exhausted stop: an Event, then a graceful deletion, with the rights of the ClusterRole corehour-kubernetes-stop."""
    daemon = live.lab.daemon
    daemon.ok("PATCH", f"/v1/clusters/{live.lab.cluster}", {"on_exhausted": "stop", "window_s": 60}, {"If-Match": "*"})
    used = daemon.call("GET", "/v1/projects/team-a/balance").json["used_mcs"]
    cap = {"core_hours": f"{(used + 70 * l.GPU) / l.HOUR:.3f}"}  # one window, and not another one
    daemon.ok("PUT", "/v1/projects/team-a/caps/total", cap)
    live.create("poor")
    live.run("poor")
    live.until("its deletion is asked for", lambda: "deletionTimestamp" in live.fresh("poor")["metadata"])
    said = live.cluster.kubectl("alice", "describe", "pod", "poor", "-n", "team-a")[1]
    live.check("an Event tells why a pod is stopped", said, "CorehourStopping")
    finish(live, "poor", "stopped: its core-hours were used up", "cancelled")


def books(live):
    """Everything is told: agents that stop, and the books of the ledger."""
    for agent in live.agents:
        assert agent.stop() == 0
    lease = live.cluster.ok("GET", f"/apis/coordination.k8s.io/v1/namespaces/{SYSTEM}/leases/corehour-kubernetes")
    live.check("the Lease is given back", lease["spec"].get("holderIdentity") or "", "")
    open_ = [h["job"] for h in live.lab.holds().values() if h["state"] in ("waiting", "frozen", "running", "suspended")]
    live.check("nothing is open in the ledger", open_, [])
    live.lab.daemon.stop()
    code, said = live.lab.daemon.check()
    live.check("corehourd check: the books add up", (code, said if code else ""), (0, ""))


STEPS = [manifests, enforce, other_modes, ends, api_server_killed, one_agent_killed, ledger_killed, exhausted, books]


def main():
    corehourd, agent, programs = sys.argv[1:4]
    began = time.monotonic()
    with l.Lab(corehourd, agent, make_api=lambda cert, key: c.LiveCluster(programs, cert, key)) as lab:
        for team in TEAMS:
            lab.daemon.ok("PUT", f"/v1/projects/{team}", {"organization": "acme"}, {"If-Match": "*"})
        for team in ("team-a", "team-b"):
            lab.daemon.ok("PUT", f"/v1/projects/{team}/caps/job_gpus", {"limit": 4})
        live = Live(lab)
        print(f"Kubernetes {lab.api.version}: API server, controller manager, scheduler; no kubelet, whose writing is played")
        for step in STEPS:
            print(f"== {step.__name__}: {step.__doc__}", flush=True)
            step(live)
    print(f"\n{'pod':22} {'how it ended':58} {'state':9} {'outcome':10} {'s':>5} {'used mcs':>9}")
    for name, how, state, outcome, seconds, used in live.rows:
        print(f"{name:22} {how:58} {state:9} {outcome:10} {seconds:5} {used:9}")
    print(f"live: Kubernetes {lab.api.version}, {len(live.rows)} pods, {live.checks} checks, all as they should be, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
