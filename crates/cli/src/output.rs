//! Writes results to stdout, or to a file that gets its name only when it is complete.

use crate::failure::{Failure, JobFailure, Usage};
use crate::phase::{Claiming, claim, written};
use anyorder_common::files::{AtomicFile, Folder};
use anyorder_common::text::Harmless;
use anyorder_report::terminal::Fit;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first byte of each sequence that sets a colour.
const ESCAPE: u8 = 0x1b;

/// Writes text to stdout, and strips colours unless they are enabled. Hostile characters that are
/// left in the text are escaped. A closed pipe is not an error: the returned failure has
/// `broken_pipe` set.
pub(crate) fn to_stdout(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    // A result is made as a whole before its first byte is written: a limit that ends the command
    // until then leaves no half of it.
    let mut made = Vec::new();
    let result = write(&mut Harmless::new(&mut made));
    let result = result.and_then(|()| match made.contains(&ESCAPE) {
        // Colours stay only where they are wanted.
        true => Claiming(anstream::AutoStream::auto(io::stdout())).write_all(&made),
        false => Claiming(io::stdout()).write_all(&made),
    });
    if let Err(error) = result.and_then(|()| io::stdout().flush()) {
        return Err(JobFailure::writing("stdout", error).into());
    }
    written();
    Ok(())
}

/// Writes to a file, or to stdout without one.
pub(crate) fn to(
    file: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    match file {
        Some(path) => {
            claim();
            to_file(path, write)?;
            written();
            Ok(())
        }
        None => to_stdout(write),
    }
}

/// Writes bytes to a file, or to stdout without one. They bypass the stream that strips colours. On
/// a terminal, hostile characters among them are escaped.
pub(crate) fn bytes_to(
    file: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if let Some(path) = file {
        to_file_or_fail(path, write)?;
        written();
        return Ok(());
    }
    let stdout = io::stdout().lock();
    let is_terminal = stdout.is_terminal();
    let mut out = BufWriter::new(Claiming(stdout));
    match is_terminal {
        true => write(&mut Harmless::new(&mut out))?,
        false => write(&mut out)?,
    }
    out.flush().map_err(|error| JobFailure::writing("standard output", error))?;
    written();
    Ok(())
}

/// Writes a file that appears whole or not at all, as [`AtomicFile`] does. The old file stays until
/// then. Devices and pipes, such as `/dev/stdout`, are written directly.
pub(crate) fn to_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    to_file_or_fail(path, |out| Ok(write(out).map_err(|error| JobFailure::writing(path, error))?))
}

fn to_file_or_fail(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |error: io::Error| JobFailure::writing(path, error);
    if path.is_dir() {
        return Err(Usage::OutputIsFolder { path: path.to_owned() }.into());
    }
    let mut file = AtomicFile::create(path).map_err(failed)?;
    write(&mut file)?;
    Ok(file.commit().map_err(failed)?)
}

/// Writes files into a folder, which is made if it is missing. The folder is synced once, at the
/// end. No name of a file may contain text of an
/// input.
pub(crate) fn to_folder(
    folder: &Path,
    write: impl FnOnce(&mut FolderOut<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |error: io::Error| JobFailure::writing(folder, error);
    let mut out = FolderOut { path: folder, folder: None };
    write(&mut out)?;
    Ok(out.folder.map_or(Ok(()), Folder::finish).map_err(failed)?)
}

/// A folder that is made when its first file is written.
pub(crate) struct FolderOut<'a> {
    path: &'a Path,
    folder: Option<Folder>,
}

impl FolderOut<'_> {
    /// Writes one file.
    pub(crate) fn file(
        &mut self,
        name: &str,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let folder = match &mut self.folder {
            Some(folder) => folder,
            None => {
                let made = Folder::create(self.path);
                self.folder.insert(made.map_err(|error| JobFailure::writing(self.path, error))?)
            }
        };
        let written = folder.write(name, write);
        written.map_err(|error| JobFailure::writing(self.path.join(name), error))?;
        Ok(())
    }
}

/// Leaves standard output to a program: what this process writes there from now on goes to standard
/// error. Returns the stream for the program.
#[cfg(unix)]
pub(crate) fn give_stdout_away() -> io::Result<Stdio> {
    use std::os::fd::AsFd;
    let stream = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(stream.into())
}

/// Returns standard error as a stream for a program.
#[cfg(unix)]
pub(crate) fn stderr_for_program() -> io::Result<Stdio> {
    use std::os::fd::AsFd;
    Ok(io::stderr().as_fd().try_clone_to_owned()?.into())
}

/// Leaves the streams as they are: no program is run on this system.
#[cfg(not(unix))]
pub(crate) fn give_stdout_away() -> io::Result<Stdio> {
    Ok(Stdio::inherit())
}

/// Leaves the streams as they are: no program is run on this system.
#[cfg(not(unix))]
pub(crate) fn stderr_for_program() -> io::Result<Stdio> {
    Ok(Stdio::inherit())
}

/// Whether `--wide` was given.
static FULL_NAMES: AtomicBool = AtomicBool::new(false);

/// Records whether names in tables are shown whole.
pub(crate) fn set_full_names(full: bool) {
    FULL_NAMES.store(full, Ordering::Relaxed);
}

/// Returns how tables must fit.
pub(crate) fn fit() -> Fit {
    Fit { width: width(), full_names: FULL_NAMES.load(Ordering::Relaxed) }
}

/// Returns the width of the terminal, else that of `COLUMNS`, else 100.
pub(crate) fn width() -> usize {
    const WIDTH_DEFAULT: usize = 100;
    const WIDTH_MIN: usize = 40;
    const WIDTH_MAX: usize = 400;
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let width = if io::stdout().is_terminal() { terminal() } else { None };
    width.or_else(columns).unwrap_or(WIDTH_DEFAULT).clamp(WIDTH_MIN, WIDTH_MAX)
}
