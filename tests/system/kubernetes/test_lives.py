"""Recorded watches played to the real agent: whole, cut, doubled, and with the agent killed between lines. Always the same ledger.

tests/system/kubernetes/lives.txt says, for each recorded watch, what every pod in it costs and why.
"""

import json
import os
import sys
import unittest

import lab as l
import world as w

SLOW = bool(os.environ.get("COREHOUR_SLOW"))
COREHOURD = AGENT = LIBRARY = FIXTURES = None

# Watches of pods that were not filtered. The filtered ones are recorded to show why nothing may be accounted from them.
WATCHES = [
    "pods-team-a-lives",
    "pods-all-namespaces",
    "replay-then-timeout-bookmark",
    "no-resourceversion",
    "resourceversion-0",
    "job-deadline-exceeded",
    "namespace-deleted",
    "node-removed-pod-gc",
    "node-lost",
    "scheduler-bind-unschedulable-preempt",
]
# With a cut or a restart at every line also in CI; of the others some lines.
THOROUGH = {"job-deadline-exceeded", "namespace-deleted", "node-removed-pod-gc", "node-lost"}


def lines_of(name):
    with open(os.path.join(FIXTURES.name, "watch", name + ".ndjson"), "rb") as file:
        return [line for line in file.read().split(b"\n") if line.strip()]


