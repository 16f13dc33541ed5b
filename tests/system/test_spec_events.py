"""Late, double and out-of-order events, batches, CloudEvents, feed (SPEC 5.12, 6.1, 8.1).

usage: test_spec_events.py COREHOURD SHIFT_CLOCK
"""

import json
import threading
import time

import world as w
from world import GPU5, HOUR, at


class Late(w.Case):
    def start(self, key, ago_s=100, **more):
        self.freeze(key, **more)
        self.verb(key, "start", started_at=self.ago(ago_s))

    def flags(self, key):
        flags = set(self.hold(key).get("flags", []))
        for run in self.hold(key)["runs"]:
            flags.update(run.get("flags", []))
        return flags

    def test_spec_5_12_the_same_settle_is_answered_again_and_a_different_one_is_not(self):
        self.make()
        self.start("h")
        body = {"ended_at": self.ago(40), "outcome": "completed"}
        first = self.verb("h", "settle", **body)
        self.assertEqual(self.verb("h", "settle", **body), first)
        self.refused_verb("run_conflict", 409, "h", "settle", ended_at=self.ago(30))
        self.refused_verb("run_conflict", 409, "h", "settle", **{**body, "outcome": "oom"})
        self.refused_verb("run_conflict", 409, "h", "settle", **body, suspended_s=1)
        self.assertEqual(self.money()[0], first["charged_mcs"])

    def test_spec_5_12_a_settle_is_the_same_after_refund_and_correction_too(self):
        self.make()
        self.start("h")
        body = {"ended_at": self.ago(40), "outcome": "completed"}
        self.verb("h", "settle", **body)
        self.ok("POST", "/refunds", {"id": f"{self.name}-r", "hold": f"{self.name}-h", "mcs": 1000, "reason": "x"})
        self.assertEqual(self.verb("h", "settle", **body)["charged_mcs"], 960000)
        self.assertEqual(self.money()[0], 959000)

    def test_spec_5_12_a_heartbeat_before_start_opens_the_run_and_an_earlier_start_wins(self):
        self.make()
        self.freeze("h")
        self.assertEqual(self.beat("h", when=self.now() - 50), ["ok"])
        self.assertEqual(self.hold("h")["state"], "running")
        self.assertIn("by_heartbeat", self.flags("h"))
        self.verb("h", "start", started_at=self.ago(100))
        self.assertEqual(self.run_of("h")["started_at"], self.ago(100))
        self.assertEqual(self.verb("h", "settle", ended_at=self.ago(0))["charged_mcs"], 1600000)

    def test_spec_5_12_a_heartbeat_after_settle_or_older_than_the_last_has_no_effect(self):
        self.make(cluster={"mode": "window"})
        self.start("h")
        self.assertEqual(self.beat("h", when=self.now() - 50), ["ok"])
        before = self.everything()
        self.assertEqual(self.beat("h", when=self.now() - 60), ["old"])
        self.assertEqual(self.everything(), before)
        self.verb("h", "settle", ended_at=self.ago(10))
        before = self.everything()
        self.assertEqual(self.beat("h"), ["ended"])
        self.assertEqual(self.beat("nothing"), ["unknown"])
        self.assertEqual(self.everything()[:3], before[:3])

    def test_spec_5_12_suspend_resume_and_resize_after_settle_have_no_effect(self):
        self.make()
        self.start("h")
        self.verb("h", "settle", ended_at=self.ago(10))
        before = self.everything(), self.hold("h")
        for verb, body in (("suspend", {"at": self.ago(50)}), ("resume", {"at": self.ago(40)}), ("resize", {"time_limit_s": 900})):
            answer = self.verb("h", verb, **body)
            self.assertEqual(answer["state"], "settled", verb)
        self.assertEqual((self.everything(), self.hold("h")), before)

    def test_spec_5_12_a_next_attempt_starts_while_the_first_is_open_or_settled(self):
        self.make()
        self.cap("gpus", 2)
        self.start("h")
        self.verb("h", "start", attempt=1, started_at=self.ago(50))
        self.assertEqual(self.money()[1], 2 * GPU5)
        self.verb("h", "settle", attempt=1, ended_at=self.ago(20))
        self.assertEqual(self.hold("h")["state"], "running")
        self.verb("h", "settle", attempt=0, ended_at=self.ago(50))
        self.assertEqual((self.hold("h")["state"], self.money()[:2]), ("settled", (80 * 16000, 0)))
        self.cap("gpus", 0)
        answer = self.verb("h", "start", attempt=2, started_at=self.ago(10))
        self.assertEqual(answer["state"], "running")
        self.assertIn("late", self.flags("h"))
        self.verb("h", "settle", attempt=2, ended_at=self.ago(0))
        self.assertEqual(self.money()[:2], (90 * 16000, 0))

    def test_spec_5_12_a_requeue_of_a_settled_attempt_freezes_the_next(self):
        self.make()
        self.start("h")
        body = {"ended_at": self.ago(40), "outcome": "preempted"}
        self.verb("h", "settle", **body)
        for _ in range(2):
            answer = self.verb("h", "requeue", **body)
            self.assertEqual((answer["state"], answer["charged_mcs"], self.money()[:2]), ("frozen", 960000, (960000, GPU5)))

    def test_spec_5_12_a_settle_without_any_known_start_is_refused(self):
        self.make()
        self.freeze("h")
        problem = self.refused_verb("invalid_field", 422, "h", "settle", ended_at=self.ago(0))
        self.assertEqual(problem["field"], "started_at")

    def test_spec_5_12_a_bind_to_another_key_is_refused(self):
        self.make()
        self.freeze("h")
        self.verb("h", "bind", job_id="7", job_key="7@1")
        self.verb("h", "bind", job_id="7", job_key="7@1")
        self.refused_verb("invalid_state", 409, "h", "bind", job_id="7", job_key="7@2")

    def test_spec_5_12_a_start_after_settle_has_no_effect_and_of_two_starts_the_earlier_stays(self):
        self.make()
        self.start("h")
        self.verb("h", "start", started_at=self.ago(100))
        self.verb("h", "start", started_at=self.ago(90))
        self.assertEqual(self.run_of("h")["started_at"], self.ago(100))
        self.assertIn("restarted", self.flags("h"))
        self.verb("h", "start", started_at=self.ago(110))
        self.assertEqual(self.run_of("h")["started_at"], self.ago(110))
        self.verb("h", "settle", ended_at=self.ago(50))
        before = self.hold("h")
        self.verb("h", "start", started_at=self.ago(120))
        self.assertEqual(self.hold("h"), before)

    def test_spec_5_12_bind_or_start_of_an_expired_task_freezes_again_or_runs_into_overdraft(self):
        self.make(grant="4")
        for key in "ab":
            self.freeze(key, ttl_s=10)
        self.freeze("c")
        self.verb("c", "release")
        self.clock.move(11)
        self.until(lambda: all(self.hold(key)["state"] == "expired" for key in "ab"))
        self.assertEqual(self.verb("a", "bind", job_id="1", job_key="1@1")["state"], "frozen")
        self.assertIn("late", self.flags("a"))
        self.verb("b", "start", started_at=self.ago(0))
        self.assertEqual((self.hold("b")["state"], self.money()[1]), ("running", 2 * GPU5))
        self.ok("POST", "/withdrawals", {"id": f"{self.name}-w", "node": self.root, "core_hours": "1", "reason": "x"})
        answer = self.verb("c", "start", started_at=self.ago(0))
        self.assertEqual((answer["state"], self.money()[1:]), ("running", (3 * GPU5, 3 * HOUR - 3 * GPU5)))
        self.assertTrue(self.balance()["overdrawn"])

    def test_spec_5_12_a_settle_of_an_expired_task_books_its_full_use_as_overrun(self):
        self.make()
        self.freeze("h", ttl_s=10)
        self.freeze("r")
        self.verb("r", "release")
        self.clock.move(11)
        self.until(lambda: self.hold("h")["state"] == "expired")
        for key in "hr":
            answer = self.verb(key, "settle", started_at=self.ago(100), ended_at=self.ago(40))
            self.assertEqual((answer["charged_mcs"], answer["overrun_mcs"], answer["refunded_mcs"]), (960000, 960000, 0))
        self.assertEqual(self.money()[:2], (1920000, 0))

    def test_spec_5_12_an_unknown_job_is_unknown_hold(self):
        self.make()
        self.refused_verb("unknown_hold", 404, "none", "settle", ended_at=self.ago(0))
        path = f"/clusters/{self.cluster}/jobs/999/settle"
        self.refused("unknown_hold", 404, "POST", path, {"ended_at": self.ago(0)})

    def test_spec_5_12_a_job_id_seen_before_is_no_identity(self):
        self.make()
        for key in "ab":
            self.freeze(key)
            self.verb(key, "bind", job_id="5", job_key=f"5@{key}")
            path = f"/clusters/{self.cluster}/jobs/5/start"
            self.assertEqual(self.ok("POST", path, {"started_at": self.ago(60)})["id"], f"{self.name}-{key}")
            self.verb(key, "settle", ended_at=self.ago(0))
        items = self.get(f"/holds?cluster={self.cluster}&job_id=5")["items"]
        self.assertEqual(len(items), 2)
        items = self.get(f"/holds?cluster={self.cluster}&job_key=5@a")["items"]
        self.assertEqual([item["id"] for item in items], [f"{self.name}-a"])

    def test_spec_6_1_the_same_id_in_two_clusters_is_two_holds(self):
        self.make()
        other = self.name + "-c2"
        self.make_cluster(other)
        self.freeze("h")
        self.freeze("h", cluster=other, user="bob")
        self.assertEqual(self.balance()["frozen_mcs"], 2 * GPU5)
        path = f"/holds/{self.name}-h"
        for query in ("", f"?root={self.root}"):
            self.assertIn("name one with cluster", self.refused("ambiguous_id", 409, "GET", path + query)["detail"])
        for cluster, user in ((self.cluster, "alice"), (other, "bob")):
            found = self.get(f"{path}?cluster={cluster}&root={self.root}")
            self.assertEqual((found["cluster"], found["user"]), (cluster, user))
        self.refused("unknown_hold", 404, "GET", path + "?cluster=nowhere")
        self.refused_verb("ambiguous_id", 409, "h", "start", started_at=self.ago(60), root=self.root)
        answer = self.verb("h", "start", started_at=self.ago(60), root=self.root, cluster=self.cluster)
        self.assertEqual((answer["cluster"], answer["state"]), (self.cluster, "running"))
        self.verb("h", "settle", ended_at=self.ago(0), cluster=self.cluster)
        refund = {"id": f"{self.name}-r", "hold": f"{self.name}-h", "reason": "slow", "cluster": self.cluster}
        self.assertEqual(self.ok("POST", "/refunds", refund)["refunded_mcs"], 960000)
        self.verb("h", "bind", cluster=self.cluster, job_id="7")
        path = f"/clusters/{self.cluster}/jobs/7/settle"
        self.refused("invalid_field", 422, "POST", path, {"ended_at": self.ago(0), "cluster": other}, field="cluster")
        token = self.ok("POST", "/tokens", {"name": "t", "role": "scheduler", "place": other})["token"]
        answer = self.call("POST", f"/holds/{self.name}-h/release", {}, token=token)
        self.assertEqual((answer.status, answer.json["cluster"], answer.json["user"]), (200, other, "bob"), answer)
        self.refused("unknown_hold", 404, "GET", "/holds/nothing", token=token)
        self.refused("unknown_hold", 404, "GET", f"/holds/{self.name}-h?cluster={self.cluster}", token=token)


