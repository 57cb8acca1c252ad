#!/bin/sh
# Runs all checks and tests: format, lints, tests, documentation, and the commands of the README.
# Needs cargo, rustc and a C compiler; takes Python, rustfmt and clippy from rustup or apt where they are missing.
set -eu
cd "$(dirname "$0")"

begun=$(date +%s)
say() { printf '\n== %s (after %s s)\n' "$*" $(($(date +%s) - begun)); }
fail() { printf '\nFAILED: %s\n' "$*" >&2; exit 1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null 2>&1; then sudo "$@"; else return 1; fi
}

# install COMPONENT PACKAGE: a component of the toolchain, by whichever way this machine has.
install() {
    if command -v rustup >/dev/null 2>&1 && rustup component add "$1" >/dev/null 2>&1; then return 0; fi
    if command -v apt-get >/dev/null 2>&1; then
        as_root apt-get install -y -q "$2" >/dev/null 2>&1 && return 0
        as_root apt-get update -q >/dev/null 2>&1 && as_root apt-get install -y -q "$2" >/dev/null 2>&1 && return 0
    fi
    return 1
}

command -v cargo >/dev/null 2>&1 || fail "cargo is missing: https://rustup.rs"
command -v cc >/dev/null 2>&1 || install none gcc || fail "a C compiler is missing: apt-get install gcc"

skipped=""
# The checker of certificates in Python is compared with ours where there is a Python.
command -v python3 >/dev/null 2>&1 || install none python3 || skipped="$skipped second-checker"
# Programs in C++ are recorded where there is a compiler for them.
command -v g++ >/dev/null 2>&1 || install none g++ || skipped="$skipped recorded-c++"
if cargo fmt --version >/dev/null 2>&1 || install rustfmt rustfmt; then
    say "format"
    cargo fmt --all --check || fail "cargo fmt --check; run cargo fmt"
else
    skipped="$skipped format"
fi
# Random tests begin at other numbers on each day of commits, so that what was tried grows with the history.
# The commits of a day try the same; the variable repeats the run of another one.
if [ -z "${ANYORDER_SEED:-}" ]; then
    made=$(git log -1 --format=%ct 2>/dev/null) || made=""
    ANYORDER_SEED=$((${made:-0} / 86400))
fi
export ANYORDER_SEED

# The compiler of continuous integration lints what it builds, and its rustdoc checks the pages beside the
# examples. Elsewhere that is a second pass, so that `cargo test` by hand finds what was built here.
linted=""
deny="-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"
if cargo clippy --version >/dev/null 2>&1 || install clippy rust-clippy; then
    driver=$(rustc --print sysroot)/bin/clippy-driver
    [ -x "$driver" ] || driver=$(command -v clippy-driver)
    case "${RUSTC_WORKSPACE_WRAPPER:-}" in
    */.ci/rustc)
        linted=yes
        export ANYORDER_LINTER="$driver" CLIPPY_ARGS="$deny"
        ;;
    esac
else
    driver=""
    skipped="$skipped lints"
fi

# Pages are opened where there is a browser. It is large, so it comes while the tests are built.
browser=""
command -v chromium >/dev/null 2>&1 || { install none chromium & browser=$!; }

say "build of the tests"
cargo test --workspace --no-run --quiet || fail "cargo test --no-run"
[ -z "$browser" ] || wait "$browser" || skipped="$skipped web-pages"

