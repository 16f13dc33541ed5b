"""What finance and a team lead see on the command line, from a running daemon: a month looked at, capped, closed and reported.

usage: test_books.py COREHOURD SHIFT_CLOCK COREHOUR
"""

import collections
import csv
import decimal
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import world as w
from world import d

CLI = sys.argv.pop(3)
OFFICE = shutil.which("soffice") or shutil.which("libreoffice")
SUMMED = ("used_mcs", "used_core_hours", "waived_mcs", "mgs", "gpu_hours", "runs")


class Books(unittest.TestCase):
    """One story for all: a month with a job, a failed node, a refund, a run that goes on and a charge of nobody's."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.clock = w.Clock(w.Case.LIBRARY)
        cls.clock.move_to(w.month_after(cls.clock.now()) + 14 * 86400 + 43200)
        cls.noon = cls.clock.now()
        cls.daemon = d.Daemon(w.Case.PROGRAM, "timer_period_ms = 20\n", environment=cls.clock.environment)
        cls.daemon.__enter__()
        cls.month = time.strftime("%Y-%m", time.gmtime(cls.noon))
        cls.next = time.strftime("%Y-%m", time.gmtime(w.month_after(cls.noon)))
        cls.make()
        cls.tokens = {
            role: cls.ok("POST", "/tokens", {"name": role, "role": role, "place": place})["token"]
            for role, place in (("finance", "acme"), ("lead", "acme-ai"))
        }

    @classmethod
    def tearDownClass(cls):
        code, output = cls.daemon.check()
        cls.daemon.__exit__(RuntimeError if code else None)
        cls.clock.close()
        assert code == 0, output

    @classmethod
    def ok(cls, method, path, body=None):
        answer = cls.daemon.call(method, "/v1" + path, body)
        assert answer.status in (200, 201), answer
        return answer.json

    @classmethod
    def job(cls, key, user, resources, hours, **end):
        body = {"id": key, "cluster": "alpha", "account": "vision", "user": user, "resources": resources, "time_limit_s": 4 * 3600}
        cls.ok("POST", "/holds", body)
        start = cls.noon - hours * 3600
        cls.ok("POST", f"/holds/{key}/start", {"started_at": w.at(start)})
        if end:
            cls.ok("POST", f"/holds/{key}/settle", {"ended_at": w.at(cls.noon), **end})

    @classmethod
    def make(cls):
        cls.ok("PUT", "/organizations/acme", {"funding": "self", "timezone": "UTC"})
        cls.ok("PUT", "/organizations/acme-ai", {"parent": "acme"})
        cls.ok("PUT", "/organizations/acme-web", {"parent": "acme"})
        cls.ok("PUT", "/projects/vision", {"organization": "acme-ai"})
        cls.ok("PUT", "/clusters/alpha", {"kind": "slurm"})
        cls.ok("PUT", "/clusters/alpha/rates/1", w.CARD)
        cls.ok("POST", "/grants", {"id": "g1", "node": "acme", "core_hours": "1000"})
        gpu = {"gpus": [{"model": "a100", "count": 1}]}
        cls.job("job-1", "alice", {"cores": 16}, 2, outcome="completed")
        cls.job("job-2", "bob", gpu, 1, outcome="node_fail")
        cls.job("job-3", "bob", gpu, 0)
        cls.ok("POST", "/refunds", {"id": "r1", "hold": "job-1", "core_hours": "2", "reason": "slow disk"})
        cls.ok("POST", "/charges", {
            "id": "c1", "cluster": "alpha", "account": "nobodys", "user": "dave", "resources": {"cores": 4},
            "started_at": w.at(cls.noon - 7200), "ended_at": w.at(cls.noon - 3600)})  # fmt: skip
        cls.make_mint()
        cls.clock.move_to(w.month_after(cls.noon) + 86400)
        deadline = time.monotonic() + 60
        while cls.ok("GET", "/holds/job-3")["used_mcs"] != 64 * w.HOUR:
            assert time.monotonic() < deadline, "the run was never charged up to the month's end"
            time.sleep(0.02)

    @classmethod
    def make_mint(cls):
        """A root that pays in two currencies."""
        cls.ok("PUT", "/organizations/mint", {"funding": "unlimited", "timezone": "UTC"})
        cls.ok("PUT", "/projects/coins", {"organization": "mint"})
        cls.ok("PUT", "/clusters/beta", {"kind": "kubernetes"})
        cls.ok("PUT", "/clusters/beta/rates/1", {**w.CARD, "price_per_core_hour": "0.021537", "currency": "USD"})
        for i, cluster in enumerate(("alpha", "beta", "alpha")):
            cls.ok("POST", "/charges", {
                "id": f"mint-{i}", "cluster": cluster, "account": "coins", "user": "王小明", "resources": {"gpus": [{"model": "h100", "count": 1}]},
                "started_at": w.at(cls.noon - 7201), "ended_at": w.at(cls.noon - 1000 * i)})  # fmt: skip

    # ---- the program

    def run_as(self, role, *words):
        """(exit code, standard output, standard error)."""
        environment = {**os.environ, "COREHOUR_URL": f"http://127.0.0.1:{self.daemon.port}", "COREHOUR_TOKEN": self.tokens[role],
                       "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}  # fmt: skip
        words = [word.replace("MONTH", self.month).replace("NEXT", self.next) for word in words]
        result = subprocess.run([CLI, *words], capture_output=True, text=True, check=False, timeout=60, env=environment)
        return result.returncode, result.stdout, result.stderr

    def shows(self, role, line, expected, code=0, stream=1):
        """The whole of what it prints; "…" stands for anything."""
        got = self.run_as(role, *line.split())
        self.assertEqual(got[0], code, got)
        self.assertEqual(got[3 - stream], "", line)
        wanted = expected.strip("\n").replace("MONTH", self.month).replace("NEXT", self.next)
        pattern = ".*".join(map(re.escape, wanted.split("…")))
        if not re.fullmatch(pattern, got[stream].rstrip("\n"), re.DOTALL):
            self.assertEqual(got[stream], wanted + "\n", line)

    def fails(self, role, line, expected, code):
        self.shows(role, line, expected, code, stream=2)

    # ---- finance, in the order of a month's end (SPEC 8.2, 8.3)

    def test_1_a_report_says_who_used_what_and_what_it_costs(self):
        self.shows("finance", "report acme --month MONTH --by project,user", """
