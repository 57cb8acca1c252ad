//! Sources of the program under test, for reports.

use crate::runtime::Position;
use anyorder_common::files::{self, FileKind, never_stop};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// A source that is larger is not read.
const SOURCE: FileKind = FileKind { name: "a source", bytes_max: 4 << 20 };

/// How many folders above the working one are tried: the compiler names files from the root of the
/// workspace, and tests run in the folder of their package.
const FOLDERS_MAX: usize = 6;

/// The lines of files that were asked for.
#[derive(Default)]
pub(super) struct Sources {
    files: FxHashMap<String, Option<Vec<String>>>,
}

impl Sources {
    /// Returns the line of a position, if the file is there.
    pub(super) fn line(&mut self, position: &Position) -> Option<&str> {
        let file = self.files.entry(position.file.clone()).or_insert_with(|| read(&position.file));
        let at = (position.line as usize).checked_sub(1)?;
        file.as_ref()?.get(at).map(String::as_str)
    }
}

fn read(file: &str) -> Option<Vec<String>> {
    let text = candidates(Path::new(file)).find_map(|path| {
        let bytes = files::read_found(&path, SOURCE, never_stop).ok()??;
        files::text_of(bytes).ok()
    })?;
    Some(text.lines().map(str::to_owned).collect())
}

fn candidates(file: &Path) -> impl Iterator<Item = PathBuf> {
    let folder = std::env::current_dir().unwrap_or_default();
    let above: Vec<PathBuf> =
        folder.ancestors().take(FOLDERS_MAX).map(|folder| folder.join(file)).collect();
    above.into_iter()
}

/// Returns a path without what differs between machines.
pub(super) fn short(file: &str) -> &str {
    // `.../registry/src/index.crates.io-.../crate-1.0.0/src/lib.rs`
    let in_registry = file.split_once("/registry/src/").and_then(|(_, rest)| rest.split_once('/'));
    in_registry.map_or(file, |(_, rest)| rest)
}

/// Returns whether a file is one of the standard library or of this crate: no place that tells a
/// user something.
pub(super) fn is_inner(file: &str) -> bool {
    const OWN: &str = file!();
    let own = OWN.strip_suffix("check/source.rs").unwrap_or(OWN);
    file.starts_with("/rustc/") || file.starts_with(own) || file.contains("/rustlib/src/rust/")
}
