"""Bytes in, status and body out, over a real socket against the real daemon.

usage: test_bytes.py COREHOURD
"""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "lib"))

import daemon as d  # noqa: E402

PROGRAM = sys.argv.pop(1)

FREEZE = json.dumps(d.freeze_body("h-1")).encode()
LONG = b"x" * 70000


def with_length(body, extra=b"", method=b"POST", path=b"/v1/holds"):
    return b"%s %s HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer TOKEN\r\n%sContent-Length: %d\r\n\r\n%s" % (
        method,
        path,
        extra,
        len(body),
        body,
    )


def freeze_with(**changes):
    return json.dumps(d.freeze_body("h-bad", **changes)).encode()


# (name, bytes, status, code, field). TOKEN stands for a valid one.
BAD = [
    # bodies that are no JSON
    ("an empty body", with_length(b""), 400, "malformed", None),
    ("a body cut off", with_length(FREEZE[:-10]), 400, "malformed", "time_limi"),
    ("no object", with_length(b"[1]"), 422, "invalid_field", None),
    ("a bare word", with_length(b"freeze"), 400, "malformed", None),
    ("text behind the document", with_length(FREEZE + b"x"), 400, "malformed", None),
    ("a member given twice", with_length(b'{"id":"a","id":"b"}'), 400, "malformed", "id"),
    ("a nested member given twice", with_length(b'{"resources":{"cores":1,"cores":2}}'), 400, "malformed", "resources.cores"),
    ("bad UTF-8", with_length(b'{"id":"a","user":"\xff\xfe"}'), 400, "malformed", "user"),
    ("overlong UTF-8", with_length(b'{"user":"\xc0\xaf"}'), 400, "malformed", "user"),
    ("a NUL in a text", with_length(b'{"user":"a\\u0000b"}'), 400, "malformed", "user"),
    ("1e999", with_length(b'{"tasks":1e999}'), 422, "invalid_field", "tasks"),
    ("an integer beyond 64 bits", with_length(b'{"tasks":99999999999999999999}'), 422, "invalid_field", "tasks"),
    (
        "a huge number deep inside",
        with_length(b'{"resources":{"gpus":[{"count":1},{"count":1e9999}]}}'),
        422,
        "invalid_field",
        "resources.gpus.1.count",
    ),
    ("nested without end", with_length(b'{"job":' * 40 + b"1" + b"}" * 40), 400, "malformed", None),
    ("2000 open brackets", with_length(b"[" * 2000), 400, "malformed", None),
    # fields
    ("an unknown field", with_length(freeze_with(colour="red")), 422, "invalid_field", "colour"),
    ("an unknown nested field", with_length(freeze_with(resources={"cpus": 1})), 422, "invalid_field", "resources.cpus"),
    ("a missing field", with_length(b'{"id":"x"}'), 422, "invalid_field", "cluster"),
    ("a text for a number", with_length(freeze_with(tasks="1")), 422, "invalid_field", "tasks"),
    ("a number with a point", with_length(freeze_with(tasks=1.0)), 422, "invalid_field", "tasks"),
    ("a number with an exponent", with_length(b'{"id":"x","tasks":1e2}'), 422, "invalid_field", "tasks"),
    ("a switch for a number", with_length(freeze_with(time_limit_s=True)), 422, "invalid_field", "time_limit_s"),
    ("null where a value must be", with_length(freeze_with(user=None)), 422, "invalid_field", "user"),
    ("zero tasks", with_length(freeze_with(tasks=0)), 422, "invalid_field", "tasks"),
    ("negative tasks", with_length(freeze_with(tasks=-1)), 422, "invalid_field", "tasks"),
    ("too many tasks", with_length(freeze_with(tasks=100001)), 422, "too_many_tasks", "tasks"),
    ("too many GPU entries", with_length(freeze_with(resources={"gpus": [{"model": "a", "count": 1}] * 9})), 422, "too_many_gpus", "resources.gpus"),
    ("no resources at all", with_length(freeze_with(resources={"cores": 0})), 422, "invalid_field", "resources"),
    ("an id with a blank", with_length(json.dumps(d.freeze_body("a b")).encode()), 422, "invalid_field", "id"),
    ("an id that is too long", with_length(json.dumps(d.freeze_body("a" * 65)).encode()), 422, "invalid_field", "id"),
    ("a name with a control character", with_length(freeze_with(user="a\tb")), 422, "invalid_field", "user"),
    ("a name that is too long", with_length(freeze_with(user="a" * 129)), 422, "invalid_field", "user"),
    ("a mode that does not exist", with_length(freeze_with(mode="half")), 422, "invalid_field", "mode"),
    ("an unknown cluster", with_length(freeze_with(cluster="nowhere")), 422, "unknown_cluster", "cluster"),
    ("an unknown account", with_length(freeze_with(account="nobody")), 422, "unknown_account", "account"),
    (
        "core-hours with 6 decimals",
        with_length(b'{"id":"g","node":"acme","core_hours":"1.000001"}', path=b"/v1/grants"),
        422,
        "invalid_field",
        "core_hours",
    ),
    (
        "core-hours as a float",
        with_length(b'{"id":"g","node":"acme","core_hours":1.5}', path=b"/v1/grants"),
        422,
        "invalid_field",
        "core_hours",
    ),
    (
        "an amount in two units",
        with_length(b'{"id":"g","node":"acme","core_hours":1,"mcs":3600000}', path=b"/v1/grants"),
        422,
        "invalid_field",
        "mcs",
    ),
    ("no amount", with_length(b'{"id":"g","node":"acme"}', path=b"/v1/grants"), 422, "invalid_field", "core_hours"),
    (
        "an amount of 2^53 mcs",
        with_length(b'{"id":"g","node":"acme","mcs":9007199254740992}', path=b"/v1/grants"),
        422,
        "invalid_field",
        "mcs",
    ),
    (
        "a time that is none",
        with_length(b'{"started_at":"yesterday"}', path=b"/v1/holds/h-1/start"),
        422,
        "invalid_field",
        "started_at",
    ),
    (
        "the 30th of February",
        with_length(b'{"started_at":"2026-02-30T00:00:00Z"}', path=b"/v1/holds/h-1/start"),
        422,
        "invalid_field",
        "started_at",
    ),
    (
        "a cap in the wrong unit",
        with_length(b'{"limit":1}', method=b"PUT", path=b"/v1/projects/vision/caps/month"),
        422,
        "invalid_field",
        "limit",
    ),
    # paths, methods, parameters
    ("an unknown path", b"GET /v1/nothing HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer TOKEN\r\n\r\n", 404, "not_found", None),
    ("an unknown hold", with_length(b'{"ended_at":"2026-11-30T00:00:00Z"}', path=b"/v1/holds/none/settle"), 404, "unknown_hold", None),
    ("a method that the path has not", with_length(b"", method=b"PATCH"), 405, "method_not_allowed", None),
    ("a method that nobody knows", with_length(b"", method=b"BREW"), 405, "method_not_allowed", None),
    ("an unknown parameter", with_length(FREEZE, path=b"/v1/holds?colour=red"), 400, "malformed", "colour"),
    ("a parameter given twice", with_length(FREEZE, path=b"/v1/holds?dry_run=true&dry_run=true"), 400, "malformed", "dry_run"),
    ("a switch that is none", with_length(FREEZE, path=b"/v1/holds?dry_run=yes"), 400, "malformed", "dry_run"),
    ("a broken escape", with_length(FREEZE, path=b"/v1/holds/%zz/settle"), 400, "malformed", None),
    ("bytes that are no UTF-8 in the query", b"GET /v1/holds?user=%ff HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer TOKEN\r\n\r\n", 400, "malformed", "user"),
    ("a parameter whose name is no UTF-8", b"GET /v1/holds?%ff=1 HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer TOKEN\r\n\r\n", 400, "malformed", None),
    ("a NUL in the path", with_length(FREEZE, path=b"/v1/holds/%00/settle"), 400, "malformed", None),
    # who asks
    ("no token", b"POST /v1/holds HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\n{}", 401, "unauthenticated", None),
    ("a wrong token", with_length(FREEZE).replace(b"TOKEN", b"ch_wrong"), 401, "unauthenticated", None),
    ("another scheme", with_length(FREEZE).replace(b"Bearer", b"Basic"), 401, "unauthenticated", None),
    ("no token for a path that is not there", b"GET /v1/nothing HTTP/1.1\r\nHost: t\r\n\r\n", 401, "unauthenticated", None),
    # conditions
    (
        "If-Match that is no tag",
        with_length(b'{"organization":"acme-ai","membership":"listed"}', extra=b"If-Match: seven\r\n", method=b"PUT", path=b"/v1/projects/vision"),
        400,
        "malformed",
        "If-Match",
    ),
    (
        "a change without If-Match",
        with_length(b'{"organization":"acme-ai","membership":"listed"}', method=b"PUT", path=b"/v1/projects/vision"),
        428,
        "precondition_required",
        None,
    ),
    (
        "a stale If-Match",
        with_length(b'{"organization":"acme-ai","membership":"listed"}', extra=b'If-Match: "99"\r\n', method=b"PUT", path=b"/v1/projects/vision"),
        412,
        "precondition_failed",
        None,
    ),
    (
        "a weak If-Match",
        with_length(b'{"organization":"acme-ai","membership":"listed"}', extra=b'If-Match: W/"1"\r\n', method=b"PUT", path=b"/v1/projects/vision"),
        412,
        "precondition_failed",
        None,
    ),
]

