"""Batches, events, heartbeats and the feed, against the real daemon.

usage: test_bulk.py COREHOURD
"""

import json
import pathlib
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "lib"))

import daemon as d  # noqa: E402

PROGRAM = sys.argv.pop(1)


BEGAN = int(time.time())


def ago(seconds):
    """Before the test began: two times are as far apart as they say, however slow the machine is."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(BEGAN - seconds))


def lines(*rows):
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows).encode()


def freeze_line(hold, **changes):
    return {"op": "freeze", **d.freeze_body(hold, **changes)}


class Bulk(unittest.TestCase):
    def setUp(self):
        self.daemon = d.Daemon(PROGRAM)
        self.daemon.__enter__()
        self.daemon.make_world()

    def tearDown(self):
        self.assertEqual(self.daemon.stop(), 0)
        self.daemon.__exit__(None)

    def batch(self, body, query="", token=None):
        answer = self.daemon.call("POST", "/v1/batch" + query, body, token=token, timeout_s=60)
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.header("content-type"), "application/x-ndjson")
        return [json.loads(line) for line in answer.body.decode().splitlines()]

    def frozen(self):
        return self.daemon.ok("GET", "/v1/projects/vision/balance").json["frozen_mcs"]

    def test_each_line_gets_its_own_answer_in_order(self):
        answers = self.batch(
            lines(
                freeze_line("b-1"),
                "",
                freeze_line("b-1"),
                {"op": "settle", "hold": "b-1", "started_at": ago(100), "ended_at": ago(40)},
                {"op": "settle", "hold": "none", "ended_at": ago(40)},
                "{no json",
                {"op": "dance"},
                {"id": "x"},
                freeze_line("b-2", colour="red"),
                {"op": "grant", "id": "g-2", "node": "acme", "core_hours": "1"},
                freeze_line("b-3"),
            )
        )
        self.assertEqual([answer["status"] for answer in answers], [201, 201, 200, 404, 400, 422, 422, 422, 201, 201])
        self.assertEqual(answers[0]["state"], "frozen")
        self.assertEqual(answers[2]["charged_mcs"], 960000)
        self.assertEqual((answers[3]["code"], answers[3]["line"]), ("unknown_hold", 5))
        self.assertEqual((answers[7]["code"], answers[7]["field"], answers[7]["line"]), ("invalid_field", "colour", 9))
        self.assertEqual(self.frozen(), 4800000)

    def test_an_atomic_batch_is_all_or_nothing(self):
        bad = lines(freeze_line("a-1"), freeze_line("a-2"), {"op": "settle", "hold": "none", "ended_at": ago(1)})
        answers = self.batch(bad, "?atomic=true")
        self.assertEqual([answer["status"] for answer in answers], [424, 424, 404])
        self.assertEqual(answers[0]["code"], "rolled_back")
        self.assertEqual(self.frozen(), 0)
        answers = self.batch(lines(freeze_line("a-1"), freeze_line("a-2", colour="red")), "?atomic=true")
        self.assertEqual([answer["status"] for answer in answers], [424, 422])
        self.assertEqual(self.frozen(), 0)
        answers = self.batch(lines(freeze_line("a-1"), freeze_line("a-2")), "?atomic=true")
        self.assertEqual([answer["status"] for answer in answers], [201, 201])
        self.assertEqual(self.frozen(), 9600000)

    def test_ten_thousand_lines_pass_and_one_more_is_refused(self):
        body = lines(*(freeze_line(f"m-{i}") for i in range(10000)))
        answers = self.batch(body)
        self.assertEqual({answer["status"] for answer in answers}, {201})
        self.assertEqual([answer["id"] for answer in answers], [f"m-{i}" for i in range(10000)])
        self.assertEqual(self.frozen(), 10000 * 4800000)
        answer = self.daemon.call("POST", "/v1/batch", body + lines(freeze_line("one-more")))
        self.assertEqual((answer.status, answer.json["code"]), (422, "too_many_lines"))

    def test_others_are_answered_while_a_large_batch_runs(self):
        """SPEC 11.4: nobody waits long behind a large batch."""
        body = lines(*(freeze_line(f"w-{i}") for i in range(10000)))
        done = threading.Event()

        def run():
            self.batch(body)
            done.set()

        thread = threading.Thread(target=run)
        thread.start()
        waits = []
        i = 0
        while not done.is_set():
            began = time.monotonic()
            self.assertEqual(self.daemon.call("POST", "/v1/holds", d.freeze_body(f"x-{i}")).status, 201)
            waits.append(time.monotonic() - began)
            i += 1
        thread.join()
        self.assertGreater(len(waits), 2)
        self.assertLess(max(waits), 2)

    def test_a_dry_run_of_a_batch_writes_nothing(self):
        answers = self.batch(lines(freeze_line("d-1"), freeze_line("d-2")), "?dry_run=true")
        self.assertEqual([answer["status"] for answer in answers], [201, 201])
        self.assertEqual(self.frozen(), 0)

    def test_each_line_needs_the_role_of_its_own_operation(self):
        token = self.daemon.ok("POST", "/v1/tokens", {"name": "s", "role": "scheduler", "place": "alpha"}).json["token"]
        answers = self.batch(lines(freeze_line("r-1"), {"op": "grant", "id": "g-9", "node": "acme", "core_hours": 1}), token=token)
        self.assertEqual([answer["status"] for answer in answers], [201, 403])

    # ---- events

    def event(self, kind, number, data):
        return {"specversion": "1.0", "id": str(number), "source": "/slurm/alpha", "type": "corehour.job." + kind, "data": data}

    def test_an_event_is_its_verb_and_twice_is_once(self):
        submitted = self.event("submitted", 1, d.freeze_body("e-1"))
        first = self.daemon.call("POST", "/v1/events", submitted)
        self.assertEqual((first.status, first.json["state"]), (201, "frozen"))
        again = self.daemon.call("POST", "/v1/events", submitted)
        self.assertEqual((again.status, again.header("idempotency-replayed")), (201, "true"))
        finished = self.event("finished", 2, {"hold": "e-1", "started_at": ago(100), "ended_at": ago(40)})
        results = self.daemon.ok("POST", "/v1/events", [finished, finished]).json["results"]
        self.assertEqual([result["status"] for result in results], [200, 200])
        self.assertEqual(results[1]["hold"]["charged_mcs"], 960000)
        self.assertEqual(self.daemon.ok("GET", "/v1/projects/vision/balance").json["used_mcs"], 960000)

    def test_bad_events_are_named_one_by_one(self):
        events = [
            self.event("finished", 1, {"hold": "none", "ended_at": ago(1)}),
            self.event("danced", 2, {}),
            self.event("finished", 3, {"hold": "none", "ended_at": "never"}),
            {"specversion": "0.3", "id": "4", "source": "/s", "type": "corehour.job.started", "data": {}},
            {"id": "5"},
            7,
        ]
        results = self.daemon.ok("POST", "/v1/events", events).json["results"]
        self.assertEqual([result["status"] for result in results], [404, 422, 422, 422, 422, 400])
        self.assertEqual(results[2]["field"], "data.ended_at")
        self.assertEqual((results[0]["source"], results[0]["id"]), ("/slurm/alpha", "1"))

    def test_an_array_that_does_not_end_is_malformed(self):
        for body in (b"[", b"[{}", b"[{},", b'[{"a":"]"}', b"[] x", b"[1] ]"):
            with self.subTest(body):
                self.assertIn(self.daemon.call("POST", "/v1/events", body).status, (400, 422))

    # ---- heartbeats and the feed

    def test_heartbeats_have_a_result_for_each_run(self):
        self.daemon.ok("POST", "/v1/holds", d.freeze_body("hb-1"))
        self.daemon.ok("POST", "/v1/holds/hb-1/start", {"started_at": ago(100)})
        runs = [{"hold": "hb-1"}, {"hold": "none"}, {"hold": "hb-1", "task": 0, "attempt": 0}]
        answer = self.daemon.ok("POST", "/v1/heartbeats", {"cluster": "alpha", "at": ago(1), "runs": runs}).json
        self.assertEqual([result["result"] for result in answer["results"]][:2], ["ok", "unknown"])
        self.assertEqual(len(answer["results"]), 3)
        many = [{"hold": "hb-1"}] * 5001
        answer = self.daemon.call("POST", "/v1/heartbeats", {"cluster": "alpha", "at": ago(1), "runs": many})
        self.assertEqual((answer.status, answer.json["code"]), (422, "too_many_runs"))
        answer = self.daemon.call("POST", "/v1/heartbeats", {"cluster": "alpha", "at": ago(1), "runs": [{"hold": "a"}, {"hole": "b"}]})
        self.assertEqual((answer.status, answer.json["field"]), (422, "runs.1.hole"))
        answer = self.daemon.call("POST", "/v1/heartbeats", {"cluster": "nowhere", "at": ago(1), "runs": [{"hold": "hb-1"}]})
        self.assertEqual(answer.json["code"], "unknown_cluster")
        answer = self.daemon.call("POST", "/v1/heartbeats", b'{"cluster":')
        self.assertEqual((answer.status, answer.json["code"]), (400, "malformed"))
        beats = self.event("heartbeat", 1, {"cluster": "alpha", "at": ago(1), "runs": runs})
        answer = self.daemon.ok("POST", "/v1/events", beats).json
        self.assertEqual([result["result"] for result in answer["results"]], ["ok", "unknown", "ok"])

    def test_a_waiting_poll_hears_of_a_promotion_at_once(self):
        self.daemon.ok("PUT", "/v1/projects/vision/caps/jobs", {"limit": 1})
        self.daemon.ok("POST", "/v1/holds", d.freeze_body("f-1"))
        waiting = self.daemon.call("POST", "/v1/holds", d.freeze_body("f-2", on_insufficient="wait"))
        self.assertEqual((waiting.status, waiting.json["state"]), (202, "waiting"))
        with self.daemon.connect(30) as poll:
            poll.send(self.daemon.bytes_of("GET", "/v1/clusters/alpha/feed?after=0&wait_s=20"))
            time.sleep(0.5)
            began = time.monotonic()
            self.daemon.ok("POST", "/v1/holds/f-1/release", {})
            answer = poll.read()
            self.assertLess(time.monotonic() - began, 2)
        event = answer.json["events"][0]
        self.assertEqual((event["type"], event["hold"], event["tasks"]), ("frozen", "f-2", "0"))
        self.assertEqual(answer.json["next_after"], event["seq"])
        empty = self.daemon.ok("GET", f"/v1/clusters/alpha/feed?after={event['seq']}").json
        self.assertEqual(empty, {"events": [], "next_after": event["seq"]})

    def test_a_poll_ends_when_its_time_is_over(self):
        began = time.monotonic()
        answer = self.daemon.ok("GET", "/v1/clusters/alpha/feed?after=0&wait_s=1").json
        self.assertEqual(answer["events"], [])
        self.assertTrue(0.9 < time.monotonic() - began < 3)


if __name__ == "__main__":
    unittest.main()
