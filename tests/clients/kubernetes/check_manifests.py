"""The manifests: parsed, and compared with what the agent does.

usage: check_manifests.py SOURCE_ROOT
"""

import pathlib
import re
import sys

import yaml

TOP = pathlib.Path(sys.argv[1])
AGENT = TOP / "clients" / "kubernetes"
SYSTEM = "corehour-system"
PROTECTED = {"kube-system", "kube-public", "kube-node-lease", SYSTEM}

# Every call that the agent makes of the API server: verb, group, resource, the piece of its path that stands in the sources.
CALLS = [
    ("list", "", "pods", "/api/v1/pods"),
    ("watch", "", "pods", "/api/v1/pods"),
    ("get", "", "pods", "/api/v1/namespaces/%s/pods/%s"),
    ("patch", "", "pods", "/api/v1/namespaces/%s/pods/%s"),
    ("delete", "", "pods", "/api/v1/namespaces/%s/pods/%s"),
    ("list", "", "namespaces", "/api/v1/namespaces"),
    ("watch", "", "namespaces", "/api/v1/namespaces"),
    ("get", "", "nodes", "/api/v1/nodes/%s"),
    ("create", "", "events", "/api/v1/namespaces/%s/events"),
    ("create", "coordination.k8s.io", "leases", "/apis/coordination.k8s.io/v1/namespaces/%s/leases"),
    ("get", "coordination.k8s.io", "leases", "/apis/coordination.k8s.io/v1/namespaces/%s/leases"),
    ("update", "coordination.k8s.io", "leases", "/apis/coordination.k8s.io/v1/namespaces/%s/leases"),
]
KUEUE = "kueue.x-k8s.io"
KUEUE_CALLS = [
    ("list", KUEUE, "workloads", "/apis/kueue.x-k8s.io/v1beta2/workloads"),
    ("watch", KUEUE, "workloads", "/apis/kueue.x-k8s.io/v1beta2/workloads"),
    ("patch", KUEUE, "workloads/status", "/apis/kueue.x-k8s.io/v1beta2/namespaces/%s/workloads/%s/status"),
    ("list", KUEUE, "admissionchecks", "/apis/kueue.x-k8s.io/v1beta2/admissionchecks"),
    ("watch", KUEUE, "admissionchecks", "/apis/kueue.x-k8s.io/v1beta2/admissionchecks"),
    ("patch", KUEUE, "admissionchecks/status", "/apis/kueue.x-k8s.io/v1beta2/admissionchecks"),
]
OWNERS_PATH = "/apis/%s/namespaces/%s/%s/%s"
LIMIT_ONLY = "?limit=1"  # of a list
# gang.c names objects for whoever asks; asking is the agent's.
PURE = {"gang.c", "kueue.c"}


def source(name):
    return (AGENT / name).read_text(encoding="utf-8")


def documents(name):
    text = (AGENT / "manifests" / name).read_text(encoding="utf-8")
    return [document for document in yaml.safe_load_all(text) if document is not None]


def owners():
    """{(group, plural)} of people.c: who may own a pod."""
    rows = re.findall(r'\{"(apps|batch)/", "\w+", "(\w+)"\}', source("people.c"))
    assert len(rows) >= 6, rows
    return set(rows)


def pod_groups():
    """{(group, resource)} of gang.c: what says the size of a gang, beside Jobs."""
    groups = set(re.findall(r'"(scheduling[\w.-]+)/v\w+"', source("gang.c")))
    assert len(groups) == 2, groups
    return {(group, "podgroups") for group in groups}


def check_every_document_is_whole():
    seen = set()
    for path in sorted((AGENT / "manifests").glob("*.yaml")):
        for document in documents(path.name):
            key = (document["kind"], document["metadata"].get("namespace"), document["metadata"]["name"])
            assert document["apiVersion"] and key not in seen, key
            seen.add(key)
    kinds = {kind for kind, _, _ in seen}
    assert {"Deployment", "PodDisruptionBudget", "Service", "Certificate", "ValidatingWebhookConfiguration"} <= kinds, kinds


