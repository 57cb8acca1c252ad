#!/bin/sh
# Makes a virtual environment with Z3 where the bench `compare` looks for it: setup.sh [TARGET]
set -eu
cd "$(dirname "$0")/../../../.."
target=${1:-${CARGO_TARGET_DIR:-target}}
python3 -m venv "$target/z3-venv"
"$target/z3-venv/bin/pip" install --quiet 'z3-solver==5.4.0'
"$target/z3-venv/bin/python3" -c 'import z3; print("z3", z3.get_version_string())'