class Bulk(w.Case):
    def batch(self, rows, query="", token=None):
        body = "".join(json.dumps(row) + "\n" for row in rows).encode()
        answer = self.daemon.call("POST", "/v1/batch" + query, body, token=token, timeout_s=60)
        self.assertEqual(answer.status, 200, answer)
        return [json.loads(line) for line in answer.body.decode().splitlines()]

    def test_api_a_batch_takes_every_command(self):
        self.make(project={"funding": "parent"})
        name = self.name
        start, end = self.ago(100), self.ago(40)
        rows = [
            {"op": "freeze", **self.body("a")},
            {"op": "bind", "hold": f"{name}-a", "job_id": "1", "job_key": "1@1"},
            {"op": "start", "cluster": self.cluster, "job_id": "1", "started_at": start},
            {"op": "suspend", "hold": f"{name}-a", "at": self.ago(90)},
            {"op": "resume", "hold": f"{name}-a", "at": self.ago(80)},
            {"op": "heartbeat", "hold": f"{name}-a", "at": self.ago(70)},
            {"op": "resize", "hold": f"{name}-a", "time_limit_s": 400},
            {"op": "requeue", "hold": f"{name}-a", "ended_at": self.ago(60)},
            {"op": "settle", "cluster": self.cluster, "job_key": "1@1", "attempt": 1, "started_at": self.ago(50), "ended_at": end},
            {"op": "correct", "hold": f"{name}-a", "attempt": 1, "ended_at": self.ago(45), "source": "s", "reason": "r"},
            {"op": "refund", "id": f"{name}-r", "hold": f"{name}-a", "mcs": 1, "reason": "r"},
            {"op": "freeze", **self.body("b")},
            {"op": "release", "hold": f"{name}-b"},
            {"op": "charge", **self.body("c", time_limit_s=...), "started_at": start, "ended_at": end},
            {"op": "grant", "id": f"{name}-g", "node": self.root, "core_hours": 1},
            {"op": "withdraw", "id": f"{name}-w", "node": self.root, "core_hours": 1, "reason": "r"},
            {"op": "quote", **{k: v for k, v in self.body("q").items() if k != "id"}},
        ]
        statuses = [(row["op"], answer["status"]) for row, answer in zip(rows, self.batch(rows))]
        made = ("freeze", "charge", "refund", "grant", "withdraw")
        self.assertEqual(statuses, [(op, 201 if op in made else 200) for op, _ in statuses])
        self.assertEqual(self.money()[0], (30 + 5 + 60) * 16000 - 1)

    def test_api_an_atomic_batch_leaves_no_trace_when_one_line_fails(self):
        self.make()
        self.freeze("x")
        before = self.everything()
        rows = [{"op": "freeze", **self.body(str(i), user=f"u{i}")} for i in range(20)]
        rows.append({"op": "settle", "hold": f"{self.name}-x", "started_at": self.ago(10), "ended_at": self.ago(0)})
        rows.append({"op": "freeze", **self.body("no", account="nowhere")})
        answers = self.batch(rows, "?atomic=true")
        self.assertEqual([answer["status"] for answer in answers], [424] * 21 + [422])
        self.assertEqual(self.everything(), before)
        self.refused("not_found", 404, "GET", f"/projects/{self.project}/members/u3")
        self.assertEqual([a["status"] for a in self.batch(rows[:-1], "?atomic=true")], [201] * 20 + [200])

    def test_api_a_heartbeat_of_5000_runs(self):
        self.make(cluster={"mode": "window"})
        self.freeze("h", tasks=5000, resources={"cores": 1})
        began = self.ago(60)
        rows = [{"op": "start", "hold": f"{self.name}-h", "task": i, "started_at": began} for i in range(5000)]
        self.batch(rows)
        runs = [{"hold": f"{self.name}-h", "task": i} for i in range(5000)]
        then = self.now()
        began = time.monotonic()
        answer = self.ok("POST", "/heartbeats", {"cluster": self.cluster, "at": at(then), "runs": runs})
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual({row["result"] for row in answer["results"]}, {"ok"})
        used = self.money()[0]
        self.assertEqual(used % 5000, 0)
        self.assertGreaterEqual(used, 5000 * 60 * 1000)
        body = {"cluster": self.cluster, "at": at(then), "runs": runs + runs[:1]}
        self.refused("too_many_runs", 422, "POST", "/heartbeats", body)

    def event(self, kind, data, key="e", **more):
        return {"specversion": "1.0", "id": key, "source": f"/{self.name}", "type": f"corehour.job.{kind}", "data": data, **more}

    def send(self, event, batch=False):
        kind = "application/cloudevents-batch+json" if batch else "application/cloudevents+json"
        lines = self.daemon.bytes_of("POST", "/v1/events", event).replace(b"application/json", kind.encode())
        with self.daemon.connect(40) as connection:
            connection.send(lines)
            return connection.read()

    def test_api_cloud_events_tell_the_life_of_a_job(self):
        self.make()
        hold = {"hold": f"{self.name}-h"}
        steps = [
            ("submitted", self.body("h"), "frozen"),
            ("started", {**hold, "started_at": self.ago(100), "run_key": "1"}, "running"),
            ("heartbeat", {**hold, "at": self.ago(95)}, None),
            ("suspended", {**hold, "at": self.ago(90)}, "suspended"),
            ("resumed", {**hold, "at": self.ago(80)}, "running"),
            ("requeued", {**hold, "ended_at": self.ago(70)}, "frozen"),
            ("started", {**hold, "attempt": 1, "started_at": self.ago(60)}, "running"),
            ("finished", {**hold, "attempt": 1, "ended_at": self.ago(40)}, "settled"),
        ]
        for i, (kind, data, state) in enumerate(steps):
            event = self.event(kind, data, f"e{i}", time=self.ago(0), subject="x", somethingelse="passes")
            for _ in range(2):
                answer = self.send(event)
                self.assertIn(answer.status, (200, 201), answer)
                if state:
                    self.assertEqual(answer.json["state"], state, kind)
        self.assertEqual(self.money()[:2], (40 * 16000, 0))
        batch = [self.event("submitted", self.body("i"), "b1"), self.event("cancelled", {"hold": f"{self.name}-i"}, "b2"), self.event("danced", {}, "b3")]
        answer = self.send(batch, batch=True)
        self.assertEqual([row["status"] for row in answer.json["results"]], [201, 200, 422], answer)
        for bad in ({}, {"specversion": "0.3"}, [], {**self.event("started", {}), "id": None}):
            self.assertEqual(self.send(bad).status // 100, 4, bad)

    def test_api_the_feed_waits_for_news(self):
        self.make()
        self.cap("gpus", 1)
        self.freeze("a")
        self.freeze("b", 202, on_insufficient="wait")
        got = []
        thread = threading.Thread(target=lambda: got.append((self.feed(0, 30), time.monotonic())))
        began = time.monotonic()
        thread.start()
        time.sleep(0.5)
        self.verb("a", "release")
        thread.join()
        self.assertLess(got[0][1] - began, 5)
        events = got[0][0]
        self.assertEqual([(e["type"], e["hold"]) for e in events["events"]], [("frozen", f"{self.name}-b")])
        self.assertEqual(self.feed(events["next_after"]), {"events": [], "next_after": events["next_after"]})
        began = time.monotonic()
        self.feed(events["next_after"], 1)
        self.assertGreater(time.monotonic() - began, 0.8)
        self.assertIsNone(self.get(f"/clusters/{self.cluster}")["last_seen_at"])  # an administrator is no agent
        token = self.ok("POST", "/tokens", {"name": "t", "role": "scheduler", "place": self.cluster})["token"]
        self.ok("GET", f"/clusters/{self.cluster}/feed?after=0&wait_s=0", token=token)
        self.until(lambda: self.get(f"/clusters/{self.cluster}")["last_seen_at"])


if __name__ == "__main__":
    w.main(__name__)
