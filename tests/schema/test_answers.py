"""Every operation of the OpenAPI document is carried out once against a live daemon, and every answer has the documented
status, media type and shape, and nothing that is not documented.

usage: test_answers.py SOURCE_DIR COREHOURD
"""

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import shapes

COREHOURD = sys.argv.pop(2)
SOURCE = pathlib.Path(sys.argv.pop(1))
DOCUMENT = json.loads((SOURCE / "schema/api/openapi.json").read_text(encoding="utf-8"))
SHAPES = shapes.Shapes(DOCUMENT)
OPERATIONS = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
}


BEGAN = int(time.time())


def ago(seconds):
    """Before the test began: two times are as far apart as they say, however slow the machine is."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(BEGAN - seconds))


class Daemon:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="answers.")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        data = f"{self.folder}/data"
        self.token = subprocess.run(
            [COREHOURD, "init", "--data", data], capture_output=True, text=True, check=True
        ).stdout.strip()
        self.log = open(f"{self.folder}/log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [COREHOURD, "serve", "--data", data, "--listen", f"127.0.0.1:{self.port}"], stderr=self.log, stdout=self.log
        )
        for _ in range(200):
            try:
                if self.send("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                time.sleep(0.05)
        self.stop()
        raise RuntimeError("the daemon does not answer")

    def send(self, method, target, body=None, headers=None):
        """(status, headers, body as bytes)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=90)
        all_headers = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        connection.request(method, target, body.encode() if body is not None else None, all_headers)
        answer = connection.getresponse()
        result = answer.status, answer.headers, answer.read()
        connection.close()
        return result

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=30)
        self.log.close()
        shutil.rmtree(self.folder)
        return status


JOB = {"cluster": "alpha", "account": "vision", "user": "alice"}
GPU = {"cores": 8, "memory_mib": 65536, "gpus": [{"model": "a100", "count": 1}]}


def freeze(hold, **more):
    return {"id": hold, **JOB, "resources": GPU, "time_limit_s": 300, "job": {"name": "train", "partition": "gpu"}, **more}


def run_times(seconds=60):
    return {"started_at": ago(100), "ended_at": ago(100 - seconds)}


