"""Caps as a team lead sets them: tried first, one by one or a table at a time (SPEC 4, 10.3).

usage: test_caps.py COREHOURD
"""

import json
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import daemon as d  # noqa: E402

COREHOURD = sys.argv.pop(1)
GPU5 = 4800000
ANY = {"If-Match": "*"}
MONTH = "/v1/projects/vision/caps/month"


class Case(unittest.TestCase):
    def setUp(self):
        self.daemon = d.Daemon(COREHOURD)
        self.daemon.__enter__()
        self.addCleanup(self.daemon.__exit__, None)
        self.daemon.make_world(month_cap="1.34")

    def wait(self, *holds, **more):
        for hold in holds:
            answer = self.daemon.call("POST", "/v1/holds", d.freeze_body(hold, on_insufficient="wait", **more))
            self.assertEqual(answer.status, 202, answer)

    def state(self, hold):
        return self.daemon.ok("GET", f"/v1/holds/{hold}").json["state"]

    def put(self, body, query="", headers=(), media="text/csv", token=None):
        data = body if isinstance(body, bytes) else body.encode()
        request = self.daemon.bytes_of("PUT", "/v1/caps" + query, data, headers, token)
        with self.daemon.connect(60) as connection:
            connection.send(request.replace(b"Content-Type: application/json", b"Content-Type: " + media.encode()))
            return connection.read()

    def caps(self, path="/v1/projects/vision"):
        rows = self.daemon.ok("GET", path + "/balance").json["caps"]
        return {(row["node"], row["cap"]): row["limit"] for row in rows}


