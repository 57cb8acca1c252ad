#!/bin/sh
# The tests of a push, with four times the effort, other random numbers each night, and everything that a push
# only samples. Takes hours. ANYORDER_EFFORT and ANYORDER_SEED repeat or enlarge a night.
set -eu
cd "$(dirname "$0")"

ANYORDER_EFFORT=${ANYORDER_EFFORT:-4}
ANYORDER_SEED=${ANYORDER_SEED:-$(($(date +%s) / 86400))}
export ANYORDER_EFFORT ANYORDER_SEED
printf 'ANYORDER_EFFORT=%s ANYORDER_SEED=%s\n' "$ANYORDER_EFFORT" "$ANYORDER_SEED"

./test.sh
ANYORDER_BOMBS=all cargo test --release -p anyorder-cli --test bombs
ANYORDER_FAULTS=all cargo test -p anyorder-cli --test faults
# Every certificate that a command of a test writes is certified by both checkers.
ANYORDER_CERTIFY_ALL=1 cargo test -p anyorder-cli --test all
# Atomics of the size of the standard library's, and published crates: their bugs and their suites.
cargo test -p anyorder --features std-size
tools/suites/run.py bugs
tools/suites/run.py suites
# Published packages of the web: their ordering bugs, and repaired versions; skipped without npm.
if command -v node >/dev/null 2>&1; then
    cargo build --release -p anyorder-cli
    ANYORDER="${CARGO_TARGET_DIR:-target}/release/anyorder" node tools/web/packages.mjs night
else
    echo "published packages: skipped, there is no node"
fi
