#!/bin/sh
# The Kubernetes side: every recorded exchange with a real API server is played to the real agent, over TLS, with a real
# corehourd behind it. No Kubernetes is needed.
#
# usage: sh tests/system/kubernetes.sh [--slow] [BUILD]     BUILD: the meson build folder, default build
#   --slow   the watches with a cut and with a restart at every line, not at some
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
if [ "${1:-}" = --slow ]; then
  export COREHOUR_SLOW=1
  shift
fi
build=${1:-$here/../../build}
status=0
for part in webhook lives controller kueue; do
  echo "== $part"
  python3 -W ignore "$here/kubernetes/test_$part.py" "$build/server/corehourd" \
    "$build/clients/kubernetes/corehour-kubernetes" "$build/tests/system/shift_clock.so" || status=1
done
exit $status
