"""Amounts, time, limits and rates, rule by rule against the real daemon (SPEC 1, 7).

usage: test_spec_amounts.py COREHOURD SHIFT_CLOCK
"""

import json

import world as w
from world import GPU5, HOUR, at, utc


class Amounts(w.Case):
    def test_spec_1_2_a_rate_is_one_fraction_rounded_once_half_up(self):
        row = {"core_mcores": 1000, "gpus": {"a100": {"mcores": 16001, "memory_mib": 81920}}, "permille": 500}
        self.make(card={"combine": "sum", "rows": [row]})
        # (3 x 1000 + 16001 x 1/2) x 1/2 = 5500.25; each half rounded on its own would give 5501.
        gpu = {"model": "a100", "count": 1, "cores_percent": 50}
        hold = self.freeze("h", resources={"cores": 3, "gpus": [gpu]}, time_limit_s=7)
        self.assertEqual((hold["rate_mcores"], hold["frozen_mcs"]), (5500, 38500))
        # 1 core x 1000 + 16001 / 2 = 9000.5, halved 4500.25; with 16003: 9001.5 / 2 = 4500.75
        hold = self.freeze("i", resources={"cores": 1}, time_limit_s=1)
        self.assertEqual(hold["rate_mcores"], 500)

    def test_spec_1_2_settled_and_refunded_are_what_was_frozen(self):
        self.make()
        self.freeze("h", time_limit_s=301, resources={"gpus": [{"model": "a100-1g.10gb", "count": 1}]})
        answer = self.verb("h", "settle", started_at=self.ago(100), ended_at=self.ago(63))
        self.assertEqual(answer["charged_mcs"], 2286 * 37)
        self.assertEqual(answer["charged_mcs"] + answer["refunded_mcs"], 2286 * 301 + answer["overrun_mcs"])

    def test_spec_1_3_core_hours_are_exact_texts_or_integers(self):
        self.make(grant=None)
        for key, amount, mcs in (("a", 1, HOUR), ("b", "1.33333", 4799988), ("c", "0.00001", 36)):
            self.assertEqual(self.grant(key, amount)["granted_mcs"], mcs)
        for bad in (1.5, "1.333333", "-1", "", "1e3", " 1", True, "0x1", "1.", ".5", None, [], "９"):
            body = {"id": f"{self.name}-z", "node": self.root, "core_hours": bad}
            self.refused("invalid_field", 422, "POST", "/grants", body, field="core_hours")
        for bad in (1.0, "5", 2**53, -1, 10**30):
            problem = self.call("POST", "/grants", {"id": f"{self.name}-z", "node": self.root, "mcs": bad})
            self.assertIn((problem.status, problem.json["code"]), ((422, "invalid_field"), (400, "malformed")))
        both = {"id": f"{self.name}-z", "node": self.root, "mcs": 1, "core_hours": "1"}
        self.refused("invalid_field", 422, "POST", "/grants", both)
        self.refused("invalid_field", 422, "POST", "/grants", {"id": f"{self.name}-z", "node": self.root})

    def test_spec_1_3_every_amount_has_its_core_hours(self):
        self.make()
        self.freeze("h")
        answers = [self.balance(), self.hold("h"), self.get(f"/grants?node={self.root}")["items"][0]]
        answers.append(self.verb("h", "settle", started_at=self.ago(100), ended_at=self.ago(40)))
        answers += self.journal()
        for answer in answers:
            for key, value in answer.items():
                if key.endswith("_mcs") and value is not None:
                    shown = answer[key[:-4] + "_core_hours"]
                    self.assertEqual(shown, f"{value / HOUR:.5f}" if value % 18 else shown, key)

    def test_spec_1_3_amounts_are_texts_on_request(self):
        self.make()
        answer = self.ok("POST", "/holds?amounts=string", self.body("h"))
        self.assertEqual((answer["frozen_mcs"], answer["frozen_core_hours"]), (str(GPU5), "1.33333"))
        self.cap("month", "500")
        for path in (
            f"/projects/{self.project}/balance",
            f"/holds/{self.name}-h",
            f"/holds?cluster={self.cluster}",
            f"/grants?node={self.root}",
            f"/reports/usage?root={self.root}&month=2026-01&group_by=project",
        ):
            joiner = "&" if "?" in path else "?"
            text = json.dumps(self.get(f"{path}{joiner}amounts=string"))
            self.assertNotRegex(text, r'_mcs": -?\d', path)
        balance = self.get(f"/projects/{self.project}/balance?amounts=string")
        self.assertIsInstance(balance["caps"][0]["limit"], str)
        answer = self.call("GET", f"/journal?root={self.root}&after=0&amounts=string")
        self.assertNotRegex(answer.body.decode(), r'_mcs": ?-?\d')
        self.refused("malformed", 400, "GET", f"/holds/{self.name}-h?amounts=texts")

    def test_spec_1_3_one_command_stays_below_2_53_and_sums_may_exceed_it(self):
        self.make(grant=None)
        for key in "ab":
            body = {"id": f"{self.name}-{key}", "node": self.root, "mcs": 2**53 - 1}
            self.assertEqual(self.ok("POST", "/grants", body)["granted_mcs"], 2**53 - 1)
        self.assertEqual(self.balance()["granted_mcs"], 2**54 - 2)
        huge = {"resources": {"cores": 10000000}, "time_limit_s": 353894400, "tasks": 100000}
        problem = self.freeze("h", 422, **huge)
        self.assertEqual(problem["code"], "invalid_field")

    def test_spec_1_6_a_time_limit_is_at_most_the_longest_run(self):
        self.make()
        longest = 4096 * 86400
        self.assertEqual(self.freeze("h", resources={"cores": 1}, time_limit_s=longest)["frozen_mcs"], 1000 * longest)
        problem = self.freeze("i", 422, resources={"cores": 1}, time_limit_s=longest + 1)
        self.assertEqual((problem["code"], problem["field"]), ("invalid_field", "time_limit_s"))

    def test_spec_1_4_times_take_any_offset_and_cut_fractions(self):
        self.make()
        self.freeze("h")
        start = self.now() - 200
        local = w.datetime.datetime.fromtimestamp(start, w.datetime.timezone(w.datetime.timedelta(hours=5, minutes=45)))
        self.verb("h", "start", started_at=local.isoformat().replace("+05:45", ".999+05:45"))
        answer = self.verb("h", "settle", ended_at=at(start + 100).replace("Z", ".9Z"))
        self.assertEqual(answer["charged_mcs"], 16000 * 100)
        self.assertEqual(self.run_of("h")["started_at"], at(start))
        self.freeze("i")
        for bad in ("2026-02-30T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00", 1767225600, "2026-01-01T24:00:00Z", ""):
            self.refused_verb("invalid_field", 422, "i", "start", started_at=bad)

    def test_spec_1_4_quarters_and_years_follow_the_fiscal_year(self):
        self.make(root={"timezone": "Asia/Shanghai", "fiscal_year_start": 4})
        for cap in ("month", "quarter", "year"):
            self.cap(cap, "500")
        turns = {cap["cap"]: cap["resets_at"] for cap in self.balance()["caps"]}
        local = w.time.gmtime(self.now() + 8 * 3600)
        index = local.tm_year * 12 + local.tm_mon - 1
        for cap, months in (("month", 1), ("quarter", 3), ("year", 12)):
            then = index + months - (index - 3) % months
            self.assertEqual(turns[cap], at(utc(then // 12, then % 12 + 1, 1) - 8 * 3600), cap)

    def test_spec_1_5_null_is_unlimited_and_0_is_none(self):
        self.make()
        self.cap("gpus", None)
        self.freeze("h")
        self.assertIsNone(self.balance()["caps"][0]["limit"])
        self.assertIsNone(self.balance()["caps"][0]["available"])
        self.cap("gpus", 0)
        problem = self.short("i")
        self.assertEqual((problem["violations"][0]["limit"], problem["violations"][0]["cap"]), (0, "gpus"))
        self.freeze("j", resources={"cores": 1})

    def test_spec_1_6_each_bound_has_its_own_code(self):
        self.make()
        gpu = {"model": "a100", "count": 1}
        for code, change in (
            ("too_many_gpus", {"resources": {"gpus": [gpu] * 9}}),
            ("too_many_tasks", {"tasks": 100001}),
            ("invalid_field", {"tasks": 0}),
            ("invalid_field", {"max_running": 0}),
            ("invalid_field", {"time_limit_s": 0}),
            ("invalid_field", {"ttl_s": 0}),
            ("invalid_field", {"user": "x" * 129}),
            ("invalid_field", {"user": "a\u0007"}),
            ("invalid_field", {"user": ""}),
            ("invalid_field", {"id": "x" * 65}),
            ("invalid_field", {"id": "-x"}),
            ("invalid_field", {"resources": {"cores": 0}}),
            ("invalid_field", {"resources": {}}),
            ("invalid_field", {"colour": "red"}),
        ):
            problem = self.refused(code, 422, "POST", "/holds", {**self.body("h"), **change})
            self.assertEqual(problem["field"].split(".")[0], next(iter(change)), problem)
        self.freeze("h", user="é" * 64, tasks=100000, time_limit_s=1, resources={"cores": 1})
        answer = self.call("POST", "/holds", b" " * 65537)
        self.assertEqual((answer.status, answer.json["code"]), (413, "too_large"))

    def test_spec_1_6_eight_levels_pass_and_nine_do_not(self):
        self.make()
        parent = self.root
        for level in range(2, 8):
            name = f"{self.name}-l{level}"
            self.ok("PUT", f"/organizations/{name}", {"parent": parent})
            parent = name
        self.ok("PUT", f"/projects/{self.name}-deep", {"organization": parent})
        self.freeze("h", account=f"{self.name}-deep")
        body = {"parent": parent}
        self.ok("PUT", f"/organizations/{self.name}-l8", body)
        deep = {"organization": f"{self.name}-l8"}
        self.refused("too_many_levels", 422, "PUT", f"/projects/{self.name}-deeper", deep)

    def test_spec_1_6_sixteen_grants_pay_for_a_hold_and_seventeen_do_not(self):
        self.make(grant=None)
        for i in range(17):
            self.grant(f"g{i}", "0.1", end=at(self.now() + 86400 * (i + 1)))
        problem = self.freeze("h", 422, resources={"cores": 1}, time_limit_s=5900)
        self.assertEqual(problem["code"], "too_many_draws")
        self.freeze("i", resources={"cores": 1}, time_limit_s=5760)
        # Use is never refused: it draws on the seventeenth, too.
        answer = self.verb("i", "settle", started_at=self.ago(7000), ended_at=self.ago(900))
        self.assertEqual(answer["charged_mcs"], 6100000)
        self.assertEqual(self.money()[0:2], (6100000, 0))

    def test_spec_1_6_32_caps_a_node(self):
        self.make()
        for i in range(32):
            self.cap(f"gpus:m{i}", 1)
        self.refused("too_many_caps", 422, "PUT", f"/projects/{self.project}/caps/month", {"core_hours": "1"})


class Rates(w.Case):
    def quote(self, resources, **job):
        body = {"cluster": self.cluster, "account": self.project, "user": "alice", "resources": resources, "time_limit_s": 1}
        return self.ok("POST", "/quotes", {**body, **({"job": job} if job else {})})["rate_mcores"]

    def test_spec_7_1_the_first_row_that_matches_wins(self):
        rows = [
            {"qos": "low", "partition": "gpu", "core_mcores": 10},
            {"qos": "low", "core_mcores": 1000, "permille": 500},
            {"partition": "gpu", "core_mcores": 3000},
            {"core_mcores": 1000},
        ]
        self.make(card={"rows": rows})
        for rate, job in (
            (10, {"qos": "low", "partition": "gpu"}),
            (500, {"qos": "low"}),
            (500, {"qos": "low", "partition": "cpu"}),
            (3000, {"partition": "gpu"}),
            (1000, {"partition": "cpu"}),
            (3000, {"partition": "cpu,gpu"}),
            (3000, {"partition": "gpu,cpu"}),
            (1000, {}),
        ):
            self.assertEqual(self.quote({"cores": 1}, **job), rate, job)

    def test_spec_7_1_combine_is_the_sum_or_the_largest_of_the_sums(self):
        row = {"core_mcores": 1000, "gib_mcores": 250, "gpus": {"a100": {"mcores": 16000}, "h100": {"mcores": 32000}}}
        asked = {
            "cores": 50,
            "memory_mib": 1024 * 100,
            "gpus": [{"model": "a100", "count": 2}, {"model": "H100", "count": 1}],
        }
        self.make(card={"combine": "max", "rows": [row]})
        self.assertEqual(self.quote(asked), 64000)
        self.ok("PUT", f"/clusters/{self.cluster}/rates/2", {**w.CARD, "combine": "sum", "rows": [row]})
        self.assertEqual(self.quote(asked), 50000 + 25000 + 64000)

    def test_spec_7_2_what_no_row_prices_is_refused(self):
        self.make(card={"rows": [{"partition": "gpu", "core_mcores": 1000, "gpus": {"a100": {"mcores": 16000}}}]})
        gpu = {"gpus": [{"model": "v100", "count": 1}]}
        for change in ({}, {"job": {"partition": "cpu"}}, {"job": {"partition": "gpu"}, "resources": gpu}):
            problem = self.freeze("h", 422, **change)
            self.assertEqual(problem["code"], "no_rate")
        self.freeze("i", job={"partition": "gpu"})
        self.assertEqual(self.freeze("j", job={"partition": "gpu"}, resources={"memory_mib": 1024})["frozen_mcs"], 0)

    def test_spec_7_2_a_default_prices_gpus_of_other_or_no_model(self):
        self.make(card={"rows": [{"core_mcores": 1000, "gpus": {"a100": {"mcores": 16000}}, "gpu_default_mcores": 5000}]})
        self.assertEqual(self.quote({"gpus": [{"model": "v100", "count": 2}]}), 10000)
        self.assertEqual(self.quote({"gpus": [{"count": 3}]}), 15000)

    def test_spec_7_3_a_share_counts_for_the_larger_of_cores_and_memory(self):
        self.make()
        for rate, share in (
            (4800, {"cores_percent": 30, "memory_mib": 12288}),
            (8000, {"cores_percent": 30, "memory_mib": 40960}),
            (8000, {"memory_mib": 40960}),
            (16000, {"memory_mib": 999999}),
            (16000, {}),
        ):
            self.assertEqual(self.quote({"gpus": [{"model": "a100", "count": 1, **share}]}), rate, share)
        # The memory of an h100 is not known: a share of it is the whole card.
        self.assertEqual(self.quote({"gpus": [{"model": "h100", "count": 1, "memory_mib": 1024}]}), 32000)
        self.assertEqual(self.quote({"gpus": [{"model": "h100", "count": 1, "cores_percent": 50}]}), 16000)
        self.assertEqual(self.quote({"gpus": [{"model": "a100-1g.10gb", "count": 3}]}), 6858)

    def test_spec_4_1_shared_gpus_count_by_their_share(self):
        self.make()
        self.cap("gpus", 1)
        share = {"resources": {"gpus": [{"model": "a100", "count": 1, "cores_percent": 30, "memory_mib": 8192}]}}
        for key in "abc":
            self.freeze(key, **share)
        violation = self.short("d", **share)["violations"][0]
        self.assertEqual((violation["unit"], violation["frozen"], violation["requested"]), ("mgpus", 900, 300))
        self.assertEqual(violation["missing"], 200)

    def test_spec_7_4_a_hold_keeps_its_version_and_a_charge_takes_the_one_of_its_start(self):
        self.make()
        self.freeze("h")
        start = self.now()
        later = {**w.CARD, "effective_from": at(start + 100), "rows": [{"gpu_default_mcores": 1000}]}
        self.ok("PUT", f"/clusters/{self.cluster}/rates/2", later)
        self.clock.move(200)
        self.assertEqual(self.freeze("i")["rate_card"], f"{self.cluster}/2")
        self.verb("h", "start", started_at=at(start))
        self.verb("h", "resize", time_limit_s=600)
        self.assertEqual(self.hold("h")["rate_card"], f"{self.cluster}/1")
        answer = self.verb("h", "requeue", ended_at=at(start + 150))
        self.assertEqual((answer["charged_mcs"], answer["rate_mcores"]), (16000 * 150, 16000))
        charge = {key: value for key, value in self.body("c").items() if key != "time_limit_s"}
        charge.update(started_at=at(start + 50), ended_at=at(start + 150))
        answer = self.ok("POST", "/charges", charge)
        self.assertEqual((answer["rate_card"], answer["charged_mcs"]), (f"{self.cluster}/1", 1600000))

    def test_spec_7_1_a_version_in_use_never_changes_and_none_comes_before_usage(self):
        self.make()
        path = f"/clusters/{self.cluster}/rates"
        # Unused, it may be mended.
        self.ok("PUT", f"{path}/1", {**w.CARD, "combine": "sum"}, {"If-Match": "*"})
        self.ok("PUT", f"{path}/1", w.CARD, {"If-Match": "*"})
        self.freeze("h")
        self.refused("invalid_state", 409, "PUT", f"{path}/1", {**w.CARD, "combine": "sum"}, {"If-Match": "*"})
        self.verb("h", "settle", started_at=self.ago(100), ended_at=self.ago(50))
        early = {**w.CARD, "effective_from": self.ago(80)}
        self.refused("invalid_state", 409, "PUT", f"{path}/2", early)
        self.ok("PUT", f"{path}/2", {**w.CARD, "effective_from": at(self.now())})

    def test_spec_7_5_cost_is_rounded_a_row_and_currencies_are_never_added(self):
        self.make(card={"price_per_core_hour": "0.123457", "currency": "CNY"})
        for key, user in (("a", "alice"), ("b", "bob"), ("c", "alice")):
            self.freeze(key, user=user, resources={"cores": 1})
            self.verb(key, "settle", started_at=self.ago(100), ended_at=self.ago(93))
        month = at(self.now() - 100)[:7]
        row = self.usage(month=month, group_by="project")[0]
        # A row a member, day and rate: 14000 mcs -> 0.000480, 7000 -> 0.000240
        self.assertEqual((row["cost"], row["currency"], row["used_mcs"]), ("0.000720", "CNY", 21000))
        other = self.name + "-c2"
        self.make_cluster(other, card={"currency": "EUR"})
        self.freeze("d", cluster=other)
        self.verb("d", "settle", started_at=self.ago(100), ended_at=self.ago(93))
        rows = self.usage(month=month, group_by="project")
        self.assertEqual(sorted(row["currency"] for row in rows), ["CNY", "EUR"])


if __name__ == "__main__":
    w.main(__name__)
