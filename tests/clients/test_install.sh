#!/bin/sh
# What is installed works for a stranger: headers that compile alone, a library that links by pkg-config, a program that
# runs, its man page and completion.
#
# usage: test_install.sh BUILD_DIR CC...
set -eu
build=$1
shift
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

DESTDIR=$root meson install -C "$build" --no-rebuild --quiet
corehour=$(find "$root" -path '*/bin/corehour')
"$corehour" --version
test -n "$(find "$root" -name corehour -path '*/bash-completion/completions/*')"

config=$(dirname "$(find "$root" -name libcorehour.pc)")
export PKG_CONFIG_PATH="$config" PKG_CONFIG_SYSROOT_DIR="$root"
cat >"$root/stranger.c" <<'END'
#include <corehour/ids.h>
#include <corehour/client.h>
#include <corehour/units.h>
#include <corehour/url.h>
#include <stdio.h>
int main(void)
{
    char id[COREHOUR_ID_BYTES];
    char text[COREHOUR_UNITS_TEXT_BYTES];
    struct corehour_client *client;
    struct corehour_error error;
    struct corehour_options options = {.url = "http://127.0.0.1:1"};
    if (corehour_client_create(&options, &client, &error) || corehour_id_create("alpha", id)) {
        return 1;
    }
    corehour_amount_format(4800000, text);
    corehour_client_destroy(client);
    return puts(text) < 0;
}
END
# shellcheck disable=SC2046 # flags are words
"$@" -std=c17 -Wall -Wextra -Werror "$root/stranger.c" -o "$root/stranger" $(pkg-config --cflags --libs libcorehour)
library=$(dirname "$(find "$root" -name libcorehour.so)")
test "$(LD_LIBRARY_PATH=$library "$root/stranger")" = 1.33

# Only what the headers declare is in the shared library.
if nm -D --defined-only "$library/libcorehour.so" | grep ' T ' | grep -v ' corehour_'; then
  echo "a symbol that is not declared is exported"
  exit 1
fi
echo installed
