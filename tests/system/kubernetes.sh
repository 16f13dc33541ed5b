#!/bin/sh
# The Kubernetes side: every recorded exchange with a real API server is played to the real agent, over TLS, with a real
# corehourd behind it. No Kubernetes is needed.
#
# usage: sh tests/system/kubernetes.sh [--slow] [BUILD]     BUILD: the meson build folder, default build
#   --slow   the watches with a cut and with a restart at every line, not at some
#
# or, against a real control plane (minutes; not in CI):
# usage: sh tests/system/kubernetes.sh --live DIR [BUILD]
#   DIR      a folder with the programs etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl (or with bin/ that
#            has them), of one version from 1.20 on. They are started on loopback ports of the kernel's choice with a temporary
#            folder, and killed and started again; nothing else on the machine is touched, and root is not needed.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
live=
case ${1:-} in
--slow)
  export COREHOUR_SLOW=1
  shift
  ;;
--live)
  if [ ! -d "${2:-}" ]; then
    sed -n '/^# usage/,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
  fi
  live=$(CDPATH='' cd -- "$2" && pwd)
  if [ -d "$live/bin" ]; then
    live=$live/bin
  fi
  shift 2
  ;;
esac
build=${1:-$here/../../build}
if [ -n "$live" ]; then
  exec python3 -W ignore "$here/kubernetes/live.py" "$build/server/corehourd" "$build/clients/kubernetes/corehour-kubernetes" "$live"
fi
status=0
for part in webhook lives controller kueue; do
  echo "== $part"
  python3 -W ignore "$here/kubernetes/test_$part.py" "$build/server/corehourd" \
    "$build/clients/kubernetes/corehour-kubernetes" "$build/tests/system/shift_clock.so" || status=1
done
exit $status