# (operation, parameters, body, status). Parameters go into the path, the query or, for names in capitals, the headers.
STORY = [
    ("get_health", {}, None, 200),
    ("get_readiness", {}, None, 200),
    ("get_openapi", {}, None, 200),
    ("put_organization", {"n": "acme"}, {"funding": "self", "timezone": "Asia/Shanghai"}, 201),
    ("put_organization", {"n": "acme", "If-Match": "*"}, {"funding": "self", "timezone": "Asia/Shanghai", "contact": "ops"}, 200),
    ("put_organization", {"n": "acme-ai"}, {"parent": "acme"}, 201),
    ("patch_organization", {"n": "acme-ai", "If-Match": "*"}, {"contact": "lead"}, 200),
    ("get_organization", {"n": "acme"}, None, 200),
    ("put_project", {"n": "vision"}, {"organization": "acme-ai"}, 201),
    ("put_project", {"n": "vision", "If-Match": "*"}, {"organization": "acme-ai", "membership": "open"}, 200),
    ("patch_project", {"n": "vision", "If-Match": "*"}, {"on_insufficient": "reject"}, 200),
    ("get_project", {"n": "vision"}, None, 200),
    ("put_member", {"n": "vision", "u": "alice"}, {}, 201),
    ("put_member", {"n": "vision", "u": "alice", "If-Match": "*"}, {}, 200),
    ("patch_member", {"n": "vision", "u": "alice", "If-Match": "*"}, {"contact": "bob"}, 200),
    ("get_member", {"n": "vision", "u": "alice"}, None, 200),
    ("put_cluster", {"n": "alpha"}, {"kind": "slurm"}, 201),
    ("put_cluster", {"n": "alpha", "If-Match": "*"}, {"kind": "slurm", "roots": ["acme"]}, 200),
    ("patch_cluster", {"n": "alpha", "If-Match": "*"}, {"roots": None}, 200),
    ("get_cluster", {"n": "alpha"}, None, 200),
    ("put_account_mapping", {"n": "alpha", "a": "gpu-team"}, {"project": "vision"}, 201),
    ("put_account_mapping", {"n": "alpha", "a": "gpu-team", "If-Match": "*"}, {"project": "vision"}, 200),
    ("patch_account_mapping", {"n": "alpha", "a": "gpu-team", "If-Match": "*"}, {"project": "vision"}, 200),
    ("get_account_mapping", {"n": "alpha", "a": "gpu-team"}, None, 200),
    ("put_user_mapping", {"n": "alpha", "u": "a.smith"}, {"person": "alice"}, 201),
    ("put_user_mapping", {"n": "alpha", "u": "a.smith", "If-Match": "*"}, {"person": "alice"}, 200),
    ("patch_user_mapping", {"n": "alpha", "u": "a.smith", "If-Match": "*"}, {"person": "alice"}, 200),
    ("get_user_mapping", {"n": "alpha", "u": "a.smith"}, None, 200),
    (
        "put_rates",
        {"n": "alpha", "version": 1},
        {
            "effective_from": "2026-01-01T00:00:00Z",
            "combine": "max",
            "price_per_core_hour": "0.12",
            "currency": "CNY",
            "rows": [
                {"qos": "low", "permille": 500, "core_mcores": 1000, "gpu_default_mcores": 16000},
                {"core_mcores": 1000, "gpus": {"a100": {"mcores": 16000, "memory_mib": 81920}}},
            ],
        },
        201,
    ),
    ("put_rates", {"n": "alpha", "version": 2}, {"effective_from": "2099-01-01T00:00:00Z", "rows": [{"core_mcores": 1}]}, 201),
    (
        "put_rates",
        {"n": "alpha", "version": 2, "If-Match": "*"},
        {"effective_from": "2099-01-01T00:00:00Z", "rows": [{"core_mcores": 2}]},
        200,
    ),
    ("get_rates", {"n": "alpha", "version": 1}, None, 200),
    ("grant_hours", {}, {"id": "grant-1", "node": "acme", "core_hours": "1000", "end": "2099-01-01T00:00:00Z"}, 201),
    ("list_grants", {"node": "acme"}, None, 200),
    ("put_organization", {"n": "acme-hpc"}, {"parent": "acme", "funding": "self"}, 201),
    ("transfer_hours", {}, {"id": "transfer-1", "from": "acme", "to": "acme-hpc", "core_hours": 50}, 201),
    ("withdraw_hours", {}, {"id": "withdrawal-1", "node": "acme-hpc", "mcs": 3600000, "reason": "by mistake"}, 201),
    ("put_organization_cap", {"n": "acme", "cap": "year"}, {"core_hours": 900}, 201),
    ("put_organization_cap", {"n": "acme", "cap": "year", "If-Match": "*"}, {"core_hours": 800}, 200),
    ("get_organization_cap", {"n": "acme", "cap": "year"}, None, 200),
    ("put_project_cap", {"n": "vision", "cap": "month"}, {"core_hours": "2"}, 201),
    ("put_project_cap", {"n": "vision", "cap": "month", "If-Match": "*"}, {"mcs": 7200000}, 200),
    ("get_project_cap", {"n": "vision", "cap": "month"}, None, 200),
    ("put_project_cap", {"n": "vision", "cap": "gpus:a100"}, {"limit": 8}, 201),
    ("put_member_cap", {"n": "vision", "u": "*", "cap": "jobs"}, {"limit": 100, "soft": True}, 201),
    ("put_member_cap", {"n": "vision", "u": "alice", "cap": "job_duration"}, {"limit_s": 86400}, 201),
    ("put_member_cap", {"n": "vision", "u": "alice", "cap": "job_duration", "If-Match": "*"}, {"limit_s": None}, 200),
    ("get_member_cap", {"n": "vision", "u": "alice", "cap": "job_duration"}, None, 200),
    ("put_caps", {}, [{"node": "vision", "cap": "jobs", "limit": 1000}, {"node": "vision", "user": "eve", "cap": "cores", "limit": 9}], 200),
    ("put_caps", {"dry_run": "true"}, [{"node": "vision", "cap": "jobs", "limit": 10}], 428),
    ("put_caps", {"If-Match": "*"}, [{"node": "vision", "cap": "jobs", "remove": True}], 200),
    ("put_caps", {}, [{"node": "vision", "cap": "job", "limit": 1}, {"node": "nowhere", "cap": "jobs", "surprise": 1}], 422),
    ("make_token", {}, {"name": "slurm-alpha", "role": "scheduler", "place": "alpha"}, 201),
    ("list_tokens", {}, None, 200),
    ("quote_hold", {}, {**{k: v for k, v in freeze("x").items() if k != "id"}}, 200),
    ("freeze_hold", {}, freeze("h-1"), 201),
    ("freeze_hold", {}, freeze("h-2", user="bob"), 409),
    ("freeze_hold", {"Accept-Language": "zh"}, freeze("h-2", user="bob"), 409),
    ("freeze_hold", {"dry_run": "true", "amounts": "string"}, freeze("h-0", resources={"cores": 1}), 201),
    ("freeze_hold", {}, freeze("h-2", user="bob", on_insufficient="wait"), 202),
    ("freeze_hold", {}, freeze("h-0", time_limit_s=0), 422),
    ("bind_hold", {"id": "h-1"}, {"job_id": "1234", "job_key": "1234@1796058251"}, 200),
    ("bind_hold", {"id": "h-1"}, {"job_id": "1234", "job_key": "another"}, 409),
    ("start_hold", {"id": "h-1"}, {"started_at": ago(100), "run_key": "98217", "hosts": ["node1"]}, 200),
    ("suspend_hold", {"id": "h-1"}, {"at": ago(90)}, 200),
    ("resume_hold", {"id": "h-1"}, {"at": ago(80)}, 200),
    ("resize_hold", {"id": "h-1"}, {"time_limit_s": 280}, 200),
    ("beat_runs", {}, {"cluster": "alpha", "at": ago(70), "runs": [{"hold": "h-1"}, {"hold": "nobody"}]}, 200),
    ("requeue_hold", {"id": "h-1"}, {**run_times(30), "outcome": "node_fail"}, 200),
    ("get_hold", {"id": "h-1"}, None, 200),
    ("settle_hold", {"id": "h-1"}, {"attempt": 1, **run_times(), "outcome": "completed"}, 200),
    ("settle_hold", {"id": "h-1"}, {"attempt": 1, **run_times(50), "outcome": "failed"}, 409),
    ("correct_hold", {"id": "h-1"}, {"attempt": 1, **run_times(50), "source": "sacct", "reason": "late"}, 200),
    ("get_hold", {"id": "h-1"}, None, 200),
    ("refund_charge", {}, {"id": "refund-1", "hold": "h-1", "attempt": 1, "core_hours": "0.1", "reason": "slow"}, 201),
    ("refund_charge", {}, {"id": "refund-2", "hold": "h-1", "attempt": 1, "reason": "all that is left"}, 201),
    (
        "refund_many",
        {"dry_run": "true"},
        {"id": "incident-1", "cluster": "alpha", "hosts": ["node1"], "from": ago(86400), "to": ago(0), "reason": "node"},
        200,
    ),
    ("refund_many", {}, {"id": "incident-1", "from": ago(86400), "to": ago(0), "outcomes": ["completed"], "reason": "node"}, 200),
    ("refund_many", {}, {"id": "incident-1", "from": ago(0), "to": ago(0), "reason": "node"}, 422),
    ("put_webhook", {"name": "hook"}, {"node": "acme", "url": "https://127.0.0.1/hook", "types": ["cap_threshold"]}, 201),
    ("put_webhook", {"name": "hook"}, {"node": "acme", "url": "https://127.0.0.1/other"}, 428),
    ("put_webhook", {"name": "hook", "If-Match": "*"}, {"node": "acme", "url": "https://127.0.0.1/b", "rotate_secret": True}, 200),
    ("get_webhook", {"name": "hook"}, None, 200),
    ("list_webhooks", {}, None, 200),
    ("test_webhook", {"name": "hook"}, None, 202),
    ("list_deliveries", {"name": "hook"}, None, 200),
    ("delete_webhook", {"name": "hook", "If-Match": "*"}, None, 204),
    ("release_hold", {"id": "h-2"}, {"reason": "cancelled"}, 200),
    ("charge_usage", {}, {"id": "c-1", **JOB, "resources": GPU, **run_times()}, 201),
    ("charge_usage", {}, {"id": "c-2", **{**JOB, "account": "nobody"}, "resources": GPU, **run_times()}, 201),
    ("put_project_cap", {"n": "vision", "cap": "month", "If-Match": "*"}, {"core_hours": "500"}, 200),
    ("freeze_hold", {}, freeze("j-1", tasks=3, max_running=2), 201),
    ("bind_job", {"c": "alpha", "job_id": "77"}, {"job_id": "77"}, 404),
    ("bind_hold", {"id": "j-1"}, {"job_id": "77", "job_key": "77@1"}, 200),
    ("bind_job", {"c": "alpha", "job_id": "77"}, {"job_id": "77", "job_key": "77@1"}, 200),
    ("start_job", {"c": "alpha", "job_id": "77"}, {"started_at": ago(100)}, 200),
    ("suspend_job", {"c": "alpha", "job_id": "77"}, {"at": ago(95)}, 200),
    ("resume_job", {"c": "alpha", "job_id": "77"}, {"at": ago(90)}, 200),
    ("resize_job", {"c": "alpha", "job_id": "77"}, {"time_limit_s": 400}, 200),
    ("requeue_job", {"c": "alpha", "job_id": "77"}, {**run_times(10)}, 200),
    ("settle_job", {"c": "alpha", "job_id": "77"}, {"attempt": 1, **run_times(20)}, 200),
    ("correct_job", {"c": "alpha", "job_id": "77"}, {"attempt": 1, **run_times(30), "source": "sacct", "reason": "late"}, 200),
    ("release_job", {"c": "alpha", "job_id": "77"}, {"tasks": "1-2"}, 200),
    ("list_holds", {"cluster": "alpha"}, None, 200),
    ("list_holds", {"state": "settled", "page_size": "1"}, None, 200),
    ("poll_feed", {"c": "alpha", "after": "0", "wait_s": "1"}, None, 200),
    ("list_unattributed", {"c": "alpha"}, None, 200),
    ("assign_unattributed", {"c": "alpha", "id": "c-2"}, {"project": "vision"}, 201),
    ("assign_unattributed", {"c": "alpha", "id": "c-2"}, {"project": "elsewhere"}, 409),
    ("get_organization_balance", {"n": "acme"}, None, 200),
    ("get_project_balance", {"n": "vision"}, None, 200),
    ("get_member_balance", {"n": "vision", "u": "alice", "amounts": "string"}, None, 200),
    ("report_usage", {"root": "acme", "from": "2026-01-01", "to": "2099-01-01"}, None, 200),
    (
        "report_usage",
        {
            "root": "acme",
            "from": "2026-01-01",
            "to": "2099-01-01",
            "group_by": "organization,project,user,cluster,partition,qos,gpu_model,outcome,day,month",
        },
        None,
        200,
    ),
    ("report_usage", {"root": "acme", "from": "2026-01", "to": "2099-01", "focus_version": "1.3"}, None, 422),
    ("report_statement", {"node": "acme", "month": "2026-01"}, None, 200),
    ("report_statement", {"node": "vision", "month": "2026-01"}, None, 409),
    ("close_period", {"root": "acme", "month": "2025-01", "dry_run": "true"}, None, 200),
    ("close_period", {"root": "acme", "month": "2025-01"}, None, 200),
    ("close_period", {"root": "acme", "month": "2025-03"}, None, 409),
    ("list_periods", {"root": "acme"}, None, 200),
    ("get_period", {"root": "acme", "month": "2025-01"}, None, 200),
    ("get_period", {"root": "acme", "month": "2024-01"}, None, 404),
    ("period_rows", {"root": "acme", "month": "2025-01"}, None, 200),
    ("get_metrics", {}, None, 200),
    ("rotate_token", {"id": "nobody"}, {"old_valid_s": 60}, 404),
    ("revoke_token", {"id": "nobody"}, None, 404),
    ("list_changes", {}, None, 200),
    ("list_changes", {"root": "acme", "node": "vision", "from": "2026-01-01", "to": "2099-01-01T00:00:00Z"}, None, 200),
    ("list_changes", {"root": "acme", "format": "ndjson"}, None, 200),
    ("list_changes", {"root": "nowhere"}, None, 404),
    ("list_changes", {"from": "yesterday"}, None, 422),
    ("delete_organization_cap", {"n": "acme", "cap": "year", "If-Match": "*"}, None, 204),
    ("delete_project_cap", {"n": "vision", "cap": "gpus:a100", "If-Match": "*"}, None, 204),
    ("delete_member_cap", {"n": "vision", "u": "alice", "cap": "job_duration", "If-Match": "*"}, None, 204),
    ("get_project_cap", {"n": "vision", "cap": "gpus:a100"}, None, 404),
    ("rename_person", {"u": "alice"}, {"name": "gone-1", "reason": "has left"}, 200),
    ("rename_person", {"u": "alice"}, {"name": "gone-2", "reason": "has left"}, 404),
    ("rename_person", {"u": "gone-1"}, {"name": "bob", "reason": "by mistake"}, 409),
]


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon, cls.done = Daemon(), set()

    @classmethod
    def tearDownClass(cls):
        if cls.daemon.stop() != 0:
            raise RuntimeError("the daemon did not stop with 0")

    def call(self, operation_id, parameters, body, media="application/json"):
        """(status, media type, body text) of one operation."""
        method, path, operation = OPERATIONS[operation_id]
        query, headers = {}, {}
        for name, value in parameters.items():
            if "{%s}" % name in path:
                path = path.replace("{%s}" % name, urllib.parse.quote(str(value), safe=""))
            elif name[0].isupper():
                headers[name] = value
            else:
                query[name] = value
        target = path + ("?" + urllib.parse.urlencode(query) if query else "")
        if body is not None:
            headers["Content-Type"] = media
            body = body if isinstance(body, str) else json.dumps(body)
        status, answer_headers, data = self.daemon.send(method, target, body, headers)
        return status, (answer_headers.get("Content-Type") or "").split(";")[0], data.decode()

    def documented(self, operation_id, status):
        response = OPERATIONS[operation_id][2]["responses"].get(str(status))
        self.assertIsNotNone(response, f"{operation_id} does not document {status}")
        return SHAPES.resolve(response)

    def check(self, operation_id, status, media, text):
        content = self.documented(operation_id, status).get("content")
        self.done.add((operation_id, status))
        if content is None:
            return self.assertEqual(text, "")
        self.assertIn(media, content)
        if media in ("text/plain", "text/csv"):
            return self.assertTrue(text)
        for line in text.splitlines() if media == "application/x-ndjson" else [text]:
            value, schema = json.loads(line), content[media]["schema"]
            self.assertEqual(SHAPES.faults(schema, value) + SHAPES.everywhere(schema, value), [])

    def test_1_the_story_is_answered_as_documented(self):
        for number, (operation_id, parameters, body, wanted) in enumerate(STORY):
            with self.subTest(step=number, operation=operation_id, parameters=parameters):
                status, media, text = self.call(operation_id, parameters, body)
                self.assertEqual(status, wanted, text)
                self.check(operation_id, status, media, text)

    def test_2_a_batch_answers_each_line(self):
        lines = [
            {"op": "freeze", **freeze("b-1", resources={"cores": 1})},
            {"op": "bind", "hold": "b-1", "job_id": "90"},
            {"op": "settle", "cluster": "alpha", "job_id": "90", **run_times()},
            {"op": "settle", "hold": "nobody", **run_times()},
        ]
        body = "\n".join(map(json.dumps, lines)) + "\n"
        status, media, text = self.call("run_batch", {}, body, "application/x-ndjson")
        self.assertEqual([json.loads(line)["status"] for line in text.splitlines()], [201, 200, 200, 404], text)
        self.check("run_batch", status, media, text)
        body = body.replace("b-1", "b-2")
        status, media, text = self.call("run_batch", {"atomic": "true"}, body, "application/x-ndjson")
        self.assertEqual([json.loads(line)["status"] for line in text.splitlines()], [424, 424, 424, 404], text)
        self.check("run_batch", status, media, text)

    def test_3_events_are_answered_one_by_one_and_in_batches(self):
        def event(kind, number, data):
            return {
                "specversion": "1.0",
                "id": str(number),
                "source": "/slurm/alpha",
                "type": "corehour.job." + kind,
                "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                "data": data,
            }

        one = json.dumps(event("submitted", 1, freeze("e-1", resources={"cores": 1})))
        status, media, text = self.call("take_events", {}, one, "application/cloudevents+json")
        self.assertEqual(status, 201, text)
        self.check("take_events", status, media, text)
        many = json.dumps(
            [
                event("started", 2, {"hold": "e-1", "started_at": ago(90)}),
                event("heartbeat", 3, {"hold": "e-1", "at": ago(80)}),
                event("finished", 4, {"hold": "e-1", **run_times()}),
                event("finished", 5, {"hold": "nobody", **run_times()}),
            ]
        )
        status, media, text = self.call("take_events", {}, many, "application/cloudevents-batch+json")
        self.assertEqual([r["status"] for r in json.loads(text)["results"]], [200, 200, 200, 404], text)
        self.check("take_events", status, media, text)

    def test_4_the_journal_has_the_documented_lines(self):
        status, media, text = self.call("read_journal", {"root": "acme", "after": "0"}, None)
        self.assertEqual(status, 200, text)
        self.assertGreater(len(text.splitlines()), 10)
        self.check("read_journal", status, media, text)

    def test_5_a_token_can_be_rotated_and_revoked(self):
        _, _, text = self.call("list_tokens", {}, None)
        token = next(t for t in json.loads(text)["items"] if t["name"] == "slurm-alpha")
        status, media, text = self.call("rotate_token", {"id": token["id"]}, {"old_valid_s": 60})
        self.assertEqual(status, 200, text)
        self.check("rotate_token", status, media, text)
        status, media, text = self.call("revoke_token", {"id": token["id"]}, None)
        self.assertEqual(status, 204, text)
        self.check("revoke_token", status, media, text)

    def test_6_what_is_not_there_is_a_problem(self):
        status, headers, data = self.daemon.send("GET", "/v1/nowhere")
        self.assertEqual((status, json.loads(data)["code"]), (404, "not_found"))
        self.assertEqual(headers["Content-Type"].split(";")[0], "application/problem+json")
        status, _, data = self.daemon.send("PATCH", "/v1/holds", "{}")
        self.assertEqual((status, json.loads(data)["code"]), (405, "method_not_allowed"))
        status, _, data = self.daemon.send("GET", "/v1/holds", headers={"Authorization": "Bearer ch_wrong"})
        self.assertEqual((status, json.loads(data)["code"]), (401, "unauthenticated"))

    def test_7_a_field_that_is_not_documented_is_refused_by_name(self):
        for operation_id, (method, path, operation) in OPERATIONS.items():
            if "requestBody" not in operation or operation_id in ("run_batch", "take_events", "put_caps"):
                continue
            with self.subTest(operation=operation_id):
                names = {name: "x" for name in re.findall(r"{(\w+)}", path)} | {"version": 9, "cap": "month"}
                parameters = {name: value for name, value in names.items() if "{%s}" % name in path}
                status, _, text = self.call(operation_id, parameters, {"surprise": 1})
                self.assertEqual((status, json.loads(text).get("code")), (422, "invalid_field"), text)
                self.assertEqual(json.loads(text).get("field"), "surprise", text)

    def test_8_every_operation_was_carried_out(self):
        done = {operation_id for operation_id, status in self.done if status < 300}
        self.assertEqual(sorted(set(OPERATIONS) - done), [])


if __name__ == "__main__":
    os.environ.setdefault("TZ", "UTC")
    unittest.main(verbosity=2)
