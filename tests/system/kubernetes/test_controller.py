"""What no recording shows: pods that vanish unseen, a ledger and an API server that go and come back, gates, observers, leaders."""

import os
import sys
import time
import unittest

import lab as l
import world as w

COREHOURD = AGENT = None


class Controller(unittest.TestCase):
    """A ledger and an API server for each test: nearly all of them break one of the two."""

    def setUp(self):
        self.lab = l.Lab(COREHOURD, AGENT)
        self.lab.__enter__()
        self.api = self.lab.api
        for mode in ("enforce", "gate", "observe"):
            self.api.namespace({"enforce": "team-a", "gate": "team-b", "observe": "team-c"}[mode], mode)
        self.now = int(time.time())

    def tearDown(self):
        result = self._outcome.result
        failed = any(test is self for test, _ in result.failures + result.errors)
        self.lab.__exit__(RuntimeError if failed else None)

    def hold(self, uid, **wanted):
        """The hold of a pod, as soon as it looks like that."""
        deadline = time.monotonic() + 40
        while True:
            hold = self.lab.hold(uid) or {}
            run = (hold.get("runs") or [{}])[0]
            seen = {**{k: run.get(k) for k in ("started_at", "ended_at", "outcome")}, **hold}
            seen = {key: seen.get(key) for key in wanted}
            if seen == wanted:
                return hold
            if time.monotonic() > deadline:
                self.assertEqual(seen, wanted, self.lab.agents[-1].text()[-3000:])
            time.sleep(0.02)

    def admit(self, agent, item):
        answer = agent.review("/enforce", l.review(item))
        self.assertTrue(answer["allowed"], answer)
        self.api.put("pods", item)

    # ---- what vanishes

    def test_an_admission_whose_pod_never_comes_is_taken_back(self):
        """ResourceQuota or another webhook refuses after ours said yes, again and again."""
        agent = self.lab.agent(unseen_s=1, sweep_s=1)
        for i in range(5):
            agent.review("/enforce", l.review(l.pod(f"retry-{i}", f"retry-{i}")))
        self.admit(agent, l.pod("real", "real"))
        for i in range(5):
            self.hold(f"retry-{i}", state="released", frozen_mcs=0)
        self.hold("real", state="frozen")

    def test_a_pod_deleted_while_the_agent_was_away_is_settled_when_it_was_last_seen(self):
        agent = self.lab.agent(heartbeat_s=1)
        item = l.pod("gone", "gone")
        self.admit(agent, item)
        pending = l.pod("never", "never")
        self.admit(agent, pending)
        self.api.put("pods", l.run_pod(item, self.now - 100))
        self.hold("gone", state="running")
        time.sleep(2.5)
        agent.kill()
        seen = self.lab.hold("gone")["last_seen_at"]
        self.assertGreater(w.seconds(seen), self.now - 100)
        self.api.vanish("pods", "team-a", "gone")
        self.api.vanish("pods", "team-a", "never")
        agent.start()
        self.hold("gone", state="settled", ended_at=seen, outcome="cancelled")
        self.hold("never", state="released")
        self.assertIn("evidence=last_seen", agent.text())

    def test_what_ended_while_the_ledger_was_down_is_settled_when_it_is_back(self):
        agent = self.lab.agent()
        for name in ("ends", "vanishes", "unheld"):
            item = l.pod(name, name)
            if name != "unheld":
                self.admit(agent, item)
            self.api.put("pods", l.run_pod(item, self.now - 300))
        self.hold("vanishes", state="running")
        self.hold("ends", state="running")
        before = agent.settle_down()["watch_events_total"]
        self.lab.daemon.kill()
        self.api.put("pods", l.end_pod(self.api.kind("pods").objects["team-a", "ends"], self.now - 100))
        for name in ("vanishes", "unheld"):
            gone = l.run_pod(l.pod(name, name), self.now - 300)
            gone["metadata"]["deletionTimestamp"] = w.at(self.now - 50)
            gone["metadata"]["deletionGracePeriodSeconds"] = 0
            self.api.put("nodes", {"metadata": {"name": "gpu-node-1"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}})
            self.api.put("pods", gone)
            self.api.remove("pods", "team-a", name)
        agent.until(lambda m: m["spooled"] >= 2 and m["watch_events_total"] >= before + 5)
        agent.kill()  # and the agent, too: only the disk remembers the two
        late = l.pod("late", "late")
        self.api.put("pods", l.end_pod(l.run_pod(late, self.now - 40), self.now - 20))
        agent.start()
        self.lab.daemon.start()
        agent.keys["url"] = self.lab.ledger_url()
        agent.kill()
        agent.start()
        self.hold("ends", state="settled", ended_at=w.at(self.now - 100), used_mcs=200 * l.GPU)
        self.hold("vanishes", state="settled", ended_at=w.at(self.now - 50), used_mcs=250 * l.GPU)
        self.hold("unheld", state="settled", ended_at=w.at(self.now - 50), used_mcs=250 * l.GPU)
        self.hold("late", state="settled", used_mcs=20 * l.GPU, user="kubernetes")
        agent.until(lambda m: m["spooled"] == 0 and m["pods_pending"] == 0)

    def test_better_evidence_corrects_an_earlier_end(self):
        """A node was lost; it comes back and says when the containers ended."""
        agent = self.lab.agent(lost_after_s=0)
        item = l.pod("back", "back")
        self.admit(agent, item)
        lost = l.run_pod(item, self.now - 500)
        lost["metadata"]["deletionTimestamp"] = w.at(self.now - 300)
        lost["metadata"]["deletionGracePeriodSeconds"] = 30
        self.api.put("pods", lost)
        self.hold("back", state="settled", outcome="node_fail", ended_at=w.at(self.now - 330))
        self.assertIn("evidence=node_lost", agent.text())
        agent.kill()
        agent.start()
        self.api.put("pods", l.end_pod(lost, self.now - 310, "Failed"))
        self.hold("back", ended_at=w.at(self.now - 310), outcome="cancelled", used_mcs=190 * l.GPU)

    # ---- shares

    def test_a_share_of_a_card_is_charged_as_the_share_that_it_is(self):
        """Through the webhook and the watch: 100 s of each."""
        agent = self.lab.agent()
        a100 = {"metadata": {"annotations": {"nvidia.com/use-gputype": "A100"}}}
        cases = {
            "third": ({"nvidia.com/gpu": "1", "nvidia.com/gpucores": "30"}, 4800),
            "memory": ({"nvidia.com/gpu": "1", "nvidia.com/gpumem": "4k"}, 1563),  # 4000 of 40960 MiB
            "two": ({"nvidia.com/gpu": "2", "nvidia.com/gpucores": "30"}, 9600),
            "mig": ({"nvidia.com/mig-1g.5gb": "2"}, 4572),
        }
        for name, (limits, rate) in cases.items():
            item = l.pod(name, name, **l.json.loads(l.json.dumps(a100)))
            item["spec"]["containers"][0]["resources"] = {"limits": limits, "requests": limits}
            self.admit(agent, item)
            self.assertEqual(self.lab.hold(name)["rate_mcores"], rate, name)
            self.api.put("pods", l.end_pod(l.run_pod(item, self.now - 300), self.now - 200))
            self.hold(name, state="settled", used_mcs=100 * rate)

    def test_the_model_that_was_given_is_charged(self):
        """Frozen as unknown, settled by the label of the node."""
        labels = {"nvidia.com/gpu.product": "Tesla-V100-PCIE-32GB"}
        ready = [{"type": "Ready", "status": "True"}]
        self.api.put("nodes", {"metadata": {"name": "v100-node", "labels": labels}, "status": {"conditions": ready}})
        agent = self.lab.agent()
        item = l.pod("given", "given")
        self.admit(agent, item)
        self.assertEqual(self.lab.hold("given")["rate_mcores"], l.GPU)
        self.api.put("pods", l.end_pod(l.run_pod(item, self.now - 300, "v100-node"), self.now - 200))
        self.hold("given", state="settled", used_mcs=100 * 8000)

    # ---- observe

    def test_observed_pods_are_only_charged(self):
        agent = self.lab.agent()
        item = l.pod("seen", "seen", "team-c", metadata={"annotations": {"corehour.io/user": "erin"}})
        self.api.put("pods", l.run_pod(item, self.now - 120))
        agent.settle_down(events=1)
        self.assertIsNone(self.lab.hold("seen"))
        self.api.put("pods", l.end_pod(l.run_pod(item, self.now - 120), self.now - 60))
        self.hold("seen", state="settled", used_mcs=60 * l.GPU, user="erin", outcome="completed")

    def test_an_observed_pod_that_vanished_unseen_is_charged_until_it_was_last_seen(self):
        agent = self.lab.agent(heartbeat_s=1)
        self.api.put("pods", l.run_pod(l.pod("seen", "seen", "team-c"), self.now - 120))
        agent.until(lambda m: m["spooled"] == 1)
        time.sleep(2.2)
        agent.kill()
        self.api.vanish("pods", "team-c", "seen")
        agent.start()
        hold = self.hold("seen", state="settled", outcome="cancelled")
        ended = w.seconds(hold["runs"][0]["ended_at"])
        self.assertTrue(self.now <= ended <= time.time(), hold)

    def test_what_ended_before_its_namespace_took_part_is_not_charged(self):
        entry = {"manager": "kubectl", "fieldsV1": {"f:metadata": {"f:labels": {"f:corehour.io/mode": {}}}}}
        space = {"name": "team-a", "labels": {"corehour.io/mode": "observe"}}
        space["managedFields"] = [{**entry, "time": w.at(self.now - 100)}]
        self.api.put("namespaces", {"kind": "Namespace", "metadata": space})
        for name, end in (("old", 200), ("new", 50)):
            item = l.pod(name, name)
            self.api.put("pods", l.end_pod(l.run_pod(item, self.now - 300), self.now - end))
        agent = self.lab.agent()
        self.hold("new", state="settled", used_mcs=250 * l.GPU)
        agent.settle_down()
        self.assertIsNone(self.lab.hold("old"))

    def test_namespaces_that_do_not_take_part_are_not_touched(self):
        agent = self.lab.agent()
        self.api.namespace("free")
        for name in ("free", "kube-system"):
            item = l.pod("p", f"free-{name}", name)
            self.api.put("pods", l.end_pod(l.run_pod(item, self.now - 50), self.now - 10))
        agent.settle_down(events=2)
        self.assertEqual(agent.metrics()["pods_tracked"], 0)
        self.assertEqual(self.lab.holds(), {})

    # ---- hostile pods

    def test_a_pod_whose_text_has_a_nul_blinds_nobody(self):
        """The API server takes any text as an annotation, and writes NUL as an escape."""
        marks = {"metadata": {"annotations": {"a": "x\u0000y", "back\\u0000slash": "\\u0000", "nvidia.com/use-gputype": "A100\u0000"}}}
        self.api.put("pods", l.end_pod(l.run_pod(l.pod("listed", "listed", "team-c", **marks), self.now - 120), self.now - 60))
        agent = self.lab.agent()
        self.hold("listed", state="settled", used_mcs=60 * l.GPU)
        self.api.put("pods", l.run_pod(l.pod("streamed", "streamed", "team-c", **marks), self.now - 120))
        self.api.put("pods", l.end_pod(self.api.kind("pods").objects["team-c", "streamed"], self.now - 90))
        self.hold("streamed", state="settled", used_mcs=30 * l.GPU)
        self.assertEqual(agent.metrics()["watch_lists_total"], 1, "the stream went on")

    def test_pods_as_large_as_an_api_server_takes_them_blind_nobody(self):
        """1.5 MiB in etcd are six times that as JSON when every character is an escape. The slow tests fill more than a page."""
        large = {"args": ["x" * (9 << 20)]}
        count = 8 if os.environ.get("COREHOUR_SLOW") else 1
        for i in range(count):
            item = l.pod(f"large-{i}", f"large-{i}", "free")
            item["spec"]["containers"][0].update(large)
            self.api.kind("pods").objects["free", f"large-{i}"] = item
            item["metadata"]["resourceVersion"] = "1"
        self.api.put("pods", l.end_pod(l.run_pod(l.pod("small", "small", "team-c"), self.now - 120), self.now - 60))
        agent = self.lab.agent()
        agent.settle_down(events=count + 1)
        self.hold("small", state="settled", used_mcs=60 * l.GPU)
        lists = agent.settle_down()["watch_lists_total"]
        self.api.put("pods", self.api.kind("pods").objects["free", "large-0"])
        self.api.put("pods", l.end_pod(l.run_pod(l.pod("next", "next", "team-c"), self.now - 120), self.now - 90))
        self.hold("next", state="settled", used_mcs=30 * l.GPU)
        self.assertEqual(agent.metrics()["watch_lists_total"], lists, "the stream went on")

    # ---- gates

    def gated(self, name, gpus=1):
        return l.pod(name, name, "team-b", gpus, spec={"schedulingGates": [{"name": "a/b"}, {"name": "corehour.io/freeze"}]})

    def gates_of(self, name):
        return [g["name"] for g in self.api.kind("pods").objects["team-b", name]["spec"].get("schedulingGates", [])]

    def test_a_gate_is_lifted_when_the_core_hours_are_frozen(self):
        agent = self.lab.agent()
        self.api.put("pods", self.gated("waits"))
        self.hold("waits", state="frozen", frozen_mcs=300 * l.GPU)
        agent.until(lambda m: self.gates_of("waits") == ["a/b"])
        patches = [r[2] for r in self.api.requests if r[0] == "PATCH"]
        self.assertEqual(len(patches), 1)
        self.assertIn({"op": "test", "path": "/metadata/uid", "value": "waits"}, patches[0])

    def test_a_pod_without_quota_waits_behind_its_gate_and_an_event_says_why(self):
        self.lab.daemon.ok("PUT", "/v1/projects/team-b/caps/gpus", {"limit": 2})
        agent = self.lab.agent()
        self.api.put("pods", self.gated("first", 2))
        self.hold("first", state="frozen")
        self.api.put("pods", self.gated("second", 2))
        self.hold("second", state="waiting")
        self.api.put("pods", self.gated("never", 3))
        agent.until(lambda m: self.api.events("CorehourInsufficient") and self.api.events("CorehourWaiting"))
        message = self.api.events("CorehourInsufficient")[0]["message"]
        self.assertIn("project team-b gpus cap 2.000", message)
        self.assertEqual(self.api.events("CorehourInsufficient")[0]["involvedObject"]["uid"], "never")
        self.assertIn("corehour.io/freeze", self.gates_of("second"))
        self.api.put("pods", l.run_pod(self.api.kind("pods").objects["team-b", "first"], self.now - 90))
        self.hold("first", state="running")
        agent.kill()
        agent.start()
        self.api.put("pods", l.end_pod(self.api.kind("pods").objects["team-b", "first"], self.now - 30))
        self.hold("first", state="settled", used_mcs=2 * 60 * l.GPU)
        self.hold("second", state="frozen")
        agent.until(lambda m: self.gates_of("second") == ["a/b"])
        self.assertIn("corehour.io/freeze", self.gates_of("never"))
        self.api.remove("pods", "team-b", "second")
        self.hold("second", state="released", frozen_mcs=0)

    def test_the_pods_of_a_job_are_frozen_together_or_not_at_all(self):
        self.api.namespace("team-b", "gate", **{"corehour.io/gang": "true"})
        self.lab.daemon.ok("PUT", "/v1/projects/team-b/caps/gpus", {"limit": 4})
        agent = self.lab.agent()
        agent.settle_down()

        def member(job, index, gpus=1):
            item = self.gated(f"{job}-{index}", gpus)
            owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": f"uid-{job}", "controller": True}
            item["metadata"]["ownerReferences"] = [owner]
            return item

        for job, size in (("three", 3), ("five", 5)):
            metadata = {"name": job, "namespace": "team-b", "uid": f"uid-{job}"}
            self.api.put("jobs", {"kind": "Job", "apiVersion": "batch/v1", "metadata": metadata, "spec": {"parallelism": size, "template": {}}})
        for index in range(2):
            self.api.put("pods", member("three", index))
        agent.until(lambda m: len(self.api.events("CorehourGang")) >= 2)
        self.assertIn("2 of 3 pods", self.api.events("CorehourGang")[0]["message"])
        self.assertEqual(self.lab.holds(), {})
        self.api.put("pods", member("three", 2))
        for index in range(3):
            self.hold(f"three-{index}", state="frozen")
            agent.until(lambda m: self.gates_of(f"three-{index}") == ["a/b"])
        for index in range(5):
            self.api.put("pods", member("five", index))
        agent.until(lambda m: self.api.events("CorehourInsufficient"))
        self.assertEqual(len(self.lab.holds()), 3, "nothing of the gang that does not fit")
        self.assertIn("corehour.io/freeze", self.gates_of("five-0"))

    def test_gated_pods_wait_for_a_ledger_that_is_down(self):
        agent = self.lab.agent()
        agent.settle_down()
        self.lab.daemon.kill()
        self.api.put("pods", self.gated("patient"))
        agent.until(lambda m: m["pods_pending"] == 1)
        self.assertIn("corehour.io/freeze", self.gates_of("patient"))
        agent.kill()
        self.lab.daemon.start()
        agent.keys["url"] = self.lab.ledger_url()
        agent.start()
        self.hold("patient", state="frozen")
        agent.until(lambda m: self.gates_of("patient") == ["a/b"])

    # ---- the end of core-hours

    def test_a_pod_without_core_hours_is_told_and_deleted(self):
        self.lab.daemon.ok("PATCH", f"/v1/clusters/{self.lab.cluster}", {"on_exhausted": "stop"}, {"If-Match": "*"})
        agent = self.lab.agent(heartbeat_s=1, stop_grace_s=0)
        item = l.pod("stops", "stops")
        self.admit(agent, item)
        self.lab.daemon.ok("PUT", "/v1/projects/team-a/caps/total", {"core_hours": "1.5"})
        self.api.put("pods", l.run_pod(item, self.now - 200))
        agent.until(lambda m: [r for r in self.api.requests if r[0] == "DELETE"])
        request = [r for r in self.api.requests if r[0] == "DELETE"][0]
        self.assertEqual(request[1], "/api/v1/namespaces/team-a/pods/stops")
        self.assertEqual(request[2]["preconditions"], {"uid": "stops"})
        self.assertTrue(self.api.events("CorehourStopping"))

    def test_a_pod_that_goes_on_without_core_hours_is_told(self):
        self.lab.daemon.ok("PATCH", f"/v1/clusters/{self.lab.cluster}", {"on_exhausted": "notify"}, {"If-Match": "*"})
        agent = self.lab.agent(heartbeat_s=1)
        item = l.pod("notes", "notes")
        self.admit(agent, item)
        self.lab.daemon.ok("PUT", "/v1/projects/team-a/caps/total", {"core_hours": "1.5"})
        self.api.put("pods", l.run_pod(item, self.now - 200))
        agent.until(lambda m: self.api.events("CorehourExhausted"))
        self.assertFalse([r for r in self.api.requests if r[0] == "DELETE"])

    # ---- API server

    def test_an_api_server_that_goes_and_comes_back(self):
        agent = self.lab.agent()
        item = l.pod("stays", "stays")
        self.admit(agent, item)
        self.api.put("pods", l.run_pod(item, self.now - 300))
        self.hold("stays", state="running")
        self.api.refuse = 503
        self.api.cut_streams()
        time.sleep(1)
        ended = l.end_pod(l.run_pod(item, self.now - 300), self.now - 100)
        self.api.put("pods", ended)
        self.api.forget_history()
        time.sleep(0.5)
        self.assertEqual(self.lab.hold("stays")["state"], "running")
        self.api.refuse = None
        self.hold("stays", state="settled", used_mcs=200 * l.GPU)

    def test_a_bad_token_is_said_and_recovered_from(self):
        agent = l.Agent(self.lab)
        self.lab.agents.append(agent)
        self.api.token = "other"
        agent.start()
        deadline = time.monotonic() + 30
        while "status=401" not in agent.text() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(agent.call("GET", "/readyz")[0], 503)
        self.assertIn("status=401", agent.text())
        self.api.token = "agent-token"
        agent.settle_down()
        self.assertEqual(agent.call("GET", "/readyz")[0], 200)

    def test_only_one_of_several_agents_leads(self):
        agents = [self.lab.agent(lease="on", lease_s=3) for _ in range(2)]
        deadline = time.monotonic() + 40
        while sum(a.metrics()["leader"] for a in agents) != 1 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1.5)
        leaders = [a for a in agents if a.metrics()["leader"]]
        self.assertEqual(len(leaders), 1)
        other = [a for a in agents if a not in leaders][0]
        self.assertTrue(other.review("/enforce", l.review(l.pod("p", "other")))["allowed"], "all answer reviews")
        self.api.put("pods", l.run_pod(l.pod("p", "other"), self.now - 100))
        self.hold("other", state="running")
        self.assertEqual(other.metrics()["pods_tracked"], 0)
        leaders[0].kill()
        other.until(lambda m: m["leader"] == 1)
        self.api.put("pods", l.end_pod(l.run_pod(l.pod("p", "other"), self.now - 100), self.now - 50))
        self.hold("other", state="settled", used_mcs=50 * l.GPU)
        self.assertEqual(other.stop(), 0)
        lease = self.api.kind("leases").objects["corehour", "corehour-kubernetes"]
        self.assertEqual(lease["spec"]["holderIdentity"], "", "given back at the end")

    # ---- many

    def test_5000_pods_converge_in_seconds_and_little_memory(self):
        for i in range(5000):
            item = l.run_pod(l.pod(f"many-{i}", f"many-{i:04}", "team-a"), self.now - 1000, f"node-{i % 50}")
            self.api.kind("pods").objects["team-a", f"many-{i}"] = item
            item["metadata"]["resourceVersion"] = str(i)
            item["metadata"]["annotations"] = {"filler": "x" * 2000}
        lines = [
            {"op": "freeze", "id": f"pod-many-{i:04}", "cluster": self.lab.cluster, "account": "team-a", "user": "alice"}
            | {"resources": {"gpus": [{"count": 1}]}, "job": {"name": f"team-a/many-{i}"}, "mode": "window", "ttl_s": 86400}
            for i in range(5000)
        ]
        for part in (lines[:2500], lines[2500:]):
            body = b"\n".join(l.json.dumps(x).encode() for x in part)
            answers = self.lab.daemon.call("POST", "/v1/batch", body, timeout_s=60).body.splitlines()
            self.assertEqual({l.json.loads(line)["status"] for line in answers}, {201})
        began = time.monotonic()
        agent = self.lab.agent()
        agent.settle_down(events=5000)
        first = time.monotonic() - began
        self.api.forget_history()
        began = time.monotonic()
        agent.settle_down(lists=2, events=10000)
        again = time.monotonic() - began
        path, running, token = f"/v1/holds?cluster={self.lab.cluster}&state=running&page_size=1000", 0, ""
        while token is not None:
            page = self.lab.daemon.call("GET", path + (f"&page_token={token}" if token else "")).json
            running, token = running + len(page["items"]), page["next_page_token"]
        self.assertEqual(running, 5000)
        memory = agent.memory_kib()
        print(f"# 5000 pods: first {first:.2f} s, again {again:.2f} s, {memory / 1024:.0f} MiB")
        with open(AGENT, "rb") as program:
            sanitized = b"__asan_init" in program.read()
        self.assertLess(memory, (1024 if sanitized else 100) * 1024)


if __name__ == "__main__":
    COREHOURD, AGENT, _ = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
