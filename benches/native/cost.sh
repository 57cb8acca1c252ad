#!/bin/sh
# Processor seconds of one program: plain, with ThreadSanitizer, with our runtime, and recorded by it.
# Usage: benches/native/cost.sh [ROUNDS]
set -eu
rounds=${1:-90000}
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cc -g -O2 -pthread -o "$folder/plain" "$here/cost.c"
cc -g -O2 -pthread -fsanitize=thread -o "$folder/tsan" "$here/cost.c"
mkdir "$folder/lib" "$folder/recording"
(cd "$here/../../crates/runtime" && grep -v '^#' rustc-arguments.txt | xargs rustc -o "$folder/lib/libtsan.so.2" src/lib.rs)
seconds() {
    printf '%-28s' "$1"
    shift
    { time -p "$@" >/dev/null 2>"$folder/errors"; } 2>&1 |
        awk '/user/ { u = $2 } /sys/ { s = $2 } END { print "user " u ", system " s }'
}
for _ in 1 2 3; do
    seconds "plain" "$folder/plain" "$rounds"
    seconds "ThreadSanitizer" "$folder/tsan" "$rounds"
    seconds "ours, without recording" env LD_LIBRARY_PATH="$folder/lib" "$folder/tsan" "$rounds"
    seconds "ours, recording" env LD_LIBRARY_PATH="$folder/lib" ANYORDER_RECORDING="$folder/recording" "$folder/tsan" "$rounds"
    du -sb "$folder/recording" | awk '{ print $1 " bytes recorded" }'
    rm -f "$folder/recording/"*
done
