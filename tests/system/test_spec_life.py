"""The life of a hold, rule by rule against the real daemon (SPEC 5.1 to 5.11, 5.13, 8.1).

usage: test_spec_life.py COREHOURD SHIFT_CLOCK
"""

import world as w
from world import GPU5, HOUR, at, utc


class Life(w.Case):
    def test_spec_5_1_a_hold_shows_the_strongest_state_of_its_tasks(self):
        self.make()
        self.freeze("h", tasks=4, time_limit_s=60)
        self.assertEqual(self.hold("h")["state"], "frozen")
        self.verb("h", "start", task=0, started_at=self.ago(50))
        self.verb("h", "start", task=1, started_at=self.ago(50))
        self.verb("h", "suspend", task=0, at=self.ago(40))
        self.assertEqual(self.hold("h")["state"], "running")
        self.verb("h", "suspend", task=1, at=self.ago(40))
        self.assertEqual(self.hold("h")["state"], "suspended")
        self.verb("h", "settle", task=0, ended_at=self.ago(30))
        self.verb("h", "settle", task=1, ended_at=self.ago(30))
        self.assertEqual(self.hold("h")["state"], "frozen")
        self.verb("h", "release", tasks="2-3")
        self.assertEqual(self.hold("h")["state"], "released")

    def test_spec_5_2_full_mode_needs_a_limit_and_window_mode_freezes_the_window(self):
        self.make()
        self.assertEqual(self.freeze("a", 422, time_limit_s=...)["code"], "no_time_limit")
        self.assertEqual(self.freeze("b", mode="window", time_limit_s=...)["seconds"], 300)
        self.assertEqual(self.freeze("c", mode="window", time_limit_s=100)["seconds"], 100)
        self.assertEqual(self.freeze("d", mode="window", time_limit_s=86400)["frozen_mcs"], GPU5)
        self.assertEqual(self.freeze("e", time_limit_s=86400, tasks=2)["frozen_mcs"], 2 * 16000 * 86400)

    def test_spec_5_2_what_is_not_given_comes_from_the_project_then_the_cluster(self):
        cluster = {"mode": "window", "window_s": 60, "on_insufficient": "wait", "ttl_s": 1234}
        self.make(cluster=cluster)
        hold = self.freeze("a", time_limit_s=...)
        self.assertEqual((hold["mode"], hold["seconds"]), ("window", 60))
        self.assertAlmostEqual(w.seconds(hold["expires_at"]), self.now() + 1234, delta=5)
        self.ok("PATCH", f"/projects/{self.project}", {"mode": "full", "ttl_s": 99}, {"If-Match": "*"})
        self.assertEqual(self.freeze("b", 422, time_limit_s=...)["code"], "no_time_limit")
        hold = self.freeze("b", window_s=..., mode="window", time_limit_s=...)
        self.assertEqual(hold["seconds"], 60)
        self.assertAlmostEqual(w.seconds(hold["expires_at"]), self.now() + 99, delta=5)
        self.cap("jobs", 2)
        self.freeze("c", 202)
        self.ok("PATCH", f"/projects/{self.project}", {"on_insufficient": "reject", "mode": None}, {"If-Match": "*"})
        self.short("d")
        self.freeze("d", 202, on_insufficient="wait")

    def test_spec_5_3_an_unbound_hold_expires_and_a_bound_one_does_not(self):
        self.make()
        self.freeze("h", ttl_s=50)
        self.freeze("i", ttl_s=50)
        self.freeze("j", ttl_s=50, tasks=3)
        bound = self.verb("i", "bind", job_id="77", job_key="77@1")
        self.assertIsNone(bound["expires_at"])
        self.verb("j", "start", task=2, started_at=self.ago(0))
        self.clock.move(51)
        self.until(lambda: self.hold("h")["state"] == "expired")
        self.assertEqual((self.hold("h")["frozen_mcs"], self.hold("i")["state"]), (0, "frozen"))
        self.assertEqual(self.hold("j")["frozen_mcs"], 3 * GPU5)
        self.assertEqual(self.balance()["frozen_mcs"], 4 * GPU5)

    def poll(self):
        """The mark of the agent is set by the next tick at the latest."""
        before = self.now()
        self.ok("GET", f"/clusters/{self.cluster}/feed?after=0&wait_s=0", token=self.token)
        seen = lambda: self.get(f"/clusters/{self.cluster}")["last_seen_at"]
        self.until(lambda: seen() is not None and w.seconds(seen()) >= before)

    def test_spec_5_3_a_silent_agent_stops_the_ttl_and_a_returning_one_finds_a_full_one(self):
        self.make()
        # A person who looks at the feed, or beats, is no agent.
        self.feed()
        self.beat("nobody")
        self.freeze("g", ttl_s=300)
        self.clock.move(301)
        self.until(lambda: self.hold("g")["state"] == "expired")
        self.token = self.ok("POST", "/tokens", {"name": "t", "role": "scheduler", "place": self.cluster})["token"]
        self.poll()
        self.freeze("h", ttl_s=300)
        self.clock.move(600)
        w.time.sleep(1.2)  # a tick of the clockwork
        self.assertEqual(self.hold("h")["state"], "frozen")
        back = self.now()
        for _ in range(3):
            self.poll()
            self.clock.move(90)
        self.poll()
        self.assertEqual(self.hold("h")["state"], "frozen")
        self.clock.move_to(back + 350)
        self.until(lambda: self.hold("h")["state"] == "expired")

    def test_spec_5_4_heartbeats_charge_and_top_up_one_window(self):
        self.make(cluster={"mode": "window"})
        self.freeze("h", time_limit_s=1000)
        start = self.now()
        self.verb("h", "start", started_at=at(start))
        for beat, used, frozen in ((60, 60, 300), (400, 400, 300), (800, 800, 200), (900, 900, 100)):
            self.clock.move_to(start + beat)
            self.assertEqual(self.beat("h"), ["ok"])
            self.assertEqual(self.money()[:2], (16000 * used, 16000 * frozen), beat)
        answer = self.verb("h", "settle", ended_at=at(start + 850))
        self.assertEqual((answer["charged_mcs"], self.money()), (16000 * 850, (16000 * 850, 0, 1000000 * HOUR - 16000 * 850)))
        self.assertEqual(answer["charged_mcs"] + answer["refunded_mcs"], 16000 * 1000 + answer["overrun_mcs"])

    def test_spec_5_4_in_full_mode_a_heartbeat_only_says_that_it_lives(self):
        self.make()
        self.freeze("h")
        self.verb("h", "start", started_at=self.ago(100))
        self.assertEqual(self.beat("h"), ["ok"])
        self.assertEqual(self.money()[:2], (0, GPU5))
        self.assertAlmostEqual(w.seconds(self.hold("h")["last_seen_at"]), self.now(), delta=3)

    def exhaust(self, policy):
        self.make(cluster={"mode": "window", "on_exhausted": policy})
        self.cap("month", "1.5")
        self.freeze("h", time_limit_s=...)
        start = self.now()
        self.verb("h", "start", started_at=at(start))
        self.clock.move(250)
        result = self.beat("h", when=start + 250)
        return result, [(e["type"], e["hold"]) for e in self.feed()["events"]]

    def test_spec_5_4_on_exhausted_continue_goes_on_over_the_cap_and_flags(self):
        result, feed = self.exhaust("continue")
        self.assertEqual((result, feed), (["ok"], []))
        self.assertEqual(self.balance()["frozen_mcs"], GPU5)
        self.assertIn("exhausted", self.hold("h")["flags"] + self.run_of("h").get("flags", []))

    def test_spec_5_4_on_exhausted_notify_tells_the_feed(self):
        result, feed = self.exhaust("notify")
        self.assertEqual((result, feed), (["ok"], [("exhausted", f"{self.name}-h")]))
        self.assertEqual(self.balance()["frozen_mcs"], GPU5)

    def test_spec_5_4_on_exhausted_stop_tops_nothing_up_and_says_stop(self):
        result, feed = self.exhaust("stop")
        self.assertEqual((result, feed), (["stop"], [("stop", f"{self.name}-h")]))
        self.assertEqual(self.money()[:2], (4000000, 800000))
        # Once is enough; the run goes on until the adapter ends it, and is booked in full.
        self.clock.move(100)
        self.assertEqual(self.beat("h"), ["stop"])
        self.assertEqual(len(self.feed()["events"]), 1)
        answer = self.verb("h", "settle", ended_at=at(self.now()))
        self.assertEqual(self.money()[:2], (answer["charged_mcs"], 0))
        self.assertGreaterEqual(answer["charged_mcs"], 16000 * 350)

    def test_spec_5_5_suspended_time_is_not_charged(self):
        self.make(cluster={"mode": "window"})
        self.freeze("h")
        start = self.now() - 200
        self.verb("h", "start", started_at=at(start))
        self.assertEqual(self.verb("h", "suspend", at=at(start + 50))["state"], "suspended")
        self.beat("h", when=start + 90)
        self.assertLessEqual(self.money()[0], 50 * 16000)
        self.assertEqual(self.verb("h", "resume", at=at(start + 100))["state"], "running")
        self.verb("h", "suspend", at=at(start + 150))
        self.verb("h", "resume", at=at(start + 160))
        self.assertEqual(self.verb("h", "settle", ended_at=at(start + 200))["charged_mcs"], 16000 * 140)

    def test_spec_5_6_the_suspended_total_wins_from_the_end_backwards(self):
        self.make()
        for key, total, seconds in (("a", 0, 200), ("b", 100, 100), ("c", 30, 170), ("d", 200, 0)):
            self.freeze(key)
            start = self.now() - 200
            self.verb(key, "start", started_at=at(start))
            self.verb(key, "suspend", at=at(start + 50))
            self.verb(key, "resume", at=at(start + 100))
            answer = self.verb(key, "settle", ended_at=at(start + 200), suspended_s=total)
            self.assertEqual(answer["charged_mcs"], 16000 * seconds, key)
        self.freeze("e")
        self.refused_verb("invalid_field", 422, "e", "settle", started_at=self.ago(10), ended_at=self.ago(5), suspended_s=6)

    def test_spec_5_5_a_resize_freezes_or_returns_the_difference(self):
        self.make()
        self.freeze("h", time_limit_s=600)
        start = self.now() - 100
        self.verb("h", "start", started_at=at(start))
        two = {"gpus": [{"model": "a100", "count": 2}]}
        self.verb("h", "resize", at=at(start + 100), resources=two)
        self.assertEqual(self.balance()["frozen_mcs"], 16000 * 100 + 32000 * 500)
        self.verb("h", "resize", at=at(start + 100), time_limit_s=300)
        self.assertEqual(self.balance()["frozen_mcs"], 16000 * 100 + 32000 * 200)
        self.clock.move(100)
        answer = self.verb("h", "settle", ended_at=at(start + 200))
        self.assertEqual(answer["charged_mcs"], 16000 * 100 + 32000 * 100)
        self.assertEqual(self.balance()["frozen_mcs"], 0)

    def test_spec_5_5_a_resize_that_does_not_fit_changes_nothing(self):
        self.make()
        self.cap("month", "3")
        self.freeze("h", tasks=2)
        self.verb("h", "start", started_at=self.ago(0))
        before = self.everything(), self.hold("h")
        problem = self.refused_verb("quota_insufficient", 409, "h", "resize", time_limit_s=301 + 100)
        self.assertEqual(problem["violations"][0]["cap"], "month")
        self.assertEqual((self.everything(), self.hold("h")), before)
        self.verb("h", "resize", time_limit_s=100)
        self.assertEqual(self.balance()["frozen_mcs"], 2 * 1600000)

    def test_spec_5_5_another_account_is_refused_and_another_qos_rates_anew(self):
        rows = [{"qos": "low", "gpus": {"a100": {"mcores": 8000}}}, *w.CARD["rows"]]
        self.make(card={"rows": rows})
        self.freeze("h")
        self.refused_verb("invalid_state", 409, "h", "resize", account="other")
        answer = self.verb("h", "resize", job={"qos": "low"})
        self.assertEqual((answer["rate_mcores"], answer["frozen_mcs"]), (8000, GPU5 // 2))

    def test_spec_5_5_a_waiting_task_changes_what_it_waits_for_and_keeps_its_place(self):
        self.make()
        self.cap("month", "1.4")
        self.freeze("h")
        self.freeze("a", 202, on_insufficient="wait")
        self.freeze("b", 202, on_insufficient="wait", time_limit_s=5)
        self.verb("a", "resize", 202, time_limit_s=200)
        self.assertEqual(self.hold("b")["state"], "waiting")
        answer = self.verb("a", "resize", 202, time_limit_s=100, query="?dry_run=true")
        self.assertEqual(answer["state"], "waiting")
        for query in ("?dry_run=true", ""):
            answer = self.verb("a", "resize", 200, query=query, time_limit_s=10)
            self.assertEqual((answer["state"], answer["frozen_mcs"]), ("frozen", 160000))
        self.assertEqual([self.hold(key)["state"] for key in "ab"], ["frozen", "frozen"])
        self.assertEqual(self.balance()["frozen_mcs"], GPU5 + 240000)

    def test_spec_5_9_a_release_of_some_answers_what_came_of_the_others(self):
        self.make()
        self.cap("month", "6")
        self.freeze("b")
        self.freeze("a", 202, tasks=2, on_insufficient="wait", time_limit_s=600)
        self.assertEqual(self.verb("a", "release", tasks="1")["state"], "frozen")

    def test_spec_5_6_allocated_is_charged_and_the_rest_is_refunded(self):
        self.make()
        self.freeze("h", resources={"gpus": [{"model": "a100", "count": 2}]})
        one = {"cores": 4, "gpus": [{"model": "a100", "count": 1}]}
        answer = self.verb("h", "settle", started_at=self.ago(100), ended_at=self.ago(0), allocated=one)
        self.assertEqual((answer["charged_mcs"], answer["refunded_mcs"]), (1600000, 2 * GPU5 - 1600000))
        self.freeze("i")
        eight = {"gpus": [{"model": "a100", "count": 8}]}
        answer = self.verb("i", "settle", started_at=self.ago(400), ended_at=self.ago(0), allocated=eight)
        self.assertEqual((answer["charged_mcs"], answer["refunded_mcs"], answer["overrun_mcs"]), (51200000, 0, 51200000 - GPU5))
        self.assertIn("overrun", self.hold("i")["flags"])

    def test_spec_5_6_its_times_win_and_length_0_is_legal(self):
        self.make()
        self.freeze("h")
        self.verb("h", "start", started_at=self.ago(100))
        answer = self.verb("h", "settle", started_at=self.ago(80), ended_at=self.ago(50))
        self.assertEqual(answer["charged_mcs"], 480000)
        self.freeze("i")
        then = self.ago(90000)
        answer = self.verb("i", "settle", started_at=then, ended_at=then)
        self.assertEqual((answer["charged_mcs"], answer["refunded_mcs"]), (0, GPU5))
        self.freeze("j")
        self.refused_verb("time_in_future", 422, "j", "settle", started_at=then, ended_at=at(self.now() + 310))
        self.refused_verb("invalid_field", 422, "j", "settle", started_at=self.ago(10), ended_at=self.ago(20))
        self.verb("j", "settle", started_at=then, ended_at=at(self.now() + 290))

    def test_spec_5_7_waived_outcomes_are_charged_nothing_and_provisional_charges_come_back(self):
        self.make(cluster={"mode": "window"})
        self.freeze("h", time_limit_s=1000)
        self.verb("h", "start", started_at=self.ago(100))
        self.beat("h")
        self.assertGreaterEqual(self.money()[0], 1600000)
        answer = self.verb("h", "settle", ended_at=self.ago(0), outcome="node_fail")
        self.assertEqual(answer["charged_mcs"], 0)
        self.assertGreaterEqual(answer["waived_mcs"], 1600000)
        self.assertEqual(self.money(), (0, 0, 1000000 * HOUR))
        rows = self.usage(month=self.ago(0)[:7], group_by="outcome")
        waived = [row for row in rows if row["kind"] == "waived"]
        self.assertEqual([row["outcome"] for row in waived], ["node_fail"])
        self.ok("PATCH", f"/organizations/{self.root}", {"waived_outcomes": ["preempted"]}, {"If-Match": "*"})
        for key, outcome, charged in (("i", "node_fail", 1600000), ("j", "preempted", 0), ("k", "oom", 1600000)):
            self.freeze(key)
            answer = self.verb(key, "settle", started_at=self.ago(100), ended_at=self.ago(0), outcome=outcome)
            self.assertEqual(answer["charged_mcs"], charged, outcome)

    def test_spec_5_8_a_requeue_settles_and_freezes_the_next_in_one_step(self):
        self.make()
        self.cap("month", "1.5")
        self.freeze("h")
        self.verb("h", "start", started_at=self.ago(100))
        answer = self.verb("h", "requeue", ended_at=self.ago(60), outcome="node_fail")
        self.assertEqual((answer["state"], answer["charged_mcs"], answer["frozen_mcs"]), ("frozen", 0, GPU5))
        self.verb("h", "start", attempt=1, started_at=self.ago(50))
        answer = self.verb("h", "requeue", 202, attempt=1, ended_at=self.ago(0), outcome="preempted")
        self.assertEqual((answer["state"], answer["charged_mcs"]), ("waiting", 800000))
        self.cap("month", "5")
        self.assertEqual(self.hold("h")["state"], "frozen")
        events = [(e["type"], e["tasks"]) for e in self.feed()["events"]]
        self.assertEqual(events, [("frozen", "0")])
        self.verb("h", "settle", attempt=2, started_at=self.ago(10), ended_at=self.ago(0))
        self.assertEqual(self.money()[:2], (800000 + 160000, 0))

    def test_spec_5_9_a_release_returns_everything(self):
        self.make()
        self.freeze("h", tasks=5)
        answer = self.verb("h", "release", reason="cancelled", tasks="0-1,4")
        self.assertEqual((answer["refunded_mcs"], answer["frozen_mcs"]), (3 * GPU5, 2 * GPU5))
        self.assertEqual(self.verb("h", "release")["refunded_mcs"], 2 * GPU5)
        self.assertEqual(self.money(), (0, 0, 1000000 * HOUR))
        self.refused_verb("invalid_field", 422, "h", "release", tasks="4-5")

    def test_spec_6_1_a_release_sent_again_answers_the_first_figure(self):
        self.make()
        for key, tasks in (("h", 1), ("i", 5)):
            self.freeze(key, tasks=tasks)
            for _ in range(2):
                answer = self.verb(key, "release")
                self.assertEqual((answer["refunded_mcs"], answer["frozen_mcs"]), (tasks * GPU5, 0))
        self.freeze("j", tasks=5)
        for _ in range(2):
            self.assertEqual(self.verb("j", "release", tasks="0-1,4")["refunded_mcs"], 3 * GPU5)
        self.freeze("m", tasks=5)
        for tasks, returned in (("0-1,4", 3), (None, 2), ("0-1,4", 3), (None, 2), ("4", 0)):
            chosen = {} if tasks is None else {"tasks": tasks}
            self.assertEqual(self.verb("m", "release", **chosen)["refunded_mcs"], returned * GPU5)
        self.freeze("k")
        self.verb("k", "requeue", started_at=self.ago(100), ended_at=self.ago(40))
        for _ in range(2):
            self.assertEqual(self.verb("k", "release")["refunded_mcs"], GPU5)
        self.cap("total", "4")
        self.freeze("l", 202, tasks=2, on_insufficient="wait")
        for _ in range(2):
            self.assertEqual(self.verb("l", "release")["refunded_mcs"], 0)

    def test_spec_6_1_a_release_sent_again_says_what_expired(self):
        self.make(grant=None)
        self.grant("a", "10", end=at(self.now() + 3600))
        self.freeze("h", ttl_s=86400)
        self.clock.move(7200)
        self.until(lambda: self.get(f"/grants?node={self.root}")["items"][0]["expired_mcs"] == 10 * HOUR - GPU5)
        for _ in range(2):
            answer = self.verb("h", "release")
            self.assertEqual((answer["refunded_mcs"], answer["expired_mcs"]), (GPU5, GPU5))

    def charge(self, key, status=201, **changes):
        body = {**self.body(key, time_limit_s=...), "started_at": self.ago(100), "ended_at": self.ago(40), **changes}
        answer = self.call("POST", "/charges", body)
        self.assertEqual(answer.status, status, answer)
        return answer.json

    def test_spec_5_9_a_charge_makes_a_settled_hold_marked_unfrozen(self):
        self.make(grant="0.1")
        self.cap("month", "0.1")
        answer = self.charge("c", job_key="9@1", outcome="completed", hosts=["node1"])
        self.assertEqual((answer["state"], answer["charged_mcs"]), ("settled", 960000))
        self.assertIn("unfrozen", answer["flags"])
        self.assertEqual(self.money(), (960000, 0, HOUR // 10 - 960000))
        self.assertEqual(self.charge("c", job_key="9@1", outcome="completed", hosts=["node1"])["charged_mcs"], 960000)
        self.assertEqual(self.charge("c", 409)["code"], "id_reused")
        self.assertEqual(self.freeze("c", 409)["code"], "id_reused")
        self.assertEqual(self.money()[0], 960000)

    def test_spec_5_9_non_members_are_booked_and_flagged(self):
        self.make(project={"membership": "listed"})
        self.assertIn("non_member", self.charge("c", user="stranger")["flags"])
        self.assertEqual(self.money()[0], 960000)

    def test_spec_5_9_an_unknown_account_goes_to_the_list_for_a_person_to_assign(self):
        self.make()
        began, ended = self.ago(100), self.ago(40)
        charge = self.charge
        self.charge = lambda *args, **more: charge(*args, started_at=began, ended_at=ended, **more)
        answer = self.charge("c", account="nobody")
        self.assertIn("unattributed", answer["flags"])
        self.assertEqual(self.money()[0], 0)
        self.assertEqual(self.charge("c", account="nobody")["id"], f"{self.name}-c")
        self.charge("d", account="nobody")
        path = f"/clusters/{self.cluster}/unattributed"
        rows = [(row["id"], row["account"], row["used_mcs"]) for row in self.get(path)["items"]]
        self.assertEqual(rows, [(f"{self.name}-c", "nobody", 960000), (f"{self.name}-d", "nobody", 960000)])
        page = self.get(path + "?page_size=1")
        self.assertEqual(self.get(f"{path}?page_size=1&page_token={page['next_page_token']}")["items"][0]["id"], rows[1][0])
        # Assigned by mapping the account and sending the charge again.
        self.ok("PUT", f"/clusters/{self.cluster}/accounts/nobody", {"project": self.project})
        self.assertEqual(self.charge("c", 409, account="nobody", user="bob")["code"], "id_reused")
        self.assertEqual(self.charge("c", account="nobody")["used_mcs"], 960000)
        self.assertEqual(self.charge("c", account="nobody")["used_mcs"], 960000)
        self.assertEqual(self.money()[0], 960000)
        self.assertEqual([row["id"] for row in self.get(path)["items"]], [f"{self.name}-d"])

    def test_spec_5_9_a_run_that_is_too_long_or_too_dear_names_the_field(self):
        self.make(cluster={"mode": "window"})
        for key, cores, days in (("long", 1, 4097), ("dear", 1000000, 4000)):
            self.freeze(key, resources={"cores": cores})
            self.verb(key, "start", started_at=self.ago(days * 86400))
            problem = self.refused_verb("invalid_field", 422, key, "settle", ended_at=self.ago(0))
            self.assertEqual(problem["field"], "ended_at")
            # A typing mistake can be mended: the settle's times win over the start's.
            answer = self.verb(key, "settle", started_at=self.ago(60), ended_at=self.ago(0))
            self.assertEqual(answer["charged_mcs"], cores * 60000)

    def test_spec_5_9_a_person_assigns_what_is_on_the_list(self):
        self.make()
        path = f"/clusters/{self.cluster}/unattributed"
        sent = {
            "account": "nobody", "started_at": self.ago(100), "ended_at": self.ago(40), "suspended_s": 10, "outcome": "failed",
            "job": {"name": "train", "partition": "gpu", "qos": "low"}, "job_key": "9@1", "run_key": "r9", "hosts": ["n1"],
        }
        for key in "cd":
            answer = self.charge(key, **sent)
            self.assertEqual((answer["project"], answer["rate_card"], answer["charged_mcs"]), (None, None, 800000))
        row = self.get(path)["items"][0]
        shown = {key: row[key] for key in ("account", "suspended_s", "outcome", "job", "job_key", "run_key")}
        self.assertEqual(shown, {key: value for key, value in sent.items() if key in shown})
        self.assertEqual((row["cluster"], row["resources"]["gpus"]), (self.cluster, [{"model": "a100", "count": 1}]))
        # Ids are one space, also for what waits on the list.
        self.assertEqual(self.freeze("c", 409)["code"], "id_reused")
        self.assertEqual(self.charge("c", 409, **{**sent, "account": self.project})["code"], "id_reused")
        self.refused("unknown_hold", 404, "POST", f"/holds/{self.name}-c/settle", {"ended_at": self.ago(0)})
        assign = f"{path}/{self.name}-c/assign"
        self.refused("unknown_account", 422, "POST", assign, {}, field="account")
        self.refused("not_found", 404, "POST", assign, {"project": "nowhere"})
        self.refused("not_found", 404, "POST", f"{path}/{self.name}-x/assign", {"project": self.project})
        self.refused("invalid_field", 422, "POST", assign, {"user": "bob"}, field="user")
        self.ok("POST", assign + "?dry_run=true", {"project": self.project})
        self.assertEqual((self.money()[0], len(self.get(path)["items"])), (0, 2))
        for _ in range(2):
            answer = self.ok("POST", assign, {"project": self.project})
            self.assertEqual((answer["project"], answer["state"], answer["charged_mcs"]), (self.project, "settled", 800000))
            self.assertEqual(answer["flags"], ["unfrozen", "assigned"])
            self.assertEqual(self.money()[0], 800000)
        self.assertEqual([row["id"] for row in self.get(path)["items"]], [f"{self.name}-d"])
        found = self.hold("c")
        self.assertEqual((found["job"], found["runs"][0]["outcome"]), (sent["job"], "failed"))
        # The adapter that did not hear of its answer sends it again: still one charge.
        self.assertEqual(self.charge("c", **sent)["charged_mcs"], 800000)
        self.assertEqual((self.money()[0], len(self.get(path)["items"])), (800000, 1))
        other = self.name + "-p2"
        self.ok("PUT", f"/projects/{other}", {"organization": self.org})
        self.refused("id_reused", 409, "POST", assign, {"project": other}, field="project")
        # Without a project, the one that the account means by now.
        self.ok("PUT", f"/clusters/{self.cluster}/accounts/nobody", {"project": other})
        self.assertEqual(self.ok("POST", f"{path}/{self.name}-d/assign", {})["project"], other)
        self.assertEqual(self.get(path)["items"], [])
        self.assertEqual(self.hold("c")["project"], self.project)

    def test_spec_5_9_a_charge_without_a_price_goes_to_the_list_until_a_card_prices_it(self):
        self.make()
        began, ended = self.ago(100), self.ago(40)
        b200 = {"gpus": [{"model": "b200", "count": 1}]}
        card = {"effective_from": self.ago(200), "rows": [{"gpus": {"a100": {"mcores": 16000, "memory_mib": 81920}}}]}
        self.ok("PUT", f"/clusters/{self.cluster}/rates/2", card)
        send = lambda: self.charge("c", resources=b200, started_at=began, ended_at=ended)
        self.assertIn("unattributed", send()["flags"])
        self.assertIn("unattributed", send()["flags"])
        self.assertEqual(self.money()[0], 0)
        path = f"/clusters/{self.cluster}/unattributed"
        self.assertEqual([row["id"] for row in self.get(path)["items"]], [f"{self.name}-c"])
        card["effective_from"] = self.ago(150)
        card["rows"][0]["gpu_default_mcores"] = 16000
        self.ok("PUT", f"/clusters/{self.cluster}/rates/3", card)
        self.assertEqual(send()["used_mcs"], 960000)
        self.assertEqual(self.get(path)["items"], [])
        self.assertEqual(self.money()[0], 960000)

    def test_spec_5_10_refunds_never_exceed_the_charge(self):
        self.make()
        self.freeze("h")
        self.verb("h", "settle", started_at=self.ago(100), ended_at=self.ago(40))
        refund = {"id": f"{self.name}-r1", "hold": f"{self.name}-h", "core_hours": "0.10", "reason": "slow node"}
        answer = self.ok("POST", "/refunds", refund)
        self.assertEqual(answer["refunded_mcs"], 360000)
        self.ok("POST", "/refunds", refund)
        self.assertEqual(self.money()[0], 600000)
        self.refused("id_reused", 409, "POST", "/refunds", {**refund, "core_hours": "0.11"})
        for field, nothing in (("core_hours", "0"), ("mcs", 0)):
            body = {**{key: value for key, value in refund.items() if key != "core_hours"}, "id": f"{self.name}-r0", field: nothing}
            self.refused("invalid_field", 422, "POST", "/refunds", body, field=field)
        more = {**refund, "id": f"{self.name}-r2", "core_hours": "0.2"}
        self.assertEqual(self.call("POST", "/refunds", more).status // 100, 4)
        rest = {key: value for key, value in more.items() if key != "core_hours"}
        self.assertEqual(self.ok("POST", "/refunds", rest)["refunded_mcs"], 600000)
        self.assertEqual(self.money(), (0, 0, 1000000 * HOUR))
        self.refused("invalid_field", 422, "POST", "/refunds", {**refund, "id": f"{self.name}-r3", "reason": ...} if 0 else {k: v for k, v in refund.items() if k != "reason"})

    def test_spec_5_11_corrections_go_up_and_down_and_cut_refunds(self):
        self.make()
        self.freeze("h")
        start = self.now() - 200
        self.verb("h", "settle", started_at=at(start), ended_at=at(start + 60))
        why = {"source": "sacct", "reason": "found"}
        self.assertEqual(self.verb("h", "correct", ended_at=at(start + 100), **why)["charged_mcs"], 1600000)
        before = self.journal()
        self.verb("h", "correct", ended_at=at(start + 100), **why)
        self.assertEqual(self.journal(), before)
        self.ok("POST", "/refunds", {"id": f"{self.name}-r", "hold": f"{self.name}-h", "mcs": 1000000, "reason": "x"})
        self.assertEqual(self.money()[0], 600000)
        answer = self.verb("h", "correct", ended_at=at(start + 50), **why)
        self.assertEqual((answer["charged_mcs"], self.money()[0]), (800000, 0))
        self.assertEqual(self.run_of("h")["refunds_mcs"], 800000)
        self.verb("h", "correct", outcome="node_fail", **why)
        self.assertEqual(self.money(), (0, 0, 1000000 * HOUR))
        self.verb("h", "correct", outcome="completed", suspended_s=20, **why)
        self.assertEqual(self.money()[0], 480000)
        first = [entry for entry in self.journal() if entry["kind"] == "charge"]
        self.assertEqual(sum(entry["amount_mcs"] for entry in first), 960000)
        self.freeze("i")
        self.refused_verb("invalid_state", 409, "i", "correct", ended_at=at(start + 50), **why)
        self.refused_verb("invalid_field", 422, "h", "correct", ended_at=at(start + 50))


class Waiting(w.Case):
    def waits(self, key, **changes):
        return self.freeze(key, 202, on_insufficient="wait", **changes)

    def states(self, keys):
        return "".join(self.hold(key)["state"][0] for key in keys)

    def test_spec_5_13_waiting_tasks_are_frozen_in_order_when_a_settle_makes_room(self):
        self.make()
        self.cap("month", "2.7")
        self.freeze("a")
        self.freeze("b")
        for key in "cde":
            self.assertEqual(self.waits(key)["state"], "waiting")
        self.assertEqual(self.balance()["waiting_mcs"], 3 * GPU5)
        self.verb("a", "settle", started_at=self.ago(0), ended_at=self.ago(0))
        self.assertEqual(self.states("cde"), "fww")
        self.verb("b", "release")
        self.assertEqual(self.states("cde"), "ffw")
        self.cap("month", "4")
        self.assertEqual(self.states("cde"), "fff")
        events = self.feed()["events"]
        self.assertEqual([(e["type"], e["hold"][-1]) for e in events], [("frozen", "c"), ("frozen", "d"), ("frozen", "e")])
        self.assertEqual(self.balance()["waiting_mcs"], 0)

    def test_spec_5_13_a_refund_a_grant_and_a_months_turn_make_room(self):
        self.make(grant="1.4")
        self.freeze("a")
        self.verb("a", "settle", started_at=self.ago(300), ended_at=self.ago(0))
        self.waits("b", ttl_s=31536000)
        self.ok("POST", "/refunds", {"id": f"{self.name}-r", "hold": f"{self.name}-a", "reason": "x"})
        self.assertEqual(self.states("b"), "f")
        self.waits("c", ttl_s=31536000)
        self.grant("g1", "1.4")
        self.assertEqual(self.states("c"), "f")
        self.grant("g2", "100")
        self.cap("month", "2.7")
        self.verb("b", "settle", started_at=self.ago(300), ended_at=self.ago(0))
        self.waits("d", ttl_s=31536000)
        self.clock.move_to(w.month_after(self.now()) + 1)
        self.until(lambda: self.states("d") == "f")
        self.clock.move(14 * 86400)

    def test_spec_5_13_a_grant_that_starts_later_makes_room_when_it_starts(self):
        self.make(grant=None)
        self.grant("g", "10", start=at(self.now() + 500))
        self.waits("a", ttl_s=10000)
        self.clock.move(501)
        self.until(lambda: self.states("a") == "f")

    def test_spec_5_13_who_waits_holds_back_only_at_limits_that_fail_for_it(self):
        self.make()
        self.cap("gpus", 2)
        self.freeze("a")
        self.waits("b", resources={"gpus": [{"model": "a100", "count": 2}]})
        problem = self.short("c")
        self.assertEqual((problem["waiting_ahead"], problem["violations"][0]["missing"]), (1, 0))
        self.freeze("d", resources={"cores": 1})
        self.verb("a", "start", started_at=self.ago(0))
        self.verb("a", "resize", time_limit_s=600)
        self.verb("a", "requeue", ended_at=self.ago(0))
        self.assertEqual(self.states("ab"), "fw")
        self.verb("a", "release")
        self.assertEqual(self.states("b"), "f")

    def test_spec_5_13_what_exceeds_a_cap_by_itself_is_refused_even_with_wait(self):
        self.make(grant=None)
        self.cap("month", "1")
        self.short("a", on_insufficient="wait")
        self.cap("month", "100")
        self.cap("job_gpus", 0)
        self.short("a", on_insufficient="wait")
        self.cap("job_gpus", 1)
        self.waits("a")  # funds never do: a grant may come
        self.cap("gpus", 1)
        self.short("b", on_insufficient="wait", tasks=2)
        self.waits("b", tasks=2, max_running=1)

    def test_spec_5_13_unbound_waiting_holds_expire_and_the_ttl_starts_again_at_promotion(self):
        self.make()
        self.cap("gpus", 1)
        self.freeze("a", ttl_s=100000)
        self.waits("b", ttl_s=100)
        self.waits("c", ttl_s=200)
        self.clock.move(150)
        self.until(lambda: self.states("b") == "e")
        self.assertEqual(self.states("c"), "w")
        self.verb("a", "release")
        self.assertAlmostEqual(w.seconds(self.hold("c")["expires_at"]), self.now() + 200, delta=5)
        self.assertEqual(self.balance()["waiting_mcs"], 0)

    def test_spec_5_13_arrays_wait_and_are_promoted_whole(self):
        self.make()
        self.cap("month", "5")
        self.freeze("a")
        self.waits("b", tasks=3)
        self.waits("c")
        self.verb("b", "release", tasks="1")
        self.assertEqual((self.states("b"), self.states("c")), ("f", "w"))
        self.assertEqual(self.balance()["waiting_mcs"], GPU5)
        self.verb("b", "release", tasks="2")
        self.assertEqual(self.states("c"), "f")

    def test_spec_5_13_those_behind_one_that_leaves_are_promoted(self):
        self.make()
        self.cap("gpus", 2)
        self.freeze("a")
        self.waits("b", resources={"gpus": [{"model": "a100", "count": 2}]})
        self.waits("c")
        self.assertEqual(self.states("bc"), "ww")
        self.verb("b", "release")
        self.assertEqual(self.states("bc"), "rf")

    def test_spec_5_13_more_of_everything_in_a_long_queue_keeps_the_order(self):
        self.make()
        self.cap("jobs", 1)
        self.freeze("x")
        keys = [f"q{i}" for i in range(20)]
        for key in keys:
            self.waits(key, resources={"cores": 1})
        for i, key in enumerate(["x"] + keys):
            self.assertEqual(self.hold(key)["state"], "frozen")
            if i % 2:
                self.verb(key, "settle", started_at=self.ago(10), ended_at=self.ago(0))
            else:
                self.verb(key, "release")
        promoted = [event["hold"].split("-")[-1] for event in self.feed()["events"]]
        self.assertEqual(promoted, keys)


    def test_spec_5_13_a_bound_waiting_hold_does_not_expire_and_a_start_does_not_wait(self):
        self.make()
        self.cap("gpus", 1)
        self.freeze("a", ttl_s=100000)
        self.waits("b", ttl_s=10)
        self.verb("b", "bind", job_id="1", job_key="1@1")
        self.clock.move(100)
        w.time.sleep(1.2)  # a tick of the clockwork
        self.assertEqual(self.states("b"), "w")
        self.assertIn("late", self.verb("b", "start", started_at=self.ago(0))["flags"])
        self.assertEqual((self.money()[1], self.balance()["waiting_mcs"]), (2 * GPU5, 0))


class Months(w.Case):
    def test_spec_4_2_total_counts_for_ever_and_other_windows_turn(self):
        self.make()
        for cap in ("quarter", "year", "total"):
            self.cap(cap, "3")
        self.freeze("a")
        self.verb("a", "settle", started_at=self.ago(300), ended_at=self.ago(0))
        self.freeze("b", ttl_s=31536000)
        figures = {cap["cap"]: (cap["used"], cap["frozen"]) for cap in self.balance()["caps"]}
        self.assertEqual(figures, {cap: (GPU5, GPU5) for cap in ("quarter", "year", "total")})
        self.clock.move_to(w.month_after(self.now(), 13) + 14 * 86400)
        figures = {cap["cap"]: (cap["used"], cap["frozen"]) for cap in self.balance()["caps"]}
        self.assertEqual(figures, {"quarter": (0, GPU5), "year": (0, GPU5), "total": (GPU5, GPU5)})

    def test_spec_5_10_refunds_and_corrections_over_months_come_out_even(self):
        self.make()
        turn = w.month_after(self.now())
        self.clock.move_to(turn + 1000)
        body = {**self.body("c", time_limit_s=...), "started_at": at(turn - 500), "ended_at": at(turn + 500)}
        self.ok("POST", "/charges", body)
        old, new = at(turn - 1)[:7], at(turn)[:7]
        self.assertEqual(self.months(), {old: 8000000, new: 8000000})
        self.ok("POST", "/refunds", {"id": f"{self.name}-r", "hold": f"{self.name}-c", "mcs": 9000000, "reason": "x"})
        self.assertEqual(self.months(), {old: 7000000})
        why = {"source": "sacct", "reason": "r"}
        self.verb("c", "correct", ended_at=at(turn + 100), **why)
        self.assertEqual((self.months(), self.money()[0]), ({old: 600000}, 600000))
        self.verb("c", "correct", started_at=at(turn - 100), **why)
        self.assertEqual((self.months(), self.money()), ({}, (0, 0, 1000000 * HOUR)))
        self.clock.move(14 * 86400)

    def test_spec_8_1_a_run_over_new_year_is_split_where_the_zone_turns(self):
        year = w.time.gmtime(self.now()).tm_year + 1
        turn = utc(year, 1, 1) - 8 * 3600
        self.clock.move_to(turn - 1000)
        # Made here: a root that slept for months catches up with one a tick.
        self.make(root={"timezone": "Asia/Shanghai"}, grant=None)
        self.grant("g", "10000")
        self.freeze("h", time_limit_s=10000, ttl_s=1000000)
        self.verb("h", "start", started_at=at(turn - 1000))
        self.clock.move_to(turn + 500)
        # The elapsed part of the old month is charged when it ends.
        self.until(lambda: self.months() == {f"{year - 1}-12": 16000000})
        answer = self.verb("h", "settle", started_at=at(turn - 1000), ended_at=at(turn + 300), suspended_s=400)
        self.assertEqual(answer["charged_mcs"], 900 * 16000)
        # 400 s from the end backwards: 300 s of January, 100 s of December.
        self.assertEqual(self.months(), {f"{year - 1}-12": 900 * 16000})
        self.verb("h", "correct", suspended_s=0, source="sacct", reason="never")
        self.assertEqual(self.months(), {f"{year - 1}-12": 16000000, f"{year}-01": 4800000})
        refund = {"id": f"{self.name}-r", "hold": f"{self.name}-h", "mcs": 5000000, "reason": "x"}
        self.ok("POST", "/refunds", refund)
        self.assertEqual(self.months(), {f"{year - 1}-12": 15800000})
        self.clock.move(14 * 86400)

    def test_spec_8_1_days_of_25_and_23_hours_are_split_exactly(self):
        self.make(root={"timezone": "Europe/Berlin"}, grant=None)
        self.clock.move_to(utc(w.time.gmtime(self.now()).tm_year + 1, 11, 15))
        self.grant("g", "10000")
        year = w.time.gmtime(self.now()).tm_year
        fall = utc(year, 10, 31) - ((utc(year, 10, 31) // 86400 + 4) % 7) * 86400  # the last Sunday
        body = {**self.body("c", time_limit_s=..., resources={"cores": 1})}
        body.update(started_at=at(fall - 86400), ended_at=at(fall + 2 * 86400))
        self.ok("POST", "/charges", body)
        day = w.time.strftime("%Y-%m-%d", w.time.gmtime(fall))
        after = w.time.strftime("%Y-%m-%d", w.time.gmtime(fall + 86400))
        rows = self.usage(group_by="day", **{"from": day, "to": after})
        self.assertEqual({row["day"]: row["used_mcs"] // 1000 for row in rows}, {day: 25 * 3600} | {})

    def test_spec_8_1_the_turn_charges_at_most_what_is_frozen(self):
        self.make()
        turn = w.month_after(self.now())
        self.clock.move_to(turn - 1000)
        self.freeze("h", time_limit_s=300, ttl_s=1000000)
        self.verb("h", "start", started_at=at(self.now()))
        self.clock.move_to(turn + 50)
        self.until(lambda: self.balance()["frozen_mcs"] == 0)
        self.assertEqual(self.months(), {at(turn - 1)[:7]: GPU5})
        answer = self.verb("h", "settle", ended_at=at(turn + 20))
        self.assertEqual((answer["charged_mcs"], answer["overrun_mcs"]), (16000 * 1020, 16000 * 720))
        self.assertEqual(self.months(), {at(turn - 1)[:7]: 16000000, at(turn)[:7]: 320000})
        self.clock.move(14 * 86400)

    def test_spec_8_1_resized_over_months_each_second_has_its_rate(self):
        self.make()
        turn = w.month_after(self.now())
        self.clock.move_to(turn - 100)
        self.freeze("h", time_limit_s=1000, ttl_s=1000000)
        self.verb("h", "start", started_at=at(turn - 100))
        self.clock.move_to(turn - 50)
        self.verb("h", "resize", at=at(turn - 50), resources={"gpus": [{"model": "a100", "count": 2}]})
        self.clock.move_to(turn + 50)
        self.verb("h", "resize", at=at(turn + 50), resources={"cores": 1})
        self.clock.move_to(turn + 100)
        self.verb("h", "settle", ended_at=at(turn + 100))
        old, new = at(turn - 1)[:7], at(turn)[:7]
        self.assertEqual(self.months(), {old: 50 * 16000 + 50 * 32000, new: 50 * 32000 + 50 * 1000})
        self.clock.move(14 * 86400)


class Absence(w.Case):
    CONFIG = "timer_period_ms = 3000\n"

    def test_spec_8_1_months_of_a_long_absence_are_made_up_at_once(self):
        self.make()
        start = self.now()
        turn = w.month_after(start, 30)
        self.freeze("h", resources={"cores": 1}, time_limit_s=turn + 1000 - start)
        self.verb("h", "start", started_at=at(start))
        self.clock.move_to(turn + 10)
        # 30 months, a run to charge in each of them: in less than one tick for each.
        self.until(lambda: self.balance()["used_mcs"] == (turn - start) * 1000, within_s=40)
        self.assertEqual(len(self.months()), 30)


if __name__ == "__main__":
    w.main(__name__)
