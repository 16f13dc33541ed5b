"""A real corehourd on a loopback port in a temporary folder, and raw HTTP to it. For tests only; standard library only."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

STOP_S = 25


class Answer:
    """One HTTP answer, read byte by byte."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers  # list of (lower-case name, value)
        self.body = body

    def header(self, name):
        values = [value for key, value in self.headers if key == name.lower()]
        return values[0] if values else None

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:300]!r}"


class Connection:
    """One TCP connection that sends any bytes and reads whole answers."""

    def __init__(self, port, timeout_s=10):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def send(self, data):
        self.socket.sendall(data)

    def _more(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionError("the connection ended")
        self.rest += data

    def read(self, is_head=False):
        while b"\r\n\r\n" not in self.rest:
            self._more()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        status = int(lines[0].split(" ")[1])
        headers = [(k.lower(), v.strip()) for k, v in (line.split(":", 1) for line in lines[1:])]
        if status == 100:
            return self.read(is_head)
        length = 0 if is_head else int(dict(headers).get("content-length", "0"))
        while len(self.rest) < length:
            self._more()
        body, self.rest = self.rest[:length], self.rest[length:]
        return Answer(status, headers, body)

    def is_closed(self, within_s=3):
        """Does the daemon end the connection, without another byte?"""
        self.socket.settimeout(within_s)
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True
        except socket.timeout:
            return False

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Daemon:
    """corehourd init and serve; `with Daemon(program) as daemon:`."""

    def __init__(self, program, config="", data=None, environment=None):
        self.program = program
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corehour-test-"))
        self.data = pathlib.Path(data) if data else self.folder / "data"
        self.environment = {**os.environ, **(environment or {})}
        self.config = self.folder / "corehourd.conf"
        self.config.write_text(config, encoding="utf-8")
        self.log = self.folder / "log"
        self.process = None
        self.port = None
        self.token = None

    def init(self):
        result = subprocess.run(
            [self.program, "init", "--data", self.data], check=True, capture_output=True, text=True, env=self.environment
        )
        self.token = result.stdout.strip()
        assert result.stdout == self.token + "\n", "init prints the token and nothing else"

    def start(self, limits=None):
        self.log.write_text("", encoding="utf-8")
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--data", self.data, "--listen", "127.0.0.1:0", "--config", self.config],
                stderr=log,
                stdout=subprocess.DEVNULL,
                env=self.environment,
                preexec_fn=limits,
            )
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            found = re.search(r"event=listening .*\bport=(\d+)", self.log.read_text(encoding="utf-8"))
            if found:
                self.port = int(found[1])
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        raise RuntimeError("corehourd does not listen: " + self.log.read_text(encoding="utf-8"))

    def stop(self):
        """SIGTERM; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_S)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def check(self):
        """corehourd check: (exit code, output)."""
        result = subprocess.run(
            [self.program, "check", "--data", self.data], capture_output=True, text=True, check=False, env=self.environment
        )
        return result.returncode, result.stdout + result.stderr

    def __enter__(self):
        self.init()
        self.start()
        return self

    def __exit__(self, kind, *_):
        if self.process and self.process.poll() is None:
            self.kill()
        if kind is not None:
            print("# log of corehourd:\n# " + self.log.read_text(encoding="utf-8")[-4000:].replace("\n", "\n# "))
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- requests

    def connect(self, timeout_s=10):
        return Connection(self.port, timeout_s)

    def bytes_of(self, method, path, body=None, headers=(), token=None):
        """A request as bytes, with this daemon's admin token."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        lines = [f"{method} {path} HTTP/1.1", "Host: test", f"Authorization: Bearer {token or self.token}"]
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
        lines += [f"{name}: {value}" for name, value in dict(headers).items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode() + data

    def call(self, method, path, body=None, headers=(), token=None, timeout_s=10):
        with self.connect(timeout_s) as connection:
            connection.send(self.bytes_of(method, path, body, headers, token))
            return connection.read(method == "HEAD")

    def ok(self, method, path, body=None, headers=(), token=None):
        answer = self.call(method, path, body, headers, token)
        assert 200 <= answer.status < 300, f"{method} {path}: {answer}"
        return answer

    # ---- a world to freeze in

    def make_world(self, project="vision", grant="1000000", month_cap=None):
        self.ok("PUT", "/v1/organizations/acme", {"funding": "self", "timezone": "Asia/Shanghai"})
        self.ok("PUT", "/v1/organizations/acme-ai", {"parent": "acme"})
        self.ok("PUT", f"/v1/projects/{project}", {"organization": "acme-ai"})
        self.ok("PUT", "/v1/clusters/alpha", {"kind": "slurm"})
        self.ok(
            "PUT",
            "/v1/clusters/alpha/rates/1",
            {
                "effective_from": "2026-01-01T00:00:00Z",
                "combine": "max",
                "rows": [{"core_mcores": 1000, "gpus": {"a100": {"mcores": 16000, "memory_mib": 81920}}}],
            },
        )
        self.ok("POST", "/v1/grants", {"id": "grant-1", "node": "acme", "core_hours": grant})
        if month_cap is not None:
            self.ok("PUT", f"/v1/projects/{project}/caps/month", {"core_hours": month_cap})


def freeze_body(hold, **changes):
    """One GPU for five minutes: 1.33 core-hours."""
    body = {
        "id": hold,
        "cluster": "alpha",
        "account": "vision",
        "user": "alice",
        "resources": {"gpus": [{"model": "a100", "count": 1}]},
        "time_limit_s": 300,
    }
    body.update(changes)
    return body
