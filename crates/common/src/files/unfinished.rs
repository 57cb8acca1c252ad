//! Files that are not finished: those of this process, and those that dead processes left behind.
//!
//! An unfinished file is called `.anyorder-*.part`, and its writer holds a lock on it. The system
//! frees the lock when the process ends, however it ends. So a file without a lock has no writer.

use super::target::folder_of;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::Duration;

const PREFIX: &str = ".anyorder-";
const SUFFIX: &str = ".part";

/// The most names of a folder that are read in search of unfinished files.
const NAMES_MAX: usize = 100_000;

/// The unfinished files of this process.
static PARTS: Mutex<Parts> = Mutex::new(Parts { first: None, ending: false });

/// A list of files. Nothing is allocated while it is locked: an allocation that the system refuses
/// may never return, and the list is needed then.
struct Parts {
    first: Option<Box<Entry>>,
    /// Whether the process ends: no file may appear any more.
    ending: bool,
}

struct Entry {
    path: PathBuf,
    next: Option<Box<Entry>>,
}

/// The folders that were searched. Each is searched once.
static SWEPT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the unfinished files of this process. A program calls it before it ends in the middle of
/// its work. It waits at most a tenth of a second for a thread that just begins or ends a file.
pub fn remove_unfinished() {
    remove(false);
}

/// Removes the unfinished files of this process, and lets no other begin: for a program that ends
/// at once, while threads of it still write. It waits as [`remove_unfinished`] does.
pub fn end_files() {
    remove(true);
}

fn remove(ending: bool) {
    const TRIES: usize = 20;
    for _ in 0..TRIES {
        let mut parts = match PARTS.try_lock() {
            Ok(parts) => parts,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                thread::sleep(Duration::from_millis(5));
                continue;
            }
        };
        parts.ending |= ending;
        let mut next = parts.first.take();
        while let Some(entry) = next {
            let _ = fs::remove_file(&entry.path);
            next = entry.next;
        }
        return;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// An unfinished file. Dropping it removes the file.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) path: PathBuf,
}

impl Part {
    /// Creates an unfinished file next to `target`. Only its owner may read it if `private`, else
    /// it has the permissions of any new file.
    pub(super) fn create(target: &Path, private: bool) -> io::Result<(Part, File)> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        const TRIES: usize = 10_000;
        let folder = folder_of(target);
        sweep(folder);
        for _ in 0..TRIES {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("{PREFIX}{}-{number}{SUFFIX}", std::process::id());
            let path = folder.join(name);
            let mut entry = Box::new(Entry { path: path.clone(), next: None });
            let mut parts = lock(&PARTS);
            if parts.ending {
                return Err(io::ErrorKind::Interrupted.into());
            }
            // The lock is held meanwhile: `remove_unfinished` may run at any time.
            match create_locked(&path, private) {
                Ok(Some(file)) => {
                    entry.next = parts.first.take();
                    parts.first = Some(entry);
                    return Ok((Part { path }, file));
                }
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Forgets the file, which has another name now, or was never there.
    pub(super) fn forget(self) {
        self.unregister();
        std::mem::forget(self);
    }

    fn unregister(&self) {
        let mut parts = lock(&PARTS);
        let mut at = &mut parts.first;
        while at.as_ref().is_some_and(|entry| entry.path != self.path) {
            let Some(entry) = at else { return };
            at = &mut entry.next;
        }
        if let Some(found) = at.take() {
            *at = found.next;
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        self.unregister();
    }
}

/// Creates a file and locks it. Returns `None` if another process took it for one without a writer
/// before the lock was there.
fn create_locked(path: &Path, private: bool) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    set_mode(&mut options, private);
    let file = options.open(path)?;
    match lock_file(&file, true) {
        Lock::Taken if is_removed(&file) => Ok(None),
        // Without locks, nobody removes a file of another process.
        _ => Ok(Some(file)),
    }
}

/// Removes the files in a folder that dead processes left unfinished. Errors are ignored: the files
/// are in nobody's way.
fn sweep(folder: &Path) {
    let mut swept = lock(&SWEPT);
    if swept.iter().any(|known| known == folder) {
        return;
    }
    swept.push(folder.to_owned());
    drop(swept);
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.take(NAMES_MAX).flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if name.starts_with(PREFIX.as_bytes())
            && name.ends_with(SUFFIX.as_bytes())
            && entry.file_type().is_ok_and(|kind| kind.is_file())
        {
            remove_if_stale(&entry.path());
        }
    }
}

/// The answer to a request for a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lock {
    /// This process has it.
    Taken,
    /// Another process has it, or there are no locks here.
    Refused,
}

#[cfg(unix)]
mod system {
    use super::Lock;
    use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, open, stat};
    use rustix::io::Errno;
    use std::fs::{File, OpenOptions};
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    pub(super) fn set_mode(options: &mut OpenOptions, private: bool) {
        options.mode(if private { 0o600 } else { 0o666 });
    }

    pub(super) fn lock_file(file: &File, wait: bool) -> Lock {
        let operation = match wait {
            true => FlockOperation::LockExclusive,
            false => FlockOperation::NonBlockingLockExclusive,
        };
        loop {
            match flock(file, operation) {
                Ok(()) => return Lock::Taken,
                Err(Errno::INTR) => {}
                Err(_) => return Lock::Refused,
            }
        }
    }

    pub(super) fn is_removed(file: &File) -> bool {
        fstat(file).is_ok_and(|found| found.st_nlink == 0)
    }

    /// Removes a file that nobody has locked. The lock is held until the file is gone, so that
    /// its writer, if it just begins, sees that it must begin again.
    pub(super) fn remove_if_stale(path: &Path) {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = open(path, flags, Mode::empty()).map(File::from) else { return };
        if lock_file(&file, false) == Lock::Refused {
            return;
        }
        // The writer may have finished it since, and the name may be that of another file.
        let same = match (fstat(&file), stat(path)) {
            (Ok(open), Ok(named)) => (open.st_dev, open.st_ino) == (named.st_dev, named.st_ino),
            _ => false,
        };
        if same {
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(not(unix))]
mod system {
    use super::Lock;
    use std::fs::{File, OpenOptions};
    use std::path::Path;

    pub(super) fn set_mode(_options: &mut OpenOptions, _private: bool) {}

    pub(super) fn lock_file(_file: &File, _wait: bool) -> Lock {
        Lock::Refused
    }

    pub(super) fn is_removed(_file: &File) -> bool {
        false
    }

    /// Without locks, nobody knows whether a file has a writer.
    pub(super) fn remove_if_stale(_path: &Path) {}
}

use system::{is_removed, lock_file, remove_if_stale, set_mode};
