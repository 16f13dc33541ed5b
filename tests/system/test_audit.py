"""Tokens, the audit log and the removal of a name, against the real daemon (SPEC 2.4, 10.1, 10.3).

usage: test_audit.py COREHOURD SHIFT_CLOCK
"""

import datetime
import json
import sqlite3

import world as w

ANY = {"If-Match": "*"}


class Digests(w.Case):
    def period(self):
        with sqlite3.connect(f"file:{self.daemon.data}/ledger.db?mode=ro", uri=True) as ledger:
            return ledger.execute("SELECT sealed, digest FROM period").fetchall()

    def test_a_digest_that_a_crash_kept_from_being_stored_is_computed_when_it_is_asked_for(self):
        self.make()
        month = w.at(w.month_after(self.now(), -1))[:7]
        closed = self.ok("POST", f"/periods/{self.root}/{month}/close")
        stored = self.until(lambda: [row for row in self.period() if row[0] == 1])
        for ask in (lambda: self.get(f"/periods/{self.root}")["items"][0], lambda: self.get(f"/periods/{self.root}/{month}")):
            self.assertEqual(self.daemon.stop(), 0)
            ledger = sqlite3.connect(f"{self.daemon.data}/ledger.db")
            ledger.execute("UPDATE period SET sealed = 0, digest = zeroblob(32)")
            ledger.commit()
            ledger.close()
            self.daemon.start()
            self.assertEqual(ask()["digest"], closed["digest"])
            self.until(lambda: self.period() == stored)


class Tokens(w.Case):
    CONFIG = "token_failures_per_minute = 20\n"

    def make_token(self, role="viewer", place=None, **more):
        body = {"name": f"t-{self.name}", "role": role, "place": place or self.root, **more}
        return self.daemon.ok("POST", "/v1/tokens", body).json

    def status(self, token, path=None):
        return self.daemon.call("GET", path or f"/v1/organizations/{self.root}", token=token).status

    def row(self, token_id):
        items = self.daemon.ok("GET", "/v1/tokens?page_size=1000").json["items"]
        return next((item for item in items if item["id"] == token_id), None)

    def test_a_revoked_token_is_refused_from_the_next_request_on(self):
        self.make()
        token = self.make_token()
        self.assertEqual(self.status(token["token"]), 200)
        self.assertEqual(self.daemon.call("DELETE", f"/v1/tokens/{token['id']}").status, 204)
        self.assertEqual(self.status(token["token"]), 401)
        self.assertIsNone(self.row(token["id"]))

    def test_a_token_ends_when_it_says(self):
        self.make()
        token = self.make_token(expires_at=w.at(self.clock.now() + 600))
        self.assertEqual(self.status(token["token"]), 200)
        self.clock.move(590)
        self.assertEqual(self.status(token["token"]), 200)
        self.clock.move(11)
        self.assertEqual(self.status(token["token"]), 401)

    def test_a_rotated_token_has_a_new_secret_and_the_old_one_is_good_for_the_grace(self):
        self.make()
        old = self.make_token()
        new = self.daemon.ok("POST", f"/v1/tokens/{old['id']}/rotate", {"old_valid_s": 300}).json
        self.assertEqual((new["id"], new["name"], new["role"], new["place"]), (old["id"], old["name"], "viewer", self.root))
        self.assertNotEqual(new["token"], old["token"])
        self.assertEqual((self.status(old["token"]), self.status(new["token"])), (200, 200))
        self.clock.move(301)
        self.assertEqual((self.status(old["token"]), self.status(new["token"])), (401, 200))

    def test_by_default_the_old_secret_is_good_for_an_hour_and_for_seven_days_at_most(self):
        """SPEC 10.1."""
        self.make()
        old = self.make_token()
        new = self.daemon.ok("POST", f"/v1/tokens/{old['id']}/rotate", {}).json
        self.assertAlmostEqual(w.seconds(new["old_valid_until"]), self.clock.now() + 3600, delta=30)
        self.clock.move(3500)
        self.assertEqual((self.status(old["token"]), self.status(new["token"])), (200, 200))
        self.clock.move(101)
        self.assertEqual((self.status(old["token"]), self.status(new["token"])), (401, 200))
        week = 7 * 86400
        self.daemon.ok("POST", f"/v1/tokens/{old['id']}/rotate", {"old_valid_s": week})
        self.refused("invalid_field", 422, "POST", f"/tokens/{old['id']}/rotate", {"old_valid_s": week + 1}, field="old_valid_s")

    def test_a_second_rotation_ends_the_first_grace_and_a_revocation_ends_both(self):
        self.make()
        first = self.make_token()
        second = self.daemon.ok("POST", f"/v1/tokens/{first['id']}/rotate", {}).json
        third = self.daemon.ok("POST", f"/v1/tokens/{first['id']}/rotate", {"old_valid_s": 3600}).json
        self.assertEqual([self.status(t["token"]) for t in (first, second, third)], [401, 200, 200])
        self.daemon.call("DELETE", f"/v1/tokens/{first['id']}")
        self.assertEqual([self.status(t["token"]) for t in (first, second, third)], [401, 401, 401])
        self.assertEqual(self.daemon.call("POST", f"/v1/tokens/{first['id']}/rotate", {}).json["code"], "invalid_state")

    def test_without_a_grace_the_old_secret_ends_at_once(self):
        self.make()
        old = self.make_token()
        new = self.daemon.ok("POST", f"/v1/tokens/{old['id']}/rotate", {"old_valid_s": 0}).json
        self.assertIsNone(new["old_valid_until"])
        self.assertEqual((self.status(old["token"]), self.status(new["token"])), (401, 200))

    def test_the_list_shows_last_use_to_the_minute_and_never_a_secret(self):
        self.make()
        token = self.make_token()
        self.assertIsNone(self.row(token["id"])["last_used_at"])
        self.clock.move(120)
        self.status(token["token"])
        used = self.wait_for(lambda: self.row(token["id"])["last_used_at"])
        self.assertLess(abs(w.seconds(used) - self.clock.now()), 120)
        listed = self.daemon.ok("GET", "/v1/tokens?page_size=1000").body.decode()
        self.assertNotIn("ch_", listed)
        self.assertNotIn("hash", listed)

    def wait_for(self, what):
        for _ in range(200):
            found = what()
            if found:
                return found
            w.time.sleep(0.05)
        self.fail("it did not happen")

    def test_finance_has_a_root_and_an_admin_no_place(self):
        self.make()
        refuse = lambda **body: self.daemon.call("POST", "/v1/tokens", {"name": "x", **body}).json["code"]
        self.assertEqual(refuse(role="finance", place=self.org), "invalid_field")
        self.assertEqual(refuse(role="admin", place=self.root), "invalid_field")
        self.assertEqual(refuse(role="member", place=self.project), "invalid_field")
        self.assertEqual(refuse(role="lead", place="nonesuch"), "not_found")

    def test_who_guesses_tokens_is_told_to_wait_and_a_good_token_goes_on(self):
        self.make()
        self.clock.move(60 - self.clock.now() % 60)
        statuses = [self.status(f"ch_guess{i}") for i in range(25)]
        self.assertEqual(statuses.count(401), 20)
        self.assertEqual(statuses[20:], [429] * 5)
        self.assertEqual(self.status(None), 200)
        self.clock.move(60)
        self.assertEqual(self.status("ch_guess"), 401)