# Headers that contradict each other: refused, and the connection closed. (name, bytes, field)
CONTRADICTIONS = [
    ("two Content-Length", with_length(FREEZE, extra=b"Content-Length: 5\r\n"), "Content-Length"),
    ("two equal Content-Length", with_length(FREEZE, extra=b"Content-Length: %d\r\n" % len(FREEZE)), "Content-Length"),
    ("two Host", with_length(FREEZE, extra=b"Host: u\r\n"), "Host"),
    ("two Authorization", with_length(FREEZE, extra=b"Authorization: Bearer x\r\n"), "Authorization"),
    ("two Idempotency-Key", with_length(FREEZE, extra=b"Idempotency-Key: a\r\nidempotency-key: b\r\n"), "Idempotency-Key"),
    (
        "a Transfer-Encoding that nobody knows",
        b"POST /v1/holds HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer TOKEN\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "Transfer-Encoding",
    ),
    ("Content-Length and Transfer-Encoding", with_length(FREEZE, extra=b"Transfer-Encoding: chunked\r\n"), "Content-Length"),
]


class Bytes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = d.Daemon(PROGRAM, "token_failures_per_minute = 1000\n")
        cls.daemon.__enter__()
        cls.daemon.make_world()

    @classmethod
    def tearDownClass(cls):
        code = cls.daemon.stop()
        cls.daemon.__exit__(None)
        assert code == 0, f"exit code {code}"

    def send(self, connection, data):
        connection.send(data.replace(b"TOKEN", self.daemon.token.encode()))
        return connection.read()

    def assert_problem(self, answer, status, code, field):
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.header("content-type"), "application/problem+json")
        problem = answer.json
        self.assertEqual(problem["code"], code, problem)
        self.assertEqual(problem["status"], status)
        self.assertEqual(problem.get("field"), field, problem)
        self.assertTrue(problem["title"])

    def balance(self):
        return self.daemon.ok("GET", "/v1/organizations/acme/balance").json["frozen_mcs"]

    def test_bad_requests_are_refused_by_name_and_the_connection_lives(self):
        before = self.balance()
        for name, data, status, code, field in BAD:
            with self.subTest(name), self.daemon.connect() as connection:
                self.assert_problem(self.send(connection, data), status, code, field)
                self.assertEqual(self.send(connection, b"GET /readyz HTTP/1.1\r\nHost: t\r\n\r\n").status, 200)
        self.assertEqual(self.balance(), before)

    def test_contradicting_headers_are_refused_and_the_connection_ends(self):
        for name, data, field in CONTRADICTIONS:
            with self.subTest(name), self.daemon.connect() as connection:
                self.assert_problem(self.send(connection, data), 400, "malformed", field)
                self.assertTrue(connection.is_closed())

    def test_405_says_what_the_path_allows(self):
        answer = self.daemon.call("DELETE", "/v1/holds")
        self.assertEqual(answer.status, 405)
        self.assertEqual(answer.header("allow"), "GET, POST")

    def test_a_large_body_is_refused_before_it_is_read(self):
        with self.daemon.connect() as connection:
            head = with_length(b"", path=b"/v1/holds").replace(b"Content-Length: 0", b"Content-Length: 100000000")
            self.assert_problem(self.send(connection, head), 413, "too_large", None)
            self.assertTrue(connection.is_closed())

    def test_a_large_body_that_is_sent_at_once_still_gets_its_413(self):
        for size in (65537, 100_000, 1_000_000, 4_000_000):
            with self.subTest(size), self.daemon.connect() as connection:
                self.assert_problem(self.send(connection, with_length(b" " * size)), 413, "too_large", None)

    def test_a_chunked_body_is_bounded_too(self):
        head = b"POST /v1/holds HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer TOKEN\r\nTransfer-Encoding: chunked\r\n\r\n"
        with self.daemon.connect() as connection:
            body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [LONG[:35000], LONG[35000:]]) + b"0\r\n\r\n"
            self.assert_problem(self.send(connection, head + body), 413, "too_large", None)
        with self.daemon.connect() as connection:
            body = b"".join(b"%x\r\n%s\r\n" % (1, bytes([byte])) for byte in FREEZE) + b"0\r\n\r\n"
            answer = self.send(connection, head + body)
            self.assertEqual(answer.status, 201, answer)

    def test_a_body_in_single_bytes_arrives_whole(self):
        with self.daemon.connect() as connection:
            for byte in with_length(json.dumps(d.freeze_body("h-slow")).encode()).replace(b"TOKEN", self.daemon.token.encode()):
                connection.send(bytes([byte]))
            self.assertEqual(connection.read().status, 201)

    def test_headers_beyond_their_bound_end_with_a_4xx(self):
        with self.daemon.connect() as connection:
            connection.send(b"GET /readyz HTTP/1.1\r\nHost: t\r\nX-Long: " + b"y" * 40000 + b"\r\n\r\n")
            self.assertIn(connection.read().status, (400, 413, 414, 431))
        self.assertEqual(self.daemon.call("GET", "/readyz").status, 200)

    def test_garbage_does_no_harm(self):
        for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\r\n" * 100, b"GET\r\n\r\n", b"\x00" * 100, b"A" * 5000 + b"\r\n\r\n"):
            with self.daemon.connect() as connection:
                connection.send(data)
        self.assertEqual(self.daemon.call("GET", "/readyz").status, 200)

    def test_two_requests_in_one_segment_are_answered_in_order(self):
        requests = [self.daemon.bytes_of("POST", "/v1/holds", d.freeze_body(f"pipe-{i}")) for i in range(20)]
        requests.append(self.daemon.bytes_of("GET", "/healthz"))
        with self.daemon.connect() as connection:
            connection.send(b"".join(requests))
            for i in range(20):
                answer = connection.read()
                self.assertEqual((answer.status, answer.json["id"]), (201, f"pipe-{i}"))
            self.assertEqual(connection.read().json["status"], "ok")

    def test_a_body_and_the_next_request_in_one_segment(self):
        first = self.daemon.bytes_of("POST", "/v1/holds", d.freeze_body("seg-1"))
        second = self.daemon.bytes_of("POST", "/v1/holds", d.freeze_body("seg-2"))
        with self.daemon.connect() as connection:
            connection.send(first[:-20])
            connection.send(first[-20:] + second)
            self.assertEqual(connection.read().json["id"], "seg-1")
            self.assertEqual(connection.read().json["id"], "seg-2")

    def test_head_is_get_without_a_body(self):
        answer = self.daemon.call("HEAD", "/healthz")
        self.assertEqual((answer.status, answer.body), (200, b""))

    def test_http_1_0_is_answered_and_closed(self):
        with self.daemon.connect() as connection:
            connection.send(b"GET /healthz HTTP/1.0\r\n\r\n")
            self.assertEqual(connection.read().status, 200)
            self.assertTrue(connection.is_closed())

    def test_a_client_that_leaves_while_its_command_is_committed_does_no_harm(self):
        for i in range(400):
            with self.daemon.connect() as connection:
                connection.send(self.daemon.bytes_of("POST", "/v1/holds", d.freeze_body(f"gone-{i}")))
                if i % 2 == 0:  # end with a reset, which is noticed at once
                    connection.reset()
        for i in (0, 1, 398, 399):
            self.assertEqual(self.daemon.call("POST", "/v1/holds", d.freeze_body(f"gone-{i}")).status, 201)
        self.assertEqual(self.daemon.call("GET", "/readyz").status, 200)

    def test_traceparent_is_passed_on_and_each_answer_has_its_own_id(self):
        trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        answer = self.daemon.call("GET", "/healthz", headers={"traceparent": trace})
        other = self.daemon.call("GET", "/healthz", headers={"traceparent": trace.replace("4bf9", "XXXX")})
        self.assertEqual(answer.header("traceparent"), trace)
        self.assertIsNone(other.header("traceparent"))
        self.assertNotEqual(answer.header("x-request-id"), other.header("x-request-id"))
        self.assertIn("4bf92f3577b34da6a3ce929d0e0e4736", self.daemon.log.read_text(encoding="utf-8"))

    def test_problems_speak_chinese_when_asked(self):
        answer = self.daemon.call("GET", "/v1/nothing", headers={"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"})
        self.assertEqual(answer.header("content-language"), "zh")
        self.assertEqual(answer.json["title"], "该令牌可见范围内没有这个名称")
        english = self.daemon.call("GET", "/v1/nothing", headers={"Accept-Language": "en,zh;q=0.8"})
        self.assertEqual(english.header("content-language"), "en")

    def test_amounts_come_as_strings_when_asked(self):
        answer = self.daemon.ok("POST", "/v1/holds?amounts=string&dry_run=true", d.freeze_body("h-text")).json
        self.assertEqual((answer["frozen_mcs"], answer["frozen_core_hours"]), ("4800000", "1.33333"))

    def test_an_idempotency_key_belongs_to_one_request(self):
        key = {"Idempotency-Key": '"8e03978e-40d5"'}
        first = self.daemon.call("POST", "/v1/holds", d.freeze_body("key-1"), key)
        again = self.daemon.call("POST", "/v1/holds", d.freeze_body("key-1"), {"Idempotency-Key": "8e03978e-40d5"})
        other = self.daemon.call("POST", "/v1/holds", d.freeze_body("key-2"), key)
        self.assertEqual((first.status, first.header("idempotency-replayed")), (201, None))
        self.assertEqual((again.status, again.header("idempotency-replayed")), (201, "true"))
        self.assert_problem(other, 409, "id_reused", "Idempotency-Key")
        self.assertEqual(self.daemon.call("GET", "/v1/holds/key-2").status, 404)
        # A refused request does not use up its key.
        refused = self.daemon.call("POST", "/v1/holds", d.freeze_body("key-3", tasks=0), {"Idempotency-Key": "k3"})
        self.assertEqual(refused.status, 422)
        self.assertEqual(self.daemon.call("POST", "/v1/holds", d.freeze_body("key-3"), {"Idempotency-Key": "k3"}).status, 201)
        for bad in ("", '""', "a b", "x" * 256):
            answer = self.daemon.call("POST", "/v1/holds", d.freeze_body("key-4"), {"Idempotency-Key": bad})
            self.assert_problem(answer, 400, "malformed", "Idempotency-Key")

    def test_dry_run_answers_and_writes_nothing(self):
        before = self.balance()
        self.assertEqual(self.daemon.call("POST", "/v1/holds?dry_run=true", d.freeze_body("h-dry")).status, 201)
        self.assertEqual(self.daemon.call("GET", "/v1/holds/h-dry").status, 404)
        self.assertEqual(self.balance(), before)


if __name__ == "__main__":
    unittest.main()
