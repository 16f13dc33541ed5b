"""A year of random work in a zone with daylight saving time, months closed in between, late news afterwards.

usage: months.py COREHOURD SHIFT_CLOCK [--seed N] [--jobs N] [--libreoffice]

Whatever happens: the sum of the months is the total, reports agree with statements, statements with the journal entry by
entry, hledger adds the journal up to the balances, and every export of a closed month is the same when it is asked for
again: later, after a restart, from a backup.
"""

import argparse
import collections
import csv
import datetime
import decimal
import hashlib
import io
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
import zoneinfo
from xml.etree import ElementTree

import focus
import world as w
from world import d

PARSER = argparse.ArgumentParser()
PARSER.add_argument("corehourd")
PARSER.add_argument("library")
PARSER.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
PARSER.add_argument("--jobs", type=int, default=12, help="a month")
PARSER.add_argument("--libreoffice", action="store_true", help="open the largest workbook there as well")
OPTIONS = PARSER.parse_args()

ROOT = "acme"
ZONE = "Europe/Berlin"
PRICE_MICRO = 123457  # a core-hour on alpha, in millionths of CNY; beta has no price
PAYERS = ["acme", "acme-ai"]
PROJECTS = ["vision", "speech"]
USERS = ["ann", 'ben "the fast"', "cem, dee"]
GROUPS = "organization,project,user,cluster,partition,qos,gpu_model,outcome,day,month"
LINES = ["granted", "transferred", "withdrawn", "used", "refunded", "corrected", "expired"]
SIGNS = {"granted": 1, "transferred": 1, "withdrawn": -1, "used": -1, "refunded": 1, "corrected": -1, "expired": -1}


def table(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def months_between(first, last):
    year, month = map(int, first.split("-"))
    while f"{year:04}-{month:02}" <= last:
        yield f"{year:04}-{month:02}"
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)


def month_after(month):
    return list(months_between(month, f"{int(month[:4]) + 1}-01"))[1]


