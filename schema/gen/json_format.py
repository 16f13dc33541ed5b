#!/usr/bin/env python3
"""Lay out a JSON document for people: two spaces, one line for every value that fits 110 columns, lists of
plain values and `example` objects filled line by line.

usage: json_format.py FILE          rewrite FILE in this form
       json_format.py --check FILE  exit 1 when FILE is not in this form

The order of members is kept; numbers and strings are not touched. Members given twice are an error.
"""
import json
import sys

WIDTH = 110


def reject_duplicates(pairs):
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            sys.exit(f'member given twice: {name}')
    return dict(pairs)


def flat(value):
    """The value on one line: spaces inside non-empty braces, as people write it."""
    if isinstance(value, dict):
        inner = ', '.join(f'{json.dumps(k, ensure_ascii=False)}: {flat(v)}' for k, v in value.items())
        return f'{{ {inner} }}' if inner else '{}'
    if isinstance(value, list):
        return '[' + ', '.join(flat(v) for v in value) + ']'
    return json.dumps(value, ensure_ascii=False)


def fill(words, indent, braces):
    """Words in braces, as many a line as fit."""
    pad = ' ' * (indent + 2)
    lines = [pad + words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 2 <= WIDTH:
            lines[-1] += ', ' + word
        else:
            lines[-1] += ','
            lines.append(pad + word)
    return braces[0] + '\n' + '\n'.join(lines) + '\n' + ' ' * indent + braces[1]


def layout(value, indent, used, filled=False):
    """The value as text; `used` columns of its first line are taken, its further lines begin at `indent`.
    filled: it is an example, whose members may share a line."""
    line = flat(value)
    if not isinstance(value, (dict, list)) or not value or used + len(line) <= WIDTH:
        return line
    pad = ' ' * (indent + 2)
    if isinstance(value, list):
        if not any(isinstance(v, (dict, list)) for v in value):
            return fill([flat(v) for v in value], indent, '[]')
        rows = [pad + layout(v, indent + 2, indent + 3, filled) for v in value]
        return '[\n' + ',\n'.join(rows) + '\n' + ' ' * indent + ']'
    rows = []
    words = [f'{json.dumps(k, ensure_ascii=False)}: {flat(v)}' for k, v in value.items()]
    if filled and max(map(len, words)) < WIDTH - indent - 2:
        return fill(words, indent, '{}')
    for name, member in value.items():
        head = f'{pad}{json.dumps(name, ensure_ascii=False)}: '
        rows.append(head + layout(member, indent + 2, len(head) + 1, filled or name == 'example'))
    return '{\n' + ',\n'.join(rows) + '\n' + ' ' * indent + '}'


def main():
    check = '--check' in sys.argv
    path = sys.argv[-1]
    text = open(path, encoding='utf-8').read()
    wanted = layout(json.loads(text, object_pairs_hook=reject_duplicates), 0, 0) + '\n'
    if check and wanted != text:
        sys.exit(f'{path}: not in the form of schema/gen/json_format.py')
    if not check and wanted != text:
        open(path, 'w', encoding='utf-8').write(wanted)


if __name__ == '__main__':
    main()
