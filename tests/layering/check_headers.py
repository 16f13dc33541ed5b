"""Every header compiles alone, and twice, with both warnings and C17.

usage: check_headers.py BUILD_DIR COMPILER...
"""

import concurrent.futures
import subprocess
import sys

import tree

FLAGS = ["-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wundef", "-Wstrict-prototypes", "-Werror", "-fsyntax-only", "-xc", "-"]


def fault_of(header, build, compiler):
    source = f'#include "{header}"\n#include "{header}"\nextern int not_empty;\n'
    command = [*compiler, f"-I{tree.TOP}", f"-I{build}", *FLAGS]
    result = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return None if result.returncode == 0 else f"{header} does not compile alone:\n{result.stderr}"


def main(build, *compiler):
    headers = tree.c_files(*tree.PRODUCT, "tests", suffixes=(".h",))
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        results = pool.map(lambda header: fault_of(header, build, compiler), headers)
        tree.finish([fault for fault in results if fault], len(headers))


if len(sys.argv) < 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
