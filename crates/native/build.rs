//! Builds the image of the recording runtime: `crates/runtime` as a shared object of its own, which
//! the library has in it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let runtime = Path::new(&manifest).join("../runtime");
    let image = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("image.so");
    println!("cargo::rerun-if-changed={}", runtime.display());
    let target = env::var("TARGET").expect("cargo sets it");
    if target != "x86_64-unknown-linux-gnu" {
        fs::write(&image, []).expect("the folder of the build is writable");
        return;
    }
    let list = runtime.join("rustc-arguments.txt");
    let list = fs::read_to_string(&list)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", list.display()));
    let arguments = list.lines().map(str::trim).filter(|line| !line.is_empty());
    let rustc = env::var_os("RUSTC").expect("cargo sets it");
    let mut command = Command::new(rustc);
    command.args(arguments.filter(|line| !line.starts_with('#')));
    command.arg("--target").arg(&target).arg("-o").arg(&image).arg(runtime.join("src/lib.rs"));
    let status = command.status().expect("rustc starts");
    assert!(status.success(), "the runtime cannot be built: {command:?}");
}