# The rest of the processors' time goes to what says less. Its words wait for those of the tests.
beside=$(mktemp -d)
lints=""
tidy() {
    status=$?
    [ -z "$lints" ] || kill "$lints" 2>/dev/null || true
    rm -rf "$beside"
    exit "$status"
}
trap tidy EXIT
trap 'exit 1' INT TERM
in_background() {
    if [ -n "$linted" ]; then
        cargo test --workspace --quiet --no-run --benches || echo "lints of the benches" >> "$beside/failed"
    else
        [ -z "$driver" ] || cargo clippy --workspace --all-targets -- -D warnings || echo "cargo clippy" >> "$beside/failed"
        # What the lints have checked is not checked again for the pages: the compiler is the one that they ran.
        (
            if [ -n "$driver" ]; then
                RUSTC_WORKSPACE_WRAPPER=$driver
                CLIPPY_ARGS=$deny
                export RUSTC_WORKSPACE_WRAPPER CLIPPY_ARGS
            fi
            RUSTDOCFLAGS="-D warnings" exec cargo doc --workspace --no-deps --quiet
        ) || echo "cargo doc" >> "$beside/failed"
    fi
    cargo test --workspace --quiet --no-fail-fast --doc || echo "cargo test --doc" >> "$beside/failed"
    # The tests read the licences and sources of deny.toml themselves; bans and advisories need the tool.
    if cargo deny --version >/dev/null 2>&1; then
        cargo deny check bans licenses sources || echo "cargo deny check" >> "$beside/failed"
        if cargo deny fetch >/dev/null 2>&1; then
            cargo deny check advisories || echo "cargo deny check advisories" >> "$beside/failed"
        else
            echo advisories >> "$beside/skipped"
        fi
    fi
}
in_background > "$beside/words" 2>&1 &
lints=$!

# `crates/house` knows these lists: no binary is left out. Those that judge by time run alone.
together="all faults home json machine mutated page_catalogue programs tiny_system end_all"
alone="bombs limits"
tests() {
    cargo test --workspace --quiet --no-fail-fast "$@" || fail "cargo test $(echo "$*" | sed 's/ -- .*//'), with ANYORDER_SEED=$ANYORDER_SEED"
}

# Of the tests that take long, those of the day run: each on one of 24 days, to and fro through the list, so
# that the days take equally long. Those of ten seconds and more wait for the night, which runs all.
others=""
if [ -z "${ANYORDER_EFFORT:-}" ]; then
    others=$(awk -v day="$ANYORDER_SEED" '!/^#/ && $1 >= 10 { print "--skip", $3; next } !/^#/ { at = n++ % 48; if (at > 23) at = 47 - at; if (at != day % 24) print "--skip", $3 }' long-tests.txt)
    say "left for other days: $(echo "$others" | wc -l) of $(grep -vc '^#' long-tests.txt) tests that take long (ANYORDER_EFFORT=1 runs all)"
fi
say "tests (ANYORDER_SEED=$ANYORDER_SEED)"
tests --lib --bins --examples $(printf -- '--test %s ' $together) -- --exact $others

say "lints, documentation and its examples"
wait "$lints" || fail "lints or documentation did not end"
lints=""
cat "$beside/words"
[ ! -s "$beside/failed" ] || fail "$(cat "$beside/failed")"
[ ! -s "$beside/skipped" ] || skipped="$skipped $(tr '\n' ' ' < "$beside/skipped")"

say "tests of limits and hostile input"
tests $(printf -- '--test %s ' $alone) -- --exact $others

# The binary that the tests have built runs them: they are about commands and files, not about speed.
say "the commands of the README"
anyorder() { "${CARGO_TARGET_DIR:-target}/debug/anyorder" "$@"; }
report=$beside
status=0
last=$(anyorder check examples/notes-app.trace --report "$report/report" | tail -n 1) || status=$?
page=$last
[ -s "$page" ] || fail "the last line of the first command must be the path of the report, not: $last"
grep -q '</html>' "$page" || fail "the report is not a whole page"
status=0
anyorder check examples/notes-app.trace --format json > "$report/result.json" || status=$?
[ "$status" = 1 ] || fail "the example has findings: exit status 1 was expected, not $status"
grep -q '"verdict":"findings"' "$report/result.json" || fail "the JSON result has no verdict"
anyorder info examples/notes-app.trace > "$report/info.txt" || fail "anyorder info"
anyorder convert --quiet examples/notes-app.trace "$report/notes.bin" --to binary || fail "anyorder convert"
anyorder convert --quiet "$report/notes.bin" "$report/notes.trace" --to text || fail "anyorder convert"

if [ -n "$skipped" ]; then
    printf '\nPASSED in %s s, but not checked here (component missing):%s\n' $(($(date +%s) - begun)) "$skipped"
else
    printf '\nPASSED: everything, in %s s\n' $(($(date +%s) - begun))
fi
