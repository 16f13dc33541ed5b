"""How long an admission takes beside a bare HTTPS answer of the same agent, in the same run, over kept connections.

usage: python3 bench_webhook.py COREHOURD AGENT [SECONDS [CONNECTIONS]]     prints one line a kind; exit 1 above 3 times at p99
"""

import json
import sys
import threading
import time

import lab as l


def measure(agent, seconds, connections, number):
    """Both kinds by turns on each connection: seconds each took."""
    taken = {"bare": [], "enforce": []}
    until = time.monotonic() + seconds

    def run(thread):
        connection = agent.connect()
        count = 0
        while time.monotonic() < until:
            count += 1
            uid = f"bench-{number}-{thread}-{count}"
            body = json.dumps(l.review(l.pod(uid, uid))).encode()
            for kind, method, path, data in (("bare", "GET", "/healthz", None), ("enforce", "POST", "/enforce", body)):
                began = time.monotonic()
                status, _ = agent.call(method, path, data, connection)
                taken[kind].append(time.monotonic() - began)
                assert status == 200
        connection.close()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken


def at(values, share):
    return 1000 * sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main():
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 5
    connections = int(sys.argv[4]) if len(sys.argv) > 4 else 4
    with l.Lab(*sys.argv[1:3]) as lab:
        lab.api.namespace("team-a", "enforce")
        agent = lab.agent()
        agent.settle_down()
        measure(agent, 1, connections, 0)
        taken = measure(agent, seconds, connections, 1)
    for kind, values in taken.items():
        print(f"{kind:8} {len(values):6} answers   p50 {at(values, 0.5):7.3f} ms   p99 {at(values, 0.99):7.3f} ms")
    ratio = at(taken["enforce"], 0.99) / at(taken["bare"], 0.99)
    print(f"enforce / bare at p99: {ratio:.2f}")
    return 1 if ratio > 3 else 0


if __name__ == "__main__":
    sys.exit(main())
