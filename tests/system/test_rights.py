"""Every route, every role, inside and outside the place: exactly the answers of docs/rights.md (SPEC 10.1, 10.2).

usage: test_rights.py SOURCE_DIR COREHOURD [--print]

`corehourd routes` says what routes there are; each needs a row in the table of docs/rights.md and a request here. Commands are
sent with dry_run, so that the order does not matter. --print shows the table as the daemon answers.
"""

import json
import pathlib
import re
import subprocess
import sys
import time
import unittest

PRINT = "--print" in sys.argv and not sys.argv.remove("--print")
COREHOURD = sys.argv.pop(2)
SOURCE = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(SOURCE / "tests/lib"))
import daemon as d  # noqa: E402

ROLES = ("admin", "scheduler", "lead", "finance", "viewer", "member")
PLACES = {
    "admin": None,
    "scheduler": "alpha",
    "lead": "acme-ai",
    "finance": "acme",
    "viewer": "acme-ai",
    "member": "vision/alice",
}
# What the requests are about: in the place, out of it, and nowhere. The names of one column are those of no other.
SIDES = {
    "in": {
        "root": "acme", "org": "acme-ai", "project": "vision", "user": "alice", "cluster": "alpha", "hold": "held",
        "account": "phys-in", "mapped": "al-in", "hook": "hook-in", "token": None,
    },
    "out": {
        "root": "globex", "org": "globex-ai", "project": "rivals", "user": "mallory", "cluster": "beta", "hold": "theirs",
        "account": "phys-out", "mapped": "al-out", "hook": "hook-out", "token": None,
    },
    "nowhere": {
        "root": "nonesuch", "org": "nonesuch-ai", "project": "nobodys", "user": "nobody", "cluster": "gamma",
        "hold": "strange", "account": "phys-not", "mapped": "al-not", "hook": "hook-not", "token": "t-not",
    },
}
SOON = "2026-01-02T00:00:00Z"
STARTED, ENDED = "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"
ANY = {"If-Match": "*"}


def hold(n, state):
    return f"{n['hold']}-{state}"


def verb_path(route, n, state):
    if route.startswith("/v1/holds/"):
        return f"/v1/holds/{hold(n, state)}/" + route.rsplit("/", 1)[1]
    return f"/v1/clusters/{n['cluster']}/jobs/job-{hold(n, state)}/" + route.rsplit("/", 1)[1]


def verb_request(route, verb):
    state, body = VERBS[verb]
    if verb == "bind" and "/jobs/" in route:
        state = "frozen"  # by its job a hold is found only when it is bound: the same again
        return lambda n: ("POST", verb_path(route, n, state), {"job_id": f"job-{hold(n, state)}"})
    return lambda n: ("POST", verb_path(route, n, state), body)


VERBS = {
    "bind": ("unbound", {"job_id": "job-new"}),
    "start": ("frozen", {"started_at": STARTED}),
    "suspend": ("running", {"at": ENDED}),
    "resume": ("suspended", {"at": ENDED}),
    "resize": ("frozen", {"time_limit_s": 200}),
    "requeue": ("running", {"ended_at": ENDED}),
    "settle": ("running", {"ended_at": ENDED}),
    "release": ("frozen", {}),
    "correct": (
        "settled",
        {"started_at": STARTED, "ended_at": ENDED, "outcome": "failed", "source": "test", "reason": "as it was"},
    ),
}
FREEZE = {"resources": {"cores": 1}, "time_limit_s": 60}
CHARGE = {"resources": {"cores": 1}, "started_at": STARTED, "ended_at": ENDED}
CARD = {"effective_from": "2030-01-01T00:00:00Z", "combine": "max", "rows": [{"core_mcores": 1000}]}


def who(n):
    return {"cluster": n["cluster"], "account": n["project"], "user": n["user"]}


def lent_token(n):
    """One that a scheduler may make, too."""
    end = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
    return {"name": "t", "role": "member", "place": f"{n['project']}/{n['user']}", "expires_at": end}


def refund(n):
    return {"id": "r-new", "hold": hold(n, "settled"), "mcs": 1, "reason": "test"}


