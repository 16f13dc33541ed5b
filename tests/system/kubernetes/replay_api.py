"""An API server that plays what a real one said: recorded watch lines byte for byte, lists of what exists after them, over TLS.

It also keeps what the agent writes (Leases, Events, patches, deletions). For tests only; standard library only.
"""

import http.server
import json
import ssl
import threading
import time

NAMESPACED = {"pods", "events", "leases", "replicasets", "deployments", "statefulsets", "daemonsets", "jobs", "cronjobs"}
WRITTEN = {"events", "leases"}
TOO_OLD = (
    '{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
    '"message":"too old resource version: %s (%d)","reason":"Expired","code":410}}\n'
)


class Kind:
    """Objects of one plural, and the lines that made them."""

    def __init__(self):
        self.objects = {}  # (namespace, name) -> object
        self.lines = []  # (resourceVersion, line as bytes)
        self.marks = {}  # version of a list -> how many lines it had seen
        self.oldest = 0  # a watch from before this is too old


class ApiServer:
    """`with ApiServer(folder_with_tls) as api:`; everything may be changed while it runs."""

    def __init__(self, cert, key, token="agent-token", port=0):
        self.token = token
        self.lock = threading.RLock()
        self.news = threading.Condition(self.lock)
        self.kinds = {}
        self.version = 1  # below every recorded one
        self.written = 10**9  # of what the agent makes: never among the recorded ones
        self.requests = []  # (method, path, body)
        self.cut_after = set()  # total pod lines sent after which a stream is cut, mid-line
        self.sent_lines = 0  # of pods, over all streams
        self.doubled = False
        self.refuse = None  # HTTP status for everything
        self.raw = []  # (is it a watch, whole recorded answers of pods): sent byte for byte, then the connection ends
        self.streams = set()
        self.epoch = 0  # streams of an older epoch end
        self.sockets = set()
        handler = type("Handler", (Handler,), {"api": self})
        self.http = Server(("127.0.0.1", port), handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        self.context = context
        self.http.api = self
        self.port = self.http.server_address[1]
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.cut_streams()
        self.http.shutdown()
        self.http.server_close()

    # ---- what exists

    def kind(self, plural):
        return self.kinds.setdefault(plural, Kind())

    def play(self, line, plural="pods"):
        """One recorded line of a watch: it is sent as it is, and lists show its effect."""
        data = line if isinstance(line, bytes) else line.encode()
        event = json.loads(data)
        with self.lock:
            kind = self.kind(plural)
            item = event["object"]
            version = int(item["metadata"]["resourceVersion"])
            if plural not in WRITTEN:
                self.version = max(self.version, version)
            key = (item["metadata"].get("namespace", ""), item["metadata"].get("name"))
            if event["type"] == "DELETED":
                kind.objects.pop(key, None)
            elif event["type"] in ("ADDED", "MODIFIED"):
                kind.objects[key] = item
            kind.lines.append((version, data.rstrip(b"\n") + b"\n"))
            self.news.notify_all()

    def put(self, plural, item, type_=None):
        """An object of the test's own making: its version is given here."""
        with self.lock:
            kind = self.kind(plural)
            key = (item["metadata"].get("namespace", ""), item["metadata"]["name"])
            if plural in WRITTEN:
                self.written += 1
            else:
                self.version += 1
            version = self.written if plural in WRITTEN else self.version
            item["metadata"]["resourceVersion"] = str(version)
            item["metadata"].setdefault("uid", f"uid-{plural}-{version}")
            type_ = type_ or ("MODIFIED" if key in kind.objects else "ADDED")
            self.play(json.dumps({"type": type_, "object": item}), plural)

    def remove(self, plural, namespace, name):
        with self.lock:
            item = self.kind(plural).objects.get((namespace, name))
            if item is not None:
                self.put(plural, dict(item, metadata=dict(item["metadata"])), "DELETED")

    def vanish(self, plural, namespace, name):
        """Gone, and no watch will ever tell."""
        with self.lock:
            self.kind(plural).objects.pop((namespace, name), None)
            self.forget_history(plural)

    def forget_history(self, plural="pods"):
        """As after a restart of the API server: older versions are gone (410)."""
        with self.lock:
            self.version += 1
            self.kind(plural).oldest = self.version
            self.kind(plural).lines.clear()
            self.kind(plural).marks.clear()
            self.cut_streams()

    def namespace(self, name, mode=None, annotations=None, **labels):
        if mode:
            labels["corehour.io/mode"] = mode
        self.put(
            "namespaces",
            {"kind": "Namespace", "metadata": {"name": name, "labels": labels, "annotations": annotations or {}}},
        )

    def cut_streams(self):
        with self.lock:
            self.epoch += 1
            self.news.notify_all()

    def events(self, reason=None):
        with self.lock:
            items = list(self.kind("events").objects.values())
        return [e for e in items if reason is None or e["reason"] == reason]


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def finish_request(self, request, client_address):
        request.settimeout(60)
        try:
            with self.api.context.wrap_socket(request, server_side=True) as tls:
                self.RequestHandlerClass(tls, client_address, self)
        except (OSError, ssl.SSLError):
            pass

    def handle_error(self, *_):
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, status, item):
        data = json.dumps(item).encode() if not isinstance(item, bytes) else item
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def problem(self, status, reason):
        self.answer(status, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": status})

    def split(self):
        """Path -> plural, namespace, name; query as a dict."""
        path, _, query = self.path.partition("?")
        parts = path.strip("/").split("/")
        parts = parts[2:] if parts[0] == "api" else parts[3:]
        namespace = ""
        if parts[0] == "namespaces" and len(parts) > 2:
            namespace = parts[1]
            parts = parts[2:]
        pairs = [p.partition("=")[::2] for p in query.split("&") if p]
        return parts[0], namespace, parts[1] if len(parts) > 1 else None, dict(pairs)

    def body(self):
        length = int(self.headers.get("Content-Length", "0"))
        return json.loads(self.rfile.read(length)) if length else None

    def handle_any(self):
        body = self.body()
        with self.api.lock:
            self.api.requests.append((self.command, self.path, body))
            refuse = self.api.refuse
        if refuse:
            return self.problem(refuse, "Refused")
        if self.headers.get("Authorization") != f"Bearer {self.api.token}":
            return self.problem(401, "Unauthorized")
        plural, namespace, name, query = self.split()
        if plural == "pods" and name is None and self.api.raw and self.api.raw[0][0] == ("watch" in query):
            self.wfile.write(self.api.raw.pop(0)[1])
            self.wfile.flush()
            self.close_connection = True
            return None
        getattr(self, "on_" + self.command.lower())(plural, namespace, name, query, body)
        return None

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    def on_get(self, plural, namespace, name, query, _):
        kind = self.api.kind(plural)
        if name is not None:
            with self.api.lock:
                item = kind.objects.get((namespace, name))
            return self.answer(200, item) if item is not None else self.problem(404, "NotFound")
        if "watch" in query:
            return self.watch(plural, kind, query)
        return self.list(kind, query)

    def list(self, kind, query):
        with self.api.lock:
            items = [kind.objects[key] for key in sorted(kind.objects)]
            version = self.api.version
            kind.marks[version] = len(kind.lines)
        start = int(query.get("continue", "0").split("x")[0])
        limit = int(query.get("limit", "0")) or len(items)
        metadata = {"resourceVersion": str(version)}
        if "continue" in query:
            metadata["resourceVersion"] = query["continue"].split("x")[1]
        if start + limit < len(items):
            metadata["continue"] = f"{start + limit}x{metadata['resourceVersion']}"
            metadata["remainingItemCount"] = len(items) - start - limit
        self.answer(200, {"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items[start : start + limit]})
        return None

    # ---- streams

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def watch(self, plural, kind, query):
        api = self.api
        version = int(query.get("resourceVersion", "0") or 0)
        deadline = time.monotonic() + int(query.get("timeoutSeconds", "300"))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        with api.lock:
            epoch = api.epoch
            if version < kind.oldest:
                self.chunk((TOO_OLD % (version, kind.oldest)).encode())
                self.close_connection = True
                return
            place = self.place_after(kind, version)
        while time.monotonic() < deadline:
            with api.lock:
                due = [line for _, line in kind.lines[place:]]
                if not due and api.epoch == epoch:
                    api.news.wait(0.5)
                if api.epoch != epoch:
                    break
            for line in due:
                if plural == "pods" and self.cut(line):
                    return
                self.chunk(line)
                if api.doubled:
                    self.chunk(line)
                place += 1
        self.close_connection = True
        # Without the final chunk: as an API server that shuts down cuts its streams.

    @staticmethod
    def place_after(kind, version):
        """Recorded versions are not always in order: a stream goes on behind the last line of its version."""
        same = [i + 1 for i, (v, _) in enumerate(kind.lines) if v == version]
        if same or version in kind.marks:
            return max(same + [kind.marks.get(version, 0)])
        later = [i for i, (v, _) in enumerate(kind.lines) if v > version]
        return later[0] if later else len(kind.lines)

    def cut(self, line):
        """Cut the stream in the middle of a line, as often as the test wants it."""
        api = self.api
        with api.lock:
            number = api.sent_lines
            if number in api.cut_after:
                api.cut_after.discard(number)
                self.chunk(line[: len(line) // 2])
                self.close_connection = True
                return True
            api.sent_lines += 1
        return False

    # ---- writes

    def on_post(self, plural, namespace, _, __, body):
        with self.api.lock:
            key = (namespace, body["metadata"]["name"])
            if key in self.api.kind(plural).objects:
                return self.problem(409, "AlreadyExists")
            body["metadata"]["namespace"] = namespace
            self.api.put(plural, body)
        return self.answer(201, body)

    def on_put(self, plural, namespace, name, _, body):
        with self.api.lock:
            item = self.api.kind(plural).objects.get((namespace, name))
            if item is None:
                return self.problem(404, "NotFound")
            if body["metadata"].get("resourceVersion") != item["metadata"]["resourceVersion"]:
                return self.problem(409, "Conflict")
            self.api.put(plural, body)
        return self.answer(200, body)

    def on_patch(self, plural, namespace, name, _, body):
        with self.api.lock:
            item = self.api.kind(plural).objects.get((namespace, name))
            if item is None:
                return self.problem(404, "NotFound")
            item = json.loads(json.dumps(item))
            if self.headers.get("Content-Type") == "application/merge-patch+json":
                merge(item, body)
            elif self.headers.get("Content-Type") != "application/json-patch+json":
                return self.problem(415, "UnsupportedMediaType")
            elif not all(patch(item, step) for step in body):
                return self.problem(422, "Invalid")
            self.api.put(plural, item)
        return self.answer(200, item)

    def on_delete(self, plural, namespace, name, _, body):
        with self.api.lock:
            item = self.api.kind(plural).objects.get((namespace, name))
            if item is None:
                return self.problem(404, "NotFound")
            wanted = (body or {}).get("preconditions", {}).get("uid")
            if wanted and wanted != item["metadata"]["uid"]:
                return self.problem(409, "Conflict")
            item = json.loads(json.dumps(item))
            item["metadata"]["deletionTimestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 30))
            item["metadata"]["deletionGracePeriodSeconds"] = 30
            self.api.put(plural, item)
        return self.answer(200, item)


def merge(item, changes):
    """RFC 7386."""
    for key, value in changes.items():
        if value is None:
            item.pop(key, None)
        elif isinstance(value, dict) and isinstance(item.get(key), dict):
            merge(item[key], value)
        else:
            item[key] = value


def patch(item, step):
    """One operation of RFC 6902, as far as the agent uses it."""
    parts = [p.replace("~1", "/").replace("~0", "~") for p in step["path"].split("/")[1:]]
    place = item
    for part in parts[:-1]:
        place = place[int(part)] if isinstance(place, list) else place.get(part)
        if place is None:
            return False
    last = parts[-1]
    if isinstance(place, list) and last != "-":
        last = int(last)
        if last >= len(place) and step["op"] != "add":
            return False
    if step["op"] == "test":
        return (place[last] if isinstance(place, list) else place.get(last)) == step["value"]
    if step["op"] == "remove":
        if isinstance(place, dict) and last not in place:
            return False
        del place[last]
    elif isinstance(place, list):
        place.append(step["value"]) if last == "-" else place.insert(last, step["value"])
    else:
        place[last] = step["value"]
    return True