def granted(name):
    """{(verb, group, resource)} of all roles of a file, each bound to the agent's account."""
    found = {}
    for document in documents(name):
        found[(document["kind"], document["metadata"]["name"])] = document
    rights = set()
    account = {"kind": "ServiceAccount", "name": "corehour-kubernetes", "namespace": SYSTEM}
    for (kind, _), document in found.items():
        if not kind.endswith("RoleBinding"):
            continue
        assert document["subjects"] == [account], document
        for rule in found[(document["roleRef"]["kind"], document["roleRef"]["name"])]["rules"]:
            assert rule.keys() <= {"apiGroups", "resources", "resourceNames", "verbs"}
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    rights |= {(verb, group, resource) for verb in rule["verbs"]}
    return rights


def check_rights_are_what_the_agent_needs_and_no_more():
    needed = {(verb, group, resource) for verb, group, resource, _ in CALLS}
    needed |= {("get", group, plural) for group, plural in owners() | pod_groups()}
    for name, calls in (("corehour-kubernetes.yaml", needed), ("kueue.yaml", {call[:3] for call in KUEUE_CALLS})):
        assert granted(name) == calls, granted(name) ^ calls


def check_the_table_of_calls_is_the_sources():
    paths = {path for _, _, _, path in CALLS + KUEUE_CALLS} | {OWNERS_PATH}
    found = set()
    for path in AGENT.glob("*.c"):
        if path.name not in PURE:
            found |= set(re.findall(r'"(/apis?/[^"]*)"', path.read_text(encoding="utf-8")))
    found = {text.removesuffix(LIMIT_ONLY) for text in found}
    assert found == paths, found ^ paths


def check_only_the_lease_of_the_agent_is_changed():
    roles = [document for document in documents("corehour-kubernetes.yaml") if document["kind"] == "Role"]
    rules = [rule for role in roles for rule in role["rules"] if "update" in rule["verbs"]]
    name = re.search(r'#define NAME_COMPONENT "([^"]+)"', source("names.h")).group(1)
    assert [rule["resourceNames"] for rule in rules] == [[name]]


def webhooks():
    return {
        hook["name"]: hook for document in documents("webhooks.yaml") for hook in document["webhooks"]
    }


def check_namespaces_take_part_by_label_and_protected_ones_never():
    key = re.search(r'#define NAME_MODE\s+"([^"]+)"', source("names.h")).group(1)
    modes = {"stamp": {"enforce", "gate", "kueue", "observe"}, "gate": {"gate"}, "enforce": {"enforce"}}
    for name, hook in webhooks().items():
        selector = hook["namespaceSelector"]["matchExpressions"]
        by_key = {row["key"]: (row["operator"], set(row["values"])) for row in selector}
        assert by_key == {
            key: ("In", modes[name.split(".")[0]]),
            "kubernetes.io/metadata.name": ("NotIn", PROTECTED),
        }, by_key
        assert "objectSelector" not in hook, "its users could leave by a label"
    for document in documents("corehour-kubernetes.yaml"):
        if document["kind"] == "Namespace":
            assert key not in document["metadata"].get("labels", {})


def check_policies_and_paths_of_the_webhooks():
    expected = {  # name: failurePolicy, sideEffects
        "stamp.corehour.io": ("Ignore", "None"),
        "gate.corehour.io": ("Ignore", "None"),
        "enforce.corehour.io": ("Fail", "NoneOnDryRun"),
    }
    pages = set(re.findall(r'\{"POST", "(/\w+)"', source("webhook.c")))
    hooks = webhooks()
    assert hooks.keys() == expected.keys()
    assert {hook["clientConfig"]["service"]["path"] for hook in hooks.values()} == pages
    for name, hook in hooks.items():
        assert (hook["failurePolicy"], hook["sideEffects"]) == expected[name], name
        assert hook["clientConfig"]["service"]["path"] == "/" + name.split(".")[0]
        assert hook["clientConfig"]["service"]["namespace"] == SYSTEM
        assert hook["admissionReviewVersions"] == ["v1"]


def default_of(key):
    return re.search(rf'AGENT_CONFIG_ROW\({key}, \w+, "([^"]*)"', source("agent_config.def")).group(1)


def check_the_agent_answers_before_the_api_server_gives_up():
    for hook in webhooks().values():
        assert int(default_of("deadline_ms")) < 1000 * hook["timeoutSeconds"], hook["name"]


