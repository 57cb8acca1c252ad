//! What every crate and every dependency keeps to: no unsafe code without its reason, licences and
//! sources as `deny.toml` allows them.

use crate::files;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packages with unsafe code. All other roots forbid it.
const UNSAFE: &[(&str, &str)] = &[
    (
        "anyorder",
        "shared data without the compiler's proof, as in the standard library; an allocator",
    ),
    ("anyorder-mutate", "only `wait4` tells the memory that one child took"),
    ("anyorder-process", "an allocator, and questions to the system that no safe crate asks"),
    ("anyorder-runtime", "it stands between a native program, the C library and the kernel"),
];

fn metadata(arguments: &[&str]) -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline"])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

/// Returns the triple of this machine.
fn host() -> String {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("-vV").output().expect("rustc runs");
    let text = String::from_utf8(output.stdout).expect("rustc prints text");
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.expect("rustc names its host").to_owned()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Returns the roots of the libraries and programs of a package.
fn roots(package: &Value) -> Vec<PathBuf> {
    let targets = package["targets"].as_array().expect("a list of targets").iter();
    let is_product = |target: &&Value| {
        let kinds = target["kind"].as_array().expect("a list of kinds");
        kinds.iter().any(|kind| kind == "lib" || kind == "bin")
    };
    targets.filter(is_product).map(|target| text(target, "src_path").into()).collect()
}

#[test]
fn every_root_forbids_unsafe_code_or_has_a_reason() {
    let metadata = metadata(&["--no-deps"]);
    let mut count = 0;
    for package in metadata["packages"].as_array().expect("a list of packages") {
        let name = text(package, "name");
        let excused = UNSAFE.iter().any(|(known, _)| *known == name);
        for root in roots(package) {
            let source = fs::read_to_string(&root).expect("a source");
            count += 1;
            assert!(
                excused || source.lines().any(|line| line == "#![forbid(unsafe_code)]"),
                "{}: no `#![forbid(unsafe_code)]`, and no reason in UNSAFE",
                root.display()
            );
        }
    }
    assert!(count > 20, "the roots must be found");
    for (name, _) in UNSAFE {
        let packages = metadata["packages"].as_array().expect("a list of packages");
        let package = packages.iter().find(|package| text(package, "name") == *name);
        let manifest = text(package.expect("a package of UNSAFE is there"), "manifest_path");
        let folder = Path::new(manifest).parent().expect("a folder").join("src");
        assert!(has_unsafe(&folder), "{name} has no unsafe code any more: it can forbid it");
    }
}

/// Returns whether a source below a folder has an unsafe block, each with its `SAFETY` above it.
fn has_unsafe(folder: &Path) -> bool {
    let mut any = false;
    for path in files::files(folder, "rs") {
        let source = fs::read_to_string(&path).expect("a source");
        let lines: Vec<&str> = source.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            if line.contains("unsafe {") && !line.trim_start().starts_with("//") {
                any = true;
                let above = lines[at.saturating_sub(4)..at].iter();
                let reason = above.clone().any(|line| line.contains("SAFETY:"));
                assert!(reason, "{}:{}: no SAFETY comment", path.display(), at + 1);
            }
        }
    }
    any
}

/// The part of `deny.toml` that holds without network.
struct Policy {
    licenses: BTreeSet<String>,
    registries: BTreeSet<String>,
}

impl Policy {
    fn read() -> Policy {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deny.toml");
        let text = fs::read_to_string(path).expect("deny.toml");
        let list = |section: &str, key: &str| list(&text, section, key);
        Policy {
            licenses: list("licenses", "allow"),
            registries: list("sources", "allow-registry"),
        }
    }

    /// Returns whether a licence expression is allowed: an `AND` of alternatives, of each of which
    /// one must be allowed. `OR` around an `AND` is read more strictly than it is meant.
    fn allows(&self, expression: &str) -> bool {
        let expression = expression.replace('/', " OR ").replace(['(', ')'], " ");
        let words: Vec<&str> = expression.split_whitespace().collect();
        let mut sides: Vec<bool> = vec![false];
        let mut all = true;
        let mut at = 0;
        while at < words.len() {
            match words[at] {
                "OR" => sides.push(false),
                "AND" => {
                    all &= sides.iter().any(|ok| *ok);
                    sides = vec![false];
                }
                "WITH" => at += 1,
                word => *sides.last_mut().expect("a side") |= self.licenses.contains(word),
            }
            at += 1;
        }
        all && sides.iter().any(|ok| *ok)
    }

    /// Returns what is wrong with a package.
    fn complaint(&self, package: &Value) -> Option<String> {
        let name = text(package, "name");
        let license = text(package, "license");
        if !self.allows(license) {
            return Some(format!("{name}: the licence `{license}` is not in deny.toml"));
        }
        let source = text(package, "source").trim_start_matches("registry+");
        let ours = package["source"].is_null();
        if !ours && !self.registries.contains(source) {
            return Some(format!("{name}: the source `{source}` is not in deny.toml"));
        }
        None
    }
}

/// Returns a list of strings of a TOML text: enough for `deny.toml`, which has no other values in
/// the lists read here.
fn list(toml: &str, section: &str, key: &str) -> BTreeSet<String> {
    let section = toml.split(&format!("\n[{section}]\n")).nth(1).expect("the section");
    let section = section.split("\n[").next().expect("its text");
    let value = section.split(&format!("{key} = [")).nth(1).expect("the key");
    let value = value.split(']').next().expect("its list");
    value.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn dependencies_keep_the_policy() {
    let policy = Policy::read();
    assert!(policy.licenses.contains("MIT") && !policy.registries.is_empty());
    // Dependencies of other systems need not be on this machine; `cargo deny` reads them, too.
    let metadata = metadata(&["--locked", "--filter-platform", &host()]);
    let packages = metadata["packages"].as_array().expect("a list of packages");
    assert!(packages.len() > 50, "the dependencies must be found");
    let wrong: Vec<String> =
        packages.iter().filter_map(|package| policy.complaint(package)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_breach_of_the_policy_is_noticed() {
    let policy = Policy::read();
    let registry = "registry+https://github.com/rust-lang/crates.io-index";
    let package = |license: Value, source: Value| serde_json::json!({"name": "x", "license": license, "source": source});
    let right = ["MIT", "MIT OR GPL-3.0", "Apache-2.0/MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"];
    for license in right {
        assert_eq!(policy.complaint(&package(license.into(), registry.into())), None, "{license}");
    }
    let wrong =
        ["", "GPL-3.0", "MIT AND GPL-3.0", "AGPL-3.0 OR SSPL-1.0", "(MIT OR BSL) AND GPL-3.0"];
    for license in wrong {
        let complaint = policy.complaint(&package(license.into(), registry.into()));
        assert!(complaint.is_some(), "{license}");
    }
    assert!(policy.complaint(&package(Value::Null, registry.into())).is_some());
    assert_eq!(policy.complaint(&package("MIT".into(), Value::Null)), None);
    for source in ["git+https://example.com/x", "registry+https://example.com/index"] {
        assert!(policy.complaint(&package("MIT".into(), source.into())).is_some(), "{source}");
    }
}
