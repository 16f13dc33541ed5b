"""Tokens of an identity provider: keys and tokens made here with openssl, good and bad in every way (RFC 7519, 8725).

usage: test_oidc.py COREHOURD
"""

import base64
import hashlib
import hmac
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

COREHOURD = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import daemon as d  # noqa: E402

ISSUER, AUDIENCE = "https://id.acme.example/realms/hpc", "corehour"
ROLES = "ops=admin; finance=finance@acme; ai-leads=lead@acme-ai; slurm=scheduler@alpha; lost=lead@nonesuch; staff=member@vision/{name}"


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*args, data=None):
    return subprocess.run(["openssl", *map(str, args)], input=data, check=True, capture_output=True).stdout


class Key:
    """A key of the provider: its JWK, and signatures by it."""

    def __init__(self, folder, kid, kind="RS256", bits=2048):
        self.kid, self.kind, self.path = kid, kind, folder / f"{kid}.pem"
        if kind == "RS256":
            openssl("genrsa", "-out", self.path, bits)
            modulus = openssl("rsa", "-in", self.path, "-noout", "-modulus").decode().strip().split("=")[1]
            self.jwk = {"kty": "RSA", "n": b64(bytes.fromhex(modulus)), "e": "AQAB"}
        else:
            openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.path)
            point = openssl("ec", "-in", self.path, "-pubout", "-outform", "DER")[-64:]
            self.jwk = {"kty": "EC", "crv": "P-256", "x": b64(point[:32]), "y": b64(point[32:])}
        self.jwk.update({"kid": kid, "use": "sig"})

    def sign(self, data):
        signature = openssl("dgst", "-sha256", "-sign", self.path, data=data)
        return signature if self.kind == "RS256" else raw_of_der(signature)


def raw_of_der(der):
    """An ECDSA signature as two numbers of 32 bytes."""
    r_bytes = der[3]
    r = der[4 : 4 + r_bytes]
    s = der[6 + r_bytes :]
    return b"".join(int.from_bytes(n, "big").to_bytes(32, "big") for n in (r, s))


def claims(**changes):
    now = int(time.time())
    body = {"iss": ISSUER, "aud": AUDIENCE, "sub": "u-1", "preferred_username": "alice", "exp": now + 600, "iat": now}
    body.update(changes)
    return {name: value for name, value in body.items() if value is not None}


def token(key, body=None, header=None, **changes):
    head = {"alg": key.kind, "typ": "JWT", "kid": key.kid, **(header or {})}
    head = {name: value for name, value in head.items() if value is not None}
    data = ".".join(b64(json.dumps(part).encode()) for part in (head, body or claims(**changes)))
    return data + "." + b64(key.sign(data.encode()))


class Provider(http.server.BaseHTTPRequestHandler):
    """Serves the keys of its server, and counts."""

    def do_GET(self):
        self.server.asked += 1
        data = json.dumps({"keys": self.server.keys}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="corehour-oidc-"))
        cls.rsa, cls.ec = Key(cls.folder, "rsa-1"), Key(cls.folder, "ec-1", "ES256")
        cls.other, cls.short = Key(cls.folder, "rsa-2"), Key(cls.folder, "short", bits=1024)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def write_keys(self, *keys):
        path = self.folder / "jwks.json"
        path.write_text(json.dumps({"keys": [key.jwk for key in keys]}), encoding="utf-8")
        return path

    def start(self, jwks, more=""):
        daemon = d.Daemon(
            COREHOURD,
            f"oidc_issuer = {ISSUER}\noidc_audience = {AUDIENCE}\noidc_jwks = {jwks}\noidc_roles = {ROLES}\n{more}",
        )
        daemon.__enter__()
        self.addCleanup(daemon.__exit__, None)
        daemon.make_world()
        daemon.ok("PUT", "/v1/projects/vision/members/alice", {})
        return daemon


