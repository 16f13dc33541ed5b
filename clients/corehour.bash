# Completion of corehour for bash: commands, options, and the values of options that have few. The program itself says
# what there is (corehour help --list), once a shell; the daemon is not asked.
# shellcheck shell=bash

_corehour_offer() { # WORDS CURRENT
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# The options of the command that the words name, "--mode=full|window" among them, and the globals.
_corehour_options() { # FIRST SECOND
  awk -F '\t' -v one="$1" -v two="$1 $2" '$1 == "" || $1 == one || $1 == two { print $2 }' <<<"$_corehour_list"
}

# The words before the cursor that are no options nor the values of such.
_corehour_words() {
  local i word options=$1
  words=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == --* ]]; then
      [[ $options == *" $word "* || $word == --*=* ]] || ((i++))
    elif [[ $word != = ]]; then
      words+=("$word")
    fi
  done
}

_corehour() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local words=() options option
  local flags=" --json --dry-run --trace --help --version --soft --all --stale --atomic --once --list "
  COMPREPLY=()
  [[ -n ${_corehour_list:-} ]] || _corehour_list=$("${COMP_WORDS[0]}" help --list 2>/dev/null)
  _corehour_words "$flags"
  options=$(_corehour_options "${words[0]:-}" "${words[1]:-}")
  for option in $options; do
    if [[ $option == "$previous="* ]]; then
      option=${option#*=}
      _corehour_offer "${option//|/ }" "$current"
      return
    fi
  done
  if [[ $previous == --body ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  elif [[ $current == --* ]]; then
    _corehour_offer "$(tr ' ' '\n' <<<"$options" | cut -d= -f1)" "$current"
  elif [[ $previous == --* && $flags != *" $previous "* ]]; then
    return
  elif ((${#words[@]} == 0)); then
    _corehour_offer "$(cut -f1 <<<"$_corehour_list" | cut -d' ' -f1 | sort -u)" "$current"
  elif [[ ${words[0]} == help ]]; then
    _corehour_offer "$(awk -F '\t' -v n="${#words[@]}" -v first="${words[1]:-}" \
      '{ split($1, w, " ") } n == 1 { print w[1] } n == 2 && w[1] == first { print w[2] }' <<<"$_corehour_list" | sort -u)" "$current"
  elif ((${#words[@]} == 1)) && grep -q "^${words[0]} " <<<"$_corehour_list"; then
    _corehour_offer "$(sed -n "s/^${words[0]} \([^ ]*\)\t.*/\1/p" <<<"$_corehour_list")" "$current"
  elif [[ ${words[0]} == batch || "${words[*]:0:2}" == "rates put" ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}

complete -F _corehour corehour
