#!/bin/sh
# Makes a copy of the standard library of `rustc` that is instrumented for ThreadSanitizer, and
# prints the settings with which cargo builds and runs programs for `anyorder run`:
#
#   eval "$(sh tools/instrumented-rust.sh FOLDER)"
#   cargo test --target x86_64-unknown-linux-gnu
#
# Any toolchain will do, a stable one, too. A toolchain has the standard library as machine code and
# as bitcode of LLVM. The linker of the toolchain runs the passes of ThreadSanitizer over the
# bitcode. It needs `ar` and `objcopy`, and rewrites FOLDER only for another toolchain.

set -eu

fail() {
    echo "instrumented-rust.sh: $1" >&2
    exit 2
}

[ $# = 1 ] || fail "expected one argument: the folder to write"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
case $folder in
*[[:space:]]*) fail "$folder: cargo needs a path without blanks" ;;
esac
target=x86_64-unknown-linux-gnu
from=$(rustc --print sysroot)/lib/rustlib/$target
to=$folder/lib/rustlib/$target
linker=$from/bin/rust-lld
passes='forceattrs,tsan-module,function(tsan)'
version=$(rustc -vV)

instrument() {
    work=$folder/work
    rm -rf "$work"
    mkdir "$work"
    (
        cd "$work"
        ar x "$1"
        for object in *.o; do
            objcopy -O binary --only-section=.llvmbc --set-section-flags .llvmbc=alloc \
                "$object" code.bc
            [ -s code.bc ] || fail "$1: no bitcode in it"
            "$linker" -flavor gnu -m elf_x86_64 -r --lto-newpm-passes="$passes" \
                -mllvm -force-attribute=sanitize_thread \
                -mllvm -tsan-instrument-read-before-write=1 code.bc -o "$object"
            rm code.bc
        done
        rm -f "$2"
        ar rc "$2" lib.rmeta ./*.o
    )
    rm -rf "$work"
}

if [ "$(cat "$folder/version" 2>/dev/null || true)" != "$version" ]; then
    [ -d "$from/lib" ] || fail "the toolchain of rustc has no standard library for $target"
    [ -x "$linker" ] || fail "the toolchain of rustc has no rust-lld"
    command -v ar >/dev/null && command -v objcopy >/dev/null || fail "ar and objcopy are needed"
    rm -rf "$to" "$folder/version"
    mkdir -p "$to/lib"
    ln -s "$from/bin" "$to/bin"
    for file in "$from/lib"/*; do
        name=${file##*/}
        case $name in
        libstd-*.rlib | liballoc-*.rlib | libcore-*.rlib | libtest-*.rlib)
            instrument "$file" "$to/lib/$name"
            ;;
        *) ln -s "$file" "$to/lib/$name" ;;
        esac
    done
    echo "$version" >"$folder/version"
fi

flags="--sysroot $folder -C passes=$passes -C llvm-args=-force-attribute=sanitize_thread"
flags="$flags -C llvm-args=-tsan-instrument-read-before-write=1"
flags="$flags -C link-arg=-Wl,--unresolved-symbols=ignore-all"
echo "export RUSTFLAGS='$flags'"
echo "export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER='anyorder run'"
