"""The disk is full for a while: 503, the ledger stays whole, service returns when the disk does (SPEC 11.3).

usage: test_disk.py COREHOURD

A limit on the size of files stands for the full disk: writes beyond it fail.
"""

import pathlib
import resource
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "lib"))

import daemon as d  # noqa: E402

PROGRAM = sys.argv.pop(1)
ROOM_BYTES = 200 * 1024


class Disk(unittest.TestCase):
    def limit(self, daemon, size):
        hard = resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (size, hard))

    def freeze_until_refused(self, daemon, worker, accepted, refused):
        with daemon.connect(30) as connection:
            for i in range(100000):
                hold = f"disk-{worker}-{i}"
                connection.send(daemon.bytes_of("POST", "/v1/holds", d.freeze_body(hold)))
                answer = connection.read()
                if answer.status == 201:
                    accepted.append(hold)
                    continue
                refused.append(answer)
                return

    def test_the_ledger_stays_whole_and_service_returns(self):
        with d.Daemon(PROGRAM) as daemon:
            daemon.make_world()
            accepted, refused = [], []
            largest = max(path.stat().st_size for path in daemon.data.iterdir())
            self.limit(daemon, largest + ROOM_BYTES)
            threads = [threading.Thread(target=self.freeze_until_refused, args=(daemon, i, accepted, refused)) for i in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual({answer.status for answer in refused}, {503})
            self.assertEqual({answer.json["code"] for answer in refused}, {"unavailable"})
            self.assertEqual({answer.header("retry-after") for answer in refused}, {"1"})
            self.assertEqual(daemon.call("GET", "/readyz").status, 503)
            self.assertEqual(daemon.call("GET", "/healthz").status, 200)
            self.assertEqual(daemon.ok("GET", "/v1/projects/vision/balance").json["frozen_mcs"], 4800000 * len(accepted))
            self.limit(daemon, resource.RLIM_INFINITY)
            deadline = time.monotonic() + 10
            while daemon.call("GET", "/readyz").status != 200 and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertEqual(daemon.call("GET", "/readyz").status, 200)
            self.assertEqual(daemon.call("POST", "/v1/holds", d.freeze_body("disk-after")).status, 201)
            self.assertEqual(daemon.ok("GET", "/v1/projects/vision/balance").json["frozen_mcs"], 4800000 * (len(accepted) + 1))
            for hold in accepted[-20:]:
                self.assertEqual(daemon.call("GET", f"/v1/holds/{hold}").status, 200)
            self.assertEqual(daemon.check(), (0, daemon.check()[1]))
            self.assertEqual(daemon.stop(), 0)
            self.assertEqual(daemon.check()[0], 0)


if __name__ == "__main__":
    unittest.main()
