//! The files below the directory of a configuration. Paths cannot leave it.

use crate::place::{Place, Problem, Severity};
use crate::yaml::{Node, YAML_BYTES_MAX, parse};
use anyorder_common::files::{FileKind, never_stop, read_found};
use std::path::{Component, Path, PathBuf};

/// The most files of one configuration.
const FILES_MAX: usize = 20_000;

/// The directory of a configuration, and the files of it that were read.
#[derive(Debug)]
pub struct Files {
    root: PathBuf,
    /// The root without links; `None` if it cannot be found.
    real_root: Option<PathBuf>,
    /// Names as messages show them, by number.
    pub names: Vec<String>,
    /// What was wrong in them.
    pub problems: Vec<Problem>,
}

impl Files {
    /// Names a directory. Nothing is read yet.
    #[must_use]
    pub fn new(root: &Path) -> Files {
        let real_root = root.canonicalize().ok();
        Files { root: root.to_owned(), real_root, names: Vec::new(), problems: Vec::new() }
    }

    /// Gives a file a number, under the name that messages show.
    pub(crate) fn register(&mut self, name: String) -> u16 {
        self.names.push(name);
        u16::try_from(self.names.len() - 1).unwrap_or(u16::MAX)
    }

    /// Adds a problem.
    pub(crate) fn problem(
        &mut self,
        place: Place,
        severity: Severity,
        construct: &str,
        text: impl Into<String>,
    ) {
        self.problems.push(Problem::new(place, severity, construct, text));
    }

    /// Reads and parses a file, by its path from the root. `from` is the place that names it.
    pub(crate) fn read(&mut self, path: &Path, from: Place) -> Option<Node> {
        let shown = path.display();
        if self.names.len() >= FILES_MAX {
            self.problem(from, Severity::NotUnderstood, "too many files", "too many files");
            return None;
        }
        let Some(whole) = self.inside(path) else {
            let text = format!("`{shown}` is outside of the configuration; it was not read");
            self.problem(from, Severity::NotUnderstood, "file outside of the configuration", text);
            return None;
        };
        let kind = FileKind { name: "a file of a configuration", bytes_max: YAML_BYTES_MAX as u64 };
        let bytes = match read_found(&whole, kind, never_stop) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                let text = format!("`{shown}` does not exist");
                self.problem(from, Severity::NotUnderstood, "missing file", text);
                return None;
            }
            Err(error) => {
                let text = format!("`{shown}` cannot be read: {error}");
                self.problem(from, Severity::NotUnderstood, "unreadable file", text);
                return None;
            }
        };
        let file = self.register(self.root.join(path).display().to_string());
        let Ok(text) = String::from_utf8(bytes) else {
            let place = Place { file, line: 1, column: 1 };
            self.problem(place, Severity::NotUnderstood, "file that is not UTF-8", "not UTF-8");
            return None;
        };
        match parse(&text, file) {
            Ok((node, problems)) => {
                self.problems.extend(problems);
                Some(node)
            }
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    /// Returns whether a file or directory exists, by its path from the root.
    #[must_use]
    pub(crate) fn exists(&self, path: &Path) -> bool {
        self.inside(path).is_some_and(|whole| whole.exists())
    }

    /// Returns the path of a file, unless it leaves the root by `..` or by a link.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let path = normal(path)?;
        let whole = self.root.join(path);
        if let (Ok(real), Some(root)) = (whole.canonicalize(), &self.real_root)
            && !real.starts_with(root)
        {
            return None;
        }
        Some(whole)
    }

    /// Returns the YAML files below a directory in the order of Home Assistant: the files of a
    /// directory by name, then those of its directories. Hidden ones and `secrets.yaml` are left
    /// out.
    pub(crate) fn below(&mut self, directory: &Path, from: Place) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let Some(whole) = self.inside(directory).filter(|whole| whole.is_dir()) else {
            let text = format!("`{}` is no directory of the configuration", directory.display());
            self.problem(from, Severity::NotUnderstood, "missing directory", text);
            return found;
        };
        let Some(directory) = normal(directory) else { return found };
        walk(&whole, &directory, 0, &mut found);
        found
    }
}

/// Removes `.` and `..` from a path; `None` if it leads out, or is absolute.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => parts.push(name),
            Component::ParentDir => {
                if !parts.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts)
}

fn walk(whole: &Path, relative: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = whole.read_dir() else { return };
    let (mut files, mut directories) = (Vec::new(), Vec::new());
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        let path = entry.path();
        if path.is_dir() {
            // A link to a directory above would not end.
            if depth < 16 && !path.is_symlink() {
                directories.push(name);
            }
        } else if path.extension().is_some_and(|e| e == "yaml") && name != "secrets.yaml" {
            files.push(name);
        }
    }
    files.sort();
    directories.sort();
    found.extend(files.iter().map(|name| relative.join(name)));
    for name in directories {
        walk(&whole.join(&name), &relative.join(&name), depth + 1, found);
    }
}
