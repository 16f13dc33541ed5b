"""The webhook: reviews that a real API server sent, answered by the real agent over TLS, against a real ledger."""

import glob
import json
import os
import socket
import ssl
import sys
import threading
import time
import unittest

import lab as l

FIXTURES = None


def recorded(name):
    with open(os.path.join(FIXTURES.name, "admission", name + ".json"), "rb") as file:
        return file.read()


class Webhook(unittest.TestCase):
    COREHOURD = AGENT = None
    KEYS = {}

    @classmethod
    def setUpClass(cls):
        cls.lab = l.Lab(cls.COREHOURD, cls.AGENT)
        cls.lab.__enter__()
        cls.lab.api.namespace("team-a", "enforce")
        cls.lab.api.namespace("team-b", "enforce")
        cls.lab.api.namespace("kube-system", "enforce")
        cls.agent = cls.lab.agent(**cls.KEYS)
        cls.agent.until(lambda m: cls.agent.call("GET", "/readyz")[0] == 200)

    @classmethod
    def tearDownClass(cls):
        cls.lab.__exit__(None)

    def pods_held(self):
        page = self.lab.daemon.call("GET", f"/v1/holds?cluster={self.lab.cluster}&page_size=1000").json
        return {hold["id"] for hold in page["items"]}


class TestEnforce(Webhook):
    def test_every_recorded_creation_is_answered_as_the_table_says(self):
        """tests/system/kubernetes/admissions.txt: what each recorded request freezes, or why not."""
        text = (l.HERE / "admissions.txt").read_text(encoding="utf-8")
        rows = [line.split("|", 5) for line in text.splitlines() if line.strip() and not line.startswith("#")]
        table = {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}
        names = sorted(os.path.basename(p)[:-5] for p in glob.glob(os.path.join(FIXTURES.name, "admission", "*.json")))
        names = [n for n in names if "retry-times" not in n and "http-headers" not in n]
        self.lab.daemon.ok("PUT", "/v1/projects/team-a/caps/job_gpus", {"limit": 4})
        for name in names:
            self.put_owners(json.loads(recorded(name))["request"])
        seen = {}
        for name in names:
            body = recorded(name)
            request = json.loads(body)["request"]
            answer = self.agent.review("/enforce", body)
            uid = ((request["object"] or {}).get("metadata") or {}).get("uid")
            hold = self.lab.hold(uid) if uid else None
            if not answer["allowed"]:
                status = answer["status"]
                seen[name] = [f"{status['code']} {status['reason']}", "-", "-", "-", status["message"]]
            elif hold is None or request["operation"] != "CREATE" or request["resource"]["resource"] != "pods":
                seen[name] = ["allowed", "-", "-", "-", ""]
            else:
                seen[name] = ["allowed", hold["user"], f"{hold['rate_mcores']}", hold["frozen_core_hours"], ""]
        wanted = {name: table.get(name) for name in seen}
        if os.environ.get("COREHOUR_WRITE_TABLE"):  # to begin a new table, which a person then reads
            with open(os.environ["COREHOUR_WRITE_TABLE"], "w", encoding="utf-8") as file:
                for name, row in seen.items():
                    line = f"{name:51} | {row[0]:13} | {row[1]:10} | {row[2]:>7} | {row[3]:>9} | {row[4]}"
                    file.write(line.rstrip() + "\n")
        self.maxDiff = None
        self.assertEqual(seen, wanted)
        self.assertEqual(set(table), set(seen), "the table has a row for each recorded request and no more")

    def put_owners(self, request):
        """What owned the recorded pods: made by alice, Deployments and CronJobs one step further up."""
        kinds = {"ReplicaSet": ("replicasets", "Deployment"), "Job": ("jobs", None), "StatefulSet": ("statefulsets", None)}
        kinds["DaemonSet"] = ("daemonsets", None)
        for ref in ((request["object"] or {}).get("metadata") or {}).get("ownerReferences", []):
            plural, above = kinds.get(ref["kind"], (None, None))
            if request["resource"]["resource"] != "pods" or plural is None:
                continue
            metadata = {"name": ref["name"], "namespace": request["namespace"], "uid": ref["uid"]}
            stamped = {"annotations": {"corehour.io/created-by": "alice"}}
            if above:
                top = {"apiVersion": "apps/v1", "kind": above, "name": "top-" + ref["name"], "uid": "top-" + ref["uid"]}
                metadata["ownerReferences"] = [{**top, "controller": True}]
                up = {"name": top["name"], "uid": top["uid"], "namespace": request["namespace"], **stamped}
                self.lab.api.put("deployments", {"metadata": up})
            else:
                metadata.update(stamped)
            self.lab.api.put(plural, {"metadata": metadata})

    def test_a_dry_run_never_freezes(self):
        before = self.pods_held()
        answer = self.agent.review("/enforce", l.review(l.pod("dry", "dry-1"), dry_run=True))
        self.assertTrue(answer["allowed"])
        self.lab.daemon.ok("PUT", "/v1/projects/team-c/caps/job_gpus", {"limit": 4})
        answer = self.agent.review("/enforce", l.review(l.pod("dry", "dry-2", "team-c", gpus=8), dry_run=True))
        self.assertEqual((answer["allowed"], answer["status"]["code"]), (False, 403), "it says what would be")
        self.assertEqual(before, self.pods_held())

    def test_a_soft_cap_warns_and_admits(self):
        self.lab.daemon.ok("PUT", "/v1/projects/team-c/caps/gpus", {"limit": 1, "soft": True})
        answer = self.agent.review("/enforce", l.review(l.pod("soft", "soft-1", "team-c", gpus=2)))
        self.assertTrue(answer["allowed"])
        self.assertTrue(answer["warnings"])
        for warning in answer["warnings"]:
            self.assertIsInstance(warning, str)
            self.assertEqual(warning, "Corehour: project team-c soft gpus cap 1.000, available 1.000, requested 2.000")

    def test_the_same_pod_asked_twice_has_one_hold(self):
        body = l.review(l.pod("twice", "twice-1"))
        self.assertTrue(self.agent.review("/enforce", body)["allowed"])
        self.assertTrue(self.agent.review("/enforce", body)["allowed"])
        self.assertEqual(self.lab.hold("twice-1")["frozen_mcs"], 300 * l.GPU)

    def test_refused_creations_that_are_tried_again_leave_no_holds(self):
        self.lab.daemon.ok("PUT", "/v1/projects/team-b/caps/gpus", {"limit": 1}, {"If-Match": "*"})
        before = self.pods_held()
        for i in range(12):
            answer = self.agent.review("/enforce", l.review(l.pod(f"big-{i}", f"big-{i}", "team-b", gpus=8)))
            self.assertFalse(answer["allowed"])
            self.assertEqual(answer["status"]["code"], 403)
            self.assertIn("quota insufficient to pre-freeze", answer["status"]["message"])
            self.assertIn("project team-b gpus cap", answer["status"]["message"])
        self.assertEqual(before, self.pods_held())

    def test_pods_of_a_gang_are_refused_where_they_cannot_be_frozen_together(self):
        """Pods come to a webhook one by one; a Job of one pod needs no others."""
        api = self.lab.api
        api.namespace("team-g", "enforce", {"corehour.io/account": "team-c"}, **{"corehour.io/gang": "true"})
        for name, size in (("one", 1), ("two", 2)):
            metadata = {"name": name, "namespace": "team-g", "uid": f"uid-{name}"}
            api.put("jobs", {"kind": "Job", "metadata": metadata, "spec": {"parallelism": size, "template": {}}})

        def ask(pod, labels=(), **owner):
            item = l.pod(pod, pod, "team-g", metadata={"labels": dict(labels)})
            if owner:
                item["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "controller": True, **owner}]
            return self.agent.review("/enforce", l.review(item))

        deadline = time.monotonic() + 20
        while ask(f"gang-{time.monotonic_ns()}", name="two", uid="uid-two")["allowed"] and time.monotonic() < deadline:
            time.sleep(0.05)
        answer = ask("gang-two", name="two", uid="uid-two")
        self.assertEqual((answer["allowed"], answer["status"]["code"]), (False, 403))
        self.assertIn("frozen together in mode gate only", answer["status"]["message"])
        self.assertFalse(ask("gang-unknown", name="gone", uid="uid-gone")["allowed"], "nobody says how many")
        group = {"pod-group.scheduling.sigs.k8s.io/name": "g", "pod-group.scheduling.sigs.k8s.io/min-available": "3"}
        self.assertFalse(ask("gang-group", group)["allowed"])
        self.assertEqual([self.lab.hold(f"gang-{n}") for n in ("two", "unknown", "group")], [None] * 3)
        self.assertTrue(ask("gang-one", name="one", uid="uid-one")["allowed"])
        self.assertTrue(ask("gang-alone")["allowed"])

    def test_protected_namespaces_are_let_through_unseen(self):
        for name in ("kube-system", "kube-public", "kube-node-lease", "corehour"):
            answer = self.agent.review("/enforce", l.review(l.pod("p", f"sys-{name}", name, gpus=1000000)))
            self.assertTrue(answer["allowed"], name)
            answer = self.agent.review("/gate", l.review(l.pod("p", f"sys-{name}", name)))
            self.assertNotIn("patch", answer, name)
        self.assertFalse([h for h in self.pods_held() if "sys-" in h])

    def test_a_time_limit_is_frozen_in_full(self):
        answer = self.agent.review("/enforce", l.review(l.pod("limit", "limit-1", spec={"activeDeadlineSeconds": 7200})))
        self.assertTrue(answer["allowed"])
        hold = self.lab.hold("limit-1")
        self.assertEqual((hold["mode"], hold["seconds"], hold["frozen_mcs"]), ("full", 7200, 7200 * l.GPU))

    def test_an_annotation_of_the_namespace_names_its_account(self):
        self.lab.api.namespace("team-x", "enforce", {"corehour.io/account": "team-c"})
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            uid = f"account-{time.monotonic_ns()}"
            if self.agent.review("/enforce", l.review(l.pod("acc", uid, "team-x")))["allowed"]:
                break
            time.sleep(0.05)
        self.assertEqual(self.lab.hold(uid)["project"], "team-c")

    def test_an_unknown_account_is_refused_with_its_reason(self):
        answer = self.agent.review("/enforce", l.review(l.pod("p", "nobody-1", "nowhere")))
        self.assertEqual(answer["status"]["code"], 403)
        self.assertIn("nowhere", answer["status"]["message"])


class TestPeople(Webhook):
    def test_the_owner_chain_gives_the_human(self):
        api = self.lab.api
        stamp = {"annotations": {"corehour.io/created-by": "carol"}}
        api.put("deployments", {"metadata": {"name": "web", "namespace": "team-a", "uid": "d-1", **stamp}})
        ref = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d-1", "controller": True}
        api.put("replicasets", {"metadata": {"name": "web-1", "namespace": "team-a", "uid": "r-1", "ownerReferences": [ref]}})
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "r-1", "controller": True}
        robot = "system:serviceaccount:kube-system:replicaset-controller"
        for i in range(3):
            item = l.pod(f"web-1-{i}", f"chain-{i}", metadata={"ownerReferences": [owner]})
            self.assertTrue(self.agent.review("/enforce", l.review(item, robot))["allowed"])
            self.assertEqual(self.lab.hold(f"chain-{i}")["user"], "carol")
        asked = [r for r in api.requests if "replicasets" in r[1] or "deployments" in r[1]]
        self.assertEqual(len(asked), 2, "owners are remembered")

    def test_an_owner_is_looked_for_in_the_namespace_of_its_pod_only(self):
        """The API server takes any text for an owner's name."""
        metadata = {"name": "theirs", "namespace": "team-b", "uid": "j-1", "annotations": {"corehour.io/created-by": "carol"}}
        self.lab.api.put("jobs", {"metadata": metadata})
        robot = "system:serviceaccount:kube-system:job-controller"
        up = "batch/v1/namespaces/team-b/jobs/theirs?x=/../../../.."
        names = ["../../team-b/jobs/theirs", "x/../../../team-b/jobs/theirs", "%2e%2e/x", "a?b", "a b", "a\nb", "", "..", up]
        before = len(self.lab.api.requests)
        for number, name in enumerate(names):
            version, name = (name, "theirs") if name == up else ("batch/v1", name)
            owner = {"apiVersion": version, "kind": "Job", "name": name, "uid": "j-1", "controller": True}
            item = l.pod("p", f"path-{number}", metadata={"ownerReferences": [owner]})
            self.agent.review("/enforce", l.review(item, robot))
            self.assertEqual(self.lab.hold(f"path-{number}")["user"], "kubernetes", name)
        asked = [r[1] for r in self.lab.api.requests[before:] if "jobs" in r[1]]
        self.assertEqual(asked, [])

    def test_who_is_charged_when_no_human_asked(self):
        robot = "system:serviceaccount:kubeflow:runner"
        cases = [
            ("annotation", {"metadata": {"annotations": {"corehour.io/user": "dave"}}}, "dave"),
            ("account", {"spec": {"serviceAccountName": "trainer"}}, "serviceaccount:team-a:trainer"),
            ("nothing", {}, "kubernetes"),
        ]
        for name, changes, wanted in cases:
            self.agent.review("/enforce", l.review(l.pod(name, f"who-{name}", **changes), robot))
            self.assertEqual(self.lab.hold(f"who-{name}")["user"], wanted, name)
        item = l.pod("forged", "who-forged", metadata={"annotations": {"corehour.io/user": "dave"}})
        self.agent.review("/enforce", l.review(item, "alice"))
        self.assertEqual(self.lab.hold("who-forged")["user"], "alice", "a human pays for what they ask for")

    def patched(self, answer, item):
        import base64

        from replay_api import patch

        item = json.loads(json.dumps(item))
        for step in json.loads(base64.b64decode(answer["patch"])):
            self.assertTrue(patch(item, step), step)
        self.assertEqual(answer["patchType"], "JSONPatch")
        return item

    def test_a_stamp_names_the_human_and_cannot_be_forged(self):
        job = json.loads(recorded("job-create"))
        answer = self.agent.review("/stamp", job)
        item = self.patched(answer, job["request"]["object"])
        self.assertEqual(item["metadata"]["annotations"]["corehour.io/created-by"], "alice")
        forged = l.pod("p", "stamp-1", metadata={"annotations": {"corehour.io/created-by": "bob", "a": "b"}})
        item = self.patched(self.agent.review("/stamp", l.review(forged, "alice")), forged)
        self.assertEqual(item["metadata"]["annotations"], {"corehour.io/created-by": "alice", "a": "b"})
        item = self.patched(self.agent.review("/stamp", l.review(forged, "system:serviceaccount:x:y")), forged)
        self.assertEqual(item["metadata"]["annotations"], {"a": "b"})
        changed = l.review(forged, "bob", "UPDATE", oldObject=l.pod("p", "stamp-1", metadata={"annotations": {"corehour.io/created-by": "alice"}}))
        item = self.patched(self.agent.review("/stamp", changed), forged)
        self.assertEqual(item["metadata"]["annotations"]["corehour.io/created-by"], "alice")
        right = l.pod("p", "stamp-2", metadata={"annotations": {"corehour.io/created-by": "alice"}})
        self.assertNotIn("patch", self.agent.review("/stamp", l.review(right, "alice")))

    def test_a_gate_is_put_on_pods_with_accelerators_only(self):
        for spec in ({}, {"schedulingGates": [{"name": "other/gate"}]}):
            item = l.pod("g", "", spec=spec)
            after = self.patched(self.agent.review("/gate", l.review(item)), item)
            names = [gate["name"] for gate in after["spec"]["schedulingGates"]]
            self.assertEqual(names, [g["name"] for g in spec.get("schedulingGates", [])] + ["corehour.io/freeze"])
            self.assertNotIn("patch", self.agent.review("/gate", l.review(after)), "one gate is enough")
        for odd in ("\0", "<" * (1 << 20)):  # what makes a review fail or long leads around no gate
            body = json.dumps(l.review(l.pod("g", "", metadata={"annotations": {"a": odd}}))).replace("<", "\\u003c")
            self.assertIn("patch", self.agent.review("/gate", body.encode()))
        self.assertNotIn("patch", self.agent.review("/gate", recorded("pod-create-no-gpu")))
        self.assertFalse(self.agent.review("/gate", recorded("pod-create-nodename"))["allowed"])
        self.assertFalse(self.pods_held() & {"pod-"})


