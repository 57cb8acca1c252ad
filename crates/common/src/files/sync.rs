//! Makes files and folders survive a loss of power.

use super::target::folder_of;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Writes the content and the properties of a file to the disk.
pub(super) fn sync_file(file: &File) -> io::Result<()> {
    unless_unsupported(file.sync_all())
}

/// Writes the names in a folder to the disk. A folder that cannot be read cannot be synced; its
/// system then writes the names in its own time.
#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        Ok(file) => unless_unsupported(file.sync_all()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

/// Other systems write the names themselves.
#[cfg(not(unix))]
pub(super) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Some file systems have no such operation. That is no error of the file.
fn unless_unsupported(synced: io::Result<()>) -> io::Result<()> {
    match synced {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

/// Creates a folder and those above it, where they are missing, and syncs the name of each.
pub(super) fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let above = folder_of(folder);
    if above != folder {
        create_folder(above)?;
    }
    match fs::create_dir(folder) {
        Ok(()) => sync_folder(above),
        // Another process may have made it in the meantime.
        Err(_) if folder.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}