def hook(n):
    return {"node": n["project"], "url": "https://127.0.0.1/" + n["hook"]}


def whole(n, path):
    """The settings of a node that a PUT must name, so as not to change its place."""
    if "/members/" in path:
        return {}
    above = {"organization": n["org"]} if path.startswith("/v1/projects/") else {"parent": n["root"]}
    return {**above, "funding": "self"}


def node_requests(path):
    """The routes of one kind of node; `path` makes its path from the names."""
    return {
        "GET ": lambda n: ("GET", path(n)),
        "PUT ": lambda n: ("PUT", path(n), {"contact": "new", **whole(n, path(n))}, ANY),
        "PATCH ": lambda n: ("PATCH", path(n), {"contact": "new"}, ANY),
        "PUT /caps/{cap}": lambda n: ("PUT", path(n) + "/caps/month", {"core_hours": 77}, ANY),
        "GET /caps/{cap}": lambda n: ("GET", path(n) + "/caps/jobs"),
        "DELETE /caps/{cap}": lambda n: ("DELETE", path(n) + "/caps/jobs", None, ANY),
        "GET /balance": lambda n: ("GET", path(n) + "/balance"),
    }


NODES = {
    "/v1/organizations/{n}": lambda n: f"/v1/organizations/{n['org']}",
    "/v1/projects/{n}": lambda n: f"/v1/projects/{n['project']}",
    "/v1/projects/{n}/members/{u}": lambda n: f"/v1/projects/{n['project']}/members/{n['user']}",
}