class One(Case):
    def test_a_cap_that_is_tried_says_who_would_start_and_changes_nothing(self):
        self.daemon.ok("POST", "/v1/holds", d.freeze_body("h-1"))
        self.wait("w-1", "w-2", "w-3")
        tried = self.daemon.ok("PUT", MONTH + "?dry_run=true", {"core_hours": "4"}, ANY).json
        self.assertEqual((tried["used"], tried["frozen"], tried["over_cap"]), (0, 3 * GPU5, False))
        self.assertEqual((tried["started"]["holds"], tried["started"]["frozen_mcs"]), (2, 2 * GPU5))
        self.assertEqual([row["hold"] for row in tried["started"]["first"]], ["w-1", "w-2"])
        self.assertEqual([self.state(hold) for hold in ("w-1", "w-2", "w-3")], ["waiting"] * 3)
        self.assertEqual(self.caps()[("vision", "month")], 4824000)
        done = self.daemon.ok("PUT", MONTH, {"core_hours": "4"}, ANY).json
        self.assertEqual(done, tried)
        self.assertEqual([self.state(hold) for hold in ("w-1", "w-2", "w-3")], ["frozen", "frozen", "waiting"])

    def test_a_cap_below_what_is_committed_says_that_it_is_over(self):
        self.daemon.ok("POST", "/v1/holds", d.freeze_body("h-1"))
        tried = self.daemon.ok("PUT", MONTH + "?dry_run=true", {"core_hours": "1"}, ANY).json
        self.assertEqual((tried["over_cap"], tried["available"]), (True, 3600000 - GPU5))
        self.assertFalse(self.daemon.ok("GET", "/v1/projects/vision/balance").json["caps"][0]["over_cap"])
        self.daemon.ok("PUT", MONTH, {"core_hours": "1"}, ANY)
        self.assertTrue(self.daemon.ok("GET", "/v1/projects/vision/balance").json["caps"][0]["over_cap"])
        self.assertEqual(self.state("h-1"), "frozen")
        self.assertEqual(self.daemon.call("POST", "/v1/holds", d.freeze_body("h-2")).status, 409)

    def test_a_changed_cap_holds_with_the_next_decision(self):
        self.daemon.ok("POST", "/v1/holds", d.freeze_body("h-1"))
        self.assertEqual(self.daemon.call("POST", "/v1/holds", d.freeze_body("h-2")).status, 409)
        self.daemon.ok("PUT", MONTH, {"core_hours": "2.67"}, ANY)
        self.daemon.ok("POST", "/v1/holds", d.freeze_body("h-2"))
        self.daemon.ok("PUT", MONTH, {"core_hours": "0"}, ANY)
        self.assertEqual(self.daemon.call("POST", "/v1/holds", d.freeze_body("h-3")).status, 409)

    def test_a_soft_cap_warns_and_starts_who_waits(self):
        self.daemon.ok("POST", "/v1/holds", d.freeze_body("h-1"))
        self.wait("w-1")
        done = self.daemon.ok("PUT", MONTH, {"core_hours": "1.34", "soft": True}, ANY).json
        self.assertEqual((done["soft"], done["started"]["holds"], done["over_cap"]), (True, 1, True))
        warnings = self.daemon.ok("POST", "/v1/holds", d.freeze_body("h-2")).json["warnings"]
        self.assertEqual([w["code"] for w in warnings], ["soft_cap"])

    def test_a_lifted_cap_starts_who_waits(self):
        self.daemon.ok("POST", "/v1/holds", d.freeze_body("h-1"))
        self.wait("w-1")
        self.daemon.ok("DELETE", MONTH, headers=ANY)
        self.assertEqual(self.state("w-1"), "frozen")

    def test_a_raised_default_starts_who_waits_below_it(self):
        self.daemon.ok("PUT", MONTH, {"core_hours": "100"}, ANY)
        self.daemon.ok("PUT", "/v1/projects/vision/members/*/caps/gpus", {"limit": 1})
        self.daemon.ok("POST", "/v1/holds", d.freeze_body("h-1"))
        self.wait("w-1")
        done = self.daemon.ok("PUT", "/v1/projects/vision/members/*/caps/gpus", {"limit": 2}, ANY).json
        self.assertEqual(done["started"]["first"][0]["hold"], "w-1")
        self.assertNotIn("used", done)

    def test_a_change_needs_the_etag_that_was_read(self):
        answer = self.daemon.call("PUT", MONTH, {"core_hours": "5"})
        self.assertEqual((answer.status, answer.json["code"]), (428, "precondition_required"))
        etag = self.daemon.ok("GET", MONTH).header("etag")
        fresh = self.daemon.ok("PUT", MONTH, {"core_hours": "5"}, {"If-Match": etag})
        answer = self.daemon.call("PUT", MONTH, {"core_hours": "6"}, {"If-Match": etag})
        self.assertEqual((answer.status, answer.json["code"]), (412, "precondition_failed"))
        self.daemon.ok("PUT", MONTH, {"core_hours": "6"}, {"If-Match": fresh.header("etag")})
        self.assertEqual(self.daemon.call("DELETE", MONTH).status, 428)
        self.assertEqual(self.daemon.call("DELETE", MONTH, headers={"If-Match": etag}).status, 412)

    def test_a_member_is_told_with_the_project(self):
        path = "/v1/projects/vision/members/"
        for user in ("*", "alice"):
            self.daemon.ok("PUT", f"{path}{user}/caps/cores", {"limit": 1})
            cap = self.daemon.ok("GET", f"{path}{user}/caps/cores").json
            self.assertEqual((cap["kind"], cap["project"], cap["user"]), ("member", "vision", user))
        balance = self.daemon.ok("GET", path + "alice/balance").json
        self.assertEqual((balance["project"], balance["user"]), ("vision", "alice"))
        self.assertEqual([cap.get("project") for cap in balance["caps"] if cap["kind"] == "member"], ["vision"])
        problem = self.daemon.call("POST", "/v1/holds", d.freeze_body("h-1")).json
        self.assertEqual([(v["project"], v["user"]) for v in problem["violations"]], [("vision", "alice")])


