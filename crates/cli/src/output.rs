//! Writes results to stdout, or to a file that gets its name only when it is complete.

use crate::failure::Failure;
use crate::guard::{Claiming, claim, written};
use anyorder_common::text::shown;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

/// Writes to stdout, and strips colours unless they are enabled. A closed pipe is not an error: the
/// returned failure has `broken_pipe` set.
pub(crate) fn to_stdout(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(Claiming(anstream::AutoStream::auto(io::stdout())));
    let result = write(&mut out).and_then(|()| out.flush());
    if let Err(error) = &result {
        // The buffered rest cannot be written either; dropping the buffer must not retry.
        let _ = out.into_parts();
        return Err(Failure::writing(Path::new("stdout"), error));
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

/// Writes bytes to a file, or to stdout without one. They bypass the stream that strips colours.
pub(crate) fn bytes_to(
    file: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if let Some(path) = file {
        to_file_or_fail(path, write)?;
        written();
        return Ok(());
    }
    let mut out = BufWriter::new(Claiming(io::stdout().lock()));
    write(&mut out)?;
    out.flush().map_err(|error| Failure::writing(Path::new("standard output"), &error))?;
    written();
    Ok(())
}

/// Writes a file atomically: writes a temporary file in the same folder, then renames it. The old
/// file stays until then. Devices and pipes, such as `/dev/stdout`, are written directly.
pub(crate) fn to_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    to_file_or_fail(path, |out| write(out).map_err(|error| Failure::writing(path, &error)))
}

fn to_file_or_fail(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |error: &io::Error| Failure::writing(path, error);
    let special = path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
    if special {
        let file = std::fs::OpenOptions::new().write(true).open(path).map_err(|e| failed(&e))?;
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        return out.flush().map_err(|e| failed(&e));
    }
    if path.is_dir() {
        return Err(Failure::new(format!("cannot write `{}`: it is a directory", shown(path))));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".anyorder-").suffix(".part");
    set_mode(&mut builder);
    let file = builder.tempfile_in(folder).map_err(|e| failed(&e))?;
    let mut out = BufWriter::with_capacity(1 << 16, file);
    write(&mut out)?;
    let file = out.into_inner().map_err(|e| failed(e.error()))?;
    file.persist(path).map_err(|e| failed(&e.error))?;
    Ok(())
}

/// Temporary files are private by default; gives the file the permissions of any new file.
#[cfg(unix)]
fn set_mode(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(std::fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn set_mode(_builder: &mut tempfile::Builder<'_, '_>) {}

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