def check_rules_of_the_webhooks():
    for name, hook in webhooks().items():
        rows = {(group, resource) for rule in hook["rules"] for group in rule["apiGroups"] for resource in rule["resources"]}
        stamped = owners() | {("", "pods")}
        assert rows == (stamped if name.startswith("stamp") else {("", "pods")}), name
        operations = {operation for rule in hook["rules"] for operation in rule["operations"]}
        assert operations == ({"CREATE", "UPDATE"} if name.startswith("stamp") else {"CREATE"}), name


def check_the_check_of_kueue_is_the_agents():
    checks = [document for document in documents("kueue.yaml") if document["kind"] == "AdmissionCheck"]
    name = re.search(r'#define KUEUE_CONTROLLER\s+"([^"]+)"', source("kueue.h")).group(1)
    assert [check["spec"]["controllerName"] for check in checks] == [name]


def one(kind):
    found = [document for document in documents("corehour-kubernetes.yaml") if document["kind"] == kind]
    assert len(found) == 1, kind
    return found[0]


def configuration():
    lines = one("ConfigMap")["data"]["kubernetes.conf"].splitlines()
    pairs = [line.split("=", 1) for line in lines if line.strip() and not line.startswith("#")]
    return {key.strip(): value.strip() for key, value in pairs}


def check_the_configuration_has_known_keys_and_mounted_files():
    known = set(re.findall(r"AGENT_CONFIG_ROW\((\w+),", source("agent_config.def")))
    settings = configuration()
    assert settings.keys() <= known, settings.keys() - known
    container = one("Deployment")["spec"]["template"]["spec"]["containers"][0]
    mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
    files = [settings["token_file"], container["args"][1]]
    files += [settings.get(key, default_of(key)) for key in ("tls_cert_file", "tls_key_file", "spool_dir")]
    for file in files:
        assert any(file == mount or file.startswith(mount + "/") for mount in mounts), file
    # The runtime cannot make a place for a mount inside a volume that is read-only.
    assert not any(a != b and a.startswith(b + "/") for a in mounts for b in mounts), mounts


def check_the_deployment():
    spec = one("Deployment")["spec"]
    pod = spec["template"]["spec"]
    container = pod["containers"][0]
    assert spec["replicas"] >= 2 and one("PodDisruptionBudget")["spec"]["minAvailable"] == 1
    assert pod["securityContext"]["runAsNonRoot"] and container["securityContext"]["readOnlyRootFilesystem"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    pages = set(re.findall(r'\{"GET", "(/\w+)"', source("webhook.c")))
    for probe in ("readinessProbe", "livenessProbe"):
        page = container[probe]["httpGet"]
        assert page["path"] in pages and page["scheme"] == "HTTPS", page
    labels = spec["template"]["metadata"]["labels"]
    for selector in (spec["selector"]["matchLabels"], one("Service")["spec"]["selector"]):
        assert selector.items() <= labels.items(), selector
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert one("Service")["spec"]["ports"][0]["targetPort"] in ports
    assert default_of("listen").endswith(f":{ports['webhook']}")


def check_the_certificate_is_for_the_service():
    certificate = [document for document in documents("certificate.yaml") if document["kind"] == "Certificate"][0]
    service = f"{one('Service')['metadata']['name']}.{SYSTEM}.svc"
    assert service in certificate["spec"]["dnsNames"]
    secrets = [volume["secret"]["secretName"] for volume in one("Deployment")["spec"]["template"]["spec"]["volumes"] if "secret" in volume]
    assert certificate["spec"]["secretName"] in secrets
    for document in documents("webhooks.yaml"):
        key = f"{SYSTEM}/{certificate['metadata']['name']}"
        assert document["metadata"]["annotations"]["cert-manager.io/inject-ca-from"] == key


def main():
    checks = {name: check for name, check in globals().items() if name.startswith("check_")}
    failed = 0
    for name, check in checks.items():
        try:
            check()
        except (AssertionError, KeyError, IndexError, AttributeError, OSError) as problem:
            failed += 1
            print(f"{name}: {type(problem).__name__}: {problem}")
    print(f"{len(checks) - failed} of {len(checks)} checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
