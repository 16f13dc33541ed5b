"""Who, grants and caps, rule by rule against the real daemon (SPEC 2, 3, 4).

usage: test_spec_who.py COREHOURD SHIFT_CLOCK
"""

import threading

import world as w
from world import GPU5, HOUR, at


class Who(w.Case):
    def test_spec_2_1_names_are_one_flat_space_and_projects_are_leaves(self):
        self.make()
        self.refused("invalid_state", 409, "PUT", f"/projects/{self.org}", {"organization": self.root})
        self.refused("not_found", 404, "PUT", f"/projects/{self.name}-x", {"organization": self.project})
        self.refused("not_found", 404, "PUT", f"/projects/{self.name}-x", {"organization": "nowhere"})
        for bad in ("Acme", "-a", "a" * 64, "a_b"):
            answer = self.call("PUT", f"/organizations/{bad}", {"funding": "self"})
            expected = 200 if bad == "a_b" else 422
            self.assertEqual(answer.status // 100, expected // 100, bad)
        self.freeze("h")
        balance = self.balance(f"/projects/{self.project}/members/alice")
        self.assertEqual(balance["path"], [self.root, self.org, self.project, "alice"])
        self.assertEqual(balance["kind"], "member")

    def test_spec_2_1_the_contact_is_the_last_of_a_refusal(self):
        self.make(project={"contact": "quota@acme.example"})
        self.cap("month", "1")
        self.assertTrue(self.short("h")["detail"].endswith("ask: quota@acme.example"))
        # The nearest at or above what failed: not below it, and not farther up.
        for path, contact in ((f"/organizations/{self.org}", None), (f"/organizations/{self.root}", "root@acme.example")):
            self.ok("PATCH", path, {"contact": contact}, {"If-Match": "*"})
        self.ok("DELETE", f"/projects/{self.project}/caps/month", headers={"If-Match": "*"})
        self.cap("month", "1", f"/organizations/{self.org}")
        self.assertTrue(self.short("h")["detail"].endswith("ask: root@acme.example"))
        self.ok("PATCH", f"/projects/{self.project}", {"contact": None}, {"If-Match": "*"})
        self.ok("PATCH", f"/projects/{self.project}", {"state": "closed"}, {"If-Match": "*"})
        self.assertTrue(self.freeze("h", 409)["detail"].endswith("ask: root@acme.example"))

    def test_spec_2_2_a_cluster_serves_the_roots_it_lists(self):
        self.make()
        other = self.name + "-other"
        self.ok("PUT", f"/organizations/{other}", {"funding": "unlimited"})
        self.ok("PUT", f"/projects/{other}-p", {"organization": other})
        self.assertEqual(self.freeze("h", 422, account=f"{other}-p")["code"], "unknown_account")
        self.ok("PATCH", f"/clusters/{self.cluster}", {"roots": None}, {"If-Match": "*"})
        self.freeze("h", account=f"{other}-p")
        self.refused("unknown_cluster", 422, "POST", "/holds", self.body("i", cluster="nowhere"))

    def test_spec_2_2_accounts_and_users_map_and_unknown_accounts_are_refused(self):
        self.make()
        self.assertEqual(self.freeze("h", 422, account="physics")["code"], "unknown_account")
        self.ok("PUT", f"/clusters/{self.cluster}/accounts/physics", {"project": self.project})
        self.ok("PUT", f"/clusters/{self.cluster}/users/al", {"person": "alice"})
        hold = self.freeze("h", account="physics", user="al")
        self.assertEqual((hold["project"], hold["user"]), (self.project, "alice"))
        self.make_cluster(self.name + "-c2")
        self.cap("month", "2", f"/projects/{self.project}/members/alice")
        problem = self.short("i", cluster=self.name + "-c2")
        self.assertEqual((problem["violations"][0]["node"], problem["violations"][0]["frozen"]), ("alice", GPU5))
        self.assertEqual(self.freeze("i", 422, account=self.org)["code"], "unknown_account")

    def test_spec_2_3_an_open_project_makes_members_and_a_listed_one_does_not(self):
        self.make()
        self.freeze("h", user="new")
        self.get(f"/projects/{self.project}/members/new")
        self.ok("PATCH", f"/projects/{self.project}", {"membership": "listed"}, {"If-Match": "*"})
        self.assertEqual(self.freeze("i", 422, user="newer")["code"], "not_a_member")
        self.freeze("i", user="new")
        self.refused("not_found", 404, "PUT", f"/projects/{self.project}/members/newer/caps/month", {"core_hours": "1"})
        self.ok("PUT", f"/projects/{self.project}/members/newer", {})
        self.freeze("j", user="newer")

    def test_spec_2_3_a_cap_under_a_member_of_an_open_project_makes_the_member(self):
        self.make()
        self.cap("month", "1", f"/projects/{self.project}/members/dora")
        self.assertEqual(self.get(f"/projects/{self.project}/members/dora")["state"], "open")
        self.assertEqual(self.short("h", user="dora")["violations"][0]["node"], "dora")

    def test_spec_2_3_the_star_holds_the_defaults_cap_by_cap(self):
        self.make()
        members = f"/projects/{self.project}/members"
        self.cap("month", "2", f"{members}/*")
        self.cap("gpus", 1, f"{members}/*")
        self.cap("month", "100", f"{members}/alice")
        self.freeze("a1")
        violations = self.short("a2")["violations"]
        self.assertEqual([(v["node"], v["cap"], v["limit"]) for v in violations], [("alice", "gpus", 1000)])
        self.freeze("b1", user="bob")
        violations = self.short("b2", user="bob")["violations"]
        self.assertEqual(sorted((v["node"], v["cap"]) for v in violations), [("bob", "gpus"), ("bob", "month")])
        # null of one's own lifts the default.
        self.cap("gpus", None, f"{members}/alice")
        self.freeze("a2")
        caps = {cap["cap"]: cap for cap in self.balance(f"{members}/bob")["caps"]}
        self.assertEqual((caps["gpus"]["limit"], caps["gpus"]["frozen"]), (1000, 1000))

    def test_spec_2_4_a_closed_node_refuses_freezes_and_lets_the_rest_pass(self):
        self.make(cluster={"mode": "window"})
        for key in ("run", "again", "done", "late"):
            self.freeze(key)
        for key in ("run", "again"):
            self.verb(key, "start", started_at=self.ago(100))
        self.verb("done", "settle", started_at=self.ago(100), ended_at=self.ago(50))
        self.cap("gpus", 4)
        self.freeze("wait", 202, on_insufficient="wait", tasks=2)
        self.ok("PATCH", f"/organizations/{self.org}", {"state": "closed"}, {"If-Match": "*"})
        self.assertEqual(self.freeze("new", 409)["code"], "node_closed")
        self.assertEqual(self.hold("wait")["state"], "released")
        self.assertEqual([e["type"] for e in self.feed()["events"]], ["released"])
        self.assertEqual(self.balance()["waiting_mcs"], 0)
        self.assertEqual(self.beat("run"), ["ok"])
        self.verb("run", "settle", ended_at=self.ago(10))
        self.assertEqual(self.verb("again", "requeue", ended_at=self.ago(10))["state"], "frozen")
        self.verb("again", "start", started_at=self.ago(5), attempt=1)
        self.cap("gpus", 1)
        answer = self.verb("again", "requeue", ended_at=self.ago(2), attempt=1)
        self.assertEqual(answer["state"], "released")
        self.assertEqual([e["type"] for e in self.feed()["events"]], ["released", "released"])
        self.ok("POST", "/refunds", {"id": f"{self.name}-r", "hold": f"{self.name}-done", "mcs": 1, "reason": "x"})
        charge = {key: value for key, value in self.body("c").items() if key != "time_limit_s"}
        charge.update(started_at=self.ago(50), ended_at=self.ago(40), user="stranger")
        answer = self.ok("POST", "/charges", charge)
        self.assertIn("closed_node", answer["flags"])
        self.ok("PATCH", f"/organizations/{self.org}", {"state": "open"}, {"If-Match": "*"})
        self.freeze("new", resources={"cores": 1})

    def test_spec_2_4_a_node_with_open_tasks_does_not_move(self):
        self.make()
        other = self.name + "-o2"
        self.ok("PUT", f"/organizations/{other}", {"parent": self.root})
        self.freeze("h")
        move = {"organization": other}
        self.refused("invalid_state", 409, "PATCH", f"/projects/{self.project}", move, {"If-Match": "*"})
        self.refused("invalid_state", 409, "PATCH", f"/projects/{self.project}", {"funding": "self"}, {"If-Match": "*"})
        self.verb("h", "settle", started_at=self.ago(100), ended_at=self.ago(40))
        self.ok("PATCH", f"/projects/{self.project}", move, {"If-Match": "*"})
        self.assertEqual(self.balance()["path"], [self.root, other, self.project])
        self.freeze("i")
        self.verb("i", "settle", started_at=self.ago(100), ended_at=self.ago(40))
        rows = self.usage(month=self.ago(70)[:7], group_by="organization")
        self.assertEqual({row["organization"]: row["used_mcs"] for row in rows}, {self.org: 960000, other: 960000})
        # Caps of the new parent count what came with the project from when it came; its own use stays whole.
        self.assertEqual(self.balance()["used_mcs"], 1920000)
        cycle = {"parent": self.org}
        self.refused("invalid_state", 409, "PATCH", f"/organizations/{self.root}", cycle, {"If-Match": "*"})

    def test_spec_2_4_the_zone_is_fixed_after_the_first_usage(self):
        self.make()
        self.ok("PATCH", f"/organizations/{self.root}", {"timezone": "Asia/Shanghai"}, {"If-Match": "*"})
        self.freeze("h")
        self.verb("h", "settle", started_at=self.ago(100), ended_at=self.ago(40))
        change = {"timezone": "Europe/Berlin"}
        self.refused("invalid_state", 409, "PATCH", f"/organizations/{self.root}", change, {"If-Match": "*"})
        zone = {"funding": "self", "timezone": "Mars/Phobos"}
        self.refused("invalid_field", 422, "PUT", f"/organizations/{self.name}-m", zone)


class Grants(w.Case):
    def test_spec_3_1_the_nearest_self_pays_and_never_falls_back(self):
        self.make(org={"funding": "self"})
        problem = self.short("h")
        self.assertEqual([(v["node"], v["cap"]) for v in problem["violations"]], [(self.org, "funds")])
        self.grant("g1", "2", node=self.org)
        self.freeze("h")
        self.assertEqual(self.balance()["funding_node"], self.org)
        self.assertEqual(self.short("i")["violations"][0]["missing"], 2 * GPU5 - 2 * HOUR)
        grant = {"id": f"{self.name}-z", "node": self.project, "core_hours": "1"}
        self.refused("not_funded_here", 409, "POST", "/grants", grant)
        move = {"id": f"{self.name}-z", "from": self.root, "to": self.project, "core_hours": "1"}
        self.refused("not_funded_here", 409, "POST", "/transfers", move)

    def test_spec_3_1_an_unlimited_root_tracks_and_caps_only(self):
        self.make(grant=None, root={"funding": "unlimited"})
        self.freeze("h", time_limit_s=1000000)
        self.assertIsNone(self.balance()["available_mcs"])
        self.cap("month", "1", f"/organizations/{self.root}")
        self.assertEqual([v["cap"] for v in self.short("i")["violations"]], ["month"])
        self.refused("invalid_field", 422, "PUT", f"/organizations/{self.name}-n", {"parent": self.root, "funding": "unlimited"})

    def grants(self):
        return {g["id"].split("-")[-1]: g for g in self.get(f"/grants?node={self.root}")["items"]}

    def test_spec_3_2_draws_go_earliest_end_first_and_return_latest_first(self):
        self.make(grant=None)
        self.grant("late", "1", end=at(self.now() + 200000))
        self.grant("soon", "1", end=at(self.now() + 100000))
        self.grant("never", "1")
        self.grant("future", "1", start=at(self.now() + 50000))
        self.freeze("h", resources={"cores": 1}, time_limit_s=9000)
        self.assertEqual({k: g["frozen_mcs"] for k, g in self.grants().items()}, {"soon": HOUR, "late": HOUR, "never": HOUR // 2, "future": 0})
        self.verb("h", "settle", started_at=self.ago(5000), ended_at=self.ago(5000 - 4600))
        self.assertEqual({k: g["used_mcs"] for k, g in self.grants().items()}, {"soon": HOUR, "late": 1000000, "never": 0, "future": 0})
        refund = {"id": f"{self.name}-r", "hold": f"{self.name}-h", "mcs": 1500000, "reason": "x"}
        self.ok("POST", "/refunds", refund)
        self.assertEqual({k: g["used_mcs"] for k, g in self.grants().items()}, {"soon": HOUR - 500000, "late": 0, "never": 0, "future": 0})
        self.assertEqual(self.money()[2], 3 * HOUR - 3100000)

    def test_spec_3_2_what_returns_to_an_ended_grant_is_expired(self):
        self.make(grant=None)
        self.grant("a", "10", end=at(self.now() + 1000))
        self.freeze("h", ttl_s=100000)
        start = self.now()
        self.verb("h", "start", started_at=at(start))
        self.clock.move(1100)
        self.until(lambda: self.grants()["a"]["expired_mcs"] == 10 * HOUR - GPU5)
        answer = self.verb("h", "settle", ended_at=at(start + 60))
        self.assertEqual((answer["charged_mcs"], answer["refunded_mcs"], answer["expired_mcs"]), (960000, 3840000, 3840000))
        self.assertEqual(self.money(), (960000, 0, 0))
        self.assertEqual(self.grants()["a"]["expired_mcs"], 10 * HOUR - 960000)

    def test_spec_3_3_overdraft_is_how_far_a_freeze_may_go_and_is_repaid_first(self):
        self.make(grant="1", root={"overdraft_core_hours": "1"})
        self.freeze("h", resources={"cores": 1}, time_limit_s=7200)
        self.assertEqual(self.money()[2], -HOUR)
        self.assertEqual(self.short("i", resources={"cores": 1}, time_limit_s=1)["violations"][0]["missing"], 1000)
        # Use above the freeze goes on without limit.
        self.verb("h", "settle", started_at=self.ago(20000), ended_at=self.ago(20000 - 10800))
        self.assertEqual(self.money(), (3 * HOUR, 0, -2 * HOUR))
        self.assertTrue(self.balance()["overdrawn"])
        self.grant("g1", "1.5")
        self.assertEqual(self.money()[2], -HOUR // 2)
        self.ok("POST", "/refunds", {"id": f"{self.name}-r", "hold": f"{self.name}-h", "core_hours": "1", "reason": "x"})
        self.assertEqual(self.money(), (2 * HOUR, 0, HOUR // 2))
        self.assertFalse(self.balance()["overdrawn"])

    def test_spec_3_4_the_rest_of_a_grant_expires_at_its_end_in_the_journal(self):
        self.make(grant=None)
        self.grant("a", "10", end=at(self.now() + 500))
        self.clock.move(501)
        self.until(lambda: self.balance()["available_mcs"] == 0)
        entries = self.until(lambda: [entry for entry in self.journal() if entry["kind"] == "expire_grant"])
        self.assertEqual([entry["amount_mcs"] for entry in entries], [10 * HOUR])
        self.assertEqual(self.short("h")["violations"][0]["cap"], "funds")

    def test_spec_3_4_transfers_keep_validity_and_go_earliest_end_first(self):
        self.make(grant=None, project={"funding": "self"})
        soon, late = at(self.now() + 1000000), at(self.now() + 2000000)
        self.grant("late", "2", end=late)
        self.grant("soon", "2", end=soon)
        move = {"id": f"{self.name}-t", "from": self.root, "to": self.project, "core_hours": "3"}
        self.ok("POST", "/transfers", move)
        got = {g["end"]: g["available_mcs"] for g in self.get(f"/grants?node={self.project}")["items"]}
        self.assertEqual(got, {soon: 2 * HOUR, late: HOUR})
        again = self.call("POST", "/transfers", move)
        self.assertEqual((again.status, self.money()[2]), (201, 3 * HOUR))
        self.refused("id_reused", 409, "POST", "/transfers", {**move, "core_hours": "2"})
        more = {**move, "id": f"{self.name}-t2"}
        self.refused("quota_insufficient", 409, "POST", "/transfers", more)
        self.make_other_root()
        away = {**move, "id": f"{self.name}-t3", "core_hours": "1", "to": self.name + "-z"}
        self.refused("invalid_field", 422, "POST", "/transfers", away)

    def make_other_root(self):
        self.ok("PUT", f"/organizations/{self.name}-z", {"funding": "self"})

    def test_spec_3_4_a_withdrawal_takes_back_what_is_available(self):
        self.make(grant="10")
        self.freeze("h")
        take = {"id": f"{self.name}-w", "node": self.root, "core_hours": "9", "reason": "too much"}
        self.refused("quota_insufficient", 409, "POST", "/withdrawals", take)
        self.ok("POST", "/withdrawals", {**take, "core_hours": "8"})
        self.assertEqual(self.money()[2], 2 * HOUR - GPU5)

    def test_spec_9_1_available_is_what_the_rule_says(self):
        self.make(grant="10", project={"funding": "self"})
        self.ok("POST", "/transfers", {"id": f"{self.name}-t", "from": self.root, "to": self.project, "core_hours": "5"})
        self.ok("POST", "/withdrawals", {"id": f"{self.name}-w", "node": self.project, "core_hours": "1", "reason": "x"})
        self.freeze("h")
        self.freeze("i")
        self.verb("i", "settle", started_at=self.ago(100), ended_at=self.ago(40))
        for node in (self.root, self.project):
            for g in self.get(f"/grants?node={node}")["items"]:
                into = g["granted_mcs"] + g["transferred_in_mcs"]
                out = sum(g[k + "_mcs"] for k in ("transferred_out", "withdrawn", "used", "frozen", "expired"))
                self.assertEqual(g["available_mcs"], into - out, g)


class Caps(w.Case):
    def test_spec_4_1_every_cap_refuses_by_itself(self):
        self.make()
        asked = {"resources": {"cores": 8, "gpus": [{"model": "a100", "count": 2}]}, "tasks": 3}
        for cap, limit, unit, requested in (
            ("month", "7.9", "mcs", 6 * GPU5),
            ("quarter", "7.9", "mcs", 6 * GPU5),
            ("year", "7.9", "mcs", 6 * GPU5),
            ("total", "7.9", "mcs", 6 * GPU5),
            ("gpus", 5, "mgpus", 6000),
            ("gpus:A100", 5, "mgpus", 6000),
            ("cores", 95, "mcores", 96000),
            ("jobs", 2, "jobs", 3),
            ("job_core_hours", "7.9", "mcs", 6 * GPU5),
            ("job_gpus", 1, "mgpus", 2000),
            ("job_duration", 299, "s", 300),
        ):
            for path in (
                f"/organizations/{self.root}",
                f"/organizations/{self.org}",
                f"/projects/{self.project}",
                f"/projects/{self.project}/members/alice",
            ):
                self.cap(cap, limit, path)
                violations = self.short("h", **asked)["violations"]
                self.assertEqual(len(violations), 1, violations)
                found = violations[0]
                self.assertEqual((found["cap"], found["unit"], found["requested"]), (cap.lower(), unit, requested))
                self.assertEqual(found["missing"], found["requested"] - found["available"])
                self.assertEqual(found["resets_at"] is not None, cap in ("month", "quarter", "year"))
                answer = self.call("DELETE", f"{path}/caps/{cap}", headers={"If-Match": "*"})
                self.assertEqual(answer.status, 204, answer)
        self.freeze("h", **asked)

    def test_spec_4_1_a_cap_on_another_model_does_not_count(self):
        self.make()
        self.cap("gpus:h100", 0)
        self.freeze("h")
        self.assertEqual(self.short("i", resources={"gpus": [{"model": "H100", "count": 1}]})["violations"][0]["cap"], "gpus:h100")

    def test_spec_4_3_all_limits_that_fail_are_named(self):
        self.make(grant="1")
        self.cap("month", "1")
        self.cap("gpus", 0, f"/organizations/{self.org}")
        self.cap("jobs", 0, f"/projects/{self.project}/members/alice")
        found = [(v["node"], v["cap"]) for v in self.short("h")["violations"]]
        self.assertEqual(sorted(found), sorted([("alice", "jobs"), (self.project, "month"), (self.org, "gpus"), (self.root, "funds")]))

    def test_spec_4_3_of_racing_submits_exactly_as_many_pass_as_fit(self):
        self.make()
        self.cap("month", "13.4")
        statuses = []

        def submit(i):
            statuses.append(self.call("POST", "/holds", self.body(f"h{i}")).status)

        threads = [threading.Thread(target=submit, args=(i,)) for i in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((statuses.count(201), statuses.count(409)), (10, 22))

    def test_spec_4_2_frozen_counts_in_the_current_window_and_usage_where_it_ran(self):
        self.make()
        turn = w.month_after(self.now(), 1)
        self.clock.move_to(turn - 3600)
        self.cap("month", "3")
        self.freeze("a")
        self.verb("a", "settle", started_at=at(self.now() - 300), ended_at=at(self.now()))
        self.freeze("b", ttl_s=1000000)
        self.short("c")
        self.clock.move_to(turn + 10)
        caps = self.balance()["caps"][0]
        self.assertEqual((caps["used"], caps["frozen"]), (0, GPU5))
        self.assertEqual(caps["resets_at"], at(w.month_after(turn)))
        self.freeze("c")
        self.short("d")
        # Late evidence of last month does not touch this one.
        self.verb("b", "settle", started_at=at(turn - 250), ended_at=at(turn - 50))
        self.assertEqual(self.balance()["caps"][0]["used"], 0)
        self.freeze("d")

    def test_spec_4_4_an_array_of_1000_with_4_at_once_counts_4(self):
        self.make()
        self.cap("gpus", 4)
        self.cap("jobs", 4)
        hold = self.freeze("h", tasks=1000, max_running=4)
        self.assertEqual(hold["frozen_mcs"], 1000 * GPU5)
        caps = {cap["cap"]: cap["frozen"] for cap in self.balance()["caps"]}
        self.assertEqual(caps, {"gpus": 4000, "jobs": 4})
        self.short("i")
        for task in range(4):
            self.verb("h", "start", task=task, started_at=self.ago(60))
        answer = self.verb("h", "release", tasks="2-5,500-998")
        self.assertEqual(answer["left_tasks"], "2-3")
        self.assertEqual(answer["refunded_mcs"], 501 * GPU5)
        self.assertEqual(self.balance()["frozen_mcs"], 499 * GPU5)
        self.verb("h", "release", tasks="6-499")
        caps = {cap["cap"]: cap["frozen"] for cap in self.balance()["caps"]}
        self.assertEqual(caps, {"gpus": 4000, "jobs": 4})  # 0-3 and 999 are open
        self.verb("h", "release")
        self.verb("h", "settle", task=0, ended_at=self.ago(0))
        self.assertEqual(self.balance()["caps"][0]["frozen"] // 1000 or self.balance()["caps"][1]["frozen"], 3)
        self.freeze("i")
        states = self.hold("h")["task_states"]
        self.assertEqual(states, {"running": 3, "settled": 1, "released": 996})

    def test_spec_4_5_a_cap_below_what_is_committed_is_allowed_and_shows(self):
        self.make()
        self.freeze("h")
        self.verb("h", "start", started_at=self.ago(10))
        self.cap("month", "1")
        cap = self.balance()["caps"][0]
        self.assertEqual((cap["over_cap"], cap["available"]), (True, HOUR - GPU5))
        self.short("i")
        self.verb("h", "settle", ended_at=self.ago(0))
        self.assertFalse(self.balance()["caps"][0]["over_cap"])

    def test_spec_4_5_a_soft_cap_warns_only(self):
        self.make()
        self.cap("month", "1", soft=True)
        warnings = self.freeze("h")["warnings"]
        self.assertEqual([(x["code"], x["violation"]["missing"]) for x in warnings], [("soft_cap", GPU5 - HOUR)])
        self.assertTrue(self.balance()["caps"][0]["soft"])
        self.assertTrue(self.balance()["caps"][0]["over_cap"])

    def test_spec_4_2_refunds_and_corrections_change_the_window_of_their_run(self):
        self.make()
        self.cap("month", "1")
        self.cap("total", "1")
        cores = {"resources": {"cores": 1}}
        self.freeze("h", **cores, time_limit_s=3600)
        self.verb("h", "settle", started_at=self.ago(3600), ended_at=self.ago(0))
        self.short("i", **cores)
        self.ok("POST", "/refunds", {"id": f"{self.name}-r", "hold": f"{self.name}-h", "mcs": 300000, "reason": "x"})
        self.freeze("i", **cores)
        self.short("j", **cores, time_limit_s=1)


if __name__ == "__main__":
    w.main(__name__)
