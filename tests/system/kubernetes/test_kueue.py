"""Kueue's Workloads: the real agent as the controller of an AdmissionCheck, against a real ledger and an API server that plays Kueue's part.

The Workloads are constructed by the published types; Kueue itself is not here.
"""

import json
import subprocess
import sys
import time
import unittest

import lab as l
import world as w

UID = "6d2f7a4e-0000-4000-8000-%012d"


def condition(kind, status, when, reason="Any"):
    return {"type": kind, "status": status, "lastTransitionTime": w.at(when), "reason": reason, "message": ""}


class Kueue(unittest.TestCase):
    COREHOURD = AGENT = None
    count = 0

    def setUp(self):
        self.lab = l.Lab(self.COREHOURD, self.AGENT)
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__, None)
        self.api = self.lab.api
        self.api.namespace("team-a", "kueue")
        self.api.namespace("team-b", "observe")
        self.put_check("corehour", "corehour.io/admission-check")
        self.put_check("other", "example.com/other")
        self.now = int(time.time())

    def tearDown(self):
        for agent in self.lab.agents:
            if agent.process.poll() is None:
                self.assertEqual(agent.stop(), 0)

    def start(self, **keys):
        return self.lab.agent(kueue="on", **{"sweep_s": "1", **keys})

    def put_check(self, name, controller):
        self.api.put(
            "admissionchecks",
            {"kind": "AdmissionCheck", "metadata": {"name": name, "generation": 1}, "spec": {"controllerName": controller}},
        )

    def put(self, name="train", conditions=(), count=2, namespace="team-a", owner=None, limit_s=1000, **status):
        """A Workload of pods with one A100 each, as Kueue changes it."""
        old = self.api.kind("workloads").objects.get((namespace, name))
        template = {
            "metadata": {"annotations": {"nvidia.com/use-gputype": "A100"}},
            "spec": {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]},
        }
        if old is None:
            Kueue.count += 1
        item = {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Workload",
            "metadata": {"name": name, "namespace": namespace, "uid": old["metadata"]["uid"] if old else UID % Kueue.count},
            "spec": {"podSets": [{"name": "main", "count": count, "template": template}]},
            "status": {
                "conditions": list(conditions),
                "admissionChecks": old["status"]["admissionChecks"]
                if old
                else [
                    {"name": "other", "state": "Ready", "message": "", "lastTransitionTime": w.at(self.now)},
                    {"name": "corehour", "state": "Pending", "message": "", "lastTransitionTime": w.at(self.now)},
                ],
                **status,
            },
        }
        if limit_s:
            item["spec"]["maximumExecutionTimeSeconds"] = limit_s
        if owner:
            item["metadata"]["ownerReferences"] = [owner]
        self.api.put("workloads", json.loads(json.dumps(item)))

    def until(self, test, within_s=40):
        deadline = time.monotonic() + within_s
        while True:
            value = test()
            if value or time.monotonic() > deadline:
                self.assertTrue(value, "it never happened\n" + "\n".join(agent.text()[-3000:] for agent in self.lab.agents))
                return value
            time.sleep(0.02)

    def check(self, name="train", namespace="team-a"):
        item = self.api.kind("workloads").objects[(namespace, name)]
        return next(check for check in item["status"]["admissionChecks"] if check["name"] == "corehour")

    def becomes(self, state, name="train", namespace="team-a"):
        self.until(lambda: self.check(name, namespace)["state"] == state)
        return self.check(name, namespace)

    def money(self, project="team-a"):
        balance = self.lab.daemon.call("GET", f"/v1/projects/{project}/balance").json
        return balance["used_mcs"], balance["frozen_mcs"]

    def reserved(self, ago_s=300):
        return condition("QuotaReserved", "True", self.now - ago_s)

    def admitted(self, ago_s=200):
        return condition("Admitted", "True", self.now - ago_s)

    def test_a_workload_from_reservation_to_its_end(self):
        self.start()
        self.put()
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u-job", "controller": True}
        metadata = {"name": "train", "namespace": "team-a", "uid": "u-job", "annotations": {"corehour.io/created-by": "alice"}}
        self.api.put("jobs", {"kind": "Job", "metadata": metadata})
        self.put(conditions=[self.reserved()], owner=owner)
        self.assertEqual(self.becomes("Ready")["message"], "8.89 core-hours are frozen")
        self.assertEqual(self.money(), (0, 2 * l.GPU * 1000))
        self.put(conditions=[self.reserved(), self.admitted()], owner=owner)
        holds = self.until(lambda: [hold for hold in self.lab.holds().values() if hold["state"] == "running"])
        self.assertEqual((holds[0]["user"], holds[0]["project"], holds[0]["job"]), ("alice", "team-a", "train"))
        done = condition("Finished", "True", self.now - 50, "Succeeded")
        self.put(conditions=[self.reserved(), self.admitted(), done], owner=owner)
        self.until(lambda: self.money() == (2 * l.GPU * 150, 0))

    def test_the_check_is_told_to_be_active_and_others_are_left_alone(self):
        self.start()
        checks = self.api.kind("admissionchecks").objects
        status = self.until(lambda: checks[("", "corehour")].get("status"))
        self.assertEqual([(row["type"], row["status"]) for row in status["conditions"]], [("Active", "True")])
        self.assertNotIn("status", checks[("", "other")])

    def test_too_little_quota_is_retried(self):
        self.lab.daemon.ok("PUT", "/v1/projects/team-a/caps/total", {"core_hours": "5"})
        self.start()
        self.put(conditions=[self.reserved()])
        check = self.becomes("Retry")
        self.assertIn("quota insufficient to pre-freeze", check["message"])
        self.assertGreaterEqual(check["requeueAfterSeconds"], 10)
        self.assertEqual(self.money(), (0, 0))
        # Kueue evicts, resets the check, and reserves again when there is room.
        self.lab.daemon.ok("PUT", "/v1/projects/team-a/caps/total", {"core_hours": "50"}, {"If-Match": "*"})
        item = self.api.kind("workloads").objects[("team-a", "train")]
        item["status"]["admissionChecks"][1]["state"] = "Pending"
        self.put(conditions=[condition("QuotaReserved", "False", self.now - 20), condition("Evicted", "True", self.now - 20)])
        self.put(conditions=[self.reserved(10), condition("Evicted", "False", self.now - 10)])
        check = self.becomes("Ready")
        self.assertNotIn("requeueAfterSeconds", check)

    def test_a_window_that_cannot_be_renewed_evicts(self):
        settings = {"kind": "kubernetes", "mode": "window", "on_exhausted": "stop"}
        self.lab.daemon.ok("PUT", f"/v1/clusters/{self.lab.cluster}", settings, {"If-Match": "*"})
        self.lab.daemon.ok("PUT", "/v1/projects/team-a/caps/total", {"core_hours": "2.7"})
        self.start(heartbeat_s="1")
        self.put(conditions=[self.reserved()], limit_s=None)
        self.becomes("Ready")
        self.put(conditions=[self.reserved(), self.admitted()], limit_s=None)
        self.assertEqual(self.becomes("Retry")["message"], "its core-hours are used up")
        evicted = condition("Evicted", "True", int(time.time()), "AdmissionCheck")
        self.put(conditions=[self.reserved(), self.admitted(), evicted], limit_s=None)
        self.until(lambda: self.money()[1] == 0)
        self.assertGreaterEqual(self.money()[0], 2 * l.GPU * 200)

    def test_an_account_that_is_not_there_is_rejected(self):
        self.api.namespace("nobody", "kueue")
        self.start()
        self.put(namespace="nobody", conditions=[self.reserved()])
        self.assertIn("nobody", self.becomes("Rejected", namespace="nobody")["message"])

    def test_more_pods_than_there_is_room_for_are_rejected(self):
        self.start()
        self.put(conditions=[self.reserved()], count=4001)
        self.assertEqual(self.becomes("Rejected")["message"], "more than 4000 pods")

    def test_a_namespace_of_another_mode_is_not_charged_by_workload(self):
        self.start()
        self.put(namespace="team-b", conditions=[self.reserved()])
        self.becomes("Ready", namespace="team-b")
        self.assertEqual(self.money("team-b"), (0, 0))

    def test_pods_of_a_namespace_of_mode_kueue_are_not_charged_again(self):
        agent = self.start()
        self.api.put("pods", l.run_pod(l.pod("train-0", "u-pod"), self.now - 100))
        agent.settle_down(events=1)
        self.assertIsNone(self.lab.hold("u-pod"))

    def test_a_silent_ledger_leaves_the_check_pending_until_it_is_back(self):
        self.lab.daemon.stop()
        agent = self.start(deadline_ms="300")
        self.put(conditions=[self.reserved()])
        self.until(lambda: "ledger_silent" in agent.text())
        self.assertEqual(self.check()["state"], "Pending")
        daemon = self.lab.daemon
        with open(daemon.log, "a", encoding="utf-8") as log:
            daemon.process = subprocess.Popen(
                [daemon.program, "serve", "--data", daemon.data, "--listen", f"127.0.0.1:{daemon.port}"], stderr=log
            )
        self.becomes("Ready")

    def test_an_agent_that_starts_anew_freezes_nothing_twice(self):
        agent = self.start()
        self.put(conditions=[self.reserved()])
        self.becomes("Ready")
        self.put(conditions=[self.reserved(), self.admitted()])
        self.until(lambda: [hold for hold in self.lab.holds().values() if hold["state"] == "running"])
        agent.kill()
        self.start()
        done = condition("Finished", "True", self.now - 50, "Failed")
        self.put(conditions=[self.reserved(), self.admitted(), done])
        self.until(lambda: self.money() == (2 * l.GPU * 150, 0))
        self.assertEqual(len(self.lab.holds()), 1)

    def test_a_workload_that_was_deleted_while_the_agent_was_away_ends(self):
        agent = self.start()
        self.put(conditions=[self.reserved()])
        self.becomes("Ready")
        self.put(conditions=[self.reserved(), self.admitted()])
        self.until(lambda: [hold for hold in self.lab.holds().values() if hold["state"] == "running"])
        agent.kill()
        self.api.vanish("workloads", "team-a", "train")
        self.start()
        self.until(lambda: self.money()[1] == 0)
        self.assertEqual([hold["state"] for hold in self.lab.holds().values()], ["settled"])


if __name__ == "__main__":
    Kueue.COREHOURD, Kueue.AGENT, _ = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
