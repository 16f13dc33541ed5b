"""Reports of a large month beside freezes.

usage: reports.py BUILD [--runs N] [--users N] [--projects N] [--seconds N]

Fills a ledger with the usage of a past month as that many runs leave it behind (usage is stored a row for each day, person,
project, partition, model, outcome and so on, not for each run), then measures how long reports take, how much memory they
use, and how many freezes a second pass with and without reports running all the time. On a quiet machine.
"""

import argparse
import http.client
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import daemon as d  # noqa: E402

PARSER = argparse.ArgumentParser()
PARSER.add_argument("build", type=pathlib.Path)
PARSER.add_argument("--runs", type=int, default=10_000_000)
PARSER.add_argument("--users", type=int, default=1000)
PARSER.add_argument("--projects", type=int, default=100)
PARSER.add_argument("--seconds", type=int, default=8, help="of each load")
OPTIONS = PARSER.parse_args()
MONTH = 2025 * 12 + 10  # November 2025
FIRST_DAY = 20393  # 2025-11-01
MODELS = ["a100", "h100", ""]


def copy_row(db, table):
    """A function that writes a row like the newest one, with other values in some columns."""
    names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    row = dict(zip(names, db.execute(f'SELECT * FROM "{table}" ORDER BY 1 DESC LIMIT 1').fetchone()))
    statement = f'INSERT INTO "{table}" ({", ".join(names)}) VALUES ({", ".join(":" + name for name in names)})'
    return lambda **values: db.execute(statement, {**row, **values})


def fill(path):
    """People, dimensions and usage; each person works in two projects, with two models, most days."""
    chance = random.Random(1)
    db = sqlite3.connect(path)
    db.execute("PRAGMA foreign_keys = OFF")
    template = db.execute("SELECT dims_no, root_no, project_no, member_no, path FROM dims LIMIT 1").fetchone()
    dims_no, root_no, project_no, member_no, path_text = template
    add_node = copy_row(db, "node")
    add_dims = copy_row(db, "dims")
    next_no = db.execute("SELECT max(node_no) FROM node").fetchone()[0] + 1
    rest = path_text.split(",")[2:]
    projects = []
    for i in range(OPTIONS.projects):
        add_node(node_no=next_no, name=f"project-{i}", parent_no=int(rest[0]), kind=1)
        projects.append(next_no)
        next_no += 1
    dims = []
    no = dims_no + 1
    for i in range(OPTIONS.users):
        for project in chance.sample(projects, 2):
            add_node(node_no=next_no, name=f"user-{i}", parent_no=project, kind=2)
            for model in chance.sample(MODELS, 2):
                add_dims(dims_no=no, project_no=project, member_no=next_no, gpu_model=model, path=",".join([str(next_no), str(project), *rest]))
                dims.append(no)
                no += 1
            next_no += 1
    for name, last_no in (("node", next_no - 1), ("dims", no - 1)):
        assert db.execute("UPDATE sequence SET last_no = ? WHERE name = ?", (last_no, name)).rowcount == 1
    rows = [
        (root_no, MONTH, FIRST_DAY + day, dim, 0, outcome, MONTH)
        for day in range(30)
        for dim in dims
        for outcome in (1, 2)
        if chance.random() < 0.85
    ]
    each = OPTIONS.runs // len(rows)
    db.executemany(
        "INSERT INTO usage (root_no, month, day, dims_no, kind, outcome, period, used_mcs, mgs, waived_mcs, runs, unfrozen_mcs) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0)",
        (row + (chance.randrange(1, 10**9), chance.randrange(10**6), each) for row in rows),
    )
    db.commit()
    db.close()
    return len(rows), each * len(rows)


def resident_kib(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))[1])


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def timed(daemon, query):
    """Seconds and bytes of one report, read as it comes."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=120)
    began, size = time.monotonic(), 0
    path = f"/v1/reports/usage?root=acme&month=2025-11&{query}"
    connection.request("GET", path, headers={"Authorization": f"Bearer {daemon.token}"})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    while part := answer.read(1 << 20):
        size += len(part)
    connection.close()
    return time.monotonic() - began, size


def freezes(daemon, seconds):
    """Freezes a second, over 32 connections that each send one after the other."""
    counts, ends = [], time.monotonic() + seconds

    def run(number):
        done = 0
        with daemon.connect(60) as connection:
            while time.monotonic() < ends:
                body = d.freeze_body(f"b-{number}-{time.monotonic_ns()}", resources={"cores": 1})
                for _ in range(16):  # pipelined, so that this program is not what is measured
                    body["id"] = f"b-{number}-{time.monotonic_ns()}"
                    connection.send(daemon.bytes_of("POST", "/v1/holds", body))
                for _ in range(16):
                    assert connection.read().status == 201
                done += 16
        counts.append(done)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


def reporting(daemon, stop, done):
    while not stop.is_set():
        timed(daemon, "group_by=project,user,gpu_model&format=csv")
        done.append(1)


def main():
    program = OPTIONS.build / "server/corehourd"
    with d.Daemon(program) as daemon:
        daemon.make_world(grant="1000000000")
        daemon.ok("POST", "/v1/holds", d.freeze_body("h1"))
        now = int(time.time())
        times = {"started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - 60)), "ended_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))}
        daemon.ok("POST", "/v1/holds/h1/settle", times)
        assert daemon.stop() == 0
        rows, runs = fill(daemon.data / "ledger.db")
        daemon.start()
        print(f"{runs} runs of a month in {rows} stored rows; {OPTIONS.users} people in {OPTIONS.projects} projects")
        before = resident_kib(daemon.process.pid)
        for what, query in (
            ("project, user, model, JSON", "group_by=project,user,gpu_model"),
            ("project, user, model, CSV", "group_by=project,user,gpu_model&format=csv"),
            ("day, user, project, CSV", "group_by=day,user,project&format=csv"),
            ("everything, CSV", "group_by=organization,project,user,cluster,partition,qos,gpu_model,outcome,day&format=csv"),
            ("FOCUS", "format=focus"),
            ("project, user, XLSX", "group_by=project,user&format=xlsx"),
        ):
            spent = cpu_seconds(daemon.process.pid)
            seconds, size = min(timed(daemon, query) for _ in range(3))
            spent = (cpu_seconds(daemon.process.pid) - spent) / 3
            print(f"  {what:30} {seconds:6.2f} s, {spent:5.2f} s of them computing  {size / 1e6:8.2f} MB")
        print(f"  memory: {before / 1024:.0f} MiB before, at most {resident_kib(daemon.process.pid) / 1024:.0f} MiB")
        alone = freezes(daemon, OPTIONS.seconds)
        stop, done = threading.Event(), []
        thread = threading.Thread(target=reporting, args=(daemon, stop, done))
        thread.start()
        beside = freezes(daemon, OPTIONS.seconds)
        stop.set()
        thread.join()
        again = freezes(daemon, OPTIONS.seconds)
        print(f"  freezes a second: {alone:.0f} alone, {beside:.0f} beside {len(done)} reports, {again:.0f} alone again")
        print(f"  ratio {beside / ((alone + again) / 2):.2f}")


if __name__ == "__main__":
    main()
