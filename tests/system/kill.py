"""Kill -9 in a loop, with a journal of answers on the client's side (SPEC 9.3).

usage: kill.py COREHOURD [--kills N] [--seed N] [--clients N]

Clients freeze, settle, release and send atomic batches until the daemon is killed in their midst. Every answer is written down before the
next request is sent. After each kill `corehourd check` must find nothing, every answered command must be there, and what was not
answered must be there whole or not at all; sent again, it is answered.
"""

import argparse
import json
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "lib"))

import daemon as d  # noqa: E402

JOB_MCS = 4800000
BATCH_LINES = 5


BEGAN = int(time.time())


def ago(seconds):
    """Before the test began: two times are as far apart as they say, however slow the machine is."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(BEGAN - seconds))


class Client:
    """One connection's life, and what it knows to be true."""

    def __init__(self, daemon, number, seed):
        self.daemon = daemon
        self.number = number
        self.random = random.Random(seed * 1000 + number)
        self.made = 0
        self.states = {}  # hold -> state that was answered
        self.unsure = None  # (method, path, body, holds, state): sent, not answered

    def next_command(self):
        """A freeze, a batch of them, or the end of a hold that stands frozen."""
        frozen = [hold for hold, state in self.states.items() if state == "frozen"]
        choice = self.random.random()
        if frozen and choice < 0.3:
            hold = self.random.choice(frozen)
            return "POST", f"/v1/holds/{hold}/settle", {"started_at": ago(300), "ended_at": ago(240)}, [hold], "settled"
        if frozen and choice < 0.4:
            hold = self.random.choice(frozen)
            return "POST", f"/v1/holds/{hold}/release", {}, [hold], "released"
        if choice < 0.5:
            holds = [self.new_hold() for _ in range(BATCH_LINES)]
            lines = [json.dumps({"op": "freeze", **d.freeze_body(hold)}) for hold in holds]
            return "POST", "/v1/batch?atomic=true", "\n".join(lines).encode(), holds, "frozen"
        hold = self.new_hold()
        return "POST", "/v1/holds", d.freeze_body(hold), [hold], "frozen"

    def new_hold(self):
        self.made += 1
        return f"k-{self.number}-{self.made}"

    def take(self, command, answer):
        method, path, _, holds, state = command
        ok = answer.status in (200, 201)
        if ok and path.startswith("/v1/batch"):
            ok = all(json.loads(line)["status"] == 201 for line in answer.body.decode().splitlines())
        if not ok:
            raise AssertionError(f"{method} {path}: {answer}")
        for hold in holds:
            self.states[hold] = state

    def run(self):
        """Until the connection ends."""
        try:
            with self.daemon.connect(30) as connection:
                while True:
                    command = self.next_command()
                    self.unsure = command
                    connection.send(self.daemon.bytes_of(*command[:3]))
                    answer = connection.read()
                    self.take(command, answer)
                    self.unsure = None
        except (ConnectionError, OSError):
            return

    def settle_doubt(self):
        """What was sent and not answered: all of it or nothing; sent again, it is answered."""
        if self.unsure is None:
            return
        command, self.unsure = self.unsure, None
        holds, state = command[3], command[4]
        found = [self.daemon.call("GET", f"/v1/holds/{hold}") for hold in holds]
        if state == "frozen" and {answer.status for answer in found} not in ({200}, {404}):
            raise AssertionError(f"half of a batch is there: {[answer.status for answer in found]}")
        self.take(command, self.daemon.call(*command[:3]))

    def verify(self, holds):
        for hold in holds:
            answer = self.daemon.call("GET", f"/v1/holds/{hold}")
            if answer.status != 200 or answer.json["state"] != self.states[hold]:
                raise AssertionError(f"{hold} was answered {self.states[hold]} and is {answer}")


def verify_sums(daemon, clients):
    """The counters are what the answered commands come to."""
    states = [state for client in clients for state in client.states.values()]
    balance = daemon.ok("GET", "/v1/projects/vision/balance").json
    expected = (JOB_MCS * states.count("frozen"), 960000 * states.count("settled"))
    if (balance["frozen_mcs"], balance["used_mcs"]) != expected:
        raise AssertionError(f"frozen and used are {balance['frozen_mcs']}, {balance['used_mcs']}, not {expected}")


def run_once(daemon, clients, chance):
    threads = [threading.Thread(target=client.run) for client in clients]
    for thread in threads:
        thread.start()
    time.sleep(chance.uniform(0.02, 0.4))
    daemon.kill()
    for thread in threads:
        thread.join()
    code, output = daemon.check()
    if code != 0:
        raise AssertionError(f"check after a kill: exit {code}\n{output}")
    daemon.start()
    for client in clients:
        client.settle_doubt()
        recent = list(client.states)[-40:]
        client.verify(recent)
    verify_sums(daemon, clients)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("corehourd")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    print(f"# seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    # Holds live through the whole run, however long it takes.
    with d.Daemon(options.corehourd) as daemon:
        daemon.make_world(grant="2000000000")
        daemon.ok("PATCH", "/v1/clusters/alpha", {"ttl_s": 86400}, {"If-Match": "*"})
        clients = [Client(daemon, number, options.seed) for number in range(options.clients)]
        for kill in range(options.kills):
            run_once(daemon, clients, chance)
            if (kill + 1) % 10 == 0:
                print(f"# {kill + 1} kills, {sum(len(client.states) for client in clients)} holds", flush=True)
        for client in clients:
            client.verify(client.states)
        code, output = daemon.check()
        if code != 0 or daemon.stop() != 0:
            raise AssertionError(f"check beside the live daemon: exit {code}\n{output}")
    print(f"ok: {options.kills} kills, every answered command is there, none half")


if __name__ == "__main__":
    main()
