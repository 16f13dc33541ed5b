"""Turn one file into a C byte array.

usage: embed_file.py FILE NAME OUT_C OUT_H

OUT_H declares `extern const char *const NAME_text` (NUL-terminated) and `extern const size_t NAME_bytes` (without the NUL).
"""

import pathlib
import sys

import embed


def main(path, name, out_c, out_h, folder="schema"):
    note = embed.NOTE.format(script="embed_file.py")
    guard = f"{folder}/{name}_H".replace("/", "_").upper()
    header = (
        f"{note}#ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n\n"
        f"/* {pathlib.Path(path).name}: NUL-terminated; the size does not count the NUL. */\n"
        f"extern const char *const {name}_text;\nextern const size_t {name}_bytes;\n\n#endif\n"
    )
    array = embed.byte_array("content", pathlib.Path(path).read_bytes())
    source = (
        f'{note}#include "{folder}/{name}.h"\n\n{array}\n'
        f"const char *const {name}_text = (const char *)content;\n"
        f"const size_t {name}_bytes = sizeof content - 1;\n"
    )
    embed.write(out_c, source)
    embed.write(out_h, header)


if __name__ == "__main__":
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    main(*sys.argv[1:])
