//! What a test library or the code inside a native program stands on builds without a C compiler,
//! and without the formats.

use std::collections::BTreeSet;
use std::process::Command;

/// The crates that stay light.
const LIGHT: &[&str] = &[
    "anyorder-common",
    "anyorder-trace",
    "anyorder-system",
    "anyorder-order",
    "anyorder-stream",
    "anyorder-commute",
    "anyorder-search",
    "anyorder-explore",
    "anyorder-program",
    "anyorder-vm",
    "anyorder-lang",
    "anyorder-pipe",
    "anyorder-finding",
    "anyorder-hb",
    "anyorder-predict",
    "anyorder-consistency",
    "anyorder-robust",
    "anyorder-certify",
    "anyorder-generate",
    "anyorder-threads",
    "anyorder",
];

/// What the code inside a native program stands on: no more than these, and what they name.
const INSIDE_PROGRAMS: &[&str] =
    &["anyorder-stream", "anyorder-trace", "anyorder-order", "anyorder-commute", "anyorder-common"];

/// Crates that build programs in C, or find libraries in C.
const BUILDS_C: &[&str] = &["cc", "cmake", "pkg-config", "bindgen", "vcpkg"];

/// Crates with one purpose: files.
const FORMATS: &[&str] = &["anyorder-formats", "zstd", "crc32fast"];

#[test]
fn the_light_crates_need_no_c_and_no_formats() {
    let wrong: Vec<String> = LIGHT.iter().flat_map(|name| heavy(name, &tree(name))).collect();
    assert!(wrong.is_empty(), "not light:\n{}", wrong.join("\n"));
}

#[test]
fn the_code_inside_a_native_program_needs_the_stream_only() {
    let is_foreign = |below: &&String| {
        let own = below.starts_with("anyorder-") && !INSIDE_PROGRAMS.contains(&below.as_str());
        own || below.starts_with("serde")
    };
    let tree = tree("anyorder-stream");
    let foreign: Vec<_> = tree.iter().filter(is_foreign).collect();
    assert!(foreign.is_empty(), "anyorder-stream needs {foreign:?}");
    assert!(INSIDE_PROGRAMS.iter().all(|name| tree.contains(*name)), "{tree:?}");
}

#[test]
fn what_is_heavy_is_noticed() {
    let formats = heavy("anyorder-formats", &tree("anyorder-formats"));
    assert!(formats.iter().any(|one| one.contains(" zstd ")), "{formats:?}");
    assert!(formats.iter().any(|one| one.contains(" cc ")), "{formats:?}");
    let drive = heavy("anyorder-drive", &tree("anyorder-drive"));
    assert!(drive.iter().any(|one| one.contains("anyorder-formats")), "{drive:?}");
}

/// Returns the packages under a crate that make it heavy.
fn heavy(name: &str, tree: &BTreeSet<String>) -> Vec<String> {
    let is_heavy =
        |below: &&String| BUILDS_C.contains(&below.as_str()) || FORMATS.contains(&below.as_str());
    let heavy = tree.iter().filter(|below| *below != name).filter(is_heavy);
    heavy.map(|below| format!("{name} needs {below} for its build or its code")).collect()
}

/// Returns the packages that a crate needs on this machine, for its code and for its build.
fn tree(name: &str) -> BTreeSet<String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["tree", "--offline", "--edges", "normal,build", "--prefix", "none"])
        .args(["--format", "{p}", "--package", name])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("names are UTF-8");
    let names: BTreeSet<String> =
        text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
    assert!(names.contains(name), "{name} is in its own tree: {names:?}");
    names
}
