#!/bin/sh
# Two-phase commit in `spin` (Debian package `spin`), and in our search beside it: run.sh [PARTICIPANTS...], the default is 6 7 8.
# `spin` keeps whole states (-DSAFETY, no reduction of orders) and checks no property. Its seconds are of its processor time, the least of
# three runs; compiling its search is not in them. Without `spin` or `gcc` only ours is run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run_spin() {
    cd "$work"
    spin -DN="$1" -a "$here/two_phase.pml"
    gcc -O3 -DSAFETY -DNOREDUCE -DMEMLIM=8000 -o pan pan.c
    for run in 1 2 3; do
        { bash -c 'TIMEFORMAT=%U; time ./pan -m1000000 -w24 -E > out' ; } 2>> seconds
    done
    sort -n seconds | head -1 > least
    awk -v n="$1" -v seconds="$(cat least)" '
        /states, stored/ { states = $1 }
        /states, matched/ { matched = $1 }
        /actual memory usage for states/ { bytes = $1 * 1048576 }
        /memory used for hash table/ { table = $1 * 1048576 }
        /errors:/ { errors = $NF }
        END {
            if (seconds < 0.01) seconds = 0.01
            printf "spin 2pc-%d: %d states, %d transitions, errors %s, %.2f s, %.2f M states/s, %.2f M transitions/s, ", n, states,
                states + matched - 1, errors, seconds, states / seconds / 1e6, (states + matched - 1) / seconds / 1e6
            printf "%.0f B/state and %.0f for its table\n", bytes / states, table / states
        }' out
    rm -f pan* out seconds least
    cd "$here"
}

for participants in "${@:-6 7 8}"; do
    for n in $participants; do
        if command -v spin > /dev/null && command -v gcc > /dev/null; then
            run_spin "$n"
        else
            echo "spin 2pc-$n: skipped, there is no spin or no gcc"
        fi
        (cd "$here" && cargo bench -q -p anyorder-search --bench search -- rates "2pc-$n" 1 breadth)
    done
done
uptime