class Year:
    def __init__(self, daemon, clock, chance):
        self.daemon, self.clock, self.random = daemon, clock, chance
        self.holds, self.settled, self.numbers = [], [], collections.Counter()
        self.closed = {}  # month -> {export: bytes}
        self.last_entries = {}  # month -> the last entry before it was closed

    def id(self, kind):
        self.numbers[kind] += 1
        return f"{kind}-{self.numbers[kind]}"

    def call(self, method, path, body=None, wanted=(200, 201, 202)):
        answer = self.daemon.call(method, path, body)
        assert answer.status in wanted, f"{method} {path} {body}: {answer}"
        return answer

    # ---- the place

    def make(self):
        call = self.call
        call("PUT", "/v1/organizations/acme", {"funding": "self", "timezone": ZONE, "fiscal_year_start": 4})
        call("PUT", "/v1/organizations/acme-ai", {"parent": "acme", "funding": "self"})
        call("PUT", "/v1/projects/vision", {"organization": "acme-ai"})
        call("PUT", "/v1/projects/speech", {"organization": "acme"})
        call("PUT", "/v1/clusters/alpha", {"kind": "slurm"})
        call("PUT", "/v1/clusters/beta", {"kind": "slurm", "mode": "window", "window_s": 3600})
        free = {key: value for key, value in w.CARD.items() if key not in ("price_per_core_hour", "currency")}
        call("PUT", "/v1/clusters/alpha/rates/1", {**w.CARD, "price_per_core_hour": f"0.{PRICE_MICRO}"})
        call("PUT", "/v1/clusters/beta/rates/1", free)
        self.money()

    def money(self):
        now = self.clock.now()
        for payer in PAYERS:
            end = w.at(now + self.random.randrange(20, 80) * 86400 + self.random.randrange(86400))
            self.call("POST", "/v1/grants", {"id": self.id("grant"), "node": payer, "core_hours": "3000", "end": end})
        self.call(
            "POST", "/v1/transfers", {"id": self.id("move"), "from": "acme", "to": "acme-ai", "core_hours": "1.33333"}, (201, 409)
        )
        self.call(
            "POST", "/v1/withdrawals", {"id": self.id("back"), "node": "acme", "core_hours": "7", "reason": "less"}, (201, 409)
        )

    # ---- lives

    def freeze(self):
        cluster = self.random.choice(["alpha", "beta"])
        body = {
            "id": self.id("job"),
            "cluster": cluster,
            "account": self.random.choice(PROJECTS),
            "user": self.random.choice(USERS),
            "job": {"name": "x", "partition": self.random.choice(["gpu", "cpu"]), "qos": self.random.choice(["normal", "low"])},
            "resources": self.random.choice([{"cores": 3}, {"gpus": [{"model": "a100", "count": 1}]}, {"gpus": [{"model": "h100", "count": 2}], "cores": 5}]),
            "time_limit_s": self.random.randrange(3600, 6 * 86400),
        }  # fmt: skip
        answer = self.call("POST", "/v1/holds", body, (201, 409))
        if answer.status == 201:
            started = self.clock.now() - self.random.choice([0, 0, 1000, 400000])
            self.call("POST", f"/v1/holds/{body['id']}/start", {"started_at": w.at(started)})
            self.holds.append((body["id"], cluster, started))

    def settle(self):
        if not self.holds:
            return
        hold, _, started = self.holds.pop(self.random.randrange(len(self.holds)))
        now = self.clock.now()
        ended = self.random.choice([now, self.random.randrange(started, now + 1)])
        outcome = self.random.choice(["completed", "completed", "failed", "node_fail"])
        body = {"ended_at": w.at(ended), "outcome": outcome, "suspended_s": self.random.choice([0, 0, min(700, ended - started)])}
        self.call("POST", f"/v1/holds/{hold}/settle", body)
        self.settled.append((hold, started, ended))

    def beat(self):
        runs = [{"hold": hold} for hold, cluster, _ in self.holds if cluster == "beta"]
        if runs:
            self.call("POST", "/v1/heartbeats", {"cluster": "beta", "at": w.at(self.clock.now()), "runs": runs[:100]})

    def charge(self):
        ended = self.clock.now() - self.random.randrange(40 * 86400)
        body = {
            "id": self.id("charge"), "cluster": "alpha", "account": self.random.choice(PROJECTS), "user": "zoe",
            "resources": {"cores": 2}, "started_at": w.at(ended - self.random.randrange(90000)), "ended_at": w.at(ended),
        }  # fmt: skip
        self.call("POST", "/v1/charges", body)

    def amend(self):
        if not self.settled:
            return
        hold, started, ended = self.random.choice(self.settled)
        if self.random.random() < 0.5:
            amount = {"core_hours": "0.5"} if self.random.random() < 0.7 else {}
            self.call("POST", "/v1/refunds", {"id": self.id("refund"), "hold": hold, "reason": "slow", **amount}, (201, 409, 422))
        else:
            ended = min(self.clock.now(), ended + self.random.randrange(-3600, 90000))
            body = {"started_at": w.at(started), "ended_at": w.at(max(ended, started)), "outcome": "completed", "source": "sacct", "reason": "late"}
            self.call("POST", f"/v1/holds/{hold}/correct", body)

    def live(self, jobs):
        for _ in range(jobs):
            for action in self.random.sample([self.freeze, self.freeze, self.settle, self.beat, self.charge, self.amend], 3):
                action()
            self.clock.move(self.random.randrange(1, 2 * 31 * 86400 // jobs))
            time.sleep(0.02)

    # ---- months

    def month_of(self, then):
        return datetime.datetime.fromtimestamp(then, zoneinfo.ZoneInfo(ZONE)).strftime("%Y-%m")

    def close(self, month):
        deadline = time.monotonic() + 60
        while True:
            answer = self.daemon.call("POST", f"/v1/periods/{ROOT}/{month}/close")
            if answer.status == 200:
                break
            assert "still being charged" in answer.json["detail"] and time.monotonic() < deadline, answer
            time.sleep(0.05)
        assert self.call("POST", f"/v1/periods/{ROOT}/{month}/close").body == answer.body
        rows = self.call("GET", f"/v1/periods/{ROOT}/{month}/rows")
        assert hashlib.sha256(rows.body).hexdigest() == answer.json["digest"]
        self.closed[month] = exports_of(self.daemon, month)
        self.last_entries[month] = answer.json["last_entry"]


def exports_of(daemon, month):
    found = {}
    for query in (
        f"usage?root={ROOT}&month={month}&format=json&group_by={GROUPS}",
        f"usage?root={ROOT}&month={month}&format=json&group_by=project",
        f"usage?root={ROOT}&month={month}&format=csv&group_by=user,day",
        f"usage?root={ROOT}&month={month}&format=csv&group_by={GROUPS}",
        f"usage?root={ROOT}&month={month}&format=focus",
        f"usage?root={ROOT}&month={month}&format=focus&focus_version=1.2&group_by=project",
        *(f"statement?node={payer}&month={month}&format=csv" for payer in PAYERS),
        *(f"statement?node={payer}&month={month}" for payer in PAYERS),
    ):
        answer = daemon.ok("GET", "/v1/reports/" + query)
        found[query] = answer.body
    workbook = daemon.ok("GET", f"/v1/reports/usage?root={ROOT}&month={month}&format=xlsx&group_by=project,user").body
    found["cells"] = cells_of(workbook)
    return found


def cells_of(workbook):
    """The cells of a workbook's sheet, by row: texts and numbers as they are written."""
    with zipfile.ZipFile(io.BytesIO(workbook)) as archive:
        sheet = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    space = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
    rows = []
    for row in sheet.iterfind(".//m:row", space):
        cells = {}
        for cell in row.iterfind("m:c", space):
            text = cell.find("m:is/m:t", space)
            value = cell.find("m:v", space)
            cells[re.match("[A-Z]+", cell.get("r"))[0]] = text.text if text is not None else float(value.text)
        rows.append(cells)
    return rows


def check_workbook(daemon, month):
    query = f"/v1/reports/usage?root={ROOT}&month={month}&group_by=project,user&format="
    rows = table(daemon.ok("GET", query + "csv").body.decode())
    body = daemon.ok("GET", query + "xlsx").body
    cells = cells_of(body)
    letters = {name: letter for letter, name in cells[0].items()}
    totals = [row for row in cells if row.get("A") == "total"]
    assert len(cells) - 1 - len(totals) == len(rows), "as many rows as the CSV has"
    for name in ("used_mcs", "mgs", "runs"):
        assert totals[0].get(letters[name], 0) == sum(int(row[name]) for row in rows), name
    money = collections.Counter()
    for row in rows:
        if row["currency"]:
            money[row["currency"]] += round(float(row["cost"]) * 1e6)
    shown = {row[letters["currency"]]: round(row[letters["cost"]] * 1e6) for row in totals if letters["currency"] in row}
    assert shown == dict(money), (shown, money)
    return len(rows), body, rows


def open_in_libreoffice(body, rows):
    program = shutil.which("soffice") or shutil.which("libreoffice")
    if program is None:
        print("# LibreOffice is not installed: the workbook was read as a zip archive only")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "report.xlsx")
        path.write_bytes(body)
        subprocess.run([program, f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", "csv", "--outdir", folder, path],
                       check=True, capture_output=True, timeout=300)  # fmt: skip
        shown = table(path.with_suffix(".csv").read_text(encoding="utf-8"))
    total = next(row for row in shown if row["month"] == "total")
    assert int(total["used_mcs"].replace(",", "")) == sum(int(row["used_mcs"]) for row in rows)


# ---- the books


def journal_of(daemon):
    entries, after = [], 0
    while True:
        lines = daemon.ok("GET", f"/v1/journal?root={ROOT}&after={after}").body.splitlines()
        if not lines:
            return entries
        entries += map(json.loads, lines)
        after = entries[-1]["seq"]


def flows_of(entries):
    """{(payer, month): {line: mcs}} as the entries say, by the rules of SPEC 8.3."""
    flows = collections.defaultdict(collections.Counter)
    for entry in entries:
        amount, month = entry["amount_mcs"], entry["month"]
        giver, taker = flows[entry.get("from_node"), month], flows[entry.get("to_node"), month]
        source, target, kind = entry["from"], entry["to"], entry["kind"]
        late = kind == "correct" or entry["period"] < month
        line = "refunded" if kind == "refund" else "corrected" if late else "used"
        sign = -1 if kind == "refund" else 1
        if kind == "transfer":
            giver["transferred"] -= amount
            taker["transferred"] += amount
            continue
        taker["granted"] += amount if source == "issued" else 0
        giver["withdrawn"] += amount if target == "issued" else 0
        taker[line] += sign * amount if target == "used" else 0
        giver[line] -= sign * amount if source == "used" else 0
        taker["expired"] += amount if target == "expired" else 0
        giver["expired"] -= amount if source == "expired" else 0
    return flows


def check_statements(daemon, entries, months):
    flows = flows_of(entries)
    balance = collections.Counter()
    for month in months:
        for payer in PAYERS:
            shown = daemon.ok("GET", f"/v1/reports/statement?node={payer}&month={month}").json
            assert shown["opening_mcs"] == balance[payer], (payer, month)
            for line in LINES:
                assert shown[line + "_mcs"] == flows[payer, month][line], (payer, month, line, shown)
            balance[payer] += sum(SIGNS[line] * shown[line + "_mcs"] for line in LINES)
            assert shown["closing_mcs"] == balance[payer], (payer, month)
    return balance


def check_balances(daemon, balance):
    for payer in PAYERS:
        grants = daemon.ok("GET", f"/v1/grants?node={payer}&page_size=1000").json["items"]
        shown = daemon.ok("GET", f"/v1/organizations/{payer}/balance").json
        own = sum(grant["available_mcs"] + grant["frozen_mcs"] for grant in grants)
        overdraft = min(0, shown["available_mcs"] - sum(g["available_mcs"] for g in grants if g["available_mcs"] > 0))
        assert balance[payer] in (own, own + overdraft), (payer, balance[payer], own, overdraft)


def check_usage(daemon, entries, months):
    flows = flows_of(entries)
    total = 0
    for month in months:
        rows = daemon.ok("GET", f"/v1/reports/usage?root={ROOT}&month={month}&group_by=project,outcome").json["rows"]
        by_kind = collections.Counter()
        for row in rows:
            by_kind[row["kind"]] += row["used_mcs"]
        for kind, line, sign in (("usage", "used", 1), ("refund", "refunded", -1), ("correction", "corrected", 1)):
            said = sign * sum(flows[payer, month][line] for payer in PAYERS)
            assert by_kind[kind] == said, (month, kind, by_kind[kind], said)
        total += sum(row["used_mcs"] for row in rows)
    assert total == daemon.ok("GET", f"/v1/organizations/{ROOT}/balance").json["used_mcs"]
    whole = daemon.ok("GET", f"/v1/reports/usage?root={ROOT}&from={months[0]}&to=2100-01&format=csv&group_by=day").body.decode()
    assert total == sum(int(row["used_mcs"]) for row in table(whole))
    by_period = daemon.ok("GET", f"/v1/reports/usage?root={ROOT}&from=2020-01-01&to=2100-01-01&group_by=project").json["rows"]
    assert total == sum(row["used_mcs"] for row in by_period)


def check_costs(daemon, month):
    """A cost is rounded once, in the finest row, half up; whatever a report groups by, it adds those up (SPEC 7.5)."""
    total = 0
    for row in table(daemon.ok("GET", f"/v1/periods/{ROOT}/{month}/rows").body.decode()):
        used, cost = int(row["used_mcs"]), int(row["cost_micro"] or 0)
        rounded = (2 * used * PRICE_MICRO + w.HOUR) // (2 * w.HOUR)
        assert cost == (rounded if row["currency"] else 0), (month, row)
        total += cost
    for groups in ("project", "user", "day,cluster", "gpu_model,outcome", GROUPS):
        rows = table(daemon.ok("GET", f"/v1/reports/usage?root={ROOT}&month={month}&format=csv&group_by={groups}").body.decode())
        shown = sum(int(decimal.Decimal(row["cost"]) * 1000000) for row in rows if row["currency"] == "CNY")
        assert shown == total, (month, groups, shown, total)
    return total


def check_late(entries, last_entries):
    """What is known after its month was closed is booked in the oldest open month, with the period in which it ran (SPEC 8.2).

    last_entries: {closed month: number of the last entry before it was closed}. Returns how many entries were late.
    """
    late = 0
    for entry in entries:
        closed = [month for month, last in last_entries.items() if last < entry["seq"]]
        oldest_open = month_after(max(closed)) if closed else ""
        assert entry["month"] == max(entry["period"], oldest_open), (entry, oldest_open)
        late += entry["month"] > entry["period"]
    assert late > 0, "nothing came late"
    return late


def check_hledger(daemon, entries):
    """hledger adds the exported journal up to the accounts that the entries make."""
    program = shutil.which("hledger")
    assert program, "hledger is not installed (Debian package hledger)"
    accounts = collections.Counter()
    journal = daemon.ok("GET", f"/v1/journal?root={ROOT}&format=hledger").body
    with tempfile.NamedTemporaryFile(suffix=".journal") as file:
        file.write(journal)
        file.flush()
        shown = subprocess.run([program, "-f", file.name, "balance", "--flat", "--no-total", "--empty", "-O", "csv"],
                               check=True, capture_output=True, text=True).stdout  # fmt: skip
    for row in list(csv.reader(io.StringIO(shown)))[1:]:
        amount = int(row[1].replace(" mcs", "").replace(",", "")) if row[1] != "0" else 0
        name = row[0].split(":")
        accounts[("issued",) if name == ["issued"] else (name[0], name[2])] += amount
    wanted = collections.Counter()
    for entry in entries:
        for side, sign in (("from", -1), ("to", 1)):
            part = entry[side]
            wanted[("issued",) if part == "issued" else (entry[side + "_node"], part)] += sign * entry["amount_mcs"]
    assert {k: v for k, v in accounts.items() if v} == {k: v for k, v in wanted.items() if v}
    return accounts


def check_same(daemon, closed, when):
    for month, exports in closed.items():
        again = exports_of(daemon, month)
        for query, body in exports.items():
            assert again[query] == body, f"{when}: {month}: {query} is another one"


def check_focus(closed):
    for month, exports in closed.items():
        for query, body in exports.items():
            if "format=focus" in query:
                version = "1.2" if "focus_version=1.2" in query else "1.4"
                faults = focus.faults_of(version, body.decode())
                assert not faults, (month, query, faults[:5])


def main():
    print(f"# --seed {OPTIONS.seed} --jobs {OPTIONS.jobs}")
    clock = w.Clock(OPTIONS.library)
    clock.move_to(w.utc(2028, 10, 20))
    daemon = d.Daemon(OPTIONS.corehourd, "timer_period_ms = 20\n", environment=clock.environment)
    with daemon:
        year = Year(daemon, clock, random.Random(OPTIONS.seed))
        year.make()
        start = year.month_of(clock.now())
        for part in range(8):
            year.live(OPTIONS.jobs)
            now = year.month_of(clock.now())
            for month in list(months_between(max(year.closed, default=start), now))[:-1]:
                if month not in year.closed and (part > 5 or year.random.random() < 0.6):
                    year.close(month)
                elif month not in year.closed:
                    break
            year.money()
        year.live(OPTIONS.jobs // 2)
        assert len(year.closed) >= 2, "closes happened"
        entries = journal_of(daemon)
        months = list(months_between("2028-06", year.month_of(clock.now())))
        assert min(entry["month"] for entry in entries) >= months[0]
        check_balances(daemon, check_statements(daemon, entries, months))
        check_usage(daemon, entries, months)
        late = check_late(entries, year.last_entries)
        check_hledger(daemon, entries)
        check_focus(year.closed)
        assert sum(check_costs(daemon, month) for month in year.closed) > 0
        books = [check_workbook(daemon, month) for month in year.closed]
        if OPTIONS.libreoffice:
            open_in_libreoffice(*max(books, key=lambda book: book[0])[1:])
        check_same(daemon, year.closed, "later")
        code, output = daemon.check()
        assert code == 0, output
        last = max(year.closed)
        since = subprocess.run([OPTIONS.corehourd, "check", "--data", daemon.data, "--since", last], capture_output=True, text=True,
                               check=False, env=daemon.environment)  # fmt: skip
        assert since.returncode == 0, since.stdout + since.stderr
        copy = daemon.folder / "copy"
        copy.mkdir()
        subprocess.run([OPTIONS.corehourd, "backup", "--data", daemon.data, "--to", copy / "ledger.db"], check=True, env=daemon.environment)
        assert daemon.stop() == 0
        daemon.start()
        check_same(daemon, year.closed, "after a restart")
        daemon.kill()
        shutil.rmtree(daemon.data)
        copy.rename(daemon.data)
        daemon.start()
        check_same(daemon, year.closed, "from a backup")
        assert daemon.check()[0] == 0
        kinds = collections.Counter(entry["kind"] for entry in entries)
        print(f"# {late} booked later than they ran; {dict(kinds)}")
        print(f"# {len(entries)} entries, {len(year.settled)} settled, closed {', '.join(year.closed)}")
    clock.close()


if __name__ == "__main__":
    main()
