#!/bin/sh
# Build Corehour and run all its tests on a Debian 12 machine, a bare one too. Nothing is asked; the last line is
# `N passed, N failed`.
#
# usage: sh tests/run.sh [MESON TEST ARGUMENTS]      for example: sh tests/run.sh --suite unit
#
# BUILD_DIR (default: build-tests) keeps the build; MESON_OPTIONS are given to `meson setup`, for example
# MESON_OPTIONS=-Dslow_tests=true.
set -eu

top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$top"
build=${BUILD_DIR:-build-tests}

echo "== packages"
sh tests/install-packages.sh build test slurm

echo "== configure"
[ -f "$build/build.ninja" ] || rm -rf "$build"
# shellcheck disable=SC2086 # options are words
if [ -d "$build" ]; then
  meson setup --reconfigure "$build" ${MESON_OPTIONS:-} >"$build/configure.log" || { cat "$build/configure.log"; exit 1; }
else
  meson setup "$build" ${MESON_OPTIONS:-}
fi

echo "== build"
ninja -C "$build"

echo "== test"
rm -f "$build/meson-logs/testlog.json"
meson test -C "$build" --no-rebuild --num-processes $(($(nproc) + 1)) --print-errorlogs "$@" || true
echo
python3 tests/count_results.py "$build"