class Tokens(Case):
    def setUp(self):
        self.daemon = self.start(self.write_keys(self.rsa, self.ec, self.short), "token_failures_per_minute = 1000\n")

    def ask(self, text, path="/v1/projects/vision", method="GET", body=None, headers=()):
        return self.daemon.call(method, path, body, headers, token=text)

    def refused(self, text, reason, status=401, **request):
        answer = self.ask(text, **request)
        self.assertEqual(answer.status, status, answer)
        self.assertIn(reason, answer.json["detail"])

    def test_rs256_and_es256_are_let_in_with_the_role_of_their_group(self):
        for key in (self.rsa, self.ec):
            lead = token(key, groups=["staff", "ai-leads"])
            self.assertEqual(self.ask(lead).status, 200)
            self.assertEqual(self.ask(lead, "/v1/organizations/acme").status, 404)
            self.assertEqual(self.ask(lead, "/v1/tokens").status, 403)
            answer = self.ask(lead, "/v1/projects/vision/caps/jobs?dry_run=true", "PUT", {"limit": 3})
            self.assertEqual(answer.status, 201, answer)

    def test_each_role_has_its_place(self):
        status = lambda group, path, **more: self.ask(token(self.rsa, groups=group), path, **more).status
        self.assertEqual(status(["ops"], "/v1/tokens"), 200)
        self.assertEqual(status("finance", "/v1/journal?root=acme"), 200)
        self.assertEqual(status(["staff"], "/v1/projects/vision/members/alice/balance"), 200)
        self.assertEqual(status(["staff"], "/v1/projects/vision"), 404)
        self.assertEqual(status(["slurm"], "/v1/clusters/alpha"), 200)
        freeze = self.ask(token(self.rsa, groups=["slurm"]), "/v1/holds", "POST", d.freeze_body("h-jwt"))
        self.assertEqual(freeze.status, 201, freeze)

    def test_a_change_is_written_down_with_the_subject_and_the_name(self):
        text = token(self.rsa, sub="subject-7", preferred_username="ann", groups=["ai-leads"])
        self.assertEqual(self.ask(text, "/v1/projects/vision/caps/jobs", "PUT", {"limit": 3}).status, 201)
        change = self.daemon.ok("GET", "/v1/audit?root=acme&page_size=1000").json["items"][-1]
        self.assertEqual((change["who"], change["name"], change["role"]), ("subject-7", "ann", "lead"))

    def test_without_a_known_group_or_with_a_place_that_is_not_there_it_is_403(self):
        for groups in (None, [], ["others"], "other", {"a": 1}, 7):
            self.refused(token(self.rsa, groups=groups), "no group", 403)
        self.refused(token(self.rsa, groups=["lost"]), "nonesuch", 403)
        self.refused(token(self.rsa, groups=["staff"], preferred_username="nobody"), "vision/nobody", 403)
        self.refused(token(self.rsa, groups=["staff"], preferred_username="x/y"), "no group", 403)
        self.refused(token(self.rsa, groups=["staff"], preferred_username=None), "no group", 403)

    def test_times_issuer_audience_and_subject_must_be_right(self):
        now = int(time.time())
        good = {"groups": ["ops"]}
        self.assertEqual(self.ask(token(self.rsa, **good, aud=["other", AUDIENCE])).status, 200)
        for changes in ({"exp": now - 30}, {"nbf": now + 30}):
            self.assertEqual(self.ask(token(self.rsa, **good, **changes)).status, 200, "clocks may differ by a minute")
        for reason, changes in (
            ("over", {"exp": now - 61}), ("over", {"exp": None}), ("over", {"exp": str(now + 600)}),
            ("over", {"exp": now + 600.5}), ("not valid yet", {"nbf": now + 600}),
            ("issuer", {"iss": ISSUER + "/"}), ("issuer", {"iss": None}), ("issuer", {"iss": [ISSUER]}),
            ("audience", {"aud": "other"}), ("audience", {"aud": None}), ("audience", {"aud": []}),
            ("subject", {"sub": None}), ("subject", {"sub": ""}), ("subject", {"sub": "a\nb"}), ("subject", {"sub": "x" * 300}),
        ):
            with self.subTest(changes=changes):
                self.refused(token(self.rsa, **good, **changes), reason)

    def test_other_algorithms_and_keys_of_the_sender_are_refused(self):
        body = claims(groups=["ops"])
        parts = [b64(json.dumps(part).encode()) for part in ({"alg": "none", "typ": "JWT"}, body)]
        for text in (".".join(parts) + ".", ".".join(parts) + ".AAAA", ".".join(parts)):
            self.refused(text, "")
        public = openssl("rsa", "-in", self.rsa.path, "-pubout")
        for alg, digest in (("HS256", hashlib.sha256), ("HS512", hashlib.sha512)):
            data = ".".join(b64(json.dumps(part).encode()) for part in ({"alg": alg, "kid": "rsa-1"}, body))
            self.refused(data + "." + b64(hmac.new(public, data.encode(), digest).digest()), "")
        own = {**self.other.jwk, "kid": "rsa-1"}
        for header in ({"jwk": own}, {"jku": "http://127.0.0.1:1/keys"}, {"x5u": "http://127.0.0.1:1/c"}, {}):
            forged = token(self.other, body, {"kid": "rsa-1", **header})
            self.refused(forged, "")
        self.assertIn(self.ask(token(self.rsa, body, {"kid": "ec-1"})).status, (401, 503))
        self.refused(token(self.rsa, body, {"crit": ["exp"]}), "")
        self.refused(token(self.short, body), "too short")
        self.assertIn(self.ask(token(self.rsa, body, {"alg": "ES256"})).status, (401, 503))
        self.refused(token(self.rsa, body, {"alg": "RS512"}), "")

    def test_a_token_that_was_changed_is_refused_wherever(self):
        text = token(self.rsa, groups=["staff"])
        head, _, signature = text.split(".")
        self.refused(".".join((head, b64(json.dumps(claims(groups=["ops"])).encode()), signature)), "signature")
        for at in range(0, len(text), 37):
            # Both ends of the six bits: the low bits of the last letter of a signature mean nothing.
            changed = text[:at] + ("A" if text[at] != "A" else "x") + text[at + 1 :]
            self.assertIn(self.ask(changed).status, (401, 503), at)

    def test_huge_and_broken_tokens_are_refused_and_the_daemon_lives(self):
        self.refused(token(self.rsa, groups=["ops"], blob="x" * 5000), "too long")
        for text in ("ey", "ey.", "ey..", "ey...", "ey" + "." * 50, "eyJ.eyJ.eyJ", "eyJhbGciOiJSUzI1NiJ9..", "ey" + "A" * 5000,
                     "eyJhbGciOiJSUzI1NiJ9.W10.AAAA", "eyJhbGciOltdfQ.e30.AAAA", "ey\xff.\xff.\xff".encode("latin-1").decode("latin-1")):
            # 503: the provider is asked for a key that the token does not name rightly.
            self.assertIn(self.ask(text).status, (401, 503), text)
        self.assertEqual(self.ask(token(self.rsa, groups=["ops"])).status, 200)

    def test_without_a_kid_the_only_key_of_its_kind_counts(self):
        self.assertEqual(self.ask(token(self.ec, groups=["ops"], header={"kid": None})).status, 200)
        self.assertIn(self.ask(token(self.rsa, groups=["ops"], header={"kid": None})).status, (401, 503))

    def test_bodies_of_those_not_yet_known_are_small(self):
        big = [{"node": "vision", "cap": "month", "core_hours": 5}] * 2000
        answer = self.ask(token(self.rsa, groups=["ai-leads"]), "/v1/caps", "PUT", big, {"If-Match": "*"})
        self.assertEqual(answer.status, 413)

    def test_tokens_of_the_ledger_go_on_working(self):
        self.assertEqual(self.daemon.call("GET", "/v1/tokens").status, 200)
        self.assertEqual(self.ask("ch_wrong").status, 401)


