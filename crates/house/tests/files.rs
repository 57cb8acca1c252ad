//! The files that the rules are about.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the folder of a crate's sources.
pub(crate) fn source_folder(name: &str) -> PathBuf {
    crates().join(name).join("src")
}

/// Returns the folder of the crates.
pub(crate) fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the files with an extension in a folder and below, sorted, except build outputs and
/// snapshots. There are none if there is no such folder.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                let is_made = path.ends_with("target") || path.ends_with("snapshots");
                folders.extend(Some(path).filter(|_| !is_made));
            } else if path.extension().is_some_and(|end| end == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns the sources in a folder and below that are not for tests alone.
pub(crate) fn code(folder: &Path) -> Vec<PathBuf> {
    let is_test = |path: &PathBuf| {
        let inner = path.strip_prefix(folder).unwrap_or(path);
        inner.iter().any(|part| part == "tests" || part == "tests.rs")
    };
    files(folder, "rs").into_iter().filter(|path| !is_test(path)).collect()
}

/// Returns the sources of all crates that are not for tests alone.
pub(crate) fn code_of_all() -> Vec<PathBuf> {
    let folders = fs::read_dir(crates()).expect("the crates").flatten();
    folders.flat_map(|entry| code(&entry.path().join("src"))).collect()
}
