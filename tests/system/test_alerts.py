"""Alerts: what is told, when, to whom, and that it arrives (SPEC 4.6).

usage: test_alerts.py COREHOURD SHIFT_CLOCK

Messages go to a receiver on the loopback interface. Their signatures are checked by the `standardwebhooks` package of npm
where node and the package can be had; without them that one check is skipped, and says so.
"""

import base64
import hashlib
import hmac
import http.server
import json
import random
import shutil
import subprocess
import tempfile
import threading
import unittest

import world as w
from world import GPU5, HOUR, at

ANY = {"If-Match": "*"}
DAY = 86400
VERIFY = """
import { Webhook } from "standardwebhooks";
let input = "";
for await (const chunk of process.stdin) input += chunk;
for (const { secret, headers, body } of JSON.parse(input)) {
  const webhook = new Webhook(secret);
  Date.now = () => Number(headers["webhook-timestamp"]) * 1000; // the daemon's clock was moved
  webhook.verify(body, headers);
  let refused = false;
  try { webhook.verify(body + " ", headers); } catch { refused = true; }
  if (!refused) throw new Error("a changed body was accepted");
}
console.log("verified");
"""


class Receiver:
    """Takes messages; answers each path as told: a list of statuses, the last of them for ever."""

    def __init__(self):
        self.messages = []
        self.answers = {}
        self.gates = {}  # path: an event before which nobody is answered
        self.lock = threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                status = receiver.take(self.path, {k.lower(): v for k, v in self.headers.items()}, body.decode())
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", receiver.url("/elsewhere"))
                self.end_headers()
                if status == 200:
                    self.wfile.write(b"x" * 1000000)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, path, headers, body):
        if path in self.gates:
            self.gates[path].wait(30)
        with self.lock:
            self.messages.append((path, headers, body))
            answers = self.answers.get(path, [204])
            return answers.pop(0) if len(answers) > 1 else answers[0]

    def url(self, path):
        return f"http://127.0.0.1:{self.server.server_address[1]}{path}"

    def of(self, path):
        with self.lock:
            found = [(headers, json.loads(body)) for p, headers, body in self.messages if p == path]
        return sorted(found, key=lambda m: int(m[0]["webhook-id"].rsplit("_", 1)[1]))


