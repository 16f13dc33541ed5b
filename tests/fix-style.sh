#!/bin/sh
# Write the sources as CI wants them: braces around every statement, then the formatter.
#
# usage: sh tests/fix-style.sh [FILE...]      default: every C file of the product and the tests
#
# Needs clang, clang-tidy and clang-format of Debian 12; the build in build-ci/clang is made when it is not there.
set -eu

top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$top"
build="build-ci/clang"

# Names in this tree have no spaces.
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(git ls-files '*.c' '*.h')
[ -f "$build/build.ninja" ] || CC=clang meson setup "$build" >/dev/null
ninja -C "$build" schema/sql.h schema/openapi.h >/dev/null

for file in "$@"; do
  case $file in
  tests/*) ;;
  *.c) clang-tidy --quiet -p "$build" --fix --checks='-*,readability-braces-around-statements' "$file" >/dev/null 2>&1 || true ;;
  esac
done
clang-format -i "$@"
git diff --stat -- "$@"
