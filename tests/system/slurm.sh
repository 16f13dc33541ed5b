#!/bin/sh
# The Slurm side on a real cluster of Debian's packages, which is brought up and taken down here: submit plugin, Lua
# variant, agent. Needs root and the packages of group slurm in tests/packages.txt; without them exit status 77.
#
# usage: sh tests/system/slurm.sh [BUILD [PART...]]     BUILD: the meson build folder, default build
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
build=${1:-$here/../../build}
[ $# -eq 0 ] || shift
# Slurm's daemons listen where the name of their host leads: in a host name of our own that is 127.0.0.1, on any machine.
if unshare --uts true 2>/dev/null; then
  # shellcheck disable=SC2016 # the inner shell's words
  exec unshare --uts sh -c 'echo localhost >/proc/sys/kernel/hostname && exec python3 "$@"' sh "$here/slurm/main.py" "$build" "$@"
fi
exec python3 "$here/slurm/main.py" "$build" "$@"