project  user   month    period   kind     used  waived  unfrozen  gpu hours  runs       cost  currency
vision   alice  MONTH  MONTH  usage   32.00    0.00      0.00       0.00     1   3.840000  CNY
vision   alice  MONTH  MONTH  refund  -2.00    0.00      0.00       0.00     0  -0.240000  CNY
vision   bob    MONTH  MONTH  usage   64.00    0.00      0.00       4.00     0   7.680000  CNY
vision   bob    MONTH  MONTH  waived   0.00   16.00      0.00       1.00     1   0.000000  CNY
""")  # fmt: skip

    def test_1_a_report_goes_into_a_file_as_a_whole_or_not_at_all(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "month.csv")
            self.shows("finance", f"report acme --month MONTH --by user --csv --output {path}", "")
            rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
            self.assertEqual([(row["user"], row["kind"], row["used_core_hours"]) for row in rows[:2]],
                             [("alice", "usage", "32.00000"), ("alice", "refund", "-2.00000")])  # fmt: skip
            code, _, err = self.run_as("finance", "report", "acme", "--month", "2020", "--csv", "--output", str(path) + "2")
            self.assertEqual((code, os.listdir(folder)), (5, ["month.csv"]), err)

    def test_1_a_report_of_another_month_is_none(self):
        self.shows("finance", "report acme --month 2020-01", "none")

    @unittest.skipUnless(OFFICE, "LibreOffice is not installed (Debian package libreoffice-calc)")
    def test_1_a_workbook_opens_in_libreoffice_with_the_totals_of_the_csv(self):
        query = f"/v1/reports/usage?root=mint&month={self.month}&group_by=user,cluster&format="
        rows = list(csv.DictReader(io.StringIO(self.daemon.ok("GET", query + "csv").body.decode(), newline="")))
        with tempfile.TemporaryDirectory() as folder:
            book, statement = pathlib.Path(folder, "usage.xlsx"), pathlib.Path(folder, "statement.xlsx")
            book.write_bytes(self.daemon.ok("GET", query + "xlsx").body)
            statement.write_bytes(self.daemon.ok("GET", f"/v1/reports/statement?node=acme&month={self.month}&format=xlsx").body)
            subprocess.run([OFFICE, f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", "csv:Text - txt - csv (StarCalc):44,34,76,1",
                            "--outdir", folder, book, statement], check=True, capture_output=True, timeout=200)  # fmt: skip
            shown, lines = (list(csv.DictReader(path.with_suffix(".csv").read_text(encoding="utf-8").splitlines())) for path in (book, statement))
        shown, lines = ([{name: cell.replace(",", "") for name, cell in row.items()} for row in table] for table in (shown, lines))
        self.assertEqual([row["user"] for row in shown[:-3]], [row["user"] for row in rows])
        totals = shown[-3:]
        for name in SUMMED:
            self.assertEqual(decimal.Decimal(totals[0][name]), sum(decimal.Decimal(row[name]) for row in rows), name)
        money = collections.Counter()
        for row in rows:
            money[row["currency"]] += decimal.Decimal(row["cost"])
        self.assertEqual({row["currency"]: decimal.Decimal(row["cost"]) for row in totals[1:]}, dict(money))
        self.assertEqual(len(money), 2)
        self.assertEqual((lines[-1]["line"], decimal.Decimal(lines[-1]["core_hours"])), ("closing", 906))

    def test_2_a_preview_says_what_is_still_open(self):
        self.shows("finance", "close acme MONTH --dry-run", """
