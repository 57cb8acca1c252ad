//! Where a path leads: which file is replaced, and how it is written.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// As many links as the systems follow.
const LINKS_MAX: usize = 40;

/// What a path to be written leads to.
#[derive(Debug)]
pub(super) enum Target {
    /// A file, or nothing yet. It is replaced under this path, which is not a link.
    File {
        path: PathBuf,
        /// The properties of the file that is there.
        old: Option<Metadata>,
    },
    /// A device, a pipe, or an open file of this process. It is written directly.
    Direct,
}

/// Follows links. The target of the last link need not exist.
///
/// # Errors
///
/// Fails for a folder, for a circle of links, and if a link cannot be read.
pub(super) fn resolve(path: &Path) -> io::Result<Target> {
    let mut path = path.to_owned();
    for _ in 0..=LINKS_MAX {
        let meta = match fs::symlink_metadata(&path) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Target::File { path, old: None });
            }
            Err(error) => return Err(error),
        };
        let kind = meta.file_type();
        if kind.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if kind.is_file() {
            return Ok(Target::File { path, old: Some(meta) });
        }
        if !kind.is_symlink() || is_open_file(&path) {
            return Ok(Target::Direct);
        }
        let next = fs::read_link(&path)?;
        path = folder_of(&path).join(next);
    }
    Err(too_many_links())
}

/// Returns the folder of a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns whether a link stands for an open file, as those below `/dev/fd` and `/proc/self/fd` do.
/// Its target must not be replaced: others have it open, too.
fn is_open_file(link: &Path) -> bool {
    let folder = folder_of(link).canonicalize();
    folder.is_ok_and(|folder| folder.starts_with("/proc"))
}

#[cfg(unix)]
fn too_many_links() -> io::Error {
    io::Error::from(rustix::io::Errno::LOOP)
}

#[cfg(not(unix))]
fn too_many_links() -> io::Error {
    io::Error::other("too many levels of symbolic links")
}
