#!/bin/sh
# Measure Corehour beside its rivals in one run and print one table.
#
# usage: tests/bench/run.sh [--quick] [--build DIR] [--dir DIR] [--seconds N] [--rounds N] [--history N] [SECTION...]
#
#   --quick    a second each and small counts: shows that everything works, the figures mean nothing
#   --build    where meson built (default: build); for figures that count, set up with --buildtype=release
#   --dir      where ledgers and databases are made; must be the disk that counts (default: a folder in the build folder)
#   --seconds  length of one measurement (default 10); rounds are interleaved, the median counts (default 3)
#   --history  stored holds in the section of that name (default 10000000)
#   SECTION    freeze cycle batch latency steps gap hot memory disk history (default: all, in this order)
#
# Needs curl, PostgreSQL 15 and Redis 7 from Debian; a rival that is not installed is left out and said so. Run it on a
# machine that does nothing else.
set -eu

build=build dir='' seconds=10 rounds=3 history=10000000 gap_seconds=60 holds=100000 cycles=200000 sections=''
while [ $# -gt 0 ]; do
    case $1 in
    --quick) seconds=1 rounds=1 history=20000 gap_seconds=2 holds=2000 cycles=4000 ;;
    --build) build=$2; shift ;;
    --dir) dir=$2; shift ;;
    --seconds) seconds=$2; shift ;;
    --rounds) rounds=$2; shift ;;
    --history) history=$2; shift ;;
    --*) sed -n '4,14p' "$0"; exit 2 ;;
    *) sections="$sections $1" ;;
    esac
    shift
done
# shellcheck disable=SC3045 # dash and bash have it: a thousand connections have two ends
ulimit -n 8192 2> /dev/null || true
sections=${sections:-freeze cycle batch latency steps gap hot memory disk history}

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$build" && pwd)
load=$build/tests/bench/bench_load
corehourd=$build/server/corehourd
work=$(mktemp -d "${dir:-$build}/bench.XXXXXX")
chmod 755 "$work"
daemon_pid='' floor_pid='' redis_pid='' pg_bin='' rows=$work/rows
: > "$rows"

say() { printf '%s\n' "$*" >&2; }

