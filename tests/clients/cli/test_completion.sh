#!/usr/bin/env bash
# The completion of bash offers what the table of commands holds.
#
# usage: test_completion.sh COREHOUR COMPLETION
set -u
corehour=$1
# shellcheck source=/dev/null
source "$2"

passed=0
failed=0

# Completes the line of words; the last one is being typed.
offered() {
  COMP_WORDS=("$corehour" "$@")
  COMP_CWORD=$#
  _corehour
  printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' '
}

# Asks the program once, here and not in each subshell.
COMP_WORDS=("$corehour" "")
COMP_CWORD=1
_corehour

# Compares what is offered for the words with what should be.
expect() {
  local wanted=$1 got
  shift
  got=$(offered "$@")
  if [[ $got == "$wanted" ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "\"corehour $*\" offered \"$got\" and not \"$wanted\""
  fi
}

expect "freeze " fre
expect "hold holds " hold
expect "grant grants " gran
expect "history import list remove set " cap ""
expect "set " cap s
expect "cap caps " help ca
expect "history import list remove set " help cap ""
expect "--soft " cap set vision month 5 --so
expect "full window " freeze --cluster alpha --mode ""
expect "window " freeze --mode w
expect "en zh " freeze --lang ""
expect "--cluster " freeze --clu
expect "--page-size --page-token " holds --json --page
expect " " freeze --cluster ""
expect " " nonsense x

# Fails unless all the wanted words are among those offered.
expect_all() {
  local wanted=$1 got word
  shift
  got=" $(offered "$@")"
  for word in $wanted; do
    if [[ $got == *" $word "* ]]; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "\"corehour $*\" does not offer $word"
    fi
  done
}

# Every command of the table is offered, and every option of it.
table=$("$corehour" help --list | grep -v $'^\t')
expect_all "$(cut -f1 <<<"$table" | cut -d' ' -f1 | sort -u | tr '\n' ' ')" ""
while IFS=$'\t' read -r name options; do
  read -r -a words <<<"$name"
  [[ ${#words[@]} == 1 ]] || expect_all "${words[1]}" "${words[0]}" ""
  [[ -z $options ]] || expect_all "$(tr ' ' '\n' <<<"$options" | cut -d= -f1)" "${words[@]}" --
done <<<"$table"

echo "$passed passed, $failed failed"
((failed == 0 && passed > 100))
