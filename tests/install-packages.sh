#!/bin/sh
# Install the Debian packages of the given groups of tests/packages.txt that are missing, without a question.
#
# usage: install-packages.sh GROUP...
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

# The names of all groups, one a line.
wanted() {
  for group in "$@"; do
    sed -n "s/^$group  *//p" "$here/packages.txt"
  done
}

missing=
for package in $(wanted "$@"); do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done

if [ -z "$missing" ]; then
  echo "packages: all there"
  exit 0
fi

if [ "$(id -u)" = 0 ]; then
  as_root="env"
elif command -v sudo >/dev/null 2>&1; then
  as_root="sudo env"
else
  echo "packages: these are missing, and this is neither root nor is there sudo; please install:$missing" >&2
  exit 1
fi

echo "packages: installing$missing"
$as_root DEBIAN_FRONTEND=noninteractive apt-get -q update
# Word splitting is wanted: a list of package names.
# shellcheck disable=SC2086
$as_root DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends $missing
