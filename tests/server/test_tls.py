"""TLS in the daemon: certificates made here, read again on SIGHUP without dropping a connection; nginx in front.

usage: test_tls.py COREHOURD
"""

import json
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

COREHOURD = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import daemon as d  # noqa: E402


def make_certificate(folder, name, key="rsa:2048"):
    """A self-signed certificate for localhost: (certificate, key) as files."""
    cert, secret = folder / f"{name}.pem", folder / f"{name}.key"
    options = ["-pkeyopt", "ec_paramgen_curve:prime256v1"] if key == "ec" else []
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", key, *options, "-nodes", "-days", "2", "-subj", f"/CN={name}",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", secret, "-out", cert],
        check=True, capture_output=True,
    )
    return cert, secret


class Client:
    """One TLS connection that asks and reads answers."""

    def __init__(self, port, cert, source="127.0.0.1", **versions):
        context = ssl.create_default_context(cafile=str(cert))
        for name, value in versions.items():
            setattr(context, name, value)
            context.set_ciphers("DEFAULT:@SECLEVEL=0")  # else the client itself has no cipher for what is old
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", port), 10, (source, 0)), server_hostname="localhost")

    def get(self, path="/healthz", token="", body=None, method="GET"):
        data = json.dumps(body).encode() if body is not None else b""
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Length: {len(data)}\r\n"
        self.socket.sendall(head.encode() + b"Content-Type: application/json\r\n\r\n" + data)
        received = b""
        while b"\r\n\r\n" not in received:
            received += self.socket.recv(65536)
        head, rest = received.split(b"\r\n\r\n", 1)
        length = int(next(l.split(b":")[1] for l in head.split(b"\r\n") if l.lower().startswith(b"content-length")))
        while len(rest) < length:
            rest += self.socket.recv(65536)
        return int(head.split(b" ")[1]), rest

    def name(self):
        return dict(pair[0] for pair in self.socket.getpeercert()["subject"])["commonName"]

    def close(self):
        self.socket.close()


