//! A file that appears whole, or not at all.

use super::sync::{sync_file, sync_folder};
use super::target::{Target, folder_of, resolve};
use super::unfinished::Part;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Small, because the last result of a process without memory goes through it, too.
const BUFFER_BYTES: usize = 1 << 14;

/// A file that gets its name when it is complete and on the disk. An earlier file under that name
/// remains until then, whatever happens: an error, the end of the process, a loss of power.
///
/// - The bytes go to a file `.anyorder-*.part` in the same folder. [`commit`](Self::commit) syncs
///   it, renames it and syncs the folder. Dropping the value without a commit removes the file.
/// - A file that is replaced passes its mode on, and its owner and group if the system allows it.
///   A new file has the mode 0666 without the bits of the umask.
/// - A link is followed: it stays, and its target is replaced or made. Another hard link of the
///   file keeps the old content.
/// - A device, a pipe or a link to an open file (`/dev/stdout`) is written directly.
/// - The first file in a folder removes those that dead processes left unfinished there.
///
/// ```
/// use anyorder_common::files::AtomicFile;
/// use std::io::Write;
///
/// let folder = std::env::temp_dir();
/// let path = folder.join(format!("anyorder-doc-{}", std::process::id()));
/// let mut file = AtomicFile::create(&path)?;
/// file.write_all(b"whole")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"whole");
/// std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    /// `None` only while it is dropped or committed.
    out: Option<BufWriter<File>>,
    kind: Option<Kind>,
    /// Whether it is on the disk already.
    synced: bool,
}

#[derive(Debug)]
enum Kind {
    Direct,
    Replacing { part: Part, target: PathBuf, old: Option<Box<Metadata>> },
}

impl AtomicFile {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// Fails if the path leads to a folder, or nothing can be written there.
    pub fn create(path: &Path) -> io::Result<AtomicFile> {
        let (kind, file) = match resolve(path)? {
            // Behind an open file may be a file to which others append.
            Target::Direct => (Kind::Direct, open_direct(path)?),
            Target::File { path: target, old } => {
                let (part, file) = Part::create(&target, old.is_some())?;
                (Kind::Replacing { part, target, old: old.map(Box::new) }, file)
            }
        };
        let out = Some(BufWriter::with_capacity(BUFFER_BYTES, file));
        Ok(AtomicFile { out, kind: Some(kind), synced: false })
    }

    /// Completes the file: writes it to the disk, and gives it its name.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written. The earlier file remains, unless only the folder could
    /// not be synced.
    pub fn commit(self) -> io::Result<()> {
        match self.rename()? {
            Some(target) => sync_folder(folder_of(&target)),
            None => Ok(()),
        }
    }

    /// Completes the file without a sync of its folder. Returns the path of a file that was
    /// replaced or made.
    pub(super) fn rename(mut self) -> io::Result<Option<PathBuf>> {
        self.sync()?;
        drop(self.out.take());
        let Some(Kind::Replacing { part, target, .. }) = self.kind.take() else {
            return Ok(None);
        };
        std::fs::rename(&part.path, &target)?;
        part.forget();
        Ok(Some(target))
    }

    /// Writes the file to the disk, once. Nothing is written to it after that.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        let Some(out) = &mut self.out else { return Ok(()) };
        out.flush()?;
        if let (Some(Kind::Replacing { old, .. }), false) = (&self.kind, self.synced) {
            if let Some(old) = old {
                keep_properties(out.get_ref(), old)?;
            }
            sync_file(out.get_ref())?;
            self.synced = true;
        }
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.as_mut().map_or(Ok(0), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(out) = self.out.take() {
            // What is left in the buffer belongs to a file that nobody wants.
            let _ = out.into_parts();
        }
    }
}

fn open_direct(path: &Path) -> io::Result<File> {
    loop {
        match OpenOptions::new().append(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            opened => return opened,
        }
    }
}

/// Gives a file the owner, group and mode of the file that it replaces. Where the owner or group
/// cannot be kept, nobody gets rights that only they had.
#[cfg(unix)]
fn keep_properties(file: &File, old: &Metadata) -> io::Result<()> {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let new = file.metadata()?;
    let mut mode = old.mode() & 0o7777;
    if new.uid() != old.uid() && fchown(file, Some(old.uid()), None).is_err() {
        mode &= 0o777;
    }
    if new.gid() != old.gid() && fchown(file, None, Some(old.gid())).is_err() {
        mode &= 0o707 | (mode & 0o007) << 3;
    }
    // Some file systems have no modes and refuse to set them.
    if file.metadata()?.mode() & 0o7777 == mode {
        return Ok(());
    }
    file.set_permissions(Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_properties(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}
