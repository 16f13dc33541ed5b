"""What pods and Kueue's workloads come to in a real ledger: the answers of the pure functions, sent as the agent sends them.

usage: test_pod_prices.py COREHOURD SHIFT_CLOCK PURE_TOOL
"""

import json
import pathlib
import re
import subprocess
import sys

import world as w
from world import at

GPU = "nvidia.com/gpu"
MCORES = 16000  # of an A100 on the card below
CARD = {
    "combine": "max",
    "rows": [
        {
            "core_mcores": 1000,
            "gpus": {
                "a100": {"mcores": MCORES, "memory_mib": 81920},
                "h100": {"mcores": 32000, "memory_mib": 81920},
                "l4": {"mcores": 4000, "memory_mib": 24576},
                "mig-1g.5gb": {"mcores": 2286},
                "mig-3g.20gb": {"mcores": 6858},
                "ascend910b3": {"mcores": 12000, "memory_mib": 65536},
            },
            "gpu_default_mcores": 20000,
        }
    ],
}


class Tool:
    """The pure functions, one question a line."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(timeout=30) == 0, "the tool failed"


class Case(w.Case):
    TOOL = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tool = Tool(cls.TOOL)

    @classmethod
    def tearDownClass(cls):
        cls.tool.close()
        super().tearDownClass()


def pod(limits, annotations=None, inits=None, containers=1, **spec):
    body = {"name": "main", "resources": {"limits": limits}}
    spec = {"containers": [{**body, "name": f"c{i}"} for i in range(containers)], **spec}
    if inits:
        spec["initContainers"] = inits
    return {"metadata": {"annotations": annotations or {}}, "spec": spec}


A100 = {"nvidia.com/use-gputype": "A100"}


class Prices(Case):
    def rate(self, key, the_pod):
        """Milli-cores that a pod is frozen at."""
        hold = self.freeze(key, resources=self.tool.ask(do="asked", pod=the_pod), time_limit_s=100)
        self.assertEqual(hold["frozen_mcs"], hold["rate_mcores"] * 100)
        return hold["rate_mcores"]

    def test_30_percent_of_a_card_for_100_s_is_30_percent_of_the_price(self):
        self.make(card=CARD)
        shares = {GPU: "1", "nvidia.com/gpucores": "30", "nvidia.com/gpumem": "3000"}
        self.assertEqual(self.rate("h", pod(shares, A100)), MCORES * 30 // 100)
        given = self.tool.ask(do="given", pod=pod(shares, A100))
        answer = self.verb("h", "settle", started_at=self.ago(200), ended_at=self.ago(100), allocated=given)
        self.assertEqual((answer["charged_mcs"], answer["refunded_mcs"]), (MCORES * 30 // 100 * 100, 0))

    def test_memory_alone_goes_by_its_share(self):
        self.make(card=CARD)
        self.assertEqual(self.rate("a", pod({GPU: "1", "nvidia.com/gpumem": "8192"}, A100)), MCORES // 10)
        self.assertEqual(self.rate("b", pod({GPU: "1", "nvidia.com/gpumem-percentage": "10"}, A100)), MCORES // 10)
        # The memory of an unknown card is not known: the whole of it (SPEC 7.3).
        self.assertEqual(self.rate("c", pod({GPU: "1", "nvidia.com/gpumem": "8192"})), 20000)
        self.assertEqual(self.rate("d", pod({GPU: "1", "nvidia.com/gpumem-percentage": "10"})), 2000)

    def test_the_larger_of_both_shares_counts(self):
        self.make(card=CARD)
        self.assertEqual(
            self.rate("a", pod({GPU: "1", "nvidia.com/gpumem": "40960", "nvidia.com/gpucores": "30"}, A100)), MCORES // 2
        )

    def test_two_devices_count_twice(self):
        self.make(card=CARD)
        shares = {"nvidia.com/gpucores": "30", "nvidia.com/gpumem": "3000"}
        one = self.rate("a", pod({GPU: "1", **shares}, A100))
        self.assertEqual(self.rate("b", pod({GPU: "2", **shares}, A100)), 2 * one)
        self.assertEqual(self.rate("c", pod({GPU: "1", **shares}, A100, containers=2)), 2 * one)

    def test_a_mig_profile_has_its_own_price(self):
        self.make(card=CARD)
        self.assertEqual(self.rate("a", pod({"nvidia.com/mig-1g.5gb": "2", "nvidia.com/mig-3g.20gb": "1"})), 11430)
        # An unlisted one falls to the card's rule for unknown models.
        self.assertEqual(self.rate("b", pod({"nvidia.com/mig-7g.40gb": "1"})), 20000)

    def test_a_chip_of_another_vendor_by_its_memory(self):
        self.make(card=CARD)
        chip = {"huawei.com/Ascend910B3": "1", "huawei.com/Ascend910B3-memory": "16384"}
        self.assertEqual(self.rate("a", pod(chip)), 3000)

    def test_an_unknown_card_is_frozen_by_the_cards_rule_and_settled_by_what_was_given(self):
        self.make(card=CARD)
        self.assertEqual(self.rate("h", pod({GPU: "1"})), 20000)
        node = {"metadata": {"labels": {"nvidia.com/gpu.product": "NVIDIA-L4"}}}
        given = self.tool.ask(do="given", pod=pod({GPU: "1"}), node=node)
        answer = self.verb("h", "settle", started_at=self.ago(200), ended_at=self.ago(100), allocated=given)
        self.assertEqual((answer["charged_mcs"], answer["refunded_mcs"]), (400000, 1600000))

    def test_hami_s_allocation_settles(self):
        self.make(card=CARD)
        shares = {GPU: "1", "nvidia.com/gpucores": "30"}
        devices = [{"id": "GPU-1", "devmem": 81920, "type": "NVIDIA-NVIDIA H100 80GB HBM3"}]
        node = {"metadata": {"annotations": {"hami.io/node-nvidia-register": json.dumps(devices)}}}
        placed = pod(shares, {"hami.io/vgpu-devices-allocated": "GPU-1,NVIDIA,8192,30:;"})
        self.assertEqual(self.rate("h", placed), 6000)
        given = self.tool.ask(do="given", pod=placed, node=node)
        answer = self.verb("h", "settle", started_at=self.ago(200), ended_at=self.ago(100), allocated=given)
        self.assertEqual((answer["charged_mcs"], answer["overrun_mcs"]), (960000, 360000))

    def test_the_worked_examples_of_the_page_are_right(self):
        page = (pathlib.Path(__file__).parents[2] / "docs" / "kubernetes.md").read_text(encoding="utf-8")
        card = json.loads(re.search(r"```json\n(\{.*?\})\n```", page, re.DOTALL).group(1))
        self.make(card=card)
        rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \| (\d+) \|", page, re.MULTILINE)
        self.assertGreater(len(rows), 10)
        for number, (asked, model, mcores) in enumerate(rows):
            limits = dict(re.findall(r"([\w./-]+): (\d+)", asked))
            annotations = {"nvidia.com/use-gputype": model} if model == "a100" else {}
            self.assertEqual(self.rate(f"e{number}", pod(limits, annotations)), int(mcores), asked)

    def test_time_slices_are_parts_of_a_card(self):
        self.make(card=CARD)
        node = {"metadata": {"labels": {"nvidia.com/gpu.product": "NVIDIA-L4-SHARED", "nvidia.com/gpu.replicas": "4"}}}
        self.rate("h", pod({GPU: "1"}))
        given = self.tool.ask(do="given", pod=pod({GPU: "1"}), node=node)
        answer = self.verb("h", "settle", started_at=self.ago(200), ended_at=self.ago(100), allocated=given)
        self.assertEqual(answer["charged_mcs"], 100000)

    def test_an_init_container_does_not_count_beside_what_follows(self):
        self.make(card=CARD)
        warm = {"name": "warm", "resources": {"limits": {GPU: "4"}}}
        side = {**warm, "name": "side", "restartPolicy": "Always"}
        self.assertEqual(self.rate("a", pod({GPU: "2"}, A100, inits=[warm])), 4 * MCORES)
        self.assertEqual(self.rate("b", pod({GPU: "2"}, A100, inits=[side])), 6 * MCORES)


def condition(kind, status, when, reason="Any"):
    return {"type": kind, "status": status, "lastTransitionTime": at(when), "reason": reason, "message": ""}


class Kueue(Case):
    CHECK = "corehour"

    def workload(self, conditions, state="Pending", count=2, limits=None, **spec):
        """A Workload as Kueue keeps it; constructed, not recorded."""
        template = pod(limits or {GPU: "1"}, A100)
        return {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Workload",
            "metadata": {
                "name": "job-train-1a2b3",
                "namespace": self.project,
                "uid": f"6d2f7a4e-0000-4000-8000-{self.count:012d}",
                "resourceVersion": "41",
            },
            "spec": {
                "podSets": [
                    {"name": "main", "count": count, "template": template},
                    {"name": "launcher", "count": 1, "template": pod({"cpu": "1"})},
                ],
                **spec,
            },
            "status": {
                "conditions": conditions,
                "admissionChecks": [
                    {"name": "other", "state": "Ready", "message": "", "lastTransitionTime": at(0)},
                    {"name": self.CHECK, "state": state, "message": "", "lastTransitionTime": at(0)},
                ],
            },
        }

    def ask(self, do, workload, **more):
        return self.tool.ask(
            do=do,
            workload=workload,
            checks=[self.CHECK],
            cluster=self.cluster,
            account=self.project,
            user="alice",
            now_s=self.now(),
            **more,
        )

    def send(self, workload, atomic=False):
        commands = self.ask("commands", workload)["commands"]
        lines = "\n".join(json.dumps(command) for command in commands).encode()
        path = "/v1/batch?atomic=true" if atomic else "/v1/batch"
        answer = self.daemon.call("POST", path, lines, timeout_s=40)
        self.assertEqual(answer.status, 200, answer)
        return [json.loads(line) for line in answer.body.decode().splitlines()]

    def outcomes(self):
        month = at(self.now())[:7]
        return {row["outcome"]: row["used_mcs"] for row in self.usage(group_by="outcome", month=month)}

    def freeze_workload(self, workload):
        """The state of the check, by the ledger's answers, and its patch."""
        answers = self.send(workload, atomic=True)
        patch = self.ask("patch", workload, status=200, answers=answers)["patch"]
        return {step["path"].rpartition("/")[2]: step.get("value") for step in patch if step["op"] == "add"}

    def test_reserved_frozen_admitted_finished(self):
        self.make(card=CARD)
        now = self.now()
        reserved = condition("QuotaReserved", "True", now - 500)
        admitted = condition("Admitted", "True", now - 400)
        check = self.freeze_workload(self.workload([reserved], maximumExecutionTimeSeconds=1000))
        self.assertEqual((check["state"], check["message"]), ("Ready", "8.89 core-hours are frozen"))
        self.assertEqual(self.money()[:2], (0, 2 * MCORES * 1000))
        running = self.workload([reserved, admitted], "Ready", maximumExecutionTimeSeconds=1000)
        for _ in range(2):
            self.assertEqual([line["status"] for line in self.send(running)], [200, 200])
        finished = self.workload([reserved, admitted, condition("Finished", "True", now - 100, "Succeeded")], "Ready")
        for _ in range(2):
            self.assertEqual([line["status"] for line in self.send(finished)], [200, 200])
        self.assertEqual(self.money()[:2], (2 * MCORES * 300, 0))
        self.assertEqual(self.outcomes(), {"completed": 2 * MCORES * 300})

    def test_without_a_limit_a_window_is_frozen_and_heartbeats_renew_it(self):
        self.make(card=CARD)
        now = self.now()
        conditions = [condition("QuotaReserved", "True", now - 120), condition("Admitted", "True", now - 100)]
        self.freeze_workload(self.workload(conditions[:1]))
        self.assertEqual(self.money()[1], 2 * MCORES * 300)
        running = self.workload(conditions, "Ready")
        self.send(running)
        runs = self.ask("runs", running)
        self.assertEqual(len(runs), 2)
        body = {"cluster": self.cluster, "at": at(now), "runs": runs}
        results = self.ok("POST", "/heartbeats", body)["results"]
        self.assertEqual([row["result"] for row in results], ["ok", "ok"])
        self.assertEqual(self.money()[:2], (2 * MCORES * 100, 2 * MCORES * 300))

    def test_too_little_quota_is_retried_and_freezes_nothing(self):
        self.make(card=CARD, grant="3")
        reserved = condition("QuotaReserved", "True", self.now() - 5)
        check = self.freeze_workload(self.workload([reserved], maximumExecutionTimeSeconds=3600, count=1))
        self.assertEqual(check["state"], "Retry")
        self.assertIn("quota insufficient to pre-freeze 16.00 core-hours", check["message"])
        self.assertTrue(10 <= check["requeueAfterSeconds"] <= 3600)
        self.assertEqual(self.money()[:2], (0, 0))

    def test_one_pod_set_too_many_freezes_none(self):
        self.make(card=CARD, grant="20")
        workload = self.workload([condition("QuotaReserved", "True", self.now() - 5)], maximumExecutionTimeSeconds=3600, count=1)
        workload["spec"]["podSets"].append({"name": "more", "count": 1, "template": pod({GPU: "1"}, A100)})
        self.assertEqual(self.freeze_workload(workload)["state"], "Retry")
        self.assertEqual(self.money()[:2], (0, 0))

    def test_what_no_account_can_ask_is_rejected(self):
        self.make(card=CARD)
        reserved = condition("QuotaReserved", "True", self.now() - 5)
        workload = self.workload([reserved], maximumExecutionTimeSeconds=3600)
        commands = self.ask("commands", workload)["commands"]
        for command in commands:
            if command["op"] == "freeze":
                command["account"] = "nobody-knows"
        lines = "\n".join(json.dumps(command) for command in commands).encode()
        answer = self.daemon.call("POST", "/v1/batch?atomic=true", lines)
        answers = [json.loads(line) for line in answer.body.decode().splitlines()]
        self.assertEqual(self.ask("patch", workload, status=200, answers=answers)["state"], 3)

    def test_evicted_is_settled_and_admitted_again_is_another_hold(self):
        self.make(card=CARD)
        now = self.now()
        first = [condition("QuotaReserved", "True", now - 500), condition("Admitted", "True", now - 400)]
        self.freeze_workload(self.workload(first[:1]))
        self.send(self.workload(first, "Ready"))
        # Evicted while the agent was away: the object no longer says when it was admitted.
        gone = [
            condition("QuotaReserved", "False", now - 290),
            condition("Admitted", "False", now - 290),
            condition("Evicted", "True", now - 300, "Preempted"),
        ]
        self.send(self.workload(gone))
        self.assertEqual(self.money()[:2], (2 * MCORES * 100, 0))
        again = [condition("QuotaReserved", "True", now - 200), condition("Admitted", "True", now - 200)]
        self.freeze_workload(self.workload(again[:1]))
        self.send(self.workload(again, "Ready"))
        self.send(self.workload([*again, condition("Finished", "True", now, "Failed")], "Ready"))
        self.assertEqual(self.money()[:2], (2 * MCORES * 300, 0))
        self.assertEqual(self.outcomes(), {"preempted": 2 * MCORES * 100, "failed": 2 * MCORES * 200})

    def test_a_reservation_that_never_started_gives_all_back(self):
        self.make(card=CARD)
        now = self.now()
        self.freeze_workload(self.workload([condition("QuotaReserved", "True", now - 50)]))
        self.assertGreater(self.money()[1], 0)
        self.send(self.workload([condition("QuotaReserved", "False", now - 40)]))
        self.assertEqual(self.money()[:2], (0, 0))

    def test_pods_that_are_done_settle_before_the_rest(self):
        self.make(card=CARD)
        now = self.now()
        conditions = [condition("QuotaReserved", "True", now - 200), condition("Admitted", "True", now - 200)]
        self.freeze_workload(self.workload(conditions[:1], count=3))
        running = self.workload(conditions, "Ready", count=3)
        self.send(running)
        running["status"]["reclaimablePods"] = [{"name": "main", "count": 1}]
        self.send(running)
        states = [task["state"] for task in self.get(f"/holds?cluster={self.cluster}")["items"]]
        self.assertEqual(states, ["running"])
        used, frozen = self.money()[:2]
        self.assertTrue(MCORES * 200 <= used <= MCORES * 230, used)
        self.assertEqual(frozen, 2 * MCORES * 300)
        running["status"]["conditions"].append(condition("Finished", "True", now, "Succeeded"))
        self.send(running)
        self.assertEqual(self.money()[:2], (used + 2 * MCORES * 200, 0))


if __name__ == "__main__":
    Case.TOOL = sys.argv.pop(3)
    w.main(__name__)