class Tls(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corehour-tls-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.cert, self.key = make_certificate(self.folder, "first")
        self.served = self.folder / "served.pem", self.folder / "served.key"
        self.put(self.cert, self.key)

    def put(self, cert, key):
        shutil.copy(cert, self.served[0])
        shutil.copy(key, self.served[1])

    def daemon(self, extra=""):
        daemon = d.Daemon(COREHOURD, f"tls_cert = {self.served[0]}\ntls_key = {self.served[1]}\n{extra}")
        daemon.__enter__()
        self.addCleanup(daemon.__exit__, None)
        return daemon

    def wait_for_log(self, daemon, text):
        deadline = time.monotonic() + 30
        while text not in daemon.log.read_text(encoding="utf-8"):
            self.assertLess(time.monotonic(), deadline, daemon.log.read_text(encoding="utf-8"))
            time.sleep(0.02)

    def reload(self, daemon, event):
        daemon.process.send_signal(signal.SIGHUP)
        self.wait_for_log(daemon, "event=" + event)

    def test_commands_and_large_answers_go_over_tls(self):
        daemon = self.daemon()
        client = Client(daemon.port, self.cert)
        self.addCleanup(client.close)
        status, _ = client.get("/v1/organizations/acme", daemon.token, {"funding": "self"}, "PUT")
        self.assertEqual(status, 201)
        status, body = client.get("/v1/openapi.json", daemon.token)
        self.assertEqual((status, "openapi" in json.loads(body)), (200, True))
        self.assertGreater(len(body), 65536)
        self.assertEqual(client.socket.version(), "TLSv1.3")

    def test_many_connections_ask_at_once(self):
        daemon = self.daemon()
        clients = [Client(daemon.port, self.cert) for _ in range(130)]
        for _ in range(3):
            for client in clients:
                self.assertEqual(client.get("/v1/holds", daemon.token)[0], 200)
        for client in clients:
            client.close()

    def test_a_new_certificate_is_taken_on_sighup_and_open_connections_live(self):
        daemon = self.daemon()
        before = Client(daemon.port, self.cert)
        self.addCleanup(before.close)
        self.assertEqual((before.name(), before.get()[0]), ("first", 200))
        second = make_certificate(self.folder, "second", "ec")
        self.put(*second)
        self.reload(daemon, "certificate_reloaded")
        after = Client(daemon.port, second[0])
        self.addCleanup(after.close)
        self.assertEqual((after.name(), after.get()[0]), ("second", 200))
        self.assertEqual(before.get("/v1/holds", daemon.token)[0], 200)
        with self.assertRaises(ssl.SSLError):
            Client(daemon.port, self.cert)

    def test_a_broken_certificate_leaves_the_old_one(self):
        daemon = self.daemon()
        self.served[0].write_text("no certificate\n", encoding="utf-8")
        self.reload(daemon, "certificate_not_reloaded")
        other = make_certificate(self.folder, "other")
        self.put(self.cert, other[1])
        self.reload(daemon, "certificate_not_reloaded key=tls_key")
        client = Client(daemon.port, self.cert)
        self.addCleanup(client.close)
        self.assertEqual((client.name(), client.get()[0]), ("first", 200))

    def test_old_protocols_and_plain_http_are_refused(self):
        daemon = self.daemon()
        with self.assertRaises((ssl.SSLError, ConnectionError)) as refused:
            Client(daemon.port, self.cert, minimum_version=ssl.TLSVersion.TLSv1, maximum_version=ssl.TLSVersion.TLSv1_1)
        self.assertNotIn("NO_CIPHERS", str(refused.exception), "the client itself said no")
        with daemon.connect() as plain:
            plain.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            with self.assertRaises((ConnectionError, ValueError, UnicodeDecodeError, IndexError, socket.timeout)):
                plain.read()
        client = Client(daemon.port, self.cert, maximum_version=ssl.TLSVersion.TLSv1_2)
        self.addCleanup(client.close)
        self.assertEqual(client.get()[0], 200)

    def refused_at_start(self, config):
        daemon = d.Daemon(COREHOURD, config)
        self.addCleanup(daemon.__exit__, None)
        daemon.init()
        with self.assertRaises(RuntimeError) as refusal:
            daemon.start()
        return str(refusal.exception)

    def test_the_daemon_does_not_start_with_half_of_a_pair(self):
        self.assertIn("tls_key", self.refused_at_start(f"tls_cert = {self.served[0]}\n"))
        self.assertIn("tls_cert", self.refused_at_start(f"tls_key = {self.served[1]}\n"))
        self.assertIn("tls_cert", self.refused_at_start(f"tls_cert = /nowhere\ntls_key = {self.served[1]}\n"))

    def test_it_stops_in_time_with_tls_connections_open(self):
        daemon = self.daemon()
        client = Client(daemon.port, self.cert)
        self.addCleanup(client.close)
        self.assertEqual(client.get()[0], 200)
        began = time.monotonic()
        self.assertEqual(daemon.stop(), 0)
        self.assertLess(time.monotonic() - began, 15)


class Proxy(unittest.TestCase):
    """Where a client is, with somebody in front."""

    def last_address(self, daemon, forwarded):
        daemon.ok("PUT", "/v1/organizations/acme", {"funding": "self", "contact": forwarded or "none"},
                  {"If-Match": "*", **({"X-Forwarded-For": forwarded} if forwarded else {})})
        return daemon.ok("GET", "/v1/audit?root=acme&page_size=1000").json["items"][-1]["address"]

    def test_only_the_proxys_word_is_believed_and_only_its_last_address(self):
        with d.Daemon(COREHOURD, "proxy_address = 127.0.0.1\n") as daemon:
            self.assertEqual(self.last_address(daemon, "203.0.113.9, 192.0.2.7"), "192.0.2.7")
            self.assertEqual(self.last_address(daemon, "2001:db8::1"), "2001:db8::1")
            self.assertEqual(self.last_address(daemon, "192.0.2.8, nonsense"), "127.0.0.1")
        with d.Daemon(COREHOURD) as daemon:
            self.assertEqual(self.last_address(daemon, "192.0.2.7"), "127.0.0.1")

    @unittest.skipIf(shutil.which("nginx", path="/usr/sbin:/usr/bin") is None, "nginx is not installed")
    def test_nginx_in_front_as_the_operators_page_shows_it(self):
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs/operations.md").read_text(encoding="utf-8")
        server = page.split("```nginx\n", 1)[1].split("```", 1)[0]
        folder = pathlib.Path(tempfile.mkdtemp(prefix="corehour-nginx-"))
        self.addCleanup(shutil.rmtree, folder, True)
        cert, key = make_certificate(folder, "front")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with d.Daemon(COREHOURD, "proxy_address = 127.0.0.1\n") as daemon:
            server = server.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl").replace("listen [::]:443 ssl;", "")
            server = server.replace("/etc/corehour/tls.pem", str(cert)).replace("/etc/corehour/tls.key", str(key))
            server = server.replace("127.0.0.1:8480", f"127.0.0.1:{daemon.port}")
            (folder / "nginx.conf").write_text(
                f"pid {folder}/pid; error_log {folder}/log; daemon off; master_process off;\n"
                f"events {{}}\nhttp {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;\n"
                f"fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;\n{server}}}\n",
                encoding="utf-8",
            )
            nginx = subprocess.Popen(["/usr/sbin/nginx", "-c", folder / "nginx.conf"], stderr=subprocess.DEVNULL)
            try:
                client = self.connect(port, cert)
                status, _ = client.get("/v1/organizations/acme", daemon.token, {"funding": "self"}, "PUT")
                self.assertEqual(status, 201)
                self.assertEqual(client.get("/v1/clusters/none/feed?wait_s=1", daemon.token)[0], 404)
                client.close()
                self.assertEqual(daemon.ok("GET", "/v1/audit?root=acme").json["items"][-1]["address"], "127.0.0.2")
            finally:
                nginx.kill()
                nginx.wait()

    def connect(self, port, cert):
        deadline = time.monotonic() + 20
        while True:
            try:
                return Client(port, cert, source="127.0.0.2")
            except ConnectionRefusedError:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)


if __name__ == "__main__":
    unittest.main(verbosity=2)