finish() {
    stop_daemon
    stop_rivals
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# The value of NAME= in a line of the load generator.
field() { printf '%s\n' "$2" | sed -n "s/.*\b$1=\([^ ]*\).*/\1/p"; }

# The median of numbers, one a line.
median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f\n", a / b; else print "-" }'; }

# row WHAT OURS AGAINST FIGURE RATIO GOAL; GOAL is >=N or <=N of the ratio, or -
row() {
    met=$(awk -v r="$5" -v g="$6" 'BEGIN {
        n = substr(g, 3) + 0
        if (g == "-" || r == "-") print "-"
        else if (substr(g, 1, 2) == ">=") print (r + 0 >= n) ? "yes" : "NO"
        else print (r + 0 <= n) ? "yes" : "NO" }')
    printf '%s|%s|%s|%s|%s|%s|%s\n' "$1" "$2" "$3" "$4" "$5" "$6" "$met" >> "$rows"
    say "  $1: $2 against $4 ($3): $5 $6 $met"
}

# ---- corehourd

start_daemon() { # DATA
    daemon_port=$(free_port)
    "$corehourd" serve --data "$1" --listen "127.0.0.1:$daemon_port" 2>> "$work/corehourd.log" > /dev/null &
    daemon_pid=$!
    wait_for "http://127.0.0.1:$daemon_port/readyz"
}

stop_daemon() {
    [ -z "$daemon_pid" ] || kill "$daemon_pid" 2> /dev/null || true
    [ -z "$daemon_pid" ] || wait "$daemon_pid" 2> /dev/null || true
    daemon_pid=''
}

wait_for() { # URL
    for _ in $(seq 100); do
        curl -fsS -o /dev/null "$1" 2> /dev/null && return 0
        sleep 0.1
    done
    say "nothing answers at $1"
    tail -5 "$work/corehourd.log" >&2 || true
    exit 1
}

# One request in the form of curl's configuration file.
request() { # METHOD PATH JSON
    printf '%surl = "http://127.0.0.1:%s/v1%s"\nrequest = %s\n' "$separator" "$daemon_port" "$2" "$1"
    separator='next
'
    printf 'header = "Authorization: Bearer %s"\nheader = "Content-Type: application/json"\n' "$token"
    printf 'data = "%s"\noutput = /dev/null\nwrite-out = "%%{http_code}\\n"\nsilent\n' \
        "$(printf '%s' "$3" | sed 's/"/\\"/g')"
}

# One root over the organizations, as the rivals are one ledger; accounts p0000..; a cap on each of the three levels.
layout() { # ORGANIZATIONS PROJECTS_PER_ORGANIZATION
    separator=''
    request PUT /clusters/bench '{"kind": "other", "mode": "full"}'
    request PUT /clusters/bench/rates/1 \
        '{"effective_from": "2020-01-01T00:00:00Z", "rows": [{"core_mcores": 1000}]}'
    request PUT /organizations/root '{"funding": "self", "timezone": "UTC"}'
    request POST /grants '{"id": "g1", "node": "root", "core_hours": 2000000000}'
    request PUT /organizations/root/caps/month '{"core_hours": 2000000000}'
    n=0
    for organization in $(seq 0 $(($1 - 1))); do
        request PUT "/organizations/o$organization" '{"parent": "root"}'
        request PUT "/organizations/o$organization/caps/month" '{"core_hours": 2000000000}'
        for _ in $(seq "$2"); do
            project=$(printf 'p%04d' $n)
            request PUT "/projects/$project" "{\"organization\": \"o$organization\"}"
            request PUT "/projects/$project/caps/month" '{"core_hours": 2000000000}'
            n=$((n + 1))
        done
    done
}

# A new ledger behind a running daemon. Sets data, token, daemon_port.
new_ledger() { # NAME ORGANIZATIONS PROJECTS_PER_ORGANIZATION
    stop_daemon
    data=$work/$1
    token=$("$corehourd" init --data "$data")
    start_daemon "$data"
    layout "$2" "$3" > "$work/layout"
    refused=$(curl -K "$work/layout" | grep -vc '^20' || true)
    [ "$refused" = 0 ] || { say "the layout was refused $refused times"; exit 1; }
}

drop_ledger() {
    stop_daemon
    rm -rf "$data"
}

ours() { # LOAD_ARGUMENTS...
    "$load" "$@" --to "127.0.0.1:$daemon_port" --token "$token"
}

# ---- rivals

floor_rate() { # CONNECTIONS
    port=$(free_port)
    "$build/tests/bench/bench_http_floor" 1 $((seconds + 2)) "$port" 2> /dev/null &
    floor_pid=$!
    sleep 0.5
    line=$("$load" floor --to "127.0.0.1:$port" --connections "$1" --seconds "$seconds")
    kill $floor_pid 2> /dev/null || true
    wait $floor_pid 2> /dev/null || true
    floor_pid=''
    field rate "$line"
}

as_postgres() {
    if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

start_postgres() {
    [ -z "$pg_bin" ] || return 0
    found=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2> /dev/null | sort -V | tail -1)
    [ -n "$found" ] || { say "PostgreSQL is not installed: left out"; return 1; }
    pg_bin=$found
    mkdir "$work/pg"
    [ "$(id -u)" != 0 ] || chown postgres "$work/pg"
    as_postgres "$pg_bin/initdb" -D "$work/pg/data" -A trust -E UTF8 --no-locale > "$work/pg.log"
    as_postgres "$pg_bin/pg_ctl" -D "$work/pg/data" -l "$work/pg/log" -w start \
        -o "-k $work/pg -c listen_addresses=''" > /dev/null
    as_postgres "$pg_bin/psql" -q -h "$work/pg" postgres -f "$here/peers/ledger.sql" > /dev/null
}

postgres_rate() { # SCRIPT CLIENTS
    as_postgres "$pg_bin/pgbench" -h "$work/pg" -n -M prepared -f "$here/peers/$1.pgbench" -c "$2" -j 1 \
        -T "$seconds" postgres 2>> "$work/pgbench.log" | sed -n 's/^tps = \([0-9]*\).*/\1/p'
}

start_redis() {
    [ -z "$redis_pid" ] || return 0
    command -v redis-server > /dev/null || { say "Redis is not installed: left out"; return 1; }
    mkdir -p "$work/redis"
    redis_port=$(free_port)
    redis-server --port "$redis_port" --bind 127.0.0.1 --dir "$work/redis" --appendonly yes --appendfsync always \
        --save '' --daemonize no > /dev/null &
    redis_pid=$!
    until redis-cli -p "$redis_port" ping > /dev/null 2>&1; do sleep 0.1; done
    for i in $(seq 0 255); do echo "HSET p:$i frozen 0 used 0 cap 9000000000000000"; done |
        redis-cli -p "$redis_port" > /dev/null
    for i in $(seq 0 7); do echo "HSET o:$i frozen 0 used 0 cap 9000000000000000"; done |
        redis-cli -p "$redis_port" > /dev/null
    redis_sha=$(redis-cli -p "$redis_port" -x SCRIPT LOAD < "$here/peers/redis_freeze.lua")
}

redis_rate() {
    redis-benchmark -p "$redis_port" -c 64 -n $((seconds * 16000)) -r 1000000000 --csv \
        EVALSHA "$redis_sha" 1 h:__rand_int__ __rand_int__ 3600 2> /dev/null |
        awk -F, 'NR == 2 { gsub(/"/, "", $2); print int($2) }'
}

stop_rivals() {
    [ -z "$floor_pid" ] || kill "$floor_pid" 2> /dev/null || true
    [ -z "$redis_pid" ] || kill "$redis_pid" 2> /dev/null || true
    [ -z "$redis_pid" ] || wait "$redis_pid" 2> /dev/null || true
    [ -z "$pg_bin" ] || as_postgres "$pg_bin/pg_ctl" -D "$work/pg/data" -m immediate stop > /dev/null 2>&1 || true
    redis_pid='' floor_pid='' pg_bin=''
}

# ---- sections

measure_freeze() {
    new_ledger freeze 8 32
    for _ in $(seq "$rounds"); do
        field rate "$(ours freeze)" >> "$work/freeze.ours"
        floor_rate 64 >> "$work/freeze.floor"
        if start_postgres; then postgres_rate freeze 16 >> "$work/freeze.pg"; fi
        if start_redis; then redis_rate >> "$work/freeze.redis"; fi
    done
    us=$(median < "$work/freeze.ours")
    for rival in "floor|the HTTP floor, suspend and resume|>=0.45" "pg|PostgreSQL ledger, c=16|>=10" \
        "redis|Redis script, fsync always, c=64|>=1"; do
        file=$work/freeze.${rival%%|*}
        [ -s "$file" ] || continue
        them=$(median < "$file") name=${rival#*|}
        row "freezes/s, HTTP, 64 connections" "$us" "${name%|*}" "$them" "$(ratio "$us" "$them")" "${name#*|}"
    done
    drop_ledger
}

measure_cycle() {
    new_ledger cycle 8 32
    for _ in $(seq "$rounds"); do
        ratio "$(field rate "$(ours cycle)")" 2 >> "$work/cycle.ours"
        if start_postgres; then postgres_rate cycle 16 >> "$work/cycle.pg"; fi
    done
    us=$(median < "$work/cycle.ours")
    [ ! -s "$work/cycle.pg" ] || them=$(median < "$work/cycle.pg")
    row "freeze+settle cycles/s, 64 connections" "$us" "PostgreSQL ledger, c=16" "${them:--}" "$(ratio "$us" "${them:-0}")" ">=10"
    drop_ledger
}

measure_batch() {
    new_ledger batch 8 32
    for _ in $(seq "$rounds"); do
        field rate "$(ours batch --connections 4 --lines 1000)" >> "$work/batch.ours"
        if start_postgres; then
            postgres_rate freeze 16 >> "$work/batch.pg"
            postgres_rate batch 1 | awk '{ print $1 * 64 }' >> "$work/batch.pg64"
        fi
    done
    us=$(median < "$work/batch.ours")
    if [ -s "$work/batch.pg" ]; then
        row "freezes/s, batch endpoint" "$us" "PostgreSQL ledger, c=16" "$(median < "$work/batch.pg")" \
            "$(ratio "$us" "$(median < "$work/batch.pg")")" ">=25"
        row "freezes/s, batch endpoint" "$us" "PostgreSQL ledger, 64 a transaction" "$(median < "$work/batch.pg64")" \
            "$(ratio "$us" "$(median < "$work/batch.pg64")")" -
    fi
    row "freezes/s, batch endpoint" "$us" "TigerBeetle of May 2024, two-level freezes" 40000 "$(ratio "$us" 40000)" ">=1"
    drop_ledger
}

measure_latency() {
    new_ledger latency 8 32
    for _ in $(seq "$rounds"); do
        field p50_us "$(ours freeze --connections 1 --seconds "$seconds")" >> "$work/latency.ours"
        field p50_us "$("$load" fdatasync --seconds "$seconds" --file "$work/fdatasync")" >> "$work/latency.disk"
    done
    us=$(median < "$work/latency.ours") them=$(median < "$work/latency.disk")
    row "one client's p50, us" "$us" "4 KiB write + fdatasync" "$them" "$(ratio "$us" "$them")" "<=2.5"
    drop_ledger
}

measure_steps() {
    new_ledger steps 8 32
    for connections in 1 64 127 128 129 256 512 1000; do
        line=$(ours freeze --connections $connections --seconds "$seconds")
        row "longest gap, ms, $connections connections" "$(field gap_ms "$line")" "freezes/s meanwhile" \
            "$(field rate "$line")" "$(field gap_ms "$line")" "<=100"
    done
    drop_ledger
}

measure_gap() {
    new_ledger gap 8 32
    line=$(ours freeze --seconds "$gap_seconds")
    row "longest gap, ms, in $gap_seconds s of load" "$(field gap_ms "$line")" "freezes/s meanwhile" \
        "$(field rate "$line")" "$(field gap_ms "$line")" "<=100"
    drop_ledger
}

measure_hot() {
    new_ledger hot 64 4
    for _ in $(seq "$rounds"); do
        field rate "$(ours freeze --accounts 256)" >> "$work/hot.many"
        field rate "$(ours freeze --accounts 4)" >> "$work/hot.one"
    done
    us=$(median < "$work/hot.one") them=$(median < "$work/hot.many")
    row "freezes/s, one hot organization" "$us" "64 organizations" "$them" "$(ratio "$us" "$them")" ">=0.95"
    drop_ledger
}

measure_memory() {
    new_ledger memory 8 32
    ours freeze --commands "$holds" > /dev/null
    mb=$(awk '/^VmHWM/ { printf "%.0f", $2 / 1024 }' "/proc/$daemon_pid/status")
    row "peak memory, MB, $holds open holds" "$mb" "limit, MB" 200 "$mb" "<=200"
    drop_ledger
}

# Size of what is stored, without the log: a copy has no log.
stored_bytes() {
    rm -f "$work/copy.db"
    "$corehourd" backup --data "$data" --to "$work/copy.db" > /dev/null
    stat -c %s "$work/copy.db"
    rm -f "$work/copy.db"
}

measure_disk() {
    new_ledger disk 8 32
    ours cycle --commands 2000 > /dev/null
    before=$(stored_bytes)
    ours cycle --commands $((cycles * 2)) > /dev/null
    each=$((($(stored_bytes) - before) / cycles))
    row "bytes on disk a cycle" "$each" "limit" 1000 "$each" "<=1000"
    drop_ledger
}

measure_history() {
    new_ledger empty 8 32
    field rate "$(ours freeze)" > "$work/history.empty"
    ours freeze > /dev/null # the same warm-up on both sides
    drop_ledger
    new_ledger history 8 32
    line=$(ours batch-cycle --connections 4 --lines 2000 --commands $((history * 2)))
    filled_s=$(field seconds "$line") bytes=$(stat -c %s "$data"/ledger.db* | awk '{ s += $1 } END { printf "%.2f", s / 1e9 }')
    row "seconds to fill $history holds" "$filled_s" "limit, s" 600 "$filled_s" "<=600"
    row "GB of ledger with $history holds" "$bytes" "limit, GB" 10 "$bytes" "<=10"
    for _ in $(seq "$rounds"); do field rate "$(ours freeze)" >> "$work/history.full"; done
    drop_ledger
    new_ledger empty 8 32
    for _ in $(seq "$rounds"); do field rate "$(ours freeze)" >> "$work/history.empty"; done
    drop_ledger
    us=$(median < "$work/history.full") them=$(median < "$work/history.empty")
    row "freezes/s, $history stored holds" "$us" "empty ledger" "$them" "$(ratio "$us" "$them")" ">=0.8"
}

for section in $sections; do
    say "$section"
    "measure_$section"
done

{
    echo 'what|figure|against|its figure|ratio|goal|met'
    cat "$rows"
} | awk -F'|' '
    { for (i = 1; i <= NF; i++) { cell[NR, i] = $i; if (length($i) > wide[i]) wide[i] = length($i) } }
    END { for (r = 1; r <= NR; r++) { line = ""
        for (i = 1; i <= 7; i++) line = line sprintf(i == 1 || i == 3 ? "%-" wide[i] "s  " : "%" wide[i] "s  ", cell[r, i])
        print line } }'
