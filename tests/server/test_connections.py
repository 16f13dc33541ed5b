"""Many connections, slow ones, too many, and what happens to them when the daemon stops.

usage: test_connections.py COREHOURD
"""

import pathlib
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "lib"))

import daemon as d  # noqa: E402

PROGRAM = sys.argv.pop(1)


class Steps(unittest.TestCase):
    def test_no_number_of_connections_stalls(self):
        """libmicrohttpd 0.9.75 with its own epoll loop stops at multiples of 128 (docs/architecture.md)."""
        with d.Daemon(PROGRAM) as daemon:
            daemon.make_world()
            for count in (1, 64, 127, 128, 129, 256, 512, 1000):
                with self.subTest(connections=count):
                    connections = [daemon.connect() for _ in range(count)]
                    for turn in range(3):
                        for i, connection in enumerate(connections):
                            connection.send(daemon.bytes_of("POST", "/v1/holds", d.freeze_body(f"s-{count}-{turn}-{i}")))
                        for connection in connections:
                            self.assertEqual(connection.read().status, 201)
                    for connection in connections:
                        connection.close()


class Limits(unittest.TestCase):
    def test_a_connection_too_many_is_told_so_and_closed(self):
        """SPEC 11.4."""
        with d.Daemon(PROGRAM, "connections_max = 8\n") as daemon:
            connections = [daemon.connect() for _ in range(8)]
            for connection in connections:
                connection.send(b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n")
                self.assertEqual(connection.read().status, 200)
            with daemon.connect() as extra:
                extra.send(b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n")
                answer = extra.read()
                self.assertEqual((answer.status, answer.json["code"]), (503, "overloaded"))
                self.assertEqual(answer.header("retry-after"), "1")
                self.assertTrue(extra.is_closed())
            for connection in connections:
                connection.close()
            time.sleep(0.3)
            self.assertEqual(daemon.call("GET", "/healthz").status, 200)

    def test_a_slow_sender_is_closed_and_others_are_served_meanwhile(self):
        """SPEC 11.4: slow and hostile clients hold nobody up."""
        with d.Daemon(PROGRAM, "request_timeout_s = 1\nidle_timeout_s = 2\n") as daemon:
            slow = daemon.connect()  # closed by the daemon
            slow.send(b"POST /v1/holds HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\n{")
            header = daemon.connect()
            header.send(b"GET /healthz HTTP/1.1\r\nHost: t\r\nX-Slow: ")
            began = time.monotonic()
            ended = {}
            while len(ended) < 2 and time.monotonic() - began < 10:
                self.assertEqual(daemon.call("GET", "/healthz").status, 200)
                for name, connection in (("body", slow), ("header", header)):
                    if name not in ended:
                        try:
                            connection.send(b" ")  # a byte now and then keeps the idle timeout away
                            if connection.is_closed(0.2):
                                ended[name] = time.monotonic() - began
                        except OSError:
                            ended[name] = time.monotonic() - began
            self.assertEqual(set(ended), {"body", "header"})
            self.assertLess(max(ended.values()), 5)

    def test_an_idle_connection_is_closed(self):
        with d.Daemon(PROGRAM, "idle_timeout_s = 1\n") as daemon, daemon.connect() as connection:
            connection.send(b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n")
            self.assertEqual(connection.read().status, 200)
            self.assertTrue(connection.is_closed(5))

    def test_a_full_queue_is_503_at_once_and_nothing_is_half_done(self):
        """SPEC 11.4."""
        with d.Daemon(PROGRAM, "queue_max = 4\n") as daemon:
            daemon.make_world()
            connections = [daemon.connect() for _ in range(200)]
            for i, connection in enumerate(connections):
                connection.send(daemon.bytes_of("POST", "/v1/holds", d.freeze_body(f"q-{i}")))
            answers = [connection.read() for connection in connections]
            for connection in connections:
                connection.close()
            refused = [answer for answer in answers if answer.status == 503]
            accepted = [answer for answer in answers if answer.status == 201]
            self.assertEqual(len(refused) + len(accepted), 200)
            self.assertTrue(accepted)
            for answer in refused:
                self.assertEqual((answer.json["code"], answer.header("retry-after")), ("overloaded", "1"))
            balance = daemon.ok("GET", "/v1/projects/vision/balance").json
            self.assertEqual(balance["frozen_mcs"], 4800000 * len(accepted))

    def test_wrong_tokens_too_often_are_429_and_right_ones_still_pass(self):
        with d.Daemon(PROGRAM, "token_failures_per_minute = 5\n") as daemon:
            statuses = [daemon.call("GET", "/v1/holds", token=f"ch_wrong{i}").status for i in range(20)]
            self.assertEqual(statuses[:5], [401] * 5)
            self.assertIn(429, statuses)
            self.assertEqual(daemon.call("GET", "/v1/holds").status, 200)


class Stop(unittest.TestCase):
    def test_stop_under_load_answers_what_was_accepted(self):
        with d.Daemon(PROGRAM) as daemon:
            daemon.make_world()
            answered = [[] for _ in range(16)]

            def send(worker):
                """Freeze one after another until the daemon is gone; what was answered 201 must be there."""
                try:
                    with daemon.connect() as connection:
                        for i in range(100000):
                            hold = f"stop-{worker}-{i}"
                            connection.send(daemon.bytes_of("POST", "/v1/holds", d.freeze_body(hold)))
                            answer = connection.read()
                            if answer.status == 503:
                                return
                            self.assertEqual(answer.status, 201)
                            answered[worker].append(hold)
                except (ConnectionError, OSError):
                    return

            threads = [threading.Thread(target=send, args=(i,)) for i in range(16)]
            for thread in threads:
                thread.start()
            time.sleep(0.5)
            began = time.monotonic()
            self.assertEqual(daemon.stop(), 0)
            self.assertLess(time.monotonic() - began, 20)
            for thread in threads:
                thread.join()
            count = sum(len(holds) for holds in answered)
            self.assertGreater(count, 0)
            daemon.start()
            balance = daemon.ok("GET", "/v1/projects/vision/balance").json
            self.assertGreaterEqual(balance["frozen_mcs"], 4800000 * count)
            for holds in answered:
                self.assertEqual(daemon.call("GET", f"/v1/holds/{holds[-1]}").status, 200)

    def test_a_long_poll_is_answered_when_the_daemon_stops(self):
        with d.Daemon(PROGRAM) as daemon:
            daemon.make_world()
            with daemon.connect(30) as poll:
                poll.send(daemon.bytes_of("GET", "/v1/clusters/alpha/feed?after=0&wait_s=30"))
                time.sleep(0.5)
                began = time.monotonic()
                daemon.process.terminate()
                answer = poll.read()
                self.assertEqual((answer.status, answer.json), (200, {"events": [], "next_after": 0}))
                self.assertEqual(daemon.stop(), 0)
                self.assertLess(time.monotonic() - began, 5)

    def test_a_request_that_never_completes_does_not_hold_up_the_stop(self):
        with d.Daemon(PROGRAM) as daemon, daemon.connect() as connection:
            connection.send(b"POST /v1/holds HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\n{")
            time.sleep(0.2)
            began = time.monotonic()
            self.assertEqual(daemon.stop(), 0)
            self.assertLess(time.monotonic() - began, 6)


if __name__ == "__main__":
    unittest.main()