class TestWire(Webhook):
    def test_what_is_no_review_is_refused(self):
        good = l.review(l.pod("p", "wire-1"))
        cases = [
            b"",
            b"nonsense",
            b"{",
            b"[]",
            b'{"kind": "AdmissionReview", "kind": "AdmissionReview"}',
            json.dumps({**good, "apiVersion": "admission.k8s.io/v1beta1"}).encode(),
            json.dumps({**good, "kind": "Pod"}).encode(),
            json.dumps({**good, "request": {**good["request"], "uid": ""}}).encode(),
            json.dumps({**good, "request": None}).encode(),
            b'{"kind":' * 5000,
            b"[" * 100000,
            b"\xff\xfe\x00",
        ]
        for body in cases:
            status, text = self.agent.call("POST", "/enforce", body)
            self.assertEqual(status, 400, (body[:60], text))
        self.assertEqual(self.agent.call("POST", "/nowhere", b"{}")[0], 404)
        self.assertEqual(self.agent.call("GET", "/enforce")[0], 405)
        self.assertEqual(self.agent.call("GET", "/healthz")[0], 200)
        self.assertIsNone(self.lab.hold("wire-1"))

    def test_oversized_reviews_are_refused_before_they_are_read(self):
        connection = self.agent.connect()
        connection.putrequest("POST", "/enforce")
        connection.putheader("Content-Length", str(200 << 20))
        connection.endheaders()
        self.assertEqual(connection.getresponse().status, 413)
        connection.close()
        padded = l.review(l.pod("p", "large-1", metadata={"annotations": {"x": "y" * (25 << 20)}}))
        try:
            self.assertEqual(self.agent.call("POST", "/enforce", padded)[0], 413)
        except (ConnectionError, ssl.SSLError):
            pass  # closed while the rest was still being sent
        self.assertIsNone(self.lab.hold("large-1"))
        chunked = self.agent.connect()
        with self.assertRaises((ConnectionError, ssl.SSLError, l.http.client.HTTPException)):
            chunked.request("POST", "/enforce", iter([b"x" * 65536] * 100), {}, encode_chunked=True)
            if chunked.getresponse().status != 200:
                raise ConnectionError
        self.assertTrue(self.agent.review("/enforce", l.review(l.pod("p", "large-2")))["allowed"])

    def test_bad_tls_is_refused(self):
        with socket.create_connection(("127.0.0.1", self.agent.port), 10) as plain:
            plain.sendall(b"POST /enforce HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
            self.assertNotIn(b"HTTP/1.1 200", plain.recv(1000))
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname = False
        old.verify_mode = ssl.CERT_NONE
        old.set_ciphers("ALL:@SECLEVEL=0")
        old.minimum_version = ssl.TLSVersion.TLSv1
        old.maximum_version = ssl.TLSVersion.TLSv1_1
        with socket.create_connection(("127.0.0.1", self.agent.port), 10) as raw:
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                old.wrap_socket(raw, server_hostname="localhost").send(b"x")
        other = l.make_certificate(self.lab.folder, "other")
        with self.assertRaises(ssl.SSLError):
            self.agent.connect(other[2]).request("GET", "/healthz")

    def test_slow_clients_hold_nobody_up(self):
        slow = []
        for _ in range(20):
            context = ssl.create_default_context(cafile=str(self.lab.ca))
            raw = socket.create_connection(("127.0.0.1", self.agent.port), 10)
            tls = context.wrap_socket(raw, server_hostname="localhost")
            tls.send(b"POST /enforce HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
            slow.append(tls)
        began = time.monotonic()
        self.assertTrue(self.agent.review("/enforce", l.review(l.pod("p", "quick-1")))["allowed"])
        self.assertLess(time.monotonic() - began, 10)
        for tls in slow:
            tls.close()


class TestCrowd(Webhook):
    """Clients that mean no good, on a webhook with few connections."""

    KEYS = {"connections_max": 16}

    def half_a_request(self, source):
        raw = socket.create_connection(("127.0.0.1", self.agent.port), 30, (source, 0))
        context = ssl.create_default_context(cafile=str(self.lab.ca))
        tls = context.wrap_socket(raw, server_hostname="localhost")
        tls.send(b"POST /enforce HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
        return tls

    def test_one_address_does_not_get_all_connections(self):
        held = []
        for _ in range(16):
            try:
                held.append(self.half_a_request("127.0.0.2"))
            except OSError:
                break
        self.assertEqual(len(held), 8)
        self.assertTrue(self.agent.review("/enforce", l.review(l.pod("p", "crowd-1")))["allowed"])
        for tls in held:
            tls.close()

    def test_a_body_that_trickles_in_is_cut_off(self):
        tls = self.half_a_request("127.0.0.3")
        began = time.monotonic()
        with self.assertRaises(OSError):
            while time.monotonic() - began < 60:
                tls.send(b" ")
                time.sleep(0.5)
        tls.close()
        self.assertGreater(time.monotonic() - began, 8)
        self.assertLess(time.monotonic() - began, 50)

    def test_silence_before_the_first_request_is_cut_short_and_after_it_is_not(self):
        used = self.agent.connect()
        self.assertEqual(self.agent.call("GET", "/healthz", connection=used)[0], 200)
        with socket.create_connection(("127.0.0.1", self.agent.port), 60) as silent:
            while silent.recv(100):  # until it is closed; TLS may say so first
                pass
        self.assertEqual(self.agent.call("GET", "/healthz", connection=used)[0], 200, "kept alive")
        used.close()


class TestCertificate(Webhook):
    def test_a_new_certificate_is_taken_without_a_restart(self):
        pid = self.agent.process.pid
        cert, key, ca = l.make_certificate(self.lab.folder, "renewed")
        before = (self.lab.cert.read_bytes(), self.lab.key.read_bytes())
        os.replace(cert, self.lab.cert)
        os.replace(key, self.lab.key)
        deadline = time.monotonic() + 20
        ok = False
        while not ok and time.monotonic() < deadline:
            try:
                ok = self.agent.call("GET", "/healthz", connection=self.agent.connect(self.lab.cert))[0] == 200
            except ssl.SSLError:
                time.sleep(0.1)
        self.assertTrue(ok)
        self.assertIn("certificate_loaded", self.agent.text())
        self.lab.key.write_bytes(before[1])  # no longer a pair: the one before stays
        time.sleep(1.5)
        self.assertEqual(self.agent.call("GET", "/healthz", connection=self.agent.connect(self.lab.cert))[0], 200)
        self.assertEqual(self.agent.process.pid, pid)
        self.lab.cert.write_bytes(before[0])


class TestSilence(unittest.TestCase):
    """The ledger does not answer."""

    def test_no_answer_is_not_no_funds(self):
        with l.Lab(Webhook.COREHOURD, Webhook.AGENT) as lab:
            lab.api.namespace("team-a", "enforce")
            closed = lab.agent(deadline_ms=400, fail_policy="closed", breaker_s=1)
            opened = lab.agent(deadline_ms=400, fail_policy="open", breaker_s=1)
            lab.daemon.kill()
            began = time.monotonic()
            answer = closed.review("/enforce", l.review(l.pod("p", "down-1")))
            self.assertLess(time.monotonic() - began, 8)
            self.assertEqual((answer["allowed"], answer["status"]["code"]), (False, 503))
            self.assertIn("no answer", answer["status"]["message"])
            self.assertNotIn("insufficient", answer["status"]["message"])
            answer = opened.review("/enforce", l.review(l.pod("p", "down-1")))
            self.assertTrue(answer["allowed"])
            self.assertIn("charged later", answer["warnings"][0])
            self.assertTrue(closed.review("/enforce", l.review(l.pod("p", "down-2", "kube-system")))["allowed"])
            self.assertTrue(closed.review("/gate", l.review(l.pod("p", "")))["allowed"], "a gate asks nobody")

    def test_a_ledger_that_hangs_costs_no_more_than_the_deadline(self):
        with l.Lab(Webhook.COREHOURD, Webhook.AGENT) as lab, socket.socket() as hole:
            hole.bind(("127.0.0.1", 0))
            hole.listen(50)
            agent = lab.agent(url=f"http://127.0.0.1:{hole.getsockname()[1]}", deadline_ms=300, breaker_s=30)
            began = time.monotonic()
            self.assertEqual(agent.review("/enforce", l.review(l.pod("p", "hang-1")))["status"]["code"], 503)
            first = time.monotonic() - began
            self.assertLess(first, 8)
            connection = agent.connect()
            agent.review("/enforce", l.review(l.pod("p", "hang-2")), connection)
            before = agent.metrics(connection)["reviews_failed_closed_total"]
            began = time.monotonic()
            for i in range(20):
                agent.review("/enforce", l.review(l.pod("p", f"hang-{i}")), connection)
            self.assertLess(time.monotonic() - began, 20 * 0.3, "asked again and again")
            self.assertEqual(agent.metrics(connection)["reviews_failed_closed_total"], before + 20)


class TestAtOnce(Webhook):
    def test_as_many_pods_pass_as_fit(self):
        """Pods that race for the last core-hours: one decision each."""
        fits = 7
        self.lab.daemon.ok("PUT", "/v1/projects/team-b/caps/gpus", {"limit": fits}, {"If-Match": "*"})
        allowed = []

        def ask(first):
            connection = self.agent.connect()
            for i in range(first, first + 5):
                answer = self.agent.review("/enforce", l.review(l.pod(f"race-{i}", f"race-{i}", "team-b")), connection)
                allowed.append(answer["allowed"])
            connection.close()

        threads = [threading.Thread(target=ask, args=(i * 5,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(allowed), sum(allowed)), (40, fits))


if __name__ == "__main__":
    Webhook.COREHOURD, Webhook.AGENT, _ = sys.argv[1:4]
    FIXTURES = l.fixtures()
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
