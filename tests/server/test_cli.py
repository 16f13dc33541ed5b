"""The command line of corehourd: exit codes, what it prints, what it refuses to do.

usage: test_cli.py COREHOURD
"""

import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "lib"))

import daemon as d  # noqa: E402

PROGRAM = sys.argv.pop(1)


def run(*arguments):
    """(exit code, standard output, standard error)."""
    result = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, timeout=30)
    return result.returncode, result.stdout, result.stderr


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="corehour-test-")
        self.data = pathlib.Path(self.folder.name) / "data"

    def tearDown(self):
        self.folder.cleanup()

    def test_init_prints_one_token_and_nothing_else(self):
        code, out, err = run("init", "--data", str(self.data))
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^ch_[A-Za-z0-9_-]{43}\n$")

    def test_init_takes_a_folder_that_holds_other_files(self):
        self.data.mkdir()
        (self.data / "notes").write_text("mine", encoding="utf-8")
        self.assertEqual(run("init", "--data", str(self.data))[0], 0)
        self.assertEqual((self.data / "notes").read_text(encoding="utf-8"), "mine")

    def test_init_never_overwrites_a_ledger(self):
        run("init", "--data", str(self.data))
        before = (self.data / "ledger.db").read_bytes()
        code, out, err = run("init", "--data", str(self.data))
        self.assertEqual((code, out), (1, ""))
        self.assertIn("corehourd: ", err)
        self.assertEqual((self.data / "ledger.db").read_bytes(), before)

    def test_wrong_usage_is_2_and_says_how(self):
        for arguments in ([], ["dance"], ["init"], ["serve"], ["backup", "--data", "x"], ["init", "--data", "x", "--to", "y"], ["check", "x"]):
            with self.subTest(arguments):
                code, out, err = run(*arguments)
                self.assertEqual((code, out), (2, ""))
                self.assertIn("usage: corehourd", err)

    def test_a_missing_option_is_named(self):
        self.assertIn("corehourd backup: --to is missing", run("backup", "--data", "x")[2])

    def test_help_and_version_are_answers(self):
        self.assertEqual(run("--help")[0], 0)
        self.assertEqual(run("serve", "--help")[0], 0)
        code, out, _ = run("--version")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"^corehourd \d+\.\d+\.\d+\n$")

    def test_a_ledger_that_is_not_there_is_said_so(self):
        for command in (["check"], ["serve", "--listen", "127.0.0.1:0"], ["backup", "--to", str(self.data) + ".copy"]):
            with self.subTest(command):
                code, _, err = run(command[0], "--data", str(self.data), *command[1:])
                self.assertEqual(code, 1)
                self.assertIn("corehourd: ", err)

    def test_a_bad_configuration_names_file_and_line(self):
        run("init", "--data", str(self.data))
        config = pathlib.Path(self.folder.name) / "conf"
        config.write_text("# fine\nqueue_max = none\n", encoding="utf-8")
        code, _, err = run("serve", "--data", str(self.data), "--listen", "127.0.0.1:0", "--config", str(config))
        self.assertEqual(code, 1)
        self.assertIn(f"{config}:2: queue_max", err)

    def test_a_bad_address_is_refused(self):
        run("init", "--data", str(self.data))
        for address in ("nowhere", "127.0.0.1", "127.0.0.1:99999x", "127.0.0.1:65536", "192.0.2.1:80"):
            with self.subTest(address):
                self.assertEqual(run("serve", "--data", str(self.data), "--listen", address)[0], 1)

    def test_check_of_a_new_ledger_finds_nothing(self):
        run("init", "--data", str(self.data))
        self.assertEqual(run("check", "--data", str(self.data))[0], 0)
        # A root that has not closed the month is checked from its beginning.
        self.assertEqual(run("check", "--data", str(self.data), "--since", "2026-11")[0], 0)
        self.assertEqual(run("check", "--data", str(self.data), "--since", "yesterday")[0], 1)

    def test_a_backup_is_made_while_serving_and_serves_itself(self):
        with d.Daemon(PROGRAM) as daemon:
            daemon.make_world()
            for i in range(50):
                daemon.ok("POST", "/v1/holds", d.freeze_body(f"b-{i}"))
            copy = pathlib.Path(self.folder.name) / "copy"
            copy.mkdir()
            code, out, err = run("backup", "--data", str(daemon.data), "--to", str(copy / "ledger.db"))
            self.assertEqual((code, out, err), (0, "", ""))
            self.assertEqual(run("backup", "--data", str(daemon.data), "--to", str(copy / "ledger.db"))[0], 1)
            daemon.ok("POST", "/v1/holds", d.freeze_body("later"))
            self.assertEqual(run("check", "--data", str(copy))[0], 0)
            other = d.Daemon(PROGRAM, data=copy)
            other.token = daemon.token
            other.start()
            try:
                self.assertEqual(other.ok("GET", "/v1/projects/vision/balance").json["frozen_mcs"], 50 * 4800000)
                self.assertEqual(other.call("GET", "/v1/holds/later").status, 404)
            finally:
                other.stop()
                other.__exit__(None)

    def test_a_second_daemon_on_the_same_ledger_is_kept_out(self):
        with d.Daemon(PROGRAM) as daemon:
            code, _, err = run("serve", "--data", str(daemon.data), "--listen", "127.0.0.1:0")
            self.assertEqual(code, 1)
            self.assertIn("corehourd: ", err)
            self.assertEqual(daemon.call("GET", "/readyz").status, 200)

    def test_hangup_reads_the_configuration_again(self):
        with d.Daemon(PROGRAM, "log_level = info\n") as daemon:
            daemon.config.write_text("log_level = debug\nreader_threads = 1\nmetrics_public = 1\n", encoding="utf-8")
            daemon.process.send_signal(signal.SIGHUP)
            deadline = time.monotonic() + 5
            while "event=reloaded" not in daemon.log.read_text(encoding="utf-8") and time.monotonic() < deadline:
                time.sleep(0.05)
            with daemon.connect() as connection:
                connection.send(b"GET /metrics HTTP/1.1\r\nHost: t\r\n\r\n")
                self.assertEqual(connection.read().status, 200)
            log = daemon.log.read_text(encoding="utf-8")
            self.assertIn("event=config_waits_for_restart key=reader_threads", log)
            daemon.config.write_text("colour = red\n", encoding="utf-8")
            daemon.process.send_signal(signal.SIGHUP)
            deadline = time.monotonic() + 30
            while "event=reload_failed" not in daemon.log.read_text(encoding="utf-8"):
                self.assertLess(time.monotonic(), deadline, "it never said so")
                time.sleep(0.05)
            self.assertEqual(daemon.call("GET", "/readyz").status, 200)
            self.assertEqual(daemon.stop(), 0)

    def test_metrics_are_text_with_help_and_types(self):
        with d.Daemon(PROGRAM) as daemon:
            daemon.make_world()
            daemon.ok("POST", "/v1/holds", d.freeze_body("m-1"))
            answer = daemon.ok("GET", "/metrics")
            self.assertEqual(answer.header("content-type"), "text/plain; version=0.0.4; charset=utf-8")
            names = set()
            for line in answer.body.decode().splitlines():
                if line.startswith("# TYPE "):
                    names.add(line.split(" ")[2])
                elif not line.startswith("#"):
                    name = line.split("{")[0].split(" ")[0]
                    base = name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count")
                    self.assertIn(base if base in names else name, names, line)
                    float(line.rsplit(" ", 1)[1])
            self.assertIn('corehour_http_answers_total{status="201"}', answer.body.decode())
            self.assertEqual(daemon.call("GET", "/metrics", token="ch_wrong").status, 401)


if __name__ == "__main__":
    unittest.main()