# METHOD PATTERN -> names -> (method, path, body, headers)
REQUESTS = {
    "POST /v1/holds": lambda n: ("POST", "/v1/holds", {"id": "h-new", **who(n), **FREEZE}),
    "GET /v1/holds": lambda n: ("GET", f"/v1/holds?project={n['project']}"),
    "GET /v1/holds/{id}": lambda n: ("GET", "/v1/holds/" + hold(n, "frozen")),
    "POST /v1/heartbeats": lambda n: (
        "POST", "/v1/heartbeats", {"cluster": n["cluster"], "at": ENDED, "runs": [{"hold": hold(n, "running")}]},
    ),
    "POST /v1/charges": lambda n: ("POST", "/v1/charges", {"id": "c-new", **who(n), **CHARGE}),
    "POST /v1/refunds": lambda n: ("POST", "/v1/refunds", refund(n)),
    "POST /v1/refunds/bulk": lambda n: (
        "POST", "/v1/refunds/bulk", {"id": "r-many", "project": n["project"], "from": STARTED, "to": ENDED, "reason": "test"},
    ),
    "PUT /v1/caps": lambda n: ("PUT", "/v1/caps", [{"node": n["project"], "cap": "month", "core_hours": 77}], ANY),
    "PUT /v1/webhooks/{name}": lambda n: ("PUT", f"/v1/webhooks/{n['hook']}", hook(n), ANY),
    "GET /v1/webhooks/{name}": lambda n: ("GET", f"/v1/webhooks/{n['hook']}"),
    "DELETE /v1/webhooks/{name}": lambda n: ("DELETE", f"/v1/webhooks/{n['hook']}", None, ANY),
    "GET /v1/webhooks": lambda n: ("GET", "/v1/webhooks"),
    "POST /v1/webhooks/{name}/test": lambda n: ("POST", f"/v1/webhooks/{n['hook']}/test"),
    "GET /v1/webhooks/{name}/deliveries": lambda n: ("GET", f"/v1/webhooks/{n['hook']}/deliveries"),
    "POST /v1/quotes": lambda n: ("POST", "/v1/quotes", {**who(n), **FREEZE}),
    "POST /v1/batch": lambda n: ("POST", "/v1/batch", {"op": "refund", **refund(n)}),
    "POST /v1/events": lambda n: (
        "POST", "/v1/events",
        {"specversion": "1.0", "id": "e", "source": "test", "type": "corehour.job.cancelled", "data": {"hold": hold(n, "frozen")}},
    ),
    "GET /v1/clusters/{c}/feed": lambda n: ("GET", f"/v1/clusters/{n['cluster']}/feed?wait_s=0"),
    "GET /v1/clusters/{c}/unattributed": lambda n: ("GET", f"/v1/clusters/{n['cluster']}/unattributed"),
    "POST /v1/clusters/{c}/unattributed/{id}/assign": lambda n: (
        "POST", f"/v1/clusters/{n['cluster']}/unattributed/{hold(n, 'lost')}/assign", {"project": n["project"]},
    ),
    "PUT /v1/clusters/{n}": lambda n: ("PUT", f"/v1/clusters/{n['cluster']}", {"kind": "slurm", "roots": [n["root"]]}, ANY),
    "GET /v1/clusters/{n}": lambda n: ("GET", f"/v1/clusters/{n['cluster']}"),
    "PATCH /v1/clusters/{n}": lambda n: ("PATCH", f"/v1/clusters/{n['cluster']}", {"ttl_s": 700}, ANY),
    "PUT /v1/clusters/{n}/accounts/{a}": lambda n: (
        "PUT", f"/v1/clusters/{n['cluster']}/accounts/{n['account']}", {"project": n["project"]}, ANY,
    ),
    "GET /v1/clusters/{n}/accounts/{a}": lambda n: ("GET", f"/v1/clusters/{n['cluster']}/accounts/{n['account']}"),
    "PATCH /v1/clusters/{n}/accounts/{a}": lambda n: (
        "PATCH", f"/v1/clusters/{n['cluster']}/accounts/{n['account']}", {"project": n["project"]}, ANY,
    ),
    "PUT /v1/clusters/{n}/users/{u}": lambda n: ("PUT", f"/v1/clusters/{n['cluster']}/users/{n['mapped']}", {"person": "x"}, ANY),
    "GET /v1/clusters/{n}/users/{u}": lambda n: ("GET", f"/v1/clusters/{n['cluster']}/users/{n['mapped']}"),
    "PATCH /v1/clusters/{n}/users/{u}": lambda n: (
        "PATCH", f"/v1/clusters/{n['cluster']}/users/{n['mapped']}", {"person": "x"}, ANY,
    ),
    "PUT /v1/clusters/{n}/rates/{version}": lambda n: ("PUT", f"/v1/clusters/{n['cluster']}/rates/2", CARD),
    "GET /v1/clusters/{n}/rates/{version}": lambda n: ("GET", f"/v1/clusters/{n['cluster']}/rates/1"),
    "PUT /v1/caps": lambda n: ("PUT", "/v1/caps", [{"node": n["project"], "cap": "month", "core_hours": 77}], ANY),
    "POST /v1/grants": lambda n: ("POST", "/v1/grants", {"id": "g-new", "node": n["root"], "mcs": 5}),
    "GET /v1/grants": lambda n: ("GET", f"/v1/grants?node={n['org']}"),
    "POST /v1/transfers": lambda n: (
        "POST", "/v1/transfers", {"id": "x-new", "from": n["org"], "to": n["project"], "mcs": 5},
    ),
    "POST /v1/withdrawals": lambda n: ("POST", "/v1/withdrawals", {"id": "w-new", "node": n["root"], "mcs": 5, "reason": "t"}),
    "GET /v1/reports/usage": lambda n: ("GET", f"/v1/reports/usage?root={n['root']}&month=2026-01&group_by=project,user"),
    "GET /v1/reports/statement": lambda n: ("GET", f"/v1/reports/statement?node={n['project']}&month=2026-01"),
    "GET /v1/periods/{root}": lambda n: ("GET", f"/v1/periods/{n['root']}"),
    "GET /v1/periods/{root}/{month}": lambda n: ("GET", f"/v1/periods/{n['root']}/2025-12"),
    "GET /v1/periods/{root}/{month}/rows": lambda n: ("GET", f"/v1/periods/{n['root']}/2025-12/rows"),
    "POST /v1/periods/{root}/{month}/close": lambda n: ("POST", f"/v1/periods/{n['root']}/2026-01/close"),
    "GET /v1/journal": lambda n: ("GET", f"/v1/journal?root={n['root']}"),
    "POST /v1/tokens": lambda n: ("POST", "/v1/tokens", lent_token(n)),
    "GET /v1/tokens": lambda n: ("GET", "/v1/tokens"),
    "POST /v1/tokens/{id}/rotate": lambda n: ("POST", f"/v1/tokens/{n['token']}/rotate", {}),
    "GET /v1/audit": lambda n: ("GET", f"/v1/audit?root={n['root']}"),
    "POST /v1/people/{u}/rename": lambda n: ("POST", f"/v1/people/{n['user']}/rename", {"name": "gone-1", "reason": "test"}),
    "DELETE /v1/tokens/{id}": lambda n: ("DELETE", f"/v1/tokens/{n['token']}"),
    "GET /v1/openapi.json": lambda n: ("GET", "/v1/openapi.json"),
    "GET /healthz": lambda n: ("GET", "/healthz"),
    "GET /readyz": lambda n: ("GET", "/readyz"),
    "GET /metrics": lambda n: ("GET", "/metrics"),
}
for verb in VERBS:
    for pattern in ("/v1/holds/{id}/", "/v1/clusters/{c}/jobs/{job_id}/"):
        REQUESTS[f"POST {pattern}{verb}"] = verb_request(pattern + verb, verb)
