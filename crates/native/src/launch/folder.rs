//! The folder of a run, and those that dead runs left behind.
//!
//! A recording may have gigabytes, and a process that is killed removes nothing. So the folder of a
//! run has a file that the run holds a lock on. The system frees the lock when the process ends,
//! however it ends. The next run removes the folders whose lock it can take. A folder without that
//! file is kept: somebody wants it, or it was never filled.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What the names of all such folders begin with.
const PREFIX: &str = "anyorder-run-";

/// The file that a run has locked.
const LOCK: &str = "lock";

/// Its name before it is locked.
const NEW_LOCK: &str = "lock.new";

/// The most names of a folder that are read in search of what dead runs left.
const NAMES_MAX: usize = 100_000;

/// A folder of this run. It is removed with its value.
#[derive(Debug)]
pub(super) struct RunFolder {
    path: PathBuf,
    /// Open as long as the folder is in use.
    _lock: fs::File,
}

impl RunFolder {
    /// Makes a folder below `parent` that only its owner can enter. First removes those that dead
    /// runs of the same user left there.
    pub(super) fn create(parent: &Path) -> io::Result<RunFolder> {
        remove_left(parent);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        let at = |name: &str| folder.path().join(name);
        let lock = fs::File::create(at(NEW_LOCK))?;
        // Nobody looks at the file before it has its name, and then it is locked. Where files
        // cannot be locked, it stays without: then nobody removes the folder.
        if system::take_lock(&lock) {
            fs::rename(at(NEW_LOCK), at(LOCK))?;
        }
        Ok(RunFolder { path: folder.keep(), _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the folder: nobody removes it.
    pub(super) fn keep(self) -> PathBuf {
        let path = self.path.clone();
        let _ = fs::remove_file(path.join(LOCK));
        std::mem::forget(self);
        path
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes what dead runs left below a folder. Errors are ignored: what stays is tried again.
fn remove_left(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.take(NAMES_MAX).flatten() {
        let is_ours = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes());
        // The type of an entry is that of a link, not of what it leads to.
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            system::remove_if_left(&entry.path());
        }
    }
}

/// Removes a folder. The lock goes last: if this is cut short, the next run goes on.
fn remove(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name() != LOCK) {
        let _ = match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => fs::remove_dir_all(entry.path()),
            false => fs::remove_file(entry.path()),
        };
    }
    let _ = fs::remove_file(folder.join(LOCK));
    let _ = fs::remove_dir(folder);
}

#[cfg(unix)]
mod system {
    use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
    use rustix::io::Errno;
    use std::fs::File;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    /// Locks a file if nobody has. Returns whether it is locked now.
    pub(super) fn take_lock(file: &File) -> bool {
        loop {
            match flock(file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return true,
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    /// Removes a folder of this user whose lock nobody has.
    pub(super) fn remove_if_left(folder: &Path) {
        let own = rustix::process::geteuid().as_raw();
        if !folder.symlink_metadata().is_ok_and(|meta| meta.is_dir() && meta.uid() == own) {
            return;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let path = folder.join(super::LOCK);
        let Ok(lock) = open(path, flags, Mode::empty()).map(File::from) else { return };
        if take_lock(&lock) {
            super::remove(folder);
        }
    }
}

#[cfg(not(unix))]
mod system {
    pub(super) fn take_lock(_file: &std::fs::File) -> bool {
        false
    }

    /// Without locks, nobody knows whether a run uses it.
    pub(super) fn remove_if_left(_folder: &std::path::Path) {}
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_what_a_dead_run_left_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        for name in ["anyorder-run-dead", "anyorder-run-kept", "anyorder-other", "away"] {
            fs::create_dir_all(at(name).join("recording")).unwrap();
            fs::write(at(name).join("recording/1-0.rec"), "events").unwrap();
            if name != "anyorder-run-kept" {
                fs::write(at(name).join(LOCK), "").unwrap();
            }
        }
        fs::write(at("anyorder-run-file"), "").unwrap();
        std::os::unix::fs::symlink(at("away"), at("anyorder-run-link")).unwrap();
        // What is in a folder may lead elsewhere, and so may its lock.
        std::os::unix::fs::symlink(at("away"), at("anyorder-run-dead/recording/link")).unwrap();
        fs::create_dir(at("anyorder-run-linked-lock")).unwrap();
        let away = at("away").join(LOCK);
        std::os::unix::fs::symlink(away, at("anyorder-run-linked-lock").join(LOCK)).unwrap();
        let live = RunFolder::create(parent.path()).unwrap();
        let name = live.path().file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(names(live.path()), ["lock"]);
        // A lock of one process is refused to it, too, when it opens the file again.
        let second = RunFolder::create(parent.path()).unwrap();
        let mut left: Vec<String> = [
            "anyorder-other",
            "anyorder-run-file",
            "anyorder-run-kept",
            "anyorder-run-link",
            "anyorder-run-linked-lock",
            "away",
        ]
        .map(str::to_owned)
        .to_vec();
        left.push(name);
        left.push(second.path().file_name().unwrap().to_str().unwrap().to_owned());
        left.sort();
        assert_eq!(names(parent.path()), left);
        assert_eq!(names(&at("away")), ["lock", "recording"]);
        fs::create_dir(second.path().join("recording")).unwrap();
        let path = second.path().to_owned();
        drop(second);
        assert!(!path.exists());
        let kept = live.keep();
        drop(RunFolder::create(parent.path()).unwrap());
        assert!(kept.exists() && names(&kept).is_empty());
    }

    #[test]
    fn a_removal_that_was_cut_short_goes_on() {
        let parent = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(parent.path()).unwrap();
        let path = folder.path().to_owned();
        // As if the process had ended: the lock is free, and a part is gone.
        fs::create_dir(path.join("lib")).unwrap();
        let RunFolder { _lock: lock, .. } = &folder;
        drop(lock.try_clone().unwrap());
        rustix::fs::flock(lock, rustix::fs::FlockOperation::Unlock).unwrap();
        drop(RunFolder::create(parent.path()).unwrap());
        assert!(!path.exists());
    }
}