dry run, nothing written: acme, MONTH
used       94.00 core-hours
waived     16.00 core-hours
gpu hours  5.00
runs       2
rows       4
digest     …

still open:
  1  runs that began before its end and go on
  1  of them not heard of lately                                corehour holds --stale --all
  0  holds that no job has claimed
  1  charges that no project has               4.00 core-hours  corehour unattributed list CLUSTER

  hold   project  user  task  attempt  started               last seen             stale
  job-3  vision   bob      0        0  MONTH-15T12:00:00Z  MONTH-15T12:00:00Z  yes
""")  # fmt: skip
        self.shows("finance", "close acme MONTH --dry-run --lang zh", """
试运行，未写入：acme, MONTH
已用      94.00 核时
已免除    16.00 核时
GPU 小时  5.00
运行      2
行数      4
摘要      …

尚未了结:
  1  月末前开始、仍在运行的作业
  1  其中近期无消息的…corehour holds --stale --all
  0  没有作业认领的冻结单
  1  未归属项目的扣费…4.00 核时  corehour unattributed list CLUSTER

  冻结单  项目    用户  任务  尝试  开始于                最近出现              失联
  job-3   vision  bob      0     0  MONTH-15T12:00:00Z  MONTH-15T12:00:00Z  是
""")  # fmt: skip
        self.shows("finance", "periods acme", "none")

    def test_3_a_month_is_closed_once_and_says_the_same_again(self):
        closed = """
acme, MONTH (closed)
used         94.00 core-hours
waived       16.00 core-hours
gpu hours    5.00
runs         2
rows         4
closed       …
closed with  MONTH
digest       …
"""
        self.shows("finance", "close acme MONTH", closed)
        code, first, _ = self.run_as("finance", "close", "acme", "MONTH")
        self.assertEqual(self.run_as("finance", "close", "acme", "MONTH"), (code, first, ""))
        rows = self.daemon.ok("GET", f"/v1/periods/acme/{self.month}/rows").body
        self.assertEqual(first.split()[-1], hashlib.sha256(rows).hexdigest())
        self.shows("finance", "periods acme", """
month    closed…closed with   used  runs  digest
MONTH  …  MONTH      94.00     2  …
""")  # fmt: skip
        self.shows("finance", "audit acme --from …".replace("…", w.at(self.clock.now())[:10]), """
no  at…name     action        what…
…finance  period.close…
""")  # fmt: skip

    def test_4_a_statement_adds_up_from_line_to_line(self):
        self.shows("finance", "statement acme --month MONTH", """
acme, MONTH (closed)
line          amount
opening         0.00
granted      1000.00
transferred     0.00
withdrawn       0.00
used           96.00
refunded        2.00
corrected       0.00
expired         0.00
closing       906.00
""")  # fmt: skip
        code, out, _ = self.run_as("finance", "statement", "acme", "--month", "MONTH", "--lang", "zh")
        self.assertEqual((code, out.splitlines()[0]), (0, f"acme, {self.month}（已结账）"))

    def test_5_what_is_known_later_is_a_correction_of_the_next_month(self):
        """SPEC 8.2."""
        self.ok("POST", "/charges", {
            "id": "late", "cluster": "alpha", "account": "vision", "user": "carol", "resources": {"cores": 4},
            "started_at": w.at(self.noon - 7200), "ended_at": w.at(self.noon - 3600)})  # fmt: skip
        self.shows("finance", "report acme --month NEXT --by user", """
