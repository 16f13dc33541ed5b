#!/bin/sh
# The story of the README through the command line against a real daemon, as docs/demo.sh walks it.
#
# usage: test_demo.sh DEMO BUILD_DIR
set -eu
demo=$1
build=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

HOME=$folder XDG_CONFIG_HOME='' LC_ALL=C.UTF-8 sh "$demo" --build "$build" >"$folder/story" 2>&1 || {
  cat "$folder/story"
  exit 1
}

failed=0
while IFS= read -r line; do
  grep -qF -- "$line" "$folder/story" || {
    echo "the story does not say: $line"
    failed=1
  }
done <<'END'
1.33 core-hours (16.000 cores x 5.00 min), rates alpha/1: it would pass
frozen 1.33 core-hours (16.000 cores x 5.00 min) hold alpha-job-1
quota insufficient to pre-freeze 1.33 core-hours (16.000 cores x 5.00 min)
  project vision  month   2.00  0.00    1.33       0.67       1.33     0.67  core-hours
  alpha-job-1  vision   alice    1.33
ask: carol (room 301)
(exit status 1)
配额已不够预冻结，冻结时间5.00 min，折合1.33核时
hold alpha-job-1 is running (frozen 1.33 core-hours)
charged 0.27 core-hours, returned 1.07 core-hours; hold alpha-job-1 is settled (used 0.27 core-hours)
frozen 1.33 core-hours (16.000 cores x 5.00 min) hold alpha-job-2
available   998.40  core-hours
vision  month  0.27    1.33       0.40   2.00  [██▒▒▒▒▒▒▒▒▒▒▒▒▒▒····]  80%
corehourd: 0 differences
END
[ "$failed" = 0 ] || cat "$folder/story"
exit "$failed"
