//! A folder that gets many files.

use super::atomic::AtomicFile;
use super::sync::{create_folder, sync_folder};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;

/// So many files get their names one by one.
const FIRST: usize = 8;

/// Later files get their names so many at a time.
const BATCH: usize = 128;

/// A sync waits for the disk, and several that wait at once are written together.
const THREADS: usize = 16;

/// A folder that is made where it is missing, and that gets files one after the other. Each file
/// appears whole. [`finish`](Self::finish) syncs their names once. Of many files, the contents of a
/// batch are synced together before they get their names.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    changed: bool,
    written: usize,
    /// Files that wait for their names.
    batch: Vec<Waiting>,
}

/// A file that waits for its name.
#[derive(Debug)]
struct Waiting {
    path: PathBuf,
    file: AtomicFile,
    /// What became of its sync. An error is reported to one sync only.
    synced: io::Result<()>,
}

impl Folder {
    /// Makes the folder, and those above it, where they are missing.
    ///
    /// # Errors
    ///
    /// Fails if a folder cannot be made.
    pub fn create(path: &Path) -> io::Result<Folder> {
        create_folder(path)?;
        Ok(Folder { path: path.to_owned(), changed: false, written: 0, batch: Vec::new() })
    }

    /// Writes a file in the folder. An error leaves an earlier file of that name as it was. The
    /// file has its name at the latest after [`finish`](Self::finish).
    ///
    /// # Errors
    ///
    /// Fails if `write` fails or the file, or an earlier one, cannot be written.
    pub fn write(
        &mut self,
        name: &str,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        let mut file = AtomicFile::create(&path)?;
        write(&mut file)?;
        self.written += 1;
        if self.written <= FIRST {
            self.name(&path, file)?;
        } else {
            file.flush()?;
            self.batch.push(Waiting { path: path.clone(), file, synced: Ok(()) });
            if self.batch.len() >= BATCH {
                self.name_batch()?;
            }
        }
        Ok(path)
    }

    /// Syncs the names of all files.
    ///
    /// # Errors
    ///
    /// Fails if the system fails to write them.
    pub fn finish(mut self) -> io::Result<()> {
        self.name_batch()?;
        if self.changed { sync_folder(&self.path) } else { Ok(()) }
    }

    /// Gives a file its name.
    fn name(&mut self, path: &Path, file: AtomicFile) -> io::Result<()> {
        // Names of links may lie elsewhere.
        match file.rename()? {
            Some(target) if target != path => sync_folder(super::target::folder_of(&target)),
            _ => {
                self.changed = true;
                Ok(())
            }
        }
    }

    /// Syncs the files that wait, and gives them their names in their order, up to the first that
    /// fails.
    fn name_batch(&mut self) -> io::Result<()> {
        let mut batch = std::mem::take(&mut self.batch);
        let share = batch.len().div_ceil(THREADS).max(1);
        thread::scope(|scope| {
            for files in batch.chunks_mut(share) {
                let sync = move || files.iter_mut().for_each(|one| one.synced = one.file.sync());
                // Without a thread, the file is synced when it gets its name.
                let _ = thread::Builder::new().spawn_scoped(scope, sync);
            }
        });
        for Waiting { path, file, synced } in batch {
            synced.and_then(|()| self.name(&path, file)).map_err(|error| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                io::Error::new(error.kind(), format!("{}: {error}", crate::text::escape(&name)))
            })?;
        }
        Ok(())
    }
}
