"""Put the configuration keys into the source of corehourd.conf.5.

usage: man_keys.py CONFIG_DEF IN_SCD OUT_SCD

The line `@KEYS@` of IN_SCD is replaced by one paragraph a key (schema/gen/config_md.py, form scd).
"""

import pathlib
import sys

import config_md


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__)
    source, page, out = arguments
    # A line of scdoc must not begin with a backquote, and names need none here.
    keys = "\n".join(config_md.to_scd(row) for row in config_md.read_rows(source)).replace("`", "")
    text = pathlib.Path(page).read_text(encoding="utf-8")
    if text.count("@KEYS@\n") != 1:
        sys.exit(f"{page}: the line @KEYS@ must stand there once")
    pathlib.Path(out).write_text(text.replace("@KEYS@\n", keys), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
