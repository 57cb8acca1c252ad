//! Puts the sources of the shims, and of the crates that they need, into the binary: then it works
//! without the repository.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// What the shims need of ours, and with it all that this needs.
const LIBRARY: &str = "anyorder";

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let root = Path::new(&manifest).ancestors().nth(2).expect("a folder in the repository");
    let mut paths = vec![root.join("LICENSE-APACHE"), root.join("LICENSE-MIT")];
    let mut folders = vec![root.join("shims")];
    for krate in crates(root) {
        paths.push(krate.join("Cargo.toml"));
        folders.push(krate.join("src"));
    }
    for folder in folders {
        println!("cargo::rerun-if-changed={}", folder.display());
        collect(&folder, &mut paths);
    }
    paths.sort();
    let mut text = String::from("pub(crate) const FILES: &[(&str, &str)] = &[\n");
    for path in &paths {
        println!("cargo::rerun-if-changed={}", path.display());
        let name = path.strip_prefix(root).expect("it is in the repository");
        let name = name.to_str().expect("names here are ASCII").replace('\\', "/");
        let content = fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        let content = if name.ends_with("Cargo.toml") { without_tests(&content) } else { content };
        writeln!(text, "({name:?}, {content:?}),").expect("a string takes it");
    }
    let workspace = workspace(&root.join("Cargo.toml"));
    writeln!(text, "(\"Cargo.toml\", {workspace:?}),\n];").expect("a string takes it");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("files.rs"), text).expect("the folder of the build is writable");
}

/// Returns the folders of the library and of all crates of ours that it needs.
fn crates(root: &Path) -> Vec<PathBuf> {
    let (mut names, mut next) = (vec![LIBRARY.to_owned()], 0);
    while let Some(name) = names.get(next).cloned() {
        next += 1;
        let manifest = fs::read_to_string(root.join("crates").join(name).join("Cargo.toml"))
            .expect("a crate is in the folder of its name");
        let needed = sections(&manifest).filter(|section| section.0 == "[dependencies]");
        for line in needed.flat_map(|section| section.1.lines()) {
            if let Some(name) =
                line.strip_prefix("anyorder-").and_then(|line| line.split('.').next())
                && !names.iter().any(|known| known == name)
            {
                names.push(name.to_owned());
            }
        }
    }
    names.iter().map(|name| root.join("crates").join(name)).collect()
}

/// Adds the files of a folder and its folders.
fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("an entry of a folder").path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            if name != "target" {
                collect(&path, paths);
            }
        } else if name != "Cargo.lock" {
            paths.push(path);
        }
    }
}

/// Returns a manifest without what only its own tests and benches need.
fn without_tests(manifest: &str) -> String {
    let is_left_out =
        |header: &str| ["[dev-dependencies]", "[[test]]", "[[bench]]", "[lints]"].contains(&header);
    sections(manifest).filter(|section| !is_left_out(section.0)).map(|section| section.1).collect()
}

/// Returns the manifest of a workspace with the versions of ours, and none of its members.
fn workspace(path: &Path) -> String {
    println!("cargo::rerun-if-changed={}", path.display());
    let manifest = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let kept = ["[workspace.package]", "[workspace.dependencies]"];
    let kept: String = sections(&manifest)
        .filter(|section| kept.contains(&section.0))
        .map(|section| section.1)
        .collect();
    format!(
        "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\nexclude = [\"shims\"]\n\n{kept}"
    )
}

/// Returns the sections of a manifest: the header, and the text with it.
fn sections(manifest: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = manifest;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest[1..].find("\n[").map_or(rest.len(), |at| at + 2);
        let (section, after) = rest.split_at(end);
        rest = after;
        Some((section.lines().next().unwrap_or_default().trim(), section))
    })
}
