"""The core needs nothing but itself, the pure modules of base and a few functions of libc that only compute.

usage: check_pure.py NM CORE_ARCHIVE BASE_ARCHIVE
"""

import subprocess
import sys

import tree

PURE_BASE = ("amount.c", "calendar.c", "civil.c", "digest.c", "error.c", "text.c")
LIBC = {
    "memcmp", "memcpy", "memmove", "memset", "snprintf", "strcmp", "strlen", "strncmp", "strnlen", "vsnprintf",
    # What the compiler adds: assertions, fortified copies, the stack guard, position independence.
    "__assert_fail", "__memcpy_chk", "__memmove_chk", "__memset_chk", "__snprintf_chk", "__vsnprintf_chk", "__stack_chk_fail",
    "_GLOBAL_OFFSET_TABLE_",
    # Division of 128-bit integers (libgcc): fractions of rates.
    "__divti3", "__modti3", "__divmodti4", "__udivti3", "__umodti3", "__udivmodti4",
    # SHA-256 and HMAC over it (nettle): pure computation on the caller's state.
    "nettle_sha256_digest", "nettle_sha256_init", "nettle_sha256_update", "nettle_memeql_sec",
    "nettle_hmac_sha256_digest", "nettle_hmac_sha256_set_key", "nettle_hmac_sha256_update",
}  # fmt: skip


def symbols(nm, archive):
    """Tuples (member, kind, name, section) of an archive; kind U is undefined."""
    output = subprocess.run([nm, "-A", "-f", "sysv", archive], check=True, capture_output=True, text=True).stdout
    rows = []
    for line in output.splitlines():
        columns = [column.strip() for column in line.split("|")]
        if len(columns) != 7:
            continue
        member, _, name = columns[0].rpartition(":")
        rows.append((member.rstrip("]").rsplit("/", 1)[-1].rsplit(":", 1)[-1].removesuffix(".o"), columns[2], name, columns[6]))
    return rows


def is_writable(section):
    """Constant tables of pointers are in .data.rel.ro, which is read-only once loaded."""
    return section.startswith((".data", ".bss", ".tdata", ".tbss", "*COM*")) and not section.startswith(".data.rel.ro")


def main(nm, core_archive, base_archive):
    core = symbols(nm, core_archive)
    base = [row for row in symbols(nm, base_archive) if row[0] in PURE_BASE]
    pure = core + base
    defined = {name for _, kind, name, _ in pure if kind not in "Uw"}
    faults = [
        f"{member}: needs {name}"
        for member, kind, name, _ in pure
        if kind in "Uw" and name not in defined and name not in LIBC
    ]
    faults += [f"{member}: {name} is writable memory" for member, _, name, section in pure if is_writable(section)]
    if {row[0] for row in base} != set(PURE_BASE):
        faults.append(f"{base_archive}: not all of {', '.join(PURE_BASE)} were found")
    tree.finish(faults, len(pure))


if len(sys.argv) != 4:
    sys.exit(__doc__)
main(*sys.argv[1:])