def some(count, name):
    """Places in a watch of so many lines: every one, or about seven."""
    if SLOW or name in THOROUGH:
        return range(count)
    step = max(1, count // 7)
    return range(len(name) % step, count, step)


class Lives(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.clock = w.Clock(LIBRARY)
        if cls.clock.now() < l.RECORDED_S:
            cls.clock.move_to(l.RECORDED_S)
        cls.lab = l.Lab(COREHOURD, AGENT, cls.clock)
        cls.lab.__enter__()
        cls.number = 0
        cls.expected = {}
        cls.wanted = {}
        for line in (l.HERE / "lives.txt").read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                watch, pod, *cells = [cell.strip() for cell in line.split("|")]
                cls.wanted.setdefault(watch, {})[pod] = cells

    @classmethod
    def tearDownClass(cls):
        code, output = cls.lab.daemon.check()
        cls.lab.__exit__(RuntimeError if code else None)
        cls.clock.close()
        assert code == 0, output

    # ---- one playing: a cluster of its own in the ledger, so that the same pods come again

    def begin(self, mode="enforce", **keys):
        Lives.number += 1
        self.lab.add_cluster(f"kube{Lives.number}")
        api = self.lab.fresh_api()
        for team in ("team-a", "team-b", "team-c"):
            api.namespace(team, mode)
        with open(os.path.join(FIXTURES.name, "api", "nodes.json"), encoding="utf-8") as file:
            for node in json.load(file)["items"]:
                api.kind("nodes").objects["", node["metadata"]["name"]] = node
        for line in lines_of("node-lost-node"):  # as it was in the end: not ready
            node = json.loads(line)["object"]
            api.kind("nodes").objects["", node["metadata"]["name"]] = node
        self.keys = {"lost_after_s": 0, **keys}
        self.agent = None
        return api

    def freeze_all(self, name):
        """As the webhook did when the pods were made: alice's, by their uids."""
        body = []
        for line in lines_of(name):
            item = json.loads(line)["object"]
            if not item["metadata"].get("uid") or item["metadata"]["uid"] in [b["id"][4:] for b in body]:
                continue
            gpus = sum(
                int(c["resources"].get("limits", {}).get("nvidia.com/gpu", "0")) for c in item.get("spec", {}).get("containers", [])
            )
            if gpus:
                body.append(
                    {
                        "op": "freeze",
                        "id": "pod-" + item["metadata"]["uid"],
                        "cluster": self.lab.cluster,
                        "account": item["metadata"]["namespace"],
                        "user": "alice",
                        "job": {"name": f"{item['metadata']['namespace']}/{item['metadata']['name']}"},
                        "resources": {"gpus": [{"count": gpus}]},
                        "mode": "window",
                        "ttl_s": 86400,
                    }
                )
        data = b"\n".join(json.dumps(line).encode() for line in body)
        answer = self.lab.daemon.call("POST", "/v1/batch", data, {}).body.decode()
        for text in answer.splitlines():
            assert json.loads(text)["status"] == 201, text

    def start(self):
        spool = self.agent.keys["spool_dir"] if self.agent else None
        keys = {**self.keys, **({"spool_dir": spool} if spool else {})}
        self.agent = self.lab.agent(**keys)
        return self.agent

    def end(self):
        self.agent.settle_down()
        self.assertEqual(self.agent.stop(), 0)
        return {uid: {k: v for k, v in h.items()} for uid, h in self.lab.holds().items()}

    def whole(self, name):
        """The ledger after the watch was played in one go; once a name."""
        if name not in Lives.expected:
            api = self.begin()
            self.freeze_all(name)
            self.start().settle_down()
            lines = lines_of(name)
            for line in lines:
                api.play(line)
            changes = sum(1 for line in lines if b'"BOOKMARK"' not in line)
            self.agent.settle_down(events=changes)
            Lives.expected[name] = self.end()
        return Lives.expected[name]

    # ---- tests

    def test_every_recorded_life_costs_what_the_table_says(self):
        seen = {}
        for name in WATCHES:
            for uid, hold in self.whole(name).items():
                life = f"{(hold['started_at'] or '-')[11:19]} {(hold['ended_at'] or '-')[11:19]}".strip()
                seen.setdefault(name, {})[f"{hold['job']} {uid[:6]}"] = [
                    hold["state"],
                    str(hold["outcome"] or "-"),
                    life or "-",
                    str(hold["used_mcs"]),
                ]
        if os.environ.get("COREHOUR_WRITE_TABLE"):  # to begin a new table, which a person then reads
            with open(os.environ["COREHOUR_WRITE_TABLE"], "w", encoding="utf-8") as file:
                for name, pods in seen.items():
                    for pod, cells in sorted(pods.items()):
                        row = f"{name:37} | {pod:38} | {cells[0]:8} | {cells[1]:9} | {cells[2]:17} | {cells[3]}"
                        file.write(row.rstrip() + "\n")
        self.assertEqual(seen, self.wanted)

    def test_a_watch_that_comes_twice_makes_no_difference(self):
        for name in WATCHES:
            with self.subTest(name):
                wanted = self.whole(name)
                api = self.begin()
                api.doubled = True
                self.freeze_all(name)
                self.start().settle_down()
                for line in lines_of(name):
                    api.play(line)
                changes = sum(1 for line in lines_of(name) if b'"BOOKMARK"' not in line)
                self.agent.settle_down(events=2 * changes)
                self.assertEqual(self.end(), wanted)

    def test_a_watch_that_is_cut_makes_no_difference(self):
        """Cut within a line, at every line."""
        for name in WATCHES:
            with self.subTest(name):
                wanted = self.whole(name)
                api = self.begin()
                api.cut_after = set(range(0, len(lines_of(name)), 1 if SLOW or name in THOROUGH else 5))
                self.freeze_all(name)
                self.start().settle_down()
                for line in lines_of(name):
                    api.play(line)
                changes = sum(1 for line in lines_of(name) if b'"BOOKMARK"' not in line)
                self.agent.settle_down(events=changes)
                self.assertEqual(self.end(), wanted)

    def test_an_agent_killed_between_lines_makes_no_difference(self):
        """kill -9 at every line of one playing, a new agent with the same spool each time."""
        for name in WATCHES:
            with self.subTest(name):
                wanted = self.whole(name)
                api = self.begin()
                self.freeze_all(name)
                lines = lines_of(name)
                kills = set(some(len(lines), name))
                self.start().settle_down()
                events = 0
                for number, line in enumerate(lines):
                    api.play(line)
                    events += b'"BOOKMARK"' not in line
                    if number in kills:
                        self.agent.settle_down(events=events)
                        self.agent.kill()
                        events = len(api.kind("pods").objects)
                        self.start().settle_down(events=events)
                self.agent.settle_down(events=events)
                self.assertEqual(self.end(), wanted)

    def test_both_forms_of_too_old_begin_a_new_list(self):
        """An ERROR line with 410 in a stream, and HTTP 410 for a page of a list."""
        name = "namespace-deleted"
        wanted = self.whole(name)
        api = self.begin()
        self.freeze_all(name)
        self.start().settle_down()
        lines = lines_of(name)
        for number, line in enumerate(lines):
            api.play(line)
            self.agent.settle_down(events=number + 1)
            if number == 3:
                api.forget_history()
                self.agent.until(lambda m: m["watch_lists_total"] >= 2 and m["pods_pending"] == 0)
                break
        listed = self.agent.metrics()["watch_events_total"]
        for number, line in enumerate(lines[4:]):
            api.play(line)
        self.agent.settle_down(events=listed + len(lines) - 4)
        self.assertEqual(self.end(), wanted)
        self.assertIn("too old resource version", self.agent.text())

    def test_whole_recorded_answers_are_understood_byte_for_byte(self):
        """Chunked, compressed and paged lists, 401, 504 and 410, streams with bookmarks and one that a dying API server cut."""

        def recorded(path):
            with open(os.path.join(FIXTURES.name, path), "rb") as file:
                return file.read()

        def answer(status, path):
            body = recorded(path)
            return b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)

        api = self.begin()
        api.raw = [
            (False, recorded("raw/get-401.response.http")),
            (False, answer(504, "watch/error-list-future-rv-504.json")),
            (False, recorded("raw/list-110-pods-gzip.response.http")),
            (True, recorded("raw/watch-cut-by-apiserver-shutdown.response.http")),
            (True, answer(200, "watch/gone-watch-old-rv-etcd-http200.json")),
            (False, recorded("raw/list-110-pods-chunked.response.http")),
            (True, recorded("raw/watch-pods-chunked.response.http")),
            (True, answer(500, "watch/error-bad-rv-500.json")),
            (False, answer(200, "api/podlist-page1-of-2.json")),
            (False, answer(410, "watch/gone-continue-etcd-http410.json")),
            (False, answer(200, "api/podlist-page1-of-2.json")),
            (False, answer(200, "api/podlist-page2-of-2.json")),
        ]
        streamed = recorded("raw/watch-pods-chunked.response.http")
        changes = sum(streamed.count(b'{"type":"%s"' % kind) for kind in (b"ADDED", b"MODIFIED", b"DELETED"))
        cut = recorded("raw/watch-cut-by-apiserver-shutdown.response.http").count(b'{"type":"MODIFIED"')
        first = json.loads(recorded("api/podlist-page1-of-2.json"))
        second = json.loads(recorded("api/podlist-page2-of-2.json"))
        pages = 2 * len(first["items"]) + len(second["items"])
        self.start()
        self.agent.until(lambda m: not api.raw, within_s=60)
        seen = self.agent.settle_down(lists=3, events=110 + cut + 110 + changes + pages)
        self.assertEqual((cut > 0, changes > 50, pages > 80), (True, True, True))
        self.assertEqual(seen["watch_lists_total"], 3, "whole ones")
        self.assertEqual(seen["watch_events_total"], 110 + cut + 110 + changes + pages)
        self.assertEqual(self.agent.stop(), 0)


if __name__ == "__main__":
    COREHOURD, AGENT, LIBRARY = sys.argv[1:4]
    FIXTURES = l.fixtures()
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
