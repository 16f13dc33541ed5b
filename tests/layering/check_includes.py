"""An include may only point down: clients -> HTTP; server -> ledger.h -> store -> core -> base -> libc (docs/architecture.md).

Also: a .c file includes its own header first, and every project include is written from the top of the tree.
"""

import re

import tree

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)

# All that core may use of base: pure modules, and struct digest as plain data (check_pure.py looks at the linked symbols).
PURE_BASE = {f"ledger/base/{name}.h" for name in ("amount", "calendar", "check", "civil", "digest", "error", "limits", "text")}
# System headers that a pure file may include.
PURE_SYSTEM = {"assert.h", "inttypes.h", "limits.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "string.h"}
# Headers that are installed side by side: they name each other without a folder.
INSTALLED = {f"clients/{name}.h" for name in ("client", "ids", "result", "units", "url")}
# Libraries by the first part of their header's name, and who may use them.
LIBRARIES = {
    "nettle/": ("ledger/base/digest.",),
    "unicode/": ("ledger/base/zone.c",),
    "sqlite3.h": ("ledger/store/sqlite",),
    "libpq-fe.h": ("ledger/store/postgres",),
    "microhttpd.h": ("server/http", "clients/kubernetes/webhook.c"),
    "gnutls/": ("server/tls.", "clients/kubernetes/certificate."),
    "rhonabwy.h": ("server/oidc",),
    "jansson.h": ("server/", "clients/"),
    "curl/": ("server/", "clients/"),
    "slurm/": ("clients/slurm/",),
    "munge.h": ("clients/slurm/",),
}


def own_closure(start):
    """A project header and all project headers that it includes, directly or not."""
    seen = set()
    left = [start]
    while left:
        path = left.pop()
        if path in seen or not (tree.TOP / path).exists():
            continue
        seen.add(path)
        left += [own for own, _ in INCLUDE.findall(tree.read(path)) if own]
    return seen


LEDGER_SURFACE = own_closure("ledger/ledger.h")


def may_include(path, header):
    """Does the arrow from this file to this project header point down?"""
    if path.startswith("ledger/base/"):
        return header.startswith("ledger/base/") and header != "ledger/base/log.h" or path.endswith("log.c")
    if path.startswith("ledger/core/"):
        return header.startswith("ledger/core/") or header in PURE_BASE
    if path.startswith("ledger/store/"):
        low = ("ledger/store/", "ledger/core/", "ledger/base/", "schema/")
        return header.startswith(low) and header != "ledger/base/log.h"
    if path.startswith("ledger/"):
        return header.startswith("ledger/") and header != "ledger/base/log.h"
    if path.startswith("server/"):
        return header in LEDGER_SURFACE or header.startswith(("server/", "ledger/base/", "schema/"))
    return header.startswith(("clients/", "ledger/base/"))


def system_fault(path, header):
    """Why a file may not include this system or library header, or None."""
    for prefix, users in LIBRARIES.items():
        if header.startswith(prefix):
            return None if path.startswith(users) else f"<{header}> belongs to {', '.join(users)}"
    if path.startswith("ledger/core/") and header not in PURE_SYSTEM:
        return f"<{header}> is not for the pure core"
    return None


def own_header_fault(path, includes):
    """A .c file with a header beside it includes that first."""
    header = path[:-2] + ".h"
    if path.endswith(".c") and (tree.TOP / header).exists() and (not includes or includes[0][0] != header):
        return f"{path}: includes {header} not first"
    return None


def faults_of(path):
    faults = []
    includes = INCLUDE.findall(tree.read(path))
    first = own_header_fault(path, includes)
    if first:
        faults.append(first)
    for own, system in includes:
        if path in INSTALLED and f"clients/{own}" in INSTALLED:
            continue
        if own and "/" not in own:
            faults.append(f'{path}: "{own}" is not written from the top of the tree')
        elif own and not may_include(path, own):
            faults.append(f'{path}: "{own}" is not below this layer')
        elif system and system_fault(path, system):
            faults.append(f"{path}: {system_fault(path, system)}")
    return faults


files = [str(path) for path in tree.c_files(suffixes=(".c", ".h"))]
tree.finish([fault for path in files for fault in faults_of(path)], len(files))
