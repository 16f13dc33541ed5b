"""The documented example of slurm.conf names every key once, with the default that slurm_config.def has.

usage: check_example.py TOP
"""

import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1]) / "clients" / "slurm"
rows = re.findall(r'^SLURM_CONFIG_ROW\((\w+), \w+, "([^"]*)"', (folder / "slurm_config.def").read_text(encoding="utf-8"), re.M)
lines = re.findall(r"^#?(\w+) =(.*)$", (folder / "slurm.conf.example").read_text(encoding="utf-8"), re.M)

faults = [] if rows else ["slurm_config.def has no rows"]
faults += [f"{name}: {len([1 for key, _ in lines if key == name])} lines" for name, _ in rows
           if [key for key, _ in lines].count(name) != 1]
faults += [f"{name}: no such key" for name, _ in lines if name not in dict(rows)]
# Examples of what has no default.
free = {"cluster", "admin_uids"}
faults += [f"{name}: {value.strip()} is not the default" for name, value in lines
           if name not in free and value.strip() != dict(rows).get(name)]
print("\n".join(faults) or f"{len(rows)} keys")
sys.exit(1 if faults else 0)
