"""Identity, refusals, dry runs, rights, conditions, journal and lists (SPEC 6, 9, 10, 11).

usage: test_spec_answers.py COREHOURD SHIFT_CLOCK
"""

import json

import world as w
from world import GPU5, HOUR, at


class Answers(w.Case):
    def test_spec_6_1_a_replayed_freeze_answers_the_current_state(self):
        self.make()
        body = self.body("h")
        first = self.call("POST", "/holds", body)
        again = self.call("POST", "/holds", body)
        self.assertEqual((again.status, again.json), (201, first.json))
        self.verb("h", "start", started_at=self.ago(10))
        again = self.call("POST", "/holds", body)
        self.assertEqual((again.status, again.json["state"]), (201, "running"))
        self.assertEqual(self.balance()["frozen_mcs"], GPU5)
        for change in ({"user": "bob"}, {"time_limit_s": 301}, {"tasks": 2}, {"mode": "window"}):
            self.refused("id_reused", 409, "POST", "/holds", {**body, **change})
        # What is the default may be said or not; the order of members is free.
        self.cap("jobs", 1)
        self.freeze("w", 202, on_insufficient="wait")
        self.freeze("w", 202, on_insufficient="wait")

    def test_spec_6_1_replay_comes_before_names_and_state(self):
        self.make()
        body = self.body("h")
        self.ok("POST", "/holds", body)
        self.ok("PATCH", f"/projects/{self.project}", {"state": "closed"}, {"If-Match": "*"})
        self.assertEqual(self.call("POST", "/holds", body).status, 201)
        self.refused("id_reused", 409, "POST", "/holds", {**body, "user": "bob"})
        self.refused("node_closed", 409, "POST", "/holds", self.body("i"))

    def test_spec_6_1_refusals_are_not_remembered(self):
        self.make()
        self.cap("month", "1")
        before = self.everything()
        self.short("h")
        self.assertEqual(self.everything(), before)
        self.cap("month", "2")
        self.freeze("h")

    def test_spec_6_1_charges_and_holds_share_one_space_of_ids(self):
        self.make()
        self.freeze("h")
        body = {**self.body("h", time_limit_s=...), "started_at": self.ago(10), "ended_at": self.ago(0)}
        self.refused("id_reused", 409, "POST", "/charges", body)

    def test_spec_6_2_refusals_come_in_their_order(self):
        self.make()
        body = self.body("h")
        bad = {**body, "tasks": 0, "account": "nowhere"}
        self.refused("unauthenticated", 401, "POST", "/nowhere", bad, token="ch_no")
        self.refused("not_found", 404, "POST", "/nowhere", bad)
        self.assertEqual(self.call("DELETE", "/holds", bad).status, 405)
        scheduler = self.ok("POST", "/tokens", {"name": "s", "role": "scheduler", "place": self.cluster})["token"]
        self.refused("not_allowed", 403, "POST", "/grants", b"{", token=scheduler)
        self.refused("malformed", 400, "POST", "/holds", b"{")
        self.refused("invalid_field", 422, "POST", "/holds", bad)
        self.refused("unknown_account", 422, "POST", "/holds", {**bad, "tasks": 1})
        self.cap("month", "0")
        self.ok("PATCH", f"/projects/{self.project}", {"state": "closed"}, {"If-Match": "*"})
        self.refused("node_closed", 409, "POST", "/holds", body)

    def test_spec_6_3_a_refusal_says_why_in_numbers_and_in_chinese(self):
        self.make()
        self.cap("month", "500")
        hour = {"resources": {"cores": 1}, "time_limit_s": 3600}
        for key, user, tasks in (("a", "bob", 400), ("b", "carol", 90), ("c", "dan", 9)):
            self.freeze(key, user=user, tasks=tasks, **hour)
        problem = self.short("h")
        line = "quota insufficient to pre-freeze 1.33 core-hours"
        self.assertEqual(problem["title"], line)
        detail = f"{line} (16.000 cores x 5.00 min): project {self.project} month cap 500.00, used 0.00, frozen 499.00, available 1.00, missing 0.33"
        self.assertEqual(problem["detail"], detail)
        found = problem["violations"][0]
        self.assertEqual([holder["user"] for holder in found["holders"]], ["bob", "carol", "dan"])
        self.assertEqual(found["holders"][0]["frozen_mcs"], 400 * HOUR)
        self.assertEqual((found["requested"], found["missing"], found["available"]), (GPU5, GPU5 - HOUR, HOUR))
        answer = self.call("POST", "/holds", self.body("h"), {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"})
        self.assertTrue(answer.json["title"].startswith("配额已不够预冻结，冻结时间5.00 min，折合1.33核时"), answer.json["title"])
        self.assertEqual(answer.json["code"], "quota_insufficient")
        answer = self.call("POST", "/holds", self.body("h"), {"Accept-Language": "en-GB, zh;q=0.1"})
        self.assertEqual(answer.json["title"], line)

    def test_spec_6_5_a_quote_says_its_card_and_cost_whether_it_would_pass_or_not(self):
        self.make()
        self.cap("job_core_hours", "1")
        asked = {key: value for key, value in self.body("q").items() if key != "id"}
        for seconds, passes in ((300, False), (60, True)):
            quote = self.ok("POST", "/quotes", {**asked, "time_limit_s": seconds})
            self.assertEqual((quote["would_pass"], quote["rate_card"]), (passes, f"{self.cluster}/1"))
            self.assertEqual((quote["cost"], quote["currency"]), ("0.160000" if seconds == 300 else "0.032000", "CNY"))
        bare = self.name + "-c2"
        self.make_cluster(bare, card={"price_per_core_hour": None, "currency": None})
        quote = self.ok("POST", "/quotes", {**asked, "cluster": bare})
        self.assertEqual((quote["cost"], quote["currency"]), (None, None))

    def test_spec_6_3_what_waits_holds_nothing_and_is_no_holder(self):
        self.make()
        for cap, limit in (("total", "2"), ("gpus", 1)):
            self.cap(cap, limit)
            self.freeze("a" + cap)
            self.freeze("b" + cap, 202, on_insufficient="wait")
            found = self.short("c" + cap)["violations"]
            self.assertEqual([[holder["hold"] for holder in row["holders"]] for row in found], [[f"{self.name}-a{cap}"]])
            self.verb("b" + cap, "release")
            self.verb("a" + cap, "release")
            self.ok("DELETE", f"/projects/{self.project}/caps/{cap}", headers={"If-Match": "*"})

    def test_spec_6_3_holders_not_heard_of_lately_are_stale(self):
        self.make(cluster={"stale_after_s": 900})
        self.cap("gpus", 1)
        self.freeze("h", time_limit_s=86400, ttl_s=100000)
        self.verb("h", "start", started_at=self.ago(0))
        holder = self.short("i")["violations"][0]["holders"][0]
        self.assertFalse(holder["stale"])
        self.clock.move(1000)
        holder = self.short("i")["violations"][0]["holders"][0]
        self.assertTrue(holder["stale"])
        self.assertEqual([x["id"] for x in self.get(f"/holds?cluster={self.cluster}&stale=true")["items"]], [f"{self.name}-h"])
        self.beat("h")
        self.assertEqual(self.get(f"/holds?cluster={self.cluster}&stale=true")["items"], [])

    def test_spec_6_3_holders_of_other_projects_show_project_and_amount_only(self):
        self.make()
        other = self.name + "-p2"
        self.ok("PUT", f"/projects/{other}", {"organization": self.org})
        self.cap("gpus", 1, f"/organizations/{self.org}")
        self.freeze("h", account=other, user="bob")
        holder = self.short("i")["violations"][0]["holders"][0]
        self.assertEqual((holder["project"], holder["frozen_mcs"], holder.get("user"), holder.get("hold")), (other, GPU5, None, None))
        self.ok("PATCH", f"/organizations/{self.root}", {"names_visible": True}, {"If-Match": "*"})
        self.assertEqual(self.short("i")["violations"][0]["holders"][0]["user"], "bob")

    def test_spec_6_4_it_estimates_when_it_would_fit(self):
        self.make()
        self.cap("gpus", 1)
        self.freeze("h", time_limit_s=600)
        self.verb("h", "start", started_at=self.ago(100))
        end = self.now() - 100 + 600
        self.assertAlmostEqual(w.seconds(self.short("i")["earliest_at"]), end, delta=2)
        self.cap("gpus", 0)
        self.assertIsNone(self.short("i")["earliest_at"])
        self.cap("gpus", None)
        self.cap("month", "4")
        self.verb("h", "settle", ended_at=self.ago(0))
        self.freeze("j", time_limit_s=700)
        self.assertEqual(self.short("i")["earliest_at"], at(w.month_after(self.now())))

    def test_spec_6_5_a_dry_run_of_any_command_answers_the_same_and_writes_nothing(self):
        self.make()
        self.freeze("h", tasks=3)
        self.freeze("s")
        self.verb("h", "start", task=0, started_at=self.ago(100))
        self.verb("s", "settle", started_at=self.ago(100), ended_at=self.ago(40))
        name = self.name
        commands = [
            ("POST", "/holds", self.body("n", user="newcomer"), 201),
            ("POST", f"/holds/{name}-h/bind", {"job_id": "1"}, 200),
            ("POST", f"/holds/{name}-h/start", {"task": 1, "started_at": self.ago(5)}, 200),
            ("POST", f"/holds/{name}-h/suspend", {"at": self.ago(50)}, 200),
            ("POST", f"/holds/{name}-h/resize", {"time_limit_s": 400}, 200),
            ("POST", f"/holds/{name}-h/requeue", {"ended_at": self.ago(30)}, 200),
            ("POST", f"/holds/{name}-h/settle", {"ended_at": self.ago(30)}, 200),
            ("POST", f"/holds/{name}-h/release", {}, 200),
            ("POST", f"/holds/{name}-s/correct", {"ended_at": self.ago(30), "source": "s", "reason": "r"}, 200),
            ("POST", "/heartbeats", {"cluster": self.cluster, "at": self.ago(0), "runs": [{"hold": f"{name}-h"}]}, 200),
            ("POST", "/charges", {**self.body("c", time_limit_s=...), "started_at": self.ago(50), "ended_at": self.ago(0)}, 201),
            ("POST", "/refunds", {"id": f"{name}-r", "hold": f"{name}-s", "reason": "r"}, 201),
            ("POST", "/grants", {"id": f"{name}-g", "node": self.root, "core_hours": 1}, 201),
            ("POST", "/withdrawals", {"id": f"{name}-w", "node": self.root, "core_hours": 1, "reason": "r"}, 201),
            ("PUT", f"/organizations/{name}-new", {"funding": "self", "timezone": "Asia/Tokyo"}, 201),
            ("PUT", f"/projects/{name}-newp", {"organization": self.org}, 201),
            ("PUT", f"/projects/{self.project}/members/nm", {}, 201),
            ("PUT", f"/projects/{self.project}/members/nm/caps/month", {"core_hours": 1}, 201),
            ("PATCH", f"/projects/{self.project}", {"state": "closed"}, 200),
            ("PUT", f"/projects/{self.project}/caps/gpus", {"limit": 0}, 201),
            ("PUT", f"/clusters/{name}-newc", {"kind": "other"}, 201),
            ("PUT", f"/clusters/{self.cluster}/rates/2", {**w.CARD, "effective_from": at(self.now())}, 201),
            ("PUT", f"/clusters/{self.cluster}/accounts/acc", {"project": self.project}, 201),
            ("PUT", f"/clusters/{self.cluster}/users/usr", {"person": "alice"}, 201),
            ("POST", "/tokens", {"name": f"{name}-t", "role": "admin"}, 201),
        ]
        before = self.everything(), self.hold("h"), self.hold("s"), self.get("/tokens?page_size=1000")
        for method, path, body, status in commands:
            answer = self.call(method, path + "?dry_run=true", body, {"If-Match": "*"} if method == "PATCH" else ())
            self.assertIn(answer.status, (status, 200) if method == "PUT" else (status,), f"{method} {path} {answer}")
            after = self.everything(), self.hold("h"), self.hold("s"), self.get("/tokens?page_size=1000")
            self.assertEqual(after, before, f"{method} {path}")
        for path in (f"/organizations/{name}-new", f"/projects/{name}-newp", f"/clusters/{name}-newc", f"/projects/{self.project}/members/newcomer"):
            self.refused("not_found", 404, "GET", path)
        # The same commands pass for real afterwards.
        for method, path, body, status in commands:
            if "state" not in body and body.get("limit") != 0 and "/holds/" not in path:
                self.assertIn(self.call(method, path, body).status, (200, 201), path)

    def test_spec_6_5_a_quote_says_whether_it_would_pass(self):
        self.make()
        self.cap("month", "2")
        ask = {key: value for key, value in self.body("q", user="nobody-yet").items() if key != "id"}
        quote = self.ok("POST", "/quotes", ask)
        self.assertEqual((quote["would_pass"], quote["rate_mcores"], quote["requested_mcs"]), (True, 16000, GPU5))
        quote = self.ok("POST", "/quotes", {**ask, "time_limit_s": 3600})
        self.assertFalse(quote["would_pass"])
        self.assertEqual(quote["violations"][0]["cap"], "month")
        self.refused("not_found", 404, "GET", f"/projects/{self.project}/members/nobody-yet")
        self.refused("unknown_account", 422, "POST", "/quotes", {**ask, "account": "x"})

    def test_spec_9_2_the_journal_is_a_chain_of_balanced_entries(self):
        self.make(grant="10")
        self.freeze("h")
        self.verb("h", "settle", started_at=self.ago(100), ended_at=self.ago(40))
        entries = self.journal()
        self.assertEqual([e["seq"] for e in entries], sorted(e["seq"] for e in entries))
        sums = {}
        for entry in entries:
            sums[entry["from"]] = sums.get(entry["from"], 0) - entry["amount_mcs"]
            sums[entry["to"]] = sums.get(entry["to"], 0) + entry["amount_mcs"]
        self.assertEqual((sums["available"], sums["frozen"], sums["used"], sums["issued"]), (10 * HOUR - 960000, 0, 960000, -10 * HOUR))
        rest = self.call("GET", f"/journal?root={self.root}&after={entries[1]['seq']}").body.decode().splitlines()
        self.assertEqual([json.loads(line) for line in rest], entries[2:])

    def test_spec_10_1_tokens_expire_and_are_revoked_and_know_their_last_use(self):
        self.make()
        made = self.ok("POST", "/tokens", {"name": "t", "role": "scheduler", "place": self.cluster, "expires_at": at(self.now() + 500)})
        self.assertTrue(made["token"].startswith("ch_"))
        self.call("GET", f"/clusters/{self.cluster}", token=made["token"])
        listed = {token["id"]: token for token in self.get("/tokens?page_size=1000")["items"]}
        self.assertNotIn("token", listed[made["id"]])
        self.assertEqual(self.call("GET", f"/clusters/{self.cluster}", token=made["token"]).status, 200)
        self.clock.move(501)
        self.refused("unauthenticated", 401, "GET", f"/clusters/{self.cluster}", token=made["token"])
        other = self.ok("POST", "/tokens", {"name": "u", "role": "scheduler", "place": self.cluster})
        self.assertEqual(self.call("DELETE", f"/tokens/{other['id']}").status, 204)
        self.refused("unauthenticated", 401, "GET", f"/clusters/{self.cluster}", token=other["token"])
        self.refused("unauthenticated", 401, "GET", f"/clusters/{self.cluster}", token=other["token"][:-1] + "!")

    def test_spec_10_2_a_scheduler_sees_its_cluster_and_its_roots_only(self):
        self.make()
        self.freeze("h")
        foreign = self.name
        mine = self.ok("POST", "/tokens", {"name": "m", "role": "scheduler", "place": self.cluster})["token"]
        self.setUp()
        self.make()
        self.freeze("h")
        token = self.ok("POST", "/tokens", {"name": "t", "role": "scheduler", "place": self.cluster})["token"]
        for method, path, body in (
            ("GET", f"/holds/{foreign}-h", None),
            ("POST", f"/holds/{foreign}-h/release", {}),
            ("GET", f"/clusters/{foreign}-c", None),
            ("GET", f"/clusters/{foreign}-c/feed?after=0", None),
            ("POST", f"/clusters/{foreign}-c/jobs/1/release", {}),
            ("GET", f"/projects/{foreign}-p/balance", None),
            ("GET", f"/organizations/{foreign}", None),
        ):
            answer = self.call(method, path, body, token=token)
            self.assertEqual(answer.status, 404, f"{path} {answer}")
        body = {**self.body("x"), "cluster": f"{foreign}-c", "account": f"{foreign}-p"}
        answer = self.call("POST", "/holds", body, token=token)
        self.assertIn(answer.status, (404, 422), answer)
        items = self.call("GET", "/holds?page_size=1000", token=token).json["items"]
        self.assertEqual({item["cluster"] for item in items}, {self.cluster})
        runs = [{"hold": f"{foreign}-h"}]
        answer = self.call("POST", "/heartbeats", {"cluster": self.cluster, "at": self.ago(0), "runs": runs}, token=token)
        self.assertEqual(answer.json["results"][0]["result"], "unknown")
        for method, path, body in (
            ("POST", "/refunds", {"id": "r", "hold": f"{self.name}-h", "reason": "r"}),
            ("PUT", f"/projects/{self.project}/caps/month", {"core_hours": 1}),
            ("POST", "/tokens", {"name": "x", "role": "admin"}),
            ("GET", "/tokens", None),
            ("PUT", f"/organizations/{self.name}-zz", {"funding": "self"}),
        ):
            self.refused("not_allowed", 403, method, path, body, token=token)
        self.assertEqual(self.call("GET", f"/holds/{foreign}-h", token=mine).status, 200)
        line = json.dumps({"op": "grant", "id": "gg", "node": self.root, "core_hours": 1}) + "\n"
        answer = self.daemon.call("POST", "/v1/batch", line.encode(), token=token)
        self.assertEqual(json.loads(answer.body)["status"], 403)

    def test_spec_10_3_changing_needs_if_match_and_making_does_not(self):
        self.make()
        path = f"/projects/{self.project}/caps/month"
        self.assertEqual(self.call("PUT", path, {"core_hours": 5}).status // 100, 2)
        self.refused("precondition_required", 428, "PUT", path, {"core_hours": 6})
        etag = self.call("GET", path).header("etag")
        self.ok("PUT", path, {"core_hours": 6}, {"If-Match": etag})
        self.refused("precondition_failed", 412, "PUT", path, {"core_hours": 7}, {"If-Match": etag})
        self.ok("PUT", path, {"core_hours": 7}, {"If-Match": "*"})
        for path, body in (
            (f"/organizations/{self.root}", [{"contact": "x"}, {"contact": "y"}]),
            (f"/projects/{self.project}", [{"contact": "x"}, {"contact": "y"}]),
            (f"/clusters/{self.cluster}", [{"ttl_s": 5}, {"ttl_s": 6}]),
        ):
            self.refused("precondition_required", 428, "PATCH", path, body[0])
            etag = self.call("GET", path).header("etag")
            self.ok("PATCH", path, body[0], {"If-Match": etag})
            self.refused("precondition_failed", 412, "PATCH", path, body[1], {"If-Match": etag})
            self.ok("PATCH", path, body[0], {"If-Match": etag})  # equal: the same answer again

    def test_api_lists_have_pages(self):
        self.make()
        for i in range(7):
            self.freeze(str(i), resources={"cores": 1})
        seen, token = [], ""
        while token is not None:
            page = self.get(f"/holds?cluster={self.cluster}&page_size=3" + (f"&page_token={token}" if token else ""))
            seen += [item["id"] for item in page["items"]]
            token = page["next_page_token"]
        self.assertEqual(sorted(seen), [f"{self.name}-{i}" for i in range(7)])
        self.verb("0", "release")
        for query, count in (("state=frozen", 6), ("state=released", 1), ("user=alice", 7), ("user=bob", 0), (f"project={self.project}", 7)):
            self.assertEqual(len(self.get(f"/holds?cluster={self.cluster}&{query}")["items"]), count, query)
        for query in ("page_size=0", "page_size=x", "state=dancing", "page_token=zzz", "colour=red", "stale=maybe"):
            self.assertEqual(self.call("GET", f"/holds?{query}").status // 100, 4, query)

    def test_spec_11_5_unknown_fields_are_refused_everywhere(self):
        self.make()
        self.freeze("h")
        for method, path, body in (
            ("POST", f"/holds/{self.name}-h/settle", {"ended_at": self.ago(0)}),
            ("POST", f"/holds/{self.name}-h/bind", {"job_id": "1"}),
            ("POST", "/heartbeats", {"cluster": self.cluster, "at": self.ago(0), "runs": []}),
            ("POST", "/grants", {"id": "x", "node": self.root, "core_hours": 1}),
            ("PUT", f"/projects/{self.name}-q", {"organization": self.org}),
            ("PUT", f"/projects/{self.project}/caps/month", {"core_hours": 1}),
            ("PUT", f"/clusters/{self.cluster}-z", {"kind": "slurm"}),
            ("POST", "/tokens", {"name": "x", "role": "admin"}),
        ):
            self.refused("invalid_field", 422, method, path, {**body, "colour": "red"}, field="colour")
            raw = json.dumps(body)[:-1] + ', "a": 1, "a": 1}'
            self.assertEqual(self.call(method, path, raw.encode()).status // 100, 4, path)

    def test_api_every_route_of_the_contract_answers(self):
        contract = self.get("/openapi.json")
        self.assertEqual(contract["openapi"][:3], "3.1")
        for path, row in contract["paths"].items():
            concrete = path.replace("/v1", "", 1) if path.startswith("/v1") else path
            for name in ("{n}", "{u}", "{c}", "{a}", "{id}", "{job_id}", "{cap}", "{version}", "{root}", "{month}"):
                concrete = concrete.replace(name, "1" if name in ("{version}", "{job_id}") else "month" if name == "{cap}" else "zz")
            if "get" in row and "{" not in concrete and concrete not in ("/healthz", "/readyz", "/metrics"):
                answer = self.call("GET", concrete)
                self.assertNotIn(answer.status, (405, 500, 501), concrete)
        for path in ("/healthz", "/readyz"):
            self.assertEqual(self.daemon.call("GET", path, token="none").status, 200)
        text = self.daemon.call("GET", "/metrics").body.decode()
        self.assertIn("corehour", text)

    def test_spec_8_3_a_usage_report_groups_and_adds_up(self):
        self.make()
        for key, user, qos in (("a", "alice", "low"), ("b", "bob", "low"), ("c", "bob", "high")):
            self.freeze(key, user=user, job={"partition": "gpu", "qos": qos})
            self.verb(key, "settle", started_at=self.ago(100), ended_at=self.ago(40), outcome="completed")
        self.ok("POST", "/refunds", {"id": f"{self.name}-r", "hold": f"{self.name}-c", "mcs": 60000, "reason": "r"})
        self.verb("b", "correct", ended_at=self.ago(30), source="s", reason="r")
        total = self.money()[0]
        self.assertEqual(total, 3 * 960000 - 60000 + 160000)
        month = self.ago(50)[:7]
        for group in ("organization", "project", "user", "cluster", "partition", "qos", "gpu_model", "outcome", "day", "month", "user,qos"):
            rows = self.usage(month=month, group_by=group)
            self.assertEqual(sum(row["used_mcs"] for row in rows), total, group)
            for key in group.split(","):
                self.assertTrue(all(key in row for row in rows), group)
        rows = self.usage(month=month, group_by="user")
        self.assertEqual({row["user"] for row in rows}, {"alice", "bob"})
        self.assertEqual({row["kind"] for row in rows}, {"usage", "refund"} | ({"correction"} & {row["kind"] for row in rows}))
        alice = [row for row in rows if row["user"] == "alice"][0]
        self.assertEqual((alice["mgs"], alice["gpu_hours"][:4], alice["runs"], alice["cost"], alice["currency"]), (60000, "0.01", 1, "0.032000", "CNY"))
        for bad in ("month=2026-13", "group_by=colour", "month=2026-01&from=2026-01-01", "format=pdf"):
            self.assertEqual(self.call("GET", f"/reports/usage?root={self.root}&{bad}").status // 100, 4, bad)


if __name__ == "__main__":
    w.main(__name__)