for pattern, path in NODES.items():
    for rest, request in node_requests(path).items():
        method, tail = rest.split(" ")
        REQUESTS[f"{method} {pattern}{tail}"] = request


def routes():
    printed = subprocess.run([COREHOURD, "routes"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(" ") for line in printed.splitlines()]
    return {f"{row[0]} {row[1]}": (row[2].split(","), row[4:]) for row in rows}


def documented():
    """{route: {role: (status inside, status outside)}} of the table in docs/rights.md; one figure stands for both."""
    table = {}
    for line in (SOURCE / "docs/rights.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        found = re.fullmatch(r"`((?:GET|PUT|POST|PATCH|DELETE) /\S+)`", cells[0])
        if found:
            pairs = [tuple(int(part) for part in cell.split("/")) for cell in cells[1:]]
            table[found[1]] = dict(zip(ROLES, [pair if len(pair) == 2 else pair * 2 for pair in pairs]))
    return table


class World:
    """Two roots that know nothing of each other, with holds in every state, and a token of each role for the first."""

    def __init__(self, daemon):
        self.daemon = daemon
        for side in ("in", "out"):
            self.fill(SIDES[side])
        self.tokens = {role: self.token(role, PLACES[role]) for role in ROLES}
        for side in ("in", "out"):
            made = daemon.ok("POST", "/v1/tokens", {"name": side, "role": "lead", "place": SIDES[side]["org"]})
            SIDES[side]["token"] = made.json["id"]

    def token(self, role, place):
        return self.daemon.ok("POST", "/v1/tokens", {"name": role, "role": role, "place": place}).json["token"]

    def fill(self, n):
        ok = self.daemon.ok
        ok("PUT", f"/v1/organizations/{n['root']}", {"funding": "self", "overdraft_core_hours": 1000})
        ok("PUT", f"/v1/organizations/{n['org']}", {"parent": n["root"], "funding": "self", "overdraft_core_hours": 1000})
        ok("PUT", f"/v1/projects/{n['project']}", {"organization": n["org"], "funding": "self", "overdraft_core_hours": 1000})
        ok("PUT", f"/v1/projects/{n['project']}/members/{n['user']}", {})
        for path in [make(n) for make in NODES.values()]:
            ok("PUT", path + "/caps/jobs", {"limit": 1000})
        for node in ("root", "org", "project"):
            ok("POST", "/v1/grants", {"id": f"g-{n[node]}", "node": n[node], "core_hours": 1000})
        ok("PUT", f"/v1/clusters/{n['cluster']}", {"kind": "slurm", "roots": [n["root"]]})
        ok("PUT", f"/v1/clusters/{n['cluster']}/rates/1", {**CARD, "effective_from": "2025-01-01T00:00:00Z"})
        ok("PUT", f"/v1/clusters/{n['cluster']}/accounts/{n['account']}", {"project": n["project"]})
        ok("PUT", f"/v1/clusters/{n['cluster']}/users/{n['mapped']}", {"person": n["user"]})
        ok("PUT", f"/v1/webhooks/{n['hook']}", hook(n))
        ok("POST", "/v1/charges", {"id": hold(n, "lost"), **who(n), **CHARGE, "account": "lost"})
        ok("POST", f"/v1/periods/{n['root']}/2025-12/close")
        self.freeze(n)

    def freeze(self, n):
        ok = self.daemon.ok
        for state in ("unbound", "frozen", "running", "suspended", "settled"):
            name = hold(n, state)
            ok("POST", "/v1/holds", {"id": name, **who(n), **FREEZE})
            if state != "unbound":
                ok("POST", f"/v1/holds/{name}/bind", {"job_id": f"job-{name}"})
            if state not in ("unbound", "frozen"):
                ok("POST", f"/v1/holds/{name}/start", {"started_at": STARTED})
        ok("POST", f"/v1/holds/{hold(n, 'suspended')}/suspend", {"at": SOON})
        ok("POST", f"/v1/holds/{hold(n, 'settled')}/settle", {"ended_at": ENDED})

    def ask(self, route, names, token, takes_dry_run):
        method, path, *rest = REQUESTS[route](names)
        body, headers = (rest + [None, ()][len(rest) :])[:2]
        if takes_dry_run:
            path += ("&" if "?" in path else "?") + "dry_run=true"
        answer = self.daemon.call(method, path, body, headers, token=token)
        return line_status(route, answer), answer


def line_status(route, answer):
    """The status of the answer; of a batch that of its one line."""
    if route == "POST /v1/batch" and answer.status == 200:
        return json.loads(answer.body)["status"]
    return answer.status


def cell(statuses):
    return str(statuses[0]) if statuses[0] == statuses[1] else f"{statuses[0]}/{statuses[1]}"


class Rights(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.daemon = d.Daemon(COREHOURD, "token_failures_per_minute = 1000000\n")
        cls.daemon.__enter__()
        cls.world = World(cls.daemon)
        cls.routes = routes()

    @classmethod
    def tearDownClass(cls):
        code, output = cls.daemon.check()
        cls.daemon.__exit__(None)
        assert code == 0, output

    def answers_of(self, route):
        """{role: (inside, outside)}"""
        dry = "dry_run" in self.routes[route][1]
        return {
            role: tuple(self.world.ask(route, SIDES[side], self.world.tokens[role], dry)[0] for side in ("in", "out"))
            for role in ROLES
        }

    def test_every_route_answers_every_role_as_documented(self):
        table = documented()
        self.assertEqual(sorted(set(self.routes) ^ set(table)), [], "routes and rows of docs/rights.md")
        self.assertEqual(sorted(set(self.routes) ^ set(REQUESTS)), [], "routes and requests of this test")
        for route in self.routes:
            answers = self.answers_of(route)
            for role in ROLES:
                with self.subTest(route=route, role=role):
                    self.assertEqual(cell(answers[role]), cell(table[route][role]))

    def test_the_table_of_routes_and_the_documented_answers_name_the_same_roles(self):
        for route, row in documented().items():
            if route == "POST /v1/batch":
                continue  # the role is that of each line
            roles = self.routes[route][0]
            for role in ROLES:
                with self.subTest(route=route, role=role):
                    may = role in roles or roles == ["public"]
                    self.assertEqual(row[role] != (403, 403), may)

    def test_without_a_token_nothing_but_health_is_answered(self):
        for route, (roles, _) in self.routes.items():
            with self.subTest(route=route):
                status = self.world.ask(route, SIDES["in"], "ch_none", False)[0]
                self.assertEqual(status, 200 if roles == ["public"] else 401)

    def test_what_may_not_be_seen_answers_as_what_is_not_there(self):
        for route in self.routes:
            dry = "dry_run" in self.routes[route][1]
            for role in ROLES[1:]:
                status, outside = self.world.ask(route, SIDES["out"], self.world.tokens[role], dry)
                if status not in (404, 422):
                    continue
                with self.subTest(route=route, role=role):
                    _, nowhere = self.world.ask(route, SIDES["nowhere"], self.world.tokens[role], dry)
                    self.assertEqual(plain(outside, SIDES["out"]), plain(nowhere, SIDES["nowhere"]))

    # ---- what the table does not show

    def test_a_scheduler_makes_tokens_of_members_only_and_for_a_day_at_most(self):
        good = lent_token({"project": "vision", "user": "alice"})
        for status, change in (
            (201, {}),
            (403, {"role": "lead", "place": "vision"}),
            (403, {"role": "admin", "place": None}),
            (403, {"role": "scheduler", "place": "alpha"}),
            (422, {"expires_at": None}),
            (422, {"expires_at": "2099-01-01T00:00:00Z"}),
            (404, {"place": "vision/nobody"}),
        ):
            with self.subTest(change=change):
                self.assertEqual(self.call("scheduler", "POST", "/v1/tokens", {**good, **change}, ()).status, status)

    def call(self, role, method, path, body=None, headers=ANY):
        dry = "" if method == "GET" else "?dry_run=true"
        return self.daemon.call(method, path + dry, body, headers, token=self.world.tokens[role])

    def test_a_lead_changes_what_is_strictly_below_and_sees_nothing_above(self):
        cap = {"core_hours": 5}
        for status, path in (
            (404, "/v1/organizations/acme/caps/month"),
            (403, "/v1/organizations/acme-ai/caps/month"),
            (201, "/v1/projects/vision/caps/month"),
            (201, "/v1/projects/vision/members/alice/caps/month"),
            (201, "/v1/projects/vision/members/*/caps/month"),
        ):
            with self.subTest(path=path):
                self.assertEqual(self.call("lead", "PUT", path, cap).status, status)
        for path in ("", "/caps/jobs", "/balance"):
            self.assertEqual(self.call("lead", "GET", "/v1/organizations/acme" + path).status, 404)
            self.assertEqual(self.call("viewer", "GET", "/v1/organizations/acme" + path).status, 404)

    def test_a_lead_of_a_project_sets_its_members_but_not_its_caps(self):
        token = self.world.token("lead", "vision")
        put = lambda path: self.daemon.call("PUT", path + "?dry_run=true", {"limit": 5}, ANY, token=token).status
        self.assertEqual(put("/v1/projects/vision/caps/gpus"), 403)
        self.assertEqual(put("/v1/projects/vision/members/alice/caps/gpus"), 201)
        self.assertEqual(put("/v1/organizations/acme-ai/caps/gpus"), 404)

    def test_a_lead_transfers_from_its_place_or_below_to_below(self):
        def transfer(source, to, role="lead"):
            body = {"id": "x-1", "from": source, "to": to, "mcs": 5}
            return self.call(role, "POST", "/v1/transfers", body).status

        self.assertEqual(transfer("acme-ai", "vision"), 201)
        self.assertEqual(transfer("vision", "acme-ai"), 403)
        self.assertEqual(transfer("acme", "vision"), 404)
        self.assertEqual(transfer("vision", "acme"), 404)
        self.assertEqual(transfer("vision", "rivals"), 404)
        self.assertEqual(transfer("acme", "vision", "finance"), 201)
        self.assertEqual(transfer("vision", "acme", "finance"), 201)

    def test_a_member_sees_and_asks_for_himself_only(self):
        self.daemon.ok("PUT", "/v1/projects/vision/members/bob", {}, ANY)
        bob = {"cluster": "alpha", "account": "vision", "user": "bob", **FREEZE}
        self.daemon.ok("POST", "/v1/holds", {"id": "of-bob", **bob})
        self.assertEqual(self.call("member", "GET", "/v1/projects/vision/members/bob/balance").status, 404)
        self.assertEqual(self.call("member", "GET", "/v1/holds/of-bob").status, 404)
        self.assertEqual(self.call("member", "POST", "/v1/quotes", bob).status, 403)
        users = {hold["user"] for hold in self.call("member", "GET", "/v1/holds").json["items"]}
        self.assertEqual(users, {"alice"})
        self.assertEqual(self.call("member", "GET", "/v1/holds?user=bob").json["items"], [])

    def test_lists_are_filtered_to_the_place(self):
        for role in ROLES[1:]:
            with self.subTest(role=role):
                holds = self.call(role, "GET", "/v1/holds?page_size=100").json["items"]
                self.assertTrue(holds)
                self.assertEqual({hold["project"] for hold in holds}, {"vision"})
        everything = self.call("admin", "GET", "/v1/holds?page_size=100").json["items"]
        self.assertEqual({hold["project"] for hold in everything}, {"vision", "rivals"})

    def test_a_page_of_a_list_goes_on_where_it_ended_although_rows_were_left_out(self):
        seen, token = [], ""
        for _ in range(50):
            page = self.call("lead", "GET", f"/v1/holds?page_size=2{token}").json
            seen += [hold["id"] for hold in page["items"]]
            if page["next_page_token"] is None:
                break
            token = "&page_token=" + page["next_page_token"]
        whole = [hold["id"] for hold in self.call("lead", "GET", "/v1/holds?page_size=100").json["items"]]
        self.assertEqual(seen, whole)

    def test_the_balance_of_a_member_shows_the_limits_of_his_path_and_no_other_figures(self):
        balance = self.call("member", "GET", "/v1/projects/vision/members/alice/balance").json
        self.assertEqual(balance["path"], ["acme", "acme-ai", "vision", "alice"])
        self.assertEqual({cap["node"] for cap in balance["caps"]}, {"alice", "vision", "acme-ai"})

    def test_the_report_of_a_lead_counts_its_place_alone(self):
        ok = self.daemon.ok
        ok("PUT", "/v1/projects/speech", {"organization": "acme"}, ANY)
        ok("POST", "/v1/charges", {"id": "c-speech", "cluster": "alpha", "account": "speech", "user": "carol", **CHARGE})
        path = "/v1/reports/usage?root=acme&month=2026-01&group_by=project"
        projects = lambda role: {row["project"] for row in self.call(role, "GET", path).json["rows"]}
        self.assertEqual(projects("finance"), {"vision", "speech"})
        self.assertEqual(projects("lead"), {"vision"})
        self.assertEqual(projects("viewer"), {"vision"})

    def test_a_stolen_lead_token_reads_nothing_of_another_root(self):
        names = [name for key, name in SIDES["out"].items() if key != "token"]
        paths = ["/v1/holds", "/v1/holds?page_size=100"]
        for route, (_, query) in self.routes.items():
            if route.startswith("GET /v1/") and route != "GET /v1/openapi.json":
                paths.append(REQUESTS[route](SIDES["out"])[1])
                paths += [re.sub(r"\?.*", "", REQUESTS[route](SIDES["in"])[1])]
        for role in ROLES[1:]:
            for path in paths:
                with self.subTest(role=role, path=path):
                    body = self.call(role, "GET", path).body.decode()
                    for name in names:
                        # A refusal says the name that was asked for.
                        self.assertTrue(name in path or name not in body, name)


def plain(answer, names):
    """A problem without what may differ: its own id, and the names that were asked for."""
    problem = answer.json
    problem.pop("instance", None)
    text = json.dumps(problem, sort_keys=True)
    for name in sorted((n for n in names.values() if n), key=len, reverse=True):
        text = re.sub(rf"(?<![a-z]){re.escape(name)}(?![a-z])", "?", text)
    return answer.status, text


def print_table():
    with d.Daemon(COREHOURD) as daemon:
        world, table = World(daemon), routes()
        for route, (_, query) in table.items():
            cells = []
            for role in ROLES:
                dry = "dry_run" in query
                statuses = [world.ask(route, SIDES[side], world.tokens[role], dry)[0] for side in ("in", "out")]
                cells.append(cell(statuses))
            print(f"| `{route}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    if PRINT:
        print_table()
    else:
        unittest.main(verbosity=2)
