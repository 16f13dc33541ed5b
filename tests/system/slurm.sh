#!/bin/sh
# The Slurm side on a real cluster of Debian's packages, which is brought up and taken down here: submit plugin, Lua
# variant, agent. Needs root and the packages of group slurm in tests/packages.txt; without them exit status 77.
#
# usage: sh tests/system/slurm.sh [BUILD [PART...]]     BUILD: the meson build folder, default build
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
build=${1:-$here/../../build}
[ $# -eq 0 ] || shift
exec python3 "$here/slurm/main.py" "$build" "$@"
