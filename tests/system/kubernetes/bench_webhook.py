"""How long an admission takes beside a bare HTTPS answer of the same agent, in the same run, over kept connections.

usage: python3 bench_webhook.py COREHOURD AGENT [SECONDS [CONNECTIONS]]     prints one line a kind; exit 1 above 3 times at p99

  bare     GET /healthz
  dry run  a review that asks the ledger and freezes nothing
  enforce  a review that freezes: on the disk before it is answered
  ledger   the same freeze, asked of the ledger without the agent and without TLS
  fsync    4 KiB appended to a file of the ledger's disk and made durable, by this program
"""

import http.client
import json
import os
import sys
import threading
import time

import lab as l


def freeze_of(lab, uid):
    body = {"id": "direct-" + uid, "cluster": lab.cluster, "account": "team-a", "user": "alice", "mode": "window", "ttl_s": 120}
    return json.dumps({**body, "resources": {"gpus": [{"count": 1}]}, "job": {"name": "team-a/" + uid}}).encode()


def measure(lab, agent, seconds, connections, number):
    """All kinds by turns on each connection: seconds each took."""
    taken = {"bare": [], "dry run": [], "enforce": [], "ledger": [], "fsync": []}
    until = time.monotonic() + seconds
    token = lab.token_file.read_text(encoding="ascii").strip()
    headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}

    def run(thread):
        connection = agent.connect()
        direct = http.client.HTTPConnection("127.0.0.1", lab.daemon.port, timeout=30)
        disk = os.open(lab.daemon.data / f"bench-{thread}", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

        def ask(uid):
            direct.request("POST", "/v1/holds", freeze_of(lab, uid), headers)
            answer = direct.getresponse()
            answer.read()
            return answer.status

        def sync():
            os.write(disk, b"x" * 4096)
            os.fdatasync(disk)
            return 200

        count = 0
        while time.monotonic() < until:
            count += 1
            uid = f"bench-{number}-{thread}-{count}"
            real = json.dumps(l.review(l.pod(uid, uid))).encode()
            dry = json.dumps(l.review(l.pod(uid, uid), dry_run=True)).encode()
            calls = {
                "bare": lambda: agent.call("GET", "/healthz", None, connection)[0],
                "dry run": lambda body=dry: agent.call("POST", "/enforce", body, connection)[0],
                "enforce": lambda body=real: agent.call("POST", "/enforce", body, connection)[0],
                "ledger": lambda uid=uid: ask(uid),
                "fsync": sync,
            }
            for kind, call in calls.items():
                began = time.monotonic()
                status = call()
                taken[kind].append(time.monotonic() - began)
                assert status in (200, 201), (kind, status)
        connection.close()
        direct.close()
        os.close(disk)

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
        measure(lab, agent, 1, connections, 0)
        taken = measure(lab, agent, seconds, connections, 1)
    for kind, values in taken.items():
        print(f"{kind:8} {len(values):6} answers   p50 {at(values, 0.5):7.3f} ms   p99 {at(values, 0.99):7.3f} ms")
    ratio = at(taken["enforce"], 0.99) / at(taken["bare"], 0.99)
    print(f"enforce / bare at p99: {ratio:.2f}")
    return 1 if ratio > 3 else 0


if __name__ == "__main__":
    sys.exit(main())