class Log(w.Case):
    def changes(self, query="", token=None):
        return self.daemon.ok("GET", f"/v1/audit?root={self.root}&page_size=1000{query}", token=token).json["items"]

    def last(self):
        return self.changes()[-1]

    def token(self, role, place):
        return self.daemon.ok("POST", "/v1/tokens", {"name": f"{role} of {place}", "role": role, "place": place}).json["token"]

    def test_a_cap_says_who_when_from_where_before_and_after(self):
        self.make()
        token = self.token("lead", self.org)
        path = f"/v1/projects/{self.project}/caps/jobs"
        self.daemon.ok("PUT", path, {"limit": 3}, ANY, token=token)
        self.daemon.ok("PUT", path, {"limit": 5, "soft": True}, ANY, token=token)
        change = self.last()
        self.assertEqual((change["action"], change["what"]), ("cap.put", f"projects/{self.project}/caps/jobs"))
        self.assertEqual((change["name"], change["role"], change["address"]), (f"lead of {self.org}", "lead", "127.0.0.1"))
        self.assertEqual(change["before"], {"limit": 3, "unit": "jobs", "soft": False})
        self.assertEqual(change["after"], {"limit": 5, "unit": "jobs", "soft": True})
        self.assertLess(abs(w.seconds(change["at"]) - self.clock.now()), 60)

    def test_every_kind_of_change_is_there_and_the_life_of_a_job_is_not(self):
        self.make()
        self.freeze("h")
        self.verb("h", "release")
        self.ok("PATCH", f"/projects/{self.project}", {"contact": "ann"}, ANY)
        self.ok("PUT", f"/projects/{self.project}/members/zoe", {})
        self.ok("POST", "/withdrawals", {"id": f"w-{self.name}", "node": self.root, "mcs": 5, "reason": "test"})
        actions = [change["action"] for change in self.changes()]
        for action in ("organization.make", "project.make", "project.change", "member.make", "grant", "withdrawal"):
            self.assertIn(action, actions)
        self.assertFalse({"freeze", "settle", "bind"} & set(actions))
        service = [c["action"] for c in self.daemon.ok("GET", "/v1/audit?page_size=1000").json["items"] if c["root"] is None]
        for action in ("cluster.make", "rates.put", "token.make"):
            self.assertIn(action, service)

    def test_sets_are_named_as_the_api_names_them(self):
        self.make()
        outcomes = self.get(f"/organizations/{self.root}")["waived_outcomes"]
        self.assertEqual(self.changes()[0]["after"]["waived_outcomes"], outcomes)
        self.ok("PATCH", f"/organizations/{self.root}", {"waived_outcomes": []}, ANY)
        change = self.last()
        self.assertEqual((change["before"], change["after"]), ({"waived_outcomes": outcomes}, {"waived_outcomes": []}))
        every = ["completed", "failed", "timeout", "cancelled", "node_fail", "boot_fail", "preempted", "oom", "deadline", "other"]
        self.ok("PATCH", f"/organizations/{self.root}", {"waived_outcomes": every}, ANY)
        self.assertEqual(self.last()["after"], {"waived_outcomes": every})
        self.ok("PUT", f"/webhooks/{self.name}", {"node": self.org, "url": "http://127.0.0.1:9/"})
        hook, change = self.get(f"/webhooks/{self.name}"), self.last()
        self.assertGreater(len(hook["types"]), 1)
        self.assertEqual((change["after"]["node"], change["after"]["types"]), (self.org, hook["types"]))

    def test_an_assignment_of_use_that_nobody_answered_for_is_there(self):
        self.make()
        times = {"started_at": w.at(self.clock.now() - 60), "ended_at": w.at(self.clock.now())}
        body = {"id": f"{self.name}-u", "cluster": self.cluster, "account": "lost", "user": "zoe", "resources": {"cores": 2}, **times}
        self.ok("POST", "/charges", body)
        path = f"/clusters/{self.cluster}/unattributed/{self.name}-u/assign"
        self.ok("POST", path + "?dry_run=true", {"project": self.project})
        self.assertNotIn("charge.assign", [change["action"] for change in self.changes()])
        self.ok("POST", path, {"project": self.project})
        change = self.last()
        self.assertEqual((change["action"], change["what"]), ("charge.assign", f"holds/{self.name}-u"))
        self.assertEqual(change["after"], {"account": "lost", "user": "zoe", "project": self.project, "amount_mcs": 120000})

    def test_no_secret_is_in_the_log(self):
        self.make()
        made = self.daemon.ok("POST", "/v1/tokens", {"name": "x", "role": "lead", "place": self.org}).json
        self.daemon.ok("POST", f"/v1/tokens/{made['id']}/rotate", {})
        log = self.daemon.ok("GET", "/v1/audit?format=ndjson").body.decode()
        self.assertNotIn("ch_", log)
        self.assertIn(made["id"], log)

    def test_finance_sees_its_root_and_a_lead_its_node(self):
        self.make()
        self.ok("PUT", f"/organizations/{self.name}-side", {"parent": self.root})
        self.ok("PUT", f"/organizations/{self.name}-side/caps/jobs", {"limit": 3})
        self.ok("PUT", f"/projects/{self.project}/caps/jobs", {"limit": 3})
        what = lambda token: {change["what"] for change in self.changes(token=token)}
        finance, lead = self.token("finance", self.root), self.token("lead", self.org)
        side, cap = f"organizations/{self.name}-side/caps/jobs", f"projects/{self.project}/caps/jobs"
        self.assertLessEqual({side, cap, f"organizations/{self.root}"}, what(finance))
        self.assertIn(cap, what(lead))
        self.assertFalse({side, f"organizations/{self.root}"} & what(lead))
        answer = self.daemon.call("GET", f"/v1/audit?node={self.name}-side", token=lead)
        self.assertEqual(answer.status, 404)
        of_project = {f"projects/{self.project}", cap}
        self.assertEqual({c["what"] for c in self.changes(f"&node={self.project}")}, of_project)

    def test_pages_lines_numbers_and_times_cut_the_log(self):
        self.make()
        everything = self.changes()
        lines = self.daemon.ok("GET", f"/v1/audit?root={self.root}&format=ndjson").body.decode().splitlines()
        self.assertEqual([json.loads(line) for line in lines], everything)
        after = everything[1]["no"]
        self.assertEqual(self.changes(f"&after={after}"), everything[2:])
        pages, token = [], ""
        while token is not None:
            page = self.daemon.ok("GET", f"/v1/audit?root={self.root}&page_size=2" + (f"&page_token={token}" if token else "")).json
            pages, token = pages + page["items"], page["next_page_token"]
        self.assertEqual(pages, everything)
        self.clock.move(7200)
        self.ok("PUT", f"/projects/{self.project}/caps/jobs", {"limit": 3})
        late = w.at(self.clock.now() - 3600)
        self.assertEqual([c["action"] for c in self.changes(f"&from={late}")], ["cap.put"])
        self.assertEqual(self.changes(f"&to={late}"), everything)
        day = datetime.datetime.fromtimestamp(self.clock.now(), datetime.timezone.utc).strftime("%Y-%m-%d")
        self.assertIn("cap.put", [c["action"] for c in self.changes(f"&from={day}")])

    def test_a_removed_name_is_nowhere_and_the_ledger_is_whole(self):
        self.make()
        person = f"zed.{self.name}"
        gone = f"gone-{self.name}"
        self.freeze("h", user=person)
        self.ok("PUT", f"/projects/{self.project}/members/{person}/caps/jobs", {"limit": 3})
        self.ok("PUT", f"/clusters/{self.cluster}/users/u7", {"person": person})
        member = self.daemon.ok("POST", "/v1/tokens", {"name": person, "role": "member", "place": f"{self.project}/{person}"}).json
        tried = self.daemon.ok("POST", f"/v1/people/{person}/rename?dry_run=true", {"name": gone, "reason": "test"}).json
        self.assertEqual(self.daemon.call("GET", f"/v1/projects/{self.project}/members/{person}").status, 200)
        done = self.daemon.ok("POST", f"/v1/people/{person}/rename", {"name": gone, "reason": "has left"}).json
        self.assertEqual(done, tried)
        self.assertEqual((done["members"], done["mappings"], done["tokens"]), (1, 1, 1))
        for path in ("/v1/audit?format=ndjson", "/v1/tokens?page_size=1000", "/v1/holds?page_size=100",
                     f"/v1/clusters/{self.cluster}/users/u7", f"/v1/projects/{self.project}/members/{gone}"):
            self.assertNotIn(person, self.daemon.ok("GET", path).body.decode(), path)
        self.assertEqual(self.daemon.call("GET", f"/v1/projects/{self.project}/members/{person}").status, 404)
        holds = self.daemon.ok("GET", "/v1/holds", token=member["token"]).json["items"]
        self.assertEqual([hold["user"] for hold in holds], [gone])
        self.assertEqual(self.daemon.check()[0], 0, self.daemon.check()[1])
        self.assertEqual(self.daemon.call("POST", f"/v1/people/{person}/rename", {"name": "x", "reason": "again"}).status, 404)

    def test_a_name_in_many_changes_is_overwritten_in_all_of_them(self):
        """More than are overwritten in one transaction: a reader finds them, several commands overwrite."""
        self.make()
        person, other, gone = f"zed.{self.name}", f"ann.{self.name}", f"gone-{self.name}"
        for who in (person, other):
            self.ok("PUT", f"/projects/{self.project}/members/{who}", {})
        for limit in range(150):
            for who in (person, other):
                self.ok("PUT", f"/projects/{self.project}/members/{who}/caps/jobs", {"limit": limit + 1}, {"If-Match": "*"})
        before = self.daemon.ok("GET", "/v1/audit?format=ndjson").body.decode().splitlines()
        named = [line for line in before if person in line]
        done = self.ok("POST", f"/people/{person}/rename", {"name": gone, "reason": "has left"})
        self.assertEqual((done["members"], done["changes"]), (1, len(named)))
        self.assertGreater(len(named), 150)
        after = self.daemon.ok("GET", "/v1/audit?format=ndjson").body.decode().splitlines()
        self.assertEqual([line for line in after if person in line], [])
        self.assertEqual(sum(other in line for line in after), sum(other in line for line in before))
        self.assertEqual(self.daemon.check()[0], 0, self.daemon.check()[1])

    def test_a_name_that_is_a_number_or_part_of_another_is_overwritten_alone(self):
        """A user of Slurm may be called 1000; figures of the log stay figures, and other people keep their names."""
        self.make()
        for person in ("1000", "ann", "ann@example.com"):
            self.ok("PUT", f"/projects/{self.project}/members/{person}", {})
            self.ok("PUT", f"/projects/{self.project}/members/{person}/caps/jobs", {"limit": 1000})
        for person in ("1000", "ann"):
            self.ok("POST", f"/people/{person}/rename", {"name": f"gone-{person}-{self.name}", "reason": "has left"})
        lines = self.daemon.ok("GET", "/v1/audit?format=ndjson").body.decode().splitlines()
        rows = [row for row in map(json.loads, lines) if f"/{self.project}/" in row["what"] and "/caps/" in row["what"]]
        whose = [f"gone-1000-{self.name}", f"gone-ann-{self.name}", "ann@example.com"]
        self.assertEqual([row["what"].split("/")[3] for row in rows], whose)
        self.assertEqual([row["after"]["limit"] for row in rows], [1000] * 3)
        self.assertEqual(self.daemon.check()[0], 0, self.daemon.check()[1])


if __name__ == "__main__":
    w.main(__name__)
