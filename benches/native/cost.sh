#!/bin/sh
# What recording costs beside ThreadSanitizer: processor seconds (user and system) and peak memory of
# programs, each built once with it and run under both runtimes. The least of several runs counts.
# Usage: benches/native/cost.sh [-n RUNS] [-w ANYORDER] [-p NAME COMMAND] ...
# -w measures all of `anyorder run` instead, without predictions and with them: the run and its check.
# -p adds a program that was built with `-fsanitize=thread` and loads the runtime as a library.
set -eu
runs=3
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/lib" "$folder/recording"
(cd "$here/../../crates/runtime" && grep -v '^#' rustc-arguments.txt | xargs rustc -o "$folder/lib/libtsan.so.2" src/lib.rs)
for options in "plain " "tsan -fsanitize=thread"; do
    name=${options%% *} options=${options#* }
    cc -g -O2 -pthread $options -o "$folder/private.$name" "$here/cost.c"
    cc -g -O2 -pthread $options -o "$folder/programs.$name" "$here/programs.c"
    c++ -g -O2 -pthread $options -o "$folder/words.$name" "$here/words.cc"
done

# Prints the least processor seconds, and the greatest memory in KB, of several runs.
measure() {
    : >"$folder/times"
    for _ in $(seq "$runs"); do
        rm -f "$folder/recording/"*
        /usr/bin/time -o "$folder/times" -a -f "%U %S %M" env TSAN_OPTIONS=report_bugs=0 "$@" >/dev/null 2>&1 ||
            echo "failed: $*" >&2
    done
    awk 'NF == 3 { t = $1 + $2; if (n++ == 0 || t < least) least = t; if ($3 > most) most = $3 }
        END { printf "%.2f %d", least, most }' "$folder/times"
}

row() {
    name=$1 plain=$2
    shift 2
    bare=$(if [ -n "$plain" ]; then measure $plain; else echo "- -"; fi)
    tsan=$(measure "$@")
    idle=$(measure LD_LIBRARY_PATH="$folder/lib" "$@")
    ours=$(measure LD_LIBRARY_PATH="$folder/lib" ANYORDER_RECORDING="$folder/recording" "$@")
    bytes=$(cat "$folder/recording/"*.rec | wc -c)
    echo "$name $bare $tsan $idle $ours $bytes" | awk '{
        printf "| %s | %s | %s | %s | %s | %.2f | %.0f | %.0f | %.1f |\n",
            $1, $2, $4, $6, $8, $8 / ($4 > 0.01 ? $4 : 0.01), $5 / 1024, $9 / 1024, $10 / 1e6
    }' | tee -a "$folder/rows"
}

# The same with all of `anyorder run`.
whole_row() {
    name=$1
    shift 2
    tsan=$(measure "$@")
    hb=$(measure "$whole" run --exit-zero --no-predict "$@")
    all=$(measure "$whole" run --exit-zero "$@")
    echo "$name $tsan $hb $all" | awk '{
        least = $2 > 0.01 ? $2 : 0.01
        printf "| %s | %s | %s | %s | %.1f | %.1f | %.0f | %.0f | %.0f |\n",
            $1, $2, $4, $6, $4 / least, $6 / least, $3 / 1024, $5 / 1024, $7 / 1024
    }' | tee -a "$folder/rows"
}

whole=
while [ "${1-}" = -n ] || [ "${1-}" = -w ]; do
    if [ "$1" = -n ]; then runs=$2; else whole=$2; fi
    shift 2
done
if [ -n "$whole" ]; then
    row() { whole_row "$@"; }
    echo "| program | TSan | HB | with predictions | HB ratio | ratio | TSan MiB | HB MiB | MiB |"
    echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
else
    echo "| program | plain | TSan | ours, idle | ours, recording | ratio | TSan MiB | ours MiB | recorded MB |"
    echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
fi
row private "$folder/private.plain 60000" "$folder/private.tsan" 60000
for name in matrix stream locks blocks atomics threads handover sort grid; do
    row "$name" "$folder/programs.plain $name" "$folder/programs.tsan" "$name"
done
row words "$folder/words.plain" "$folder/words.tsan"
while [ "${1-}" = -p ]; do
    row "$2" "" sh -c "$3"
    shift 3
done
awk -F '|' '{ sum += log($7 > 0.01 ? $7 : 0.01); n++; if ($7 > most) most = $7 } END {
    printf "%d programs: %.2f times TSan in the geometric mean, %.2f at the most\n", n, exp(sum / n), most
}' "$folder/rows"