class Many(Case):
    def test_a_table_is_set_tried_and_set_again(self):
        table = (
            "node,user,cap,limit,soft\r\n"
            "vision,,month,500,\r\n"
            'vision,"al ""the"" ice",gpus,4,true\r\n'
            "acme-ai,,gpus:a100,16,no\r\n"
            "vision,*,job_duration,86400,\r\n"
            "vision,,year,unlimited,\r\n"
        )
        tried = self.put(table, "?dry_run=true", ANY)
        self.assertEqual(tried.status, 200, tried)
        self.assertEqual(self.caps(), {("vision", "month"): 4824000})
        done = self.put("\ufeff" + table, "", ANY)
        self.assertEqual(done.json, tried.json)
        self.assertEqual((done.json["created"], done.json["changed"]), (4, 1))
        self.assertEqual(self.put(table).json["unchanged"], 5)
        self.assertEqual(
            self.caps("/v1/projects/vision/members/al%20%22the%22%20ice"),
            {
                ('al "the" ice', "gpus"): 4000,
                ('al "the" ice', "job_duration"): 86400,
                ("vision", "month"): 500 * 3600000,
                ("vision", "year"): None,
                ("acme-ai", "gpus:a100"): 16000,
            },
        )

    def test_one_wrong_row_changes_nothing_and_each_is_told_by_line_and_column(self):
        rows = ["node,cap,limit,user", "vision,month,500,", "vision,month,many,bob", "vision,weeks,1,", "vision,jobs,,"]
        rows += ["nowhere,gpus,1,", "vision,gpus,-1,", "", "vision,month,7,", 'vision,"gpus,1,', ""]
        answer = self.put("\n".join(rows), "", ANY)
        self.assertEqual((answer.status, answer.json["code"]), (422, "invalid_field"), answer)
        told = [(row["line"], row["column"]) for row in answer.json["errors"]]
        self.assertEqual(told, [(3, "limit"), (4, "cap"), (5, "limit"), (7, "limit"), (9, None), (10, None)])
        self.assertEqual(answer.json["wrong"], 6)
        self.assertEqual(self.caps(), {("vision", "month"): 4824000})

    def test_what_the_ledger_refuses_changes_nothing_either(self):
        answer = self.put("node,cap,limit\nvision,jobs,5\nnowhere,gpus,1\nnobody,gpus,1\n")
        self.assertEqual((answer.status, answer.json["wrong"]), (404, 2))
        self.assertEqual([(r["line"], r["column"], r["code"]) for r in answer.json["errors"]], [(3, "node", "not_found"), (4, "node", "not_found")])
        answer = self.put("node,cap,limit\nvision,jobs,5\nvision,month,5\n")
        self.assertEqual((answer.status, answer.json["errors"][0]["line"]), (428, 3))
        self.assertEqual(self.caps(), {("vision", "month"): 4824000})

    def test_a_head_that_names_no_column_or_one_twice_is_refused(self):
        for head, field in (("node,cap\n", "limit"), ("node,cap,limit,cap\n", "cap"), ("node,cap,limit,colour\n", "colour"), ("", "node")):
            answer = self.put(head + "vision,month,5,\n" if head else head)
            self.assertEqual((answer.status, answer.json["field"]), (422, field), answer)

    def test_json_rows_take_what_a_single_put_takes(self):
        rows = [
            {"node": "vision", "cap": "month", "mcs": 36000000},
            {"node": "vision", "user": "*", "cap": "job_duration", "limit_s": 60, "soft": True},
            {"node": "acme", "cap": "gpus:H100", "limit": None},
        ]
        self.assertEqual(self.put(json.dumps(rows), "", ANY, "application/json").status, 200)
        self.assertEqual(self.caps()[("acme", "gpus:h100")], None)
        rows = [{"node": "vision", "cap": "month", "remove": True}, {"node": "vision", "user": "*", "cap": "job_duration", "remove": True}]
        self.assertEqual(self.put(json.dumps(rows), "", ANY, "application/json").json["removed"], 2)
        self.assertEqual(self.caps(), {("acme", "gpus:h100"): None})
        for bad, column in (({"node": "vision", "cap": "jobs", "core_hours": 5}, "core_hours"), ({"node": "vision"}, "cap"), (7, None)):
            answer = self.put(json.dumps([bad]), "", ANY, "application/json")
            self.assertEqual((answer.status, answer.json["errors"][0]["column"]), (422, column), answer)
        self.assertEqual(self.put('{"node": "vision"}', "", ANY, "application/json").status, 422)

    def test_a_table_says_what_is_over_and_who_starts(self):
        self.daemon.ok("POST", "/v1/holds", d.freeze_body("h-1"))
        self.wait("w-1", "w-2")
        table = "node,cap,limit\nvision,month,2.67\nvision,total,1\nacme-ai,gpus,8\n"
        tried = self.put(table, "?dry_run=true", ANY).json
        self.assertEqual((tried["started"]["holds"], tried["over"]), (1, 1))
        self.assertEqual((tried["over_cap"][0]["line"], tried["over_cap"][0]["frozen"]), (3, 2 * GPU5))
        self.assertEqual(self.state("w-1"), "waiting")
        self.assertEqual(self.put(table, "", ANY).json, tried)
        self.assertEqual([self.state("w-1"), self.state("w-2")], ["frozen", "waiting"])

    def test_a_thousand_rows_are_one_call(self):
        seed = random.randrange(1 << 32)
        choice = random.Random(seed)
        limits = [choice.randrange(1000000) for _ in range(1000)]
        table = "node,user,cap,limit\n" + "".join(f"vision,u{i},month,{limit}\n" for i, limit in enumerate(limits))
        answer = self.put(table.replace(f"u500,month,{limits[500]}", "u500,month,x"))
        self.assertEqual((answer.status, answer.json["errors"][0]["line"]), (422, 502))
        self.assertEqual(self.daemon.call("GET", "/v1/projects/vision/members/u1").status, 404)
        self.assertEqual(self.put(table).json["created"], 1000)
        for i in choice.sample(range(1000), 20):
            caps = self.caps(f"/v1/projects/vision/members/u{i}")
            self.assertEqual(caps[(f"u{i}", "month")], limits[i] * 3600000, f"seed {seed}")
        self.assertEqual(self.daemon.check()[0], 0)

    def test_more_rows_than_a_batch_may_have_are_refused(self):
        answer = self.put("node,user,cap,limit\n" + "vision,a,month,1\n" * 10001)
        self.assertEqual((answer.status, answer.json["code"]), (422, "too_many_lines"))
        answer = self.put("node,cap,limit\nvision,jobs,1\n", "", {"If-Match": '"1"'})
        self.assertEqual((answer.status, answer.json["field"]), (400, "If-Match"))


class Refunds(Case):
    def test_a_refund_says_the_charge_its_refunds_and_what_is_left(self):
        self.daemon.ok("POST", "/v1/holds", d.freeze_body("h-1"))
        run = {"started_at": "2026-06-01T00:00:00Z", "ended_at": "2026-06-01T00:01:00Z"}
        self.daemon.ok("POST", "/v1/holds/h-1/settle", run)
        body = {"id": "r-1", "hold": "h-1", "mcs": 360000, "reason": "slow"}
        told = []
        for _ in range(2):
            answer = self.daemon.ok("POST", "/v1/refunds", body).json
            told.append(tuple(answer[name] for name in ("refunded_mcs", "charged_mcs", "refunds_mcs", "net_mcs")))
        self.assertEqual(told, [(360000, 960000, 360000, 600000)] * 2)
        answer = self.daemon.ok("POST", "/v1/refunds", {"id": "r-2", "hold": "h-1", "reason": "all"}).json
        self.assertEqual([answer[n] for n in ("refunded_mcs", "charged_mcs", "refunds_mcs", "net_mcs")], [600000, 960000, 960000, 0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
