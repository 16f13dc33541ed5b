"""What no file of the product may contain: unsafe functions, second clocks, floating point in the ledger, unfinished work."""

import re

import tree

# Functions that have a safe counterpart, hidden state or an unchecked result.
BANNED = re.compile(
    r"\b(sprintf|vsprintf|strcpy|strcat|stpcpy|strncpy|strncat|strtok|atoi|atol|atoll|atof|strtol|strtoul|strtod|gets|sscanf|"
    r"scanf|rand|srand|random|drand48|time|gettimeofday|localtime|gmtime|localtime_r|mktime|ctime|asctime|strftime|strptime|"
    r"system|popen|alloca|setlocale|setenv|putenv|unsetenv|tzset|signal|tmpnam|mktemp|longjmp|setjmp)\s*\("
)
CLOCK = re.compile(r"\b(clock_gettime|CLOCK_REALTIME|CLOCK_MONOTONIC)\b")
FLOAT = re.compile(r"\b(float|double|_Float\w+|long\s+double|fabs|floor|ceil|round|llround|strtold)\b|\b\d+\.\d+(?:[eE][-+]?\d+)?\b")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")

LINES_MAX = 1000
# Files where one rule does not apply, with the reason.
EXEMPT = {
    ("ledger/base/clock.c", CLOCK): "the only clock",
    ("clients/clock.c", CLOCK): "the clients' only clock; they share no code with the daemon",
    ("server/batcher.c", CLOCK): "names the clock that its condition variable waits by; reads none",
    ("server/webhooks.c", CLOCK): "names the clock that its condition variable waits by; reads none",
    ("clients/slurm/user_names.c", CLOCK): "names the clock that its condition variable waits by; reads none",
    ("clients/slurm/watch.c", CLOCK): "names the clock that its locks wait by; reads none",
    ("server/focus.c", UNFINISHED): "ISO 4217's code for no currency, which FOCUS wants where there is no price",
    ("server/focus.h", UNFINISHED): "the same",
    ("server/xlsx.c", FLOAT): "a cell of a workbook is a double by its format; figures are integers until there",
    ("clients/cli/text.c", BANNED): "setlocale, once at the start of the program and for LC_CTYPE only: wcwidth needs it",
}


def faults_of(path):
    text = tree.read(path)
    code = tree.code_only(text)
    faults = []

    def look(pattern, where, what):
        for match in pattern.finditer(where):
            if (str(path), pattern) not in EXEMPT:
                faults.append(f"{path}:{tree.line_of(where, match.start())}: {what}: {match[0].strip()}")

    look(BANNED, code, "banned function")
    look(CLOCK, code, "a clock beside ledger/base/clock.c")
    look(UNFINISHED, text, "unfinished work")
    if str(path).startswith(("ledger/", "schema/", "server/")):
        look(FLOAT, code, "floating point")
    if text.count("\n") > LINES_MAX:
        faults.append(f"{path}: longer than {LINES_MAX} lines")
    return faults


files = tree.c_files()
tree.finish([fault for path in files for fault in faults_of(path)], len(files))