user   month    period   kind        used  waived  unfrozen  gpu hours  runs      cost  currency
carol  NEXT  MONTH  correction  4.00    0.00      4.00       0.00     1  0.480000  CNY
""")  # fmt: skip

    def test_6_finance_is_told_what_is_wrong(self):
        field = "a field is missing, unknown, of the wrong type or out of range (422 invalid_field)"
        for line, text, code in (
            ("report", "corehour report: ROOT is missing\n  how to call it: corehour help report", 2),
            ("report acme", f"corehour report: {field}\n  why: month: give month, or from and to", 5),
            ("report acme --month MONTH --by projekt", f'corehour report: {field}\n  why: group_by: "projekt" is no column; there are …', 5),
            ("report acme --month 2027-13", f'corehour report: {field}\n  why: month: a month is written as 2026-11, not "2027-13"', 5),
            ("report acme --month MONTH --csv --xlsx", "corehour report: --csv and --xlsx: choose one", 2),
            ("report acme --month MONTH --focus --focus-version 3", f"corehour report: {field}\n  why: focus_version: neither 1.4 nor 1.2", 5),
            ("report acem --month MONTH", "corehour report: nothing of this name is visible to the token (404 not_found)\n  why: no root acem\n  next: …", 5),
            ("statement acme", f"corehour statement: {field}\n  why: month: a month such as 2026-11", 5),
            ("statement vision --month MONTH", "…(409 not_funded_here)\n  why: node: vision is funded by its parent: ask for the node that pays for it\n…", 5),
            ("close acme", "corehour close: M… is missing\n  how to call it: corehour help close", 2),
            ("close acme MONTH NEXT", 'corehour close: "NEXT" is one argument too many\n  how to call it: corehour help close', 2),
            ("close acme NEXT", "…(409 invalid_state)\n  why: NEXT has not ended: it ends at …", 5),
            ("close acme january", "…(404 not_found)\n  why: no month january\n…", 5),
            ("close vision MONTH", "…(404 not_found)\n  why: no organization vision\n…", 5),
            ("audit other", "…(404 not_found)\n  why: no root other\n…", 5),
        ):  # fmt: skip
            with self.subTest(line):
                self.fails("finance", line, text, code)
        self.fails("finance", "report acme --lang zh", "corehour report: 字段缺失、未知、类型错误或超出范围 (422 invalid_field)\n  原因： …", 5)

    # ---- a lead (SPEC 4.5, 10.1, 10.2)

    def test_7_a_lead_sets_a_cap_and_sees_what_it_does(self):
        self.shows("lead", "caps vision", "no caps on its path")
        self.shows("lead", "cap set vision month 500 --dry-run", "dry run, nothing written: vision  month  500.00 core-hours\n…")
        self.shows("lead", "cap set vision month 500", "vision  month  500.00 core-hours\n…")
        self.shows("lead", "cap set vision/bob gpus 4", "vision/bob  gpus  4 GPUs\n…")
        self.shows("lead", "caps vision", """
node    cap    used  frozen  available   limit                               resets
vision  month  0.00    0.00     500.00  500.00  […]   0%  …
""")  # fmt: skip
        self.assertEqual(self.run_as("lead", "caps", "vision"), self.run_as("lead", "cap", "list", "vision"))
        code, out, _ = self.run_as("lead", "caps", "vision", "--lang", "zh")
        self.assertEqual((code, out.split()[:3]), (0, ["节点", "上限", "已用"]))
        self.shows("lead", "cap history vision month", """
at                        name  action   after
…  lead  cap.put  limit 500.00 core-hours, soft no
""")  # fmt: skip

    def test_8_a_lead_sees_its_part_and_closes_nothing(self):
        self.shows("lead", "report acme --month MONTH --by organization,project", """
organization  project  month    period   kind     used  waived  unfrozen  gpu hours  runs       cost  currency
acme-ai       vision   MONTH  MONTH  usage   96.00    0.00      0.00       4.00     1  11.520000  CNY
acme-ai       vision   MONTH  MONTH  refund  -2.00    0.00      0.00       0.00     0  -0.240000  CNY
acme-ai       vision   MONTH  MONTH  waived   0.00   16.00      0.00       1.00     1   0.000000  CNY
""")  # fmt: skip
        self.fails("lead", "report acme-ai --month MONTH", "…\n  why: root: acme-ai is not a root: ask for acme, of which every token sees its part", 5)
        self.fails("lead", "report acme-web --month MONTH", "…\n  why: no root acme-web\n…", 5)
        self.fails("lead", "close acme MONTH", "…(403 not_allowed)\n  why: the role of this token may not do this\n…", 4)
        self.fails("lead", "cap set acme-ai month 5", "…(403 not_allowed)\n  why: acme-ai is your own place: a lead sets caps below it\n…", 4)
        self.fails("lead", "cap set vision moth 5", 'corehour cap set: there is no cap "moth"; there are …', 2)
        self.fails("lead", "caps acme-web", "…(404 not_found)\n  why: no organization or project acme-web\n…", 5)
        self.fails("lead", "statement acme --month MONTH", "…(404 not_found)\n  why: no organization or project acme\n…", 5)
        code, out, _ = self.run_as("lead", "audit")
        self.assertEqual((code, "grants/g1" in out, "projects/vision" in out), (0, False, True), out)

    def test_9_each_explains_itself(self):
        for name in ("report", "caps", "close", "audit", "statement"):
            code, out, err = self.run_as("lead", name, "--help")
            self.assertEqual((code, err), (0, ""))
            for part in (f"corehour {name}: ", f"usage: corehour {name}", "example:\n  corehour " + name):
                self.assertIn(part, out)


if __name__ == "__main__":
    w.main("__main__")
