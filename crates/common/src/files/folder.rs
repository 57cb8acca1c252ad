//! A folder that gets many files.

use super::atomic::AtomicFile;
use super::sync::{create_folder, sync_folder};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder that is made where it is missing, and that gets files one after the other. Each file
/// appears whole. [`finish`](Self::finish) syncs their names once.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    changed: bool,
}

impl Folder {
    /// Makes the folder, and those above it, where they are missing.
    ///
    /// # Errors
    ///
    /// Fails if a folder cannot be made.
    pub fn create(path: &Path) -> io::Result<Folder> {
        create_folder(path)?;
        Ok(Folder { path: path.to_owned(), changed: false })
    }

    /// Writes a file in the folder. An error leaves an earlier file of that name as it was.
    ///
    /// # Errors
    ///
    /// Fails if `write` fails or the file cannot be written.
    pub fn write(
        &mut self,
        name: &str,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        let mut file = AtomicFile::create(&path)?;
        write(&mut file)?;
        // Names of links may lie elsewhere.
        match file.rename()? {
            Some(target) if target != path => sync_folder(super::target::folder_of(&target))?,
            _ => self.changed = true,
        }
        Ok(path)
    }

    /// Syncs the names of all files.
    ///
    /// # Errors
    ///
    /// Fails if the system fails to write them.
    pub fn finish(self) -> io::Result<()> {
        if self.changed { sync_folder(&self.path) } else { Ok(()) }
    }
}
