#!/usr/bin/env python3
"""Make the tables of configuration keys from schema/config.def.

usage: config_md.py config.def FORMAT OUTPUT

FORMAT is `md` (a Markdown table), `scd` (the OPTIONS section of corehourd.conf.5, scdoc) or `conf` (the
commented example file that is installed). The only source is config.def; the output is data, never edited.
"""
import re
import sys

ROW = re.compile(
    r'CONFIG_ROW\(\s*(\w+),\s*(INTEGER|TEXT|LEVEL|SWITCH),\s*("[^"]*"|\d+),\s*(\d+),\s*(\d+),\s*([01]),'
    r'\s*"([^"]*)"\s*\)')


def read_rows(path):
    """All rows in file order, as dictionaries; a row that does not parse is an error, never skipped."""
    text = re.sub(r'/\*.*?\*/', '', open(path, encoding='utf-8').read(), flags=re.S)
    names = ('name', 'type', 'default', 'min', 'max', 'reloadable', 'meaning')
    rows = [dict(zip(names, match.groups())) for match in ROW.finditer(text)]
    rest = ROW.sub('', text).strip()
    if rest or not rows:
        sys.exit(f'{path}: not a CONFIG_ROW: {rest[:60]!r}')
    for row in rows:
        row['default'] = row['default'].strip('"')
    return rows


def values(row):
    """What a key takes, in words."""
    if row['type'] == 'INTEGER':
        return f"{row['min']} to {row['max']}"
    if row['type'] == 'TEXT':
        return f"{row['min']} to {row['max']} bytes"
    return {'LEVEL': 'error, warning, info, debug', 'SWITCH': '0 or 1'}[row['type']]


def to_md(rows):
    lines = ['| key | default | values | on SIGHUP | meaning |', '|---|---|---|---|---|']
    for row in rows:
        reload_word = 'yes' if row['reloadable'] == '1' else 'restart'
        default = f"`{row['default']}`" if row['default'] else 'empty'
        lines.append(f"| `{row['name']}` | {default} | {values(row)} | {reload_word} | {row['meaning']} |")
    return lines


def to_scd(rows):
    lines = []
    for row in rows:
        note = 'Read again on SIGHUP.' if row['reloadable'] == '1' else 'A change needs a restart.'
        default = f"Default: {row['default']}." if row['default'] else 'Default: empty.'
        name = row['name'].replace('_', '\\_')
        text = f"{row['meaning']}. Values: {values(row)}. {default} {note}".replace('_', '\\_')
        lines += [f'*{name}*', f'\t{text[0].upper()}{text[1:]}', '']
    return lines


def to_conf(rows):
    lines = ['# corehourd.conf: every key with its default. See corehourd.conf(5).', '']
    for row in rows:
        lines += [f"# {row['meaning']} ({values(row)})", f"#{row['name']} = {row['default']}".rstrip(), '']
    return lines


def main():
    source, form, output = sys.argv[1:]
    lines = {'md': to_md, 'scd': to_scd, 'conf': to_conf}[form](read_rows(source))
    with open(output, 'w', encoding='utf-8') as out:
        out.write('\n'.join(lines) + '\n')


if __name__ == '__main__':
    main()
