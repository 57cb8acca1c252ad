//! What is typed, and what is said.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// The binary, in a folder, with a cache of the tests.
pub(crate) fn anyorder(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-anyorder"));
    command.current_dir(folder).env("ANYORDER_CACHE", temporary("cache"));
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR", "ANYORDER_SHIMS"] {
        command.env_remove(name);
    }
    command
}

/// A folder of the tests that other runs find again.
pub(crate) fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Returns the exit status, and what was printed on both streams.
pub(crate) fn outcome(output: &Output) -> (Option<i32>, String) {
    let text = [&*output.stdout, &*output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

/// Runs the binary in a project whose lock file has this text.
fn run_with_lock(name: &str, lock: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let folder = temporary(name);
    fs::create_dir_all(folder.join("src")).expect("a folder of the tests");
    let manifest = "[package]\nname = \"p\"\nversion = \"0.1.0\"\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), manifest).expect("a file of the tests");
    fs::write(folder.join("src/lib.rs"), "").expect("a file of the tests");
    fs::write(folder.join("Cargo.lock"), lock).expect("a file of the tests");
    let output = anyorder(&folder).args(arguments).output().expect("the binary runs");
    outcome(&output)
}

const HEAD: &str = "version = 4\n\n[[package]]\nname = \"p\"\nversion = \"0.1.0\"\n";

#[test]
fn help_has_examples() {
    for arguments in [&["anyorder"][..], &["anyorder", "--help"], &["anyorder", "test", "-h"]] {
        let output = anyorder(Path::new(".")).args(arguments).output().expect("the binary runs");
        let (status, text) = outcome(&output);
        assert_eq!(status, Some(0));
        assert!(text.contains("Examples:") && text.contains("--cfg loom"), "{text}");
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let output = anyorder(Path::new("/")).args(["anyorder", "tast"]).output();
    let (status, text) = outcome(&output.expect("the binary runs"));
    assert_eq!((status, text.contains("no command `tast`")), (Some(2), true), "{text}");

    let (status, text) = run_with_lock("no-loom", HEAD, &["anyorder", "test"]);
    assert_eq!(
        (status, text.contains("neither loom nor shuttle nor anyorder")),
        (Some(2), true),
        "{text}"
    );

    let git =
        "\n[[package]]\nname = \"loom\"\nversion = \"0.7.2\"\nsource = \"git+https://x/y#1\"\n";
    let (status, text) = run_with_lock("git-loom", &format!("{HEAD}{git}"), &["anyorder", "test"]);
    assert_eq!((status, text.contains("git+https://x/y#1")), (Some(2), true), "{text}");
}

#[test]
fn nobody_locks_the_lock_file() {
    let loom = "\n[[package]]\nname = \"loom\"\nversion = \"0.7.1\"\nsource = \
                \"registry+https://github.com/rust-lang/crates.io-index\"\n";
    let lock = format!("{HEAD}{loom}");
    let (status, text) = run_with_lock("locked", &lock, &["anyorder", "test", "--locked"]);
    assert_eq!((status, text.contains("`--locked` cannot be kept")), (Some(2), true), "{text}");
}

/// A run that was killed could not put the lock file back.
#[test]
fn a_lock_file_with_our_packages_is_understood() {
    let package = |name: &str| format!("\n[[package]]\nname = {name:?}\nversion = \"0.7.1\"\n");
    let lock = format!("{HEAD}{}{}", package("anyorder-threads"), package("loom"));
    let (status, text) = run_with_lock("killed", &lock, &["anyorder", "patches"]);
    assert_eq!((status, text.contains("loom-0-7-1 = ")), (Some(0), true), "{text}");
    let lock = format!("{HEAD}{}", package("loom"));
    let (status, text) = run_with_lock("folder", &lock, &["anyorder", "patches"]);
    assert_eq!((status, text.contains("from a folder")), (Some(2), true), "{text}");
}

#[test]
fn patches_are_printed_for_each_version() {
    let package = |name: &str, version: &str| {
        format!(
            "\n[[package]]\nname = {name:?}\nversion = {version:?}\nsource = \
             \"registry+https://github.com/rust-lang/crates.io-index\"\n"
        )
    };
    let three = [("loom", "0.5.6"), ("loom", "0.7.1"), ("shuttle", "0.9.3")];
    let lock: String = three.iter().map(|(name, version)| package(name, version)).collect();
    let lock = format!("{HEAD}{lock}");
    let arguments = ["anyorder", "patches", "--system-allocator"];
    let (status, text) = run_with_lock("three", &lock, &arguments);
    assert_eq!(status, Some(0), "{text}");
    for (name, version) in three {
        let key = format!("{name}-{} = {{ package = {name:?}", version.replace('.', "-"));
        let line = text.lines().find(|line| line.starts_with(&key)).expect(&text);
        let folder = line.split('"').nth(3).expect("a path");
        let manifest =
            fs::read_to_string(Path::new(folder).join("Cargo.toml")).expect("a manifest");
        assert!(manifest.contains(&format!("version = {version:?}")), "{manifest}");
        let source = manifest.lines().find(|line| line.starts_with("path = ")).expect(&manifest);
        assert!(Path::new(source.split('"').nth(1).expect("a path")).is_file(), "{source}");
        let default = manifest.lines().find(|line| line.starts_with("default = "));
        assert!(!default.expect(&manifest).contains("allocator"), "{manifest}");
    }
}

/// A `cargo nextest` that prints what it is given.
#[cfg(unix)]
fn false_nextest() -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = temporary("nextest");
    fs::create_dir_all(&folder).expect("a folder of the tests");
    let script = folder.join("cargo-nextest");
    let text = "#!/bin/sh\nprintf '[%s]' \"$@\"\necho \" $ANYORDER_REPORT\"\nexit 100\n";
    fs::write(&script, text).expect("a script");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it may run");
    folder
}

#[cfg(unix)]
#[test]
fn nextest_gets_the_packages_after_its_command() {
    let loom = "\n[[package]]\nname = \"loom\"\nversion = \"0.7.1\"\nsource = \
                \"registry+https://github.com/rust-lang/crates.io-index\"\n";
    let (_, text) = run_with_lock("next", &format!("{HEAD}{loom}"), &["anyorder", "nextest"]);
    assert!(text.contains("hint: `cargo anyorder nextest run`"), "{text}");

    let path = env::var_os("PATH").unwrap_or_default();
    let folders = [false_nextest()].into_iter().chain(env::split_paths(&path));
    let output = anyorder(&temporary("next"))
        .args(["anyorder", "nextest", "run", "--report", "pages", "-E", "test(a)"])
        .env("PATH", env::join_paths(folders).expect("folders"))
        .output()
        .expect("the binary runs");
    let (status, text) = outcome(&output);
    assert_eq!(status, Some(100), "{text}");
    assert!(text.contains("[nextest][run][--config][patch.crates-io.loom-0-7-1."), "{text}");
    let pages = temporary("next").join("pages");
    assert!(text.contains(&format!("[-E][test(a)] {}\n", pages.display())), "{text}");
    assert!(text.contains("no check failed with a page"), "{text}");
    assert!(pages.join("index.html").is_file());
}

#[test]
fn tests_that_use_anyorder_need_no_packages() {
    let lock = format!("{HEAD}\n[[package]]\nname = \"anyorder\"\nversion = \"0.1.0\"\n");
    let (status, text) = run_with_lock("own", &lock, &["anyorder", "test", "--offline"]);
    assert_eq!((status, text.contains("in place of")), (Some(0), false), "{text}");
    let (status, text) = run_with_lock("own", &lock, &["anyorder", "patches"]);
    assert_eq!(status, Some(2), "{text}");
}
