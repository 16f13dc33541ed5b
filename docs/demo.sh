#!/bin/sh
# From nothing to a refused job: install what is missing, build, start corehourd on an embedded SQLite ledger in a temporary
# folder, and walk the story of the README through the command line, printing each call and its answer. Nothing is asked.
#
# usage: sh docs/demo.sh [--keep] [--build DIR]
#   --keep       leave the daemon running, and say where it is and how to end it
#   --build DIR  take the programs from this build; install and build nothing
set -eu

top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=$top/build-demo
keep=no
own_build=yes
while [ $# -gt 0 ]; do
  case $1 in
  --keep) keep=yes ;;
  --build)
    [ $# -gt 1 ] || { echo "demo: --build needs a directory" >&2; exit 2; }
    build=$(CDPATH='' cd -- "$2" && pwd)
    own_build=no
    shift
    ;;
  *)
    echo "usage: sh docs/demo.sh [--keep] [--build DIR]" >&2
    exit 2
    ;;
  esac
  shift
done

bold=
plain=
if [ -t 1 ]; then
  bold=$(printf '\033[1m')
  plain=$(printf '\033[0m')
fi

say() {
  printf '\n%s== %s%s\n' "$bold" "$*" "$plain"
}

# Print a call as one would type it, then carry it out. Its exit status must be the first argument.
call() {
  wanted=$1
  shift
  printf '\n$ corehour'
  for word in "$@"; do
    case $word in
    *[!A-Za-z0-9_.,:/@=+-]*) printf " '%s'" "$word" ;;
    *) printf ' %s' "$word" ;;
    esac
  done
  echo
  status=0
  corehour "$@" 2>&1 || status=$?
  [ "$status" = 0 ] || echo "(exit status $status)"
  [ "$status" = "$wanted" ] || { echo "demo: exit status $wanted was expected" >&2; exit 1; }
}

if [ "$own_build" = yes ]; then
  say "packages"
  sh "$top/tests/install-packages.sh" build
  say "build (in ${build#"$top"/})"
  [ -f "$build/build.ninja" ] || { rm -rf "$build"; meson setup "$build" "$top" -Dtests=false -Dbuildtype=release; }
  ninja -C "$build"
fi
PATH=$build/server:$build/clients/cli:$PATH

folder=$(mktemp -d "${TMPDIR:-/tmp}/corehour-demo.XXXXXX")
daemon=
finish() {
  status=$?
  trap - EXIT
  if [ "$keep" = yes ] && [ "$status" = 0 ]; then
    exit 0
  fi
  if [ -n "$daemon" ]; then
    kill "$daemon" 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
  fi
  [ "$status" = 0 ] || { [ ! -f "$folder/log" ] || cat "$folder/log" >&2; }
  rm -rf "$folder"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say "a ledger and a daemon (in $folder)"
printf '\n$ corehourd init --data %s > %s\n' "$folder/data" "$folder/token"
corehourd init --data "$folder/data" >"$folder/token"
printf '$ corehourd serve --data %s --listen 127.0.0.1:0\n' "$folder/data"
# On its own feet, so that --keep outlives this shell and its terminal.
setsid corehourd serve --data "$folder/data" --listen 127.0.0.1:0 </dev/null >"$folder/log" 2>&1 &
daemon=$!
tries=0
port=
while [ -z "$port" ]; do
  port=$(sed -n 's/.*event=listening.* port=\([0-9][0-9]*\).*/\1/p' "$folder/log")
  tries=$((tries + 1))
  [ "$tries" -le 300 ] || { echo "demo: the daemon did not come up" >&2; exit 1; }
  [ -n "$port" ] || sleep 0.1
done
COREHOUR_URL=http://127.0.0.1:$port
COREHOUR_TOKEN=$(cat "$folder/token")
export COREHOUR_URL COREHOUR_TOKEN
call 0 status

say "an organization, a project in it, and a cluster whose A100s count as 16 cores each"
call 0 org put acme --funding self --timezone Asia/Shanghai --contact hpc@acme.example
call 0 project put vision --organization acme --contact 'carol (room 301)'
call 0 cluster put alpha --kind slurm
cat >"$folder/rates.json" <<'END'
{"effective_from": "2026-01-01T00:00:00Z", "combine": "max",
 "rows": [{"core_mcores": 1000, "gpus": {"a100": {"mcores": 16000, "memory_mib": 81920}}}]}
END
call 0 rates put alpha 1 "$folder/rates.json"

say "the organization gets 1000 core-hours; the project may use 2 of them a month"
call 0 grant acme 1000 --note 'first year'
call 0 cap set vision month 2

say "alice submits a job: one GPU for 5 minutes. 16 cores x 300 s are frozen before it is queued"
call 0 quote --cluster alpha --account vision --user alice --gpus a100:1 --time 5m
call 0 freeze --cluster alpha --account vision --user alice --gpus a100:1 --time 5m --id alpha-job-1
call 0 balance vision

say "bob's job of the same size does not fit into the month, and he is told why"
call 1 freeze --cluster alpha --account vision --user bob --gpus a100:1 --time 5m --id alpha-job-2
call 1 freeze --cluster alpha --account vision --user bob --gpus a100:1 --time 5m --id alpha-job-2 --lang zh

say "alice's job becomes job 1234 of the scheduler, runs, and ends after one minute: the rest comes back"
call 0 bind alpha-job-1 1234
call 0 start alpha/1234 --started-at -1m
call 0 settle alpha/1234 --started-at -1m --outcome completed

say "now there is room for bob"
call 0 freeze --cluster alpha --account vision --user bob --gpus a100:1 --time 5m --id alpha-job-2
call 0 holds --project vision

say "the balance, and the journal that it follows from"
call 0 balance vision
call 0 journal acme
# The month in which the job ran, as the root's zone has it.
month=$(corehour journal acme --json | sed -n 's/.*"period":"\([0-9-]*\)".*/\1/p' | tail -1)
call 0 usage acme --month "$month" --by project,user

say "and the ledger recomputed from its journal, beside the live daemon"
printf '\n$ corehourd check --data %s\n' "$folder/data"
corehourd check --data "$folder/data"

if [ "$keep" = yes ]; then
  say "the daemon goes on"
  cat <<END

  export COREHOUR_URL=$COREHOUR_URL
  export COREHOUR_TOKEN=$COREHOUR_TOKEN
  export PATH=$build/server:$build/clients/cli:\$PATH
  corehour help

  to end it: kill $daemon; rm -r $folder
END
else
  say "done; sh docs/demo.sh --keep leaves the daemon running"
fi
