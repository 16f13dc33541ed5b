#!/bin/sh
# Run one Criterion program and fail on any report of a sanitizer or valgrind.
#
# usage: run-criterion.sh PROGRAM [ARGUMENTS]
#
# Criterion 2.4.1 runs each test in a worker and ignores how the worker ends: a leak, a recovered UBSan error or a valgrind
# report leaves its exit status at 0. So the reports go to files, and any file is a failure.
# COREHOUR_VALGRIND=1 runs the program under valgrind.
set -u

reports=$(mktemp -d) || exit 1
trap 'rm -rf "$reports"' EXIT

ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}log_path=$reports/asan:detect_leaks=1"
UBSAN_OPTIONS="${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}log_path=$reports/ubsan:print_stacktrace=1:halt_on_error=1"
LSAN_OPTIONS="${LSAN_OPTIONS:+$LSAN_OPTIONS:}log_path=$reports/lsan"
export ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS
# The machine's cores are meson's to share out.
CRITERION_JOBS=1
export CRITERION_JOBS

program=$1
shift
if [ "${COREHOUR_VALGRIND:-0}" = 1 ]; then
  valgrind --quiet --trace-children=yes --leak-check=full --show-leak-kinds=definite \
    --errors-for-leak-kinds=definite --log-file="$reports/valgrind.%p" "$program" --tap "$@"
  status=$?
else
  "$program" --tap "$@"
  status=$?
fi

for report in "$reports"/*; do
  if [ -s "$report" ]; then
    echo "a checker reported:" >&2
    cat "$report" >&2
    status=1
  fi
done
exit "$status"