class Alerts(w.Case):
    CONFIG = "webhook_addresses = any\nalert_period_ms = 100\nwebhook_retry_first_ms = 20\nwebhook_tries_max = 4\ntimer_period_ms = 50\n"

    @classmethod
    def setUpClass(cls):
        cls.receiver = Receiver()
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.receiver.server.shutdown()

    def hook(self, path=None, name=None, node=None, headers=(), **more):
        body = {"node": node or self.root, "url": self.receiver.url(path or f"/{self.name}"), **more}
        return self.ok("PUT", f"/webhooks/{name or self.name}", body, headers)

    def told(self, count, path=None, kind=None):
        """The messages at a path, once there are `count`; no more come for a moment."""

        def found():
            return [m for m in self.receiver.of(path or f"/{self.name}") if kind in (None, m[1]["type"])]

        self.until(lambda: len(found()) >= count)
        self.pause()
        self.assertEqual(len(found()), count, found())
        return [message[1] for message in found()]

    def marks(self, count):
        return [m["data"]["threshold_percent"] for m in self.told(count, kind="corehour.cap_threshold")]

    def deliveries(self, name=None):
        return self.get(f"/webhooks/{name or self.name}/deliveries")["items"]

    def settle(self, key, seconds=300):
        return self.verb(key, "settle", started_at=self.ago(1000), ended_at=self.ago(1000 - seconds))

    # ---- thresholds

    def test_each_threshold_of_a_cap_is_told_once(self):
        self.make()
        self.cap("month", "20")  # fifteen freezes of 1.33
        self.hook()
        for i in range(15):
            self.freeze(f"h{i}")
        self.assertEqual(self.marks(4), [50, 80, 90, 100])
        data = self.told(4)[0]["data"]
        self.assertEqual((data["node"], data["kind"], data["cap"]), (self.project, "project", "month"))
        self.assertEqual((data["limit_mcs"], data["frozen_mcs"], data["used_mcs"]), (20 * HOUR, 8 * GPU5, 0))
        self.assertEqual(data["resets_at"], at(w.month_after(self.now())))
        # What was frozen and is used now stays committed.
        for i in range(15):
            self.settle(f"h{i}")
        self.assertEqual(self.marks(4), [50, 80, 90, 100])

    def test_one_that_falls_and_rises_again_is_told_again_but_not_for_a_wobble(self):
        self.make()
        self.cap("month", "20")
        self.hook()
        for i in range(8):
            self.freeze(f"h{i}")  # 53 %
        self.marks(1)
        self.verb("h7", "release")  # 46.7 %: within the 5 points
        self.freeze("i7")
        self.marks(1)
        self.verb("i7", "release")
        self.verb("h6", "release")  # 40 %
        self.freeze("j6")
        self.freeze("j7")
        self.assertEqual(self.marks(2), [50, 50])

    def test_a_jump_over_several_is_told_as_the_highest_and_a_cap_that_is_set_counts(self):
        self.make()
        self.cap("month", "1000")
        self.hook()
        self.freeze("h", tasks=7)
        self.cap("month", "10")  # 93 %
        self.assertEqual(self.marks(1), [90])
        self.cap("month", "9")  # beyond it
        self.assertEqual(self.marks(2), [90, 100])

    def test_a_new_window_begins_anew(self):
        self.make()
        self.cap("month", "2")
        self.hook()
        self.freeze("a")
        self.settle("a")
        self.assertEqual(self.marks(1), [50])
        self.clock.move_to(w.month_after(self.now()) + 14 * DAY + 43200)
        self.freeze("b")
        self.assertEqual(self.marks(2), [50, 50])

    def test_defaults_of_members_and_caps_above_are_told_with_their_place(self):
        self.make()
        self.cap("month", "2", f"/projects/{self.project}/members/*")
        self.cap("year", "2.5", f"/organizations/{self.root}")
        self.hook()
        self.freeze("h")
        told = [m["data"] for m in self.told(2)]
        self.assertEqual({(t["node"], t["kind"], t.get("project"), t["threshold_percent"]) for t in told},
                         {("alice", "member", self.project, 50), (self.root, "organization", None, 50)})

    def test_thresholds_agree_with_a_model_over_random_lives(self):
        seed = random.randrange(1 << 32)
        choice = random.Random(seed)
        self.make()
        limit = 20 * HOUR
        self.cap("month", "20")
        self.hook()
        open_holds, expected, level = [], [], 0
        for step in range(150):
            if open_holds and choice.random() < 0.45:
                key = open_holds.pop(choice.randrange(len(open_holds)))
                if choice.random() < 0.3:
                    self.settle(key, choice.randrange(1, 200))
                else:
                    self.verb(key, "release")
            elif self.call("POST", "/holds", self.body(f"s{step}", time_limit_s=choice.randrange(30, 900))).status == 201:
                open_holds.append(f"s{step}")
            used, frozen, _ = self.money()
            reached = max([t for t in (50, 80, 90, 100) if (used + frozen) * 100 >= t * limit], default=0)
            kept = max([t for t in (50, 80, 90, 100) if (used + frozen) * 100 >= (t - 5) * limit], default=0)
            level = min(level, kept)
            if reached > level:
                level = reached
                expected.append(reached)
        self.assertEqual(self.marks(len(expected)), expected, f"seed {seed}")

    # ---- the payer

    def test_the_grants_of_a_payer_and_its_overdraft_are_told(self):
        self.make(grant="2", root={"overdraft_core_hours": "10"})
        self.hook(types=["grant_threshold", "overdrawn"])
        self.freeze("a")
        first = self.told(1)[0]
        self.assertEqual((first["type"], first["data"]["threshold_percent"]), ("corehour.grant_threshold", 50))
        self.assertEqual((first["data"]["node"], first["data"]["granted_mcs"]), (self.root, 2 * HOUR))
        self.freeze("b")
        kinds = sorted(m["type"] for m in self.told(3))
        self.assertEqual(kinds, ["corehour.grant_threshold", "corehour.grant_threshold", "corehour.overdrawn"])

    def test_an_overdraft_is_told_at_most_once_an_hour(self):
        """SPEC 4.6: each time it comes into use, but not within the hour of the last message."""
        self.make(grant="2", root={"overdraft_core_hours": "10"})
        self.hook(types=["overdrawn"])
        for key, wait_s, count in (("a", 0, 1), ("b", 0, 1), ("c", 3590, 1), ("d", 11, 2)):
            self.clock.move(wait_s)
            self.freeze(key, time_limit_s=900)
            self.assertEqual(len(self.told(count)), count, key)
            self.verb(key, "release", reason="cancelled")

    def test_a_transfer_is_told_by_what_it_leaves_the_giver(self):
        self.make(grant="10")
        below = f"{self.name}-below"
        self.ok("PUT", f"/organizations/{below}", {"parent": self.root, "funding": "self"})
        self.hook(types=["grant_threshold"])
        self.freeze("a")
        self.ok("POST", "/transfers", {"id": f"{self.name}-t1", "from": self.root, "to": below, "core_hours": "8"})
        data = self.told(1)[0]["data"]
        self.assertEqual((data["node"], data["threshold_percent"], data["granted_mcs"]), (self.root, 50, 2 * HOUR))

    def test_a_grant_that_ends_soon_is_told_once(self):
        self.make(grant=None)
        self.hook(types=["grant_ending"], grant_days=7)
        self.grant("later", "5", end=at(self.now() + 30 * DAY))
        self.grant("soon", "5", end=at(self.now() + 5 * DAY))
        told = self.told(1)
        self.assertEqual((told[0]["data"]["grant"], told[0]["data"]["available_mcs"]), (f"{self.name}-soon", 5 * HOUR))
        self.clock.move(24 * DAY)
        self.assertEqual([m["data"]["grant"] for m in self.told(2)], [f"{self.name}-soon", f"{self.name}-later"])

    # ---- what time brings

    def test_stale_holds_are_told_once_a_project_until_they_are_heard_of_again(self):
        self.make(cluster={"stale_after_s": 900})
        self.hook(types=["stale_holds"])
        for key in "ab":
            self.freeze(key, time_limit_s=100000)
            self.verb(key, "start", started_at=at(self.now()))
        self.clock.move(1000)
        data = self.told(1)[0]["data"]
        self.assertEqual((data["node"], data["holds"], data["hold"]), (self.project, 2, f"{self.name}-a"))

        def heard_and_silent_again():
            self.beat("a", "b")
            self.pause()
            self.clock.move(1000)
            self.pause()
            return len(self.receiver.of(f"/{self.name}")) >= 2

        self.until(heard_and_silent_again)

    def pause(self):
        """Some alert periods, on a quiet machine."""
        threading.Event().wait(0.5)

    def test_a_silent_adapter_is_told_when_it_has_ever_polled(self):
        self.make()
        self.hook(types=["adapter_silent"])


        token = self.ok("POST", "/tokens", {"name": "a", "role": "scheduler", "place": self.cluster})["token"]

        def poll():
            return self.ok("GET", f"/clusters/{self.cluster}/feed?after=0&wait_s=0", token=token)

        def polled_and_silent():
            seen = self.get(f"/clusters/{self.cluster}")["last_seen_at"]
            self.until(lambda: poll() and self.get(f"/clusters/{self.cluster}")["last_seen_at"] != seen)
            self.pause()
            self.clock.move(200)
            self.pause()
            return self.receiver.of(f"/{self.name}")

        self.assertEqual(self.until(polled_and_silent)[0][1]["data"]["cluster"], self.cluster)
        self.until(lambda: len(polled_and_silent()) >= 2)

    # ---- delivery

    def check_by_hand(self, secret, headers, body):
        key = base64.b64decode(secret.removeprefix("whsec_"))
        text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}".encode()
        return "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()

    def raw(self, path):
        with self.receiver.lock:
            return [(h, b) for p, h, b in self.receiver.messages if p == path]

    def test_messages_are_signed_and_a_rotated_secret_signs_beside_the_old_one(self):
        self.make(grant=None)
        old = self.hook()["secret"]
        self.ok("POST", f"/webhooks/{self.name}/test")
        self.told(1)
        new = self.hook(headers=ANY, rotate_secret=True)["secret"]
        self.ok("POST", f"/webhooks/{self.name}/test")
        self.told(2)
        (first, body), (second, _) = self.raw(f"/{self.name}")
        self.assertNotEqual(old, new)
        self.assertEqual(first["webhook-signature"], self.check_by_hand(old, first, body))
        both = [self.check_by_hand(secret, *self.raw(f"/{self.name}")[1]) for secret in (new, old)]
        self.assertEqual(second["webhook-signature"].split(" "), both)
        self.assertNotIn("secret", self.get(f"/webhooks/{self.name}"))
        self.assertNotIn("secret", self.hook(headers=ANY))

    def test_the_old_secret_signs_for_24_hours_after_a_rotation(self):
        self.make(grant=None)
        old = self.hook()["secret"]
        new = self.hook(headers=ANY, rotate_secret=True)["secret"]
        for count, wait_s, secrets in ((1, 86300, (new, old)), (2, 101, (new,))):
            self.clock.move(wait_s)
            self.ok("POST", f"/webhooks/{self.name}/test")
            self.told(count)
            headers, body = self.raw(f"/{self.name}")[-1]
            self.assertEqual(headers["webhook-signature"].split(" "), [self.check_by_hand(s, headers, body) for s in secrets])

    def test_the_public_package_verifies_what_is_sent(self):
        node, npm = shutil.which("node"), shutil.which("npm")
        if not (node and npm):
            self.skipTest("node or npm is not here")
        self.make()
        self.cap("month", "2")
        secret = self.hook()["secret"]
        self.freeze("h")
        self.ok("POST", f"/webhooks/{self.name}/test")
        self.told(2)
        sent = [{"secret": secret, "headers": h, "body": b} for h, b in self.raw(f"/{self.name}")]
        with tempfile.TemporaryDirectory() as folder:
            install = [npm, "install", "--no-audit", "--no-fund", "--prefix", folder, "standardwebhooks@1.0.0"]
            done = subprocess.run(install, capture_output=True, text=True, timeout=120, check=False)
            if done.returncode != 0:
                self.skipTest("npm cannot install standardwebhooks: " + done.stderr[-200:])
            with open(folder + "/verify.mjs", "w", encoding="utf-8") as file:
                file.write(VERIFY)
            done = subprocess.run([node, "verify.mjs"], cwd=folder, input=json.dumps(sent), capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "verified\n"), done.stderr)

    def test_a_failed_delivery_is_tried_again_with_the_same_id_and_body(self):
        self.make(grant=None)
        self.receiver.answers[f"/{self.name}"] = [500, 503, 204]
        self.hook()
        self.ok("POST", f"/webhooks/{self.name}/test")
        self.until(lambda: self.deliveries()[0]["state"] == "delivered")
        sent = self.raw(f"/{self.name}")
        self.assertEqual((len(sent), len({h["webhook-id"] for h, _ in sent}), len({b for _, b in sent})), (3, 1, 1))
        self.assertEqual((self.deliveries()[0]["tries"], self.deliveries()[0]["status"]), (3, 204))

    def ask(self, name, count):
        for _ in range(count):
            self.ok("POST", f"/webhooks/{name}/test")

    def test_a_backlog_of_one_webhook_does_not_hold_up_another(self):
        self.make(grant=None)
        slow, other = self.name + "-slow", self.name + "-other"
        gate = self.receiver.gates["/" + slow] = threading.Event()
        self.hook("/" + slow, slow)
        self.hook("/" + other, other)
        self.ask(slow, 1)  # it waits at the gate, and so does the round that it is in
        threads = [threading.Thread(target=self.ask, args=(slow, 100)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.ask(other, 1)
        gate.set()
        self.until(lambda: self.get(f"/webhooks/{slow}")["pending"] == 0)
        with self.receiver.lock:
            paths = [path for path, _, _ in self.receiver.messages if path in ("/" + slow, "/" + other)]
        self.assertEqual(paths.count("/" + other), 1)
        self.assertLess(paths.index("/" + other), 30)

    def test_one_that_always_fails_is_dead_and_visible(self):
        self.make(grant=None)
        self.receiver.answers[f"/{self.name}"] = [500]
        self.hook()
        self.ok("POST", f"/webhooks/{self.name}/test")
        row = self.until(lambda: [row for row in self.deliveries() if row["state"] == "dead"])[0]
        self.assertEqual((row["tries"], row["status"], row["error"]), (4, 500, "answered 500"))

    def test_gone_disables_a_redirect_is_a_failure_and_of_a_long_answer_the_status_counts(self):
        self.make(grant=None)
        for status, state in ((410, "dead"), (302, "dead"), (200, "delivered")):
            name = f"{self.name}-{status}"
            self.receiver.answers["/" + name] = [status]
            self.hook("/" + name, name)
            self.ok("POST", f"/webhooks/{name}/test")
            row = self.until(lambda: [row for row in self.deliveries(name) if row["state"] == state])[0]
            self.assertEqual(row["tries"], 4 if status == 302 else 1, row)
            self.assertEqual(self.get(f"/webhooks/{name}")["disabled"], status == 410)
        self.assertEqual(self.raw("/elsewhere"), [])
        self.refused("invalid_state", 409, "POST", f"/webhooks/{self.name}-410/test")

    def test_what_was_not_delivered_is_delivered_after_a_restart(self):
        self.make()
        self.cap("month", "2")
        self.receiver.answers[f"/{self.name}"] = [500]
        self.hook()
        self.freeze("h")
        self.until(lambda: self.raw(f"/{self.name}"))
        self.daemon.kill()
        self.receiver.answers[f"/{self.name}"] = [204]
        self.daemon.start()
        self.until(lambda: self.deliveries()[0]["state"] != "pending")
        self.assertEqual(self.deliveries()[0]["state"], "delivered")
        self.assertEqual(len({h["webhook-id"] for h, _ in self.raw(f"/{self.name}")}), 1)

    # ---- settings

    def test_one_hears_of_ones_own_node_and_of_the_types_asked_for(self):
        self.make(project={"funding": "self"}, org={"funding": "self"})
        self.grant("g1", "100", node=self.project)
        self.cap("month", "2")
        other = self.name + "-q"
        self.ok("PUT", f"/projects/{other}", {"organization": self.org})
        self.hook("/q" + self.name, other, node=other)
        self.hook("/t" + self.name, self.name + "-t", types=["grant_threshold"])
        self.hook()
        self.freeze("h")
        self.told(1)
        self.pause()
        self.assertEqual((self.raw("/q" + self.name), self.raw("/t" + self.name)), ([], []))

    def test_a_lead_sets_webhooks_at_the_own_place_only(self):
        self.make()
        token = self.ok("POST", "/tokens", {"name": "l", "role": "lead", "place": self.org})["token"]
        self.hook()  # of the root
        body = {"node": self.root, "url": "https://example.org/"}
        self.refused("not_found", 404, "PUT", f"/webhooks/{self.name}-l", body, token=token)
        self.ok("PUT", f"/webhooks/{self.name}-l", {**body, "node": self.project}, token=token)
        self.refused("invalid_state", 409, "PUT", f"/webhooks/{self.name}", {**body, "node": self.project}, ANY, token=token)
        names = [row["name"] for row in self.ok("GET", "/webhooks", token=token)["items"]]
        self.assertEqual(names, [self.name + "-l"])
        self.refused("not_found", 404, "DELETE", f"/webhooks/{self.name}", headers=ANY, token=token)

    def test_wrong_settings_are_refused_and_changes_need_the_etag(self):
        self.make(grant=None)
        path = f"/webhooks/{self.name}"
        good = {"node": self.root, "url": "https://example.org/x"}
        for field, value in (("url", "ftp://example.org/"), ("url", "https://example.org/a b"), ("types", ["rain"]), ("grant_days", 0)):
            answer = self.call("PUT", path, {**good, field: value})
            self.assertEqual((answer.status, answer.json["field"].split(".")[0]), (422, field), answer)
        self.refused("not_found", 404, "PUT", path, {**good, "node": "nowhere"})
        self.ok("PUT", path, good)
        self.refused("precondition_required", 428, "PUT", path, {**good, "grant_days": 3})
        self.refused("precondition_failed", 412, "PUT", path, {**good, "grant_days": 3}, {"If-Match": '"9"'})
        self.ok("PUT", path, {**good, "grant_days": 3}, {"If-Match": '"1"'})
        self.ok("DELETE", path, headers=ANY)
        self.refused("not_found", 404, "GET", path)


class Reach(w.Case):
    CONFIG = "webhook_retry_first_ms = 20\nwebhook_tries_max = 2\n"

    def test_by_default_this_machine_and_link_local_addresses_are_not_reached(self):
        self.make(grant=None)
        for i, host in enumerate(("127.0.0.1:1", "[::1]:1", "localhost:1", "169.254.169.254", "[fe80::1]", "[::ffff:127.0.0.1]:1", "0.0.0.0:1")):
            name = f"{self.name}-{i}"
            self.ok("PUT", f"/webhooks/{name}", {"node": self.root, "url": f"http://{host}/"})
            self.ok("POST", f"/webhooks/{name}/test")
            row = self.until(lambda: [r for r in self.get(f"/webhooks/{name}/deliveries")["items"] if r["state"] == "dead"])[0]
            self.assertEqual(row["error"], "this address is not allowed", host)


class Refunds(w.Case):
    def run_on(self, key, host, start=3000, seconds=60, outcome="failed", **more):
        self.freeze(key, **more)
        body = {"started_at": self.ago(start), "ended_at": self.ago(start - seconds), "hosts": [host], "outcome": outcome}
        self.verb(key, "settle", **body)

    def bulk(self, query="", status=200, **more):
        body = {"id": f"{self.name}-b", "root": self.root, "from": self.ago(4000), "to": self.ago(2000), "reason": "node", **more}
        answer = self.call("POST", "/refunds/bulk" + query, body)
        self.assertEqual(answer.status, status, answer)
        return answer.json

    def figures(self, answer):
        return [answer[name] for name in ("matched", "refunds", "replayed", "nothing_left", "refunded_mcs")]

    def test_an_incident_is_previewed_returned_and_returned_only_once(self):
        self.make()
        for i in range(300):
            self.run_on(f"h{i}", "n1" if i % 3 else "n2", user=f"u{i % 5}")
        before = self.money()
        tried = self.bulk("?dry_run=true", hosts=["n1"])
        self.assertEqual(self.figures(tried), [200, 200, 0, 0, 200 * 960000])
        self.assertEqual(tried["projects"], [{"project": self.project, "runs": 200, "refunded_mcs": 200 * 960000, "refunded_core_hours": "53.33333"}])
        self.assertEqual((len(tried["sample"]), self.money()), (20, before))
        self.assertEqual(self.figures(self.bulk(hosts=["n1"])), [200, 200, 0, 0, 200 * 960000])
        self.assertEqual(self.money()[0], before[0] - 200 * 960000)
        # The same again finds all of it done; a wider one goes on with the rest; another id finds nothing left.
        self.assertEqual(self.figures(self.bulk(hosts=["n1"])), [200, 0, 200, 0, 200 * 960000])
        self.assertEqual(self.figures(self.bulk()), [300, 100, 200, 0, 300 * 960000])
        self.assertEqual(self.figures(self.bulk(id=f"{self.name}-c")), [300, 0, 0, 300, 0])
        self.assertEqual(self.money()[0], 0)

    def test_only_runs_of_the_query_are_returned(self):
        self.make()
        self.make_cluster(self.name + "-c2")
        self.run_on("in", "n1", 3000)
        self.run_on("straddles", "n1", 2010, 60)
        self.run_on("early", "n1", 5000)
        self.run_on("late", "n1", 1900)
        self.run_on("done", "n1", 3000, outcome="completed")
        self.run_on("bob", "n1", 3000, user="bob")
        self.run_on("waived", "n1", 3000, outcome="node_fail")
        self.freeze("open")

        def found(**more):
            return sorted(row["hold"].split("-")[-1] for row in self.bulk("?dry_run=true", **more)["sample"])

        self.assertEqual(found(), ["bob", "done", "in", "straddles"])
        self.assertEqual(found(outcomes=["failed"]), ["bob", "in", "straddles"])
        self.assertEqual(found(user="bob"), ["bob"])
        self.assertEqual(found(cluster=self.name + "-c2"), [])
        self.assertEqual(found(hosts=["n2"]), [])
        self.assertEqual(found(project=self.project, cluster=self.cluster, hosts=["n2", "n1"]), ["bob", "done", "in", "straddles"])

    def test_what_was_returned_in_part_is_returned_to_the_full_and_other_reasons_are_another_refund(self):
        self.make()
        self.run_on("h", "n1")
        self.ok("POST", "/refunds", {"id": f"{self.name}-r", "hold": f"{self.name}-h", "mcs": 60000, "reason": "x"})
        self.assertEqual(self.figures(self.bulk("?dry_run=true")), [1, 1, 0, 0, 900000])
        self.assertEqual(self.figures(self.bulk()), [1, 1, 0, 0, 900000])
        self.assertEqual(self.bulk(status=409, reason="another")["code"], "id_reused")

    def test_wrong_queries_are_refused_by_name(self):
        self.make()
        for change, field in (({"to": self.ago(5000)}, "to"), ({"id": "x" * 41}, "id"), ({"outcomes": ["rain"]}, "outcomes.0"), ({"reason": ""}, "reason")):
            self.assertEqual(self.bulk(status=422, **change)["field"], field)
        self.assertEqual(self.bulk(status=404, project="nowhere")["field"], "project")
        self.assertEqual(self.bulk(status=422, cluster="nowhere")["code"], "unknown_cluster")


if __name__ == "__main__":
    w.main(__name__)