class Guessing(Case):
    def test_who_sends_wrong_tokens_is_told_to_wait(self):
        daemon = self.start(self.write_keys(self.rsa), "token_failures_per_minute = 5\n")
        if time.time() % 60 > 50:
            time.sleep(11)  # within one minute
        bad = token(self.rsa, groups=["ops"], iss="x")
        statuses = [daemon.call("GET", "/v1/tokens", token=bad).status for _ in range(8)]
        self.assertEqual(statuses, [401] * 5 + [429] * 3)


class Keys(Case):
    def start_provider(self, *keys):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
        server.keys, server.asked = [key.jwk for key in keys], 0
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server, f"http://127.0.0.1:{server.server_address[1]}/keys"

    def until(self, status, daemon, text, within_s=40):
        deadline = time.monotonic() + within_s
        while True:
            answer = daemon.call("GET", "/v1/tokens", token=text)
            if answer.status == status:
                return answer
            self.assertIn(answer.status, (401, 503), answer)
            self.assertLess(time.monotonic(), deadline, answer)
            time.sleep(0.1)

    def test_keys_come_from_a_url_and_a_new_one_is_found_without_asking_too_often(self):
        server, url = self.start_provider(self.rsa)
        daemon = self.start(url, "token_failures_per_minute = 100000\n")
        self.until(200, daemon, token(self.rsa, groups=["ops"]))
        server.keys = [self.other.jwk]
        self.until(200, daemon, token(self.other, groups=["ops"]))
        asked = server.asked
        for _ in range(50):
            self.assertEqual(daemon.call("GET", "/v1/tokens", token=token(self.ec, groups=["ops"])).status // 100 in (4, 5), True)
        self.assertLessEqual(server.asked, asked + 2)

    def test_a_freeze_does_not_wait_for_a_provider_that_does_not_answer(self):
        import socket

        silent = socket.socket()
        silent.bind(("127.0.0.1", 0))
        silent.listen(8)
        self.addCleanup(silent.close)
        daemon = self.start(f"http://127.0.0.1:{silent.getsockname()[1]}/keys")
        self.assertEqual(daemon.call("GET", "/v1/tokens", token=token(self.rsa, groups=["ops"])).status, 503)
        began = time.monotonic()
        daemon.ok("POST", "/v1/holds", d.freeze_body("h-1"))
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(daemon.stop(), 0)

    def test_settings_that_do_not_fit_are_refused_at_start(self):
        good = {"oidc_issuer": ISSUER, "oidc_audience": AUDIENCE, "oidc_jwks": self.write_keys(self.rsa), "oidc_roles": "a=admin"}
        for key, value in (
            ("oidc_audience", None), ("oidc_jwks", None), ("oidc_jwks", "/nowhere"), ("oidc_jwks", "http://id.example/keys"),
            ("oidc_jwks", "http://127.0.0.1.evil.example/"), ("oidc_roles", None), ("oidc_roles", "a=king@x"),
            ("oidc_roles", "a=lead"), ("oidc_roles", "a=admin@x"), ("oidc_roles", "admin"), ("oidc_roles", "=admin"),
        ):
            with self.subTest(key=key, value=value):
                settings = {**good, key: value}
                lines = "".join(f"{k} = {v}\n" for k, v in settings.items() if v is not None)
                daemon = d.Daemon(COREHOURD, lines)
                self.addCleanup(daemon.__exit__, None)
                daemon.init()
                with self.assertRaises(RuntimeError) as refusal:
                    daemon.start()
                self.assertTrue(re.search(key, str(refusal.exception)), refusal.exception)


if __name__ == "__main__":
    unittest.main(verbosity=2)
