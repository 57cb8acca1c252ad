//! The only way by which bytes from outside enter: with a bound, and with a way to stop.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Bytes are taken in pieces of this size. Between two of them a job can be stopped.
const PIECE_BYTES: usize = 1 << 16;

/// What a file is for, and how large it may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileKind {
    /// What it is, with its article: `a baseline`.
    pub name: &'static str,
    /// The maximum size in bytes.
    pub bytes_max: u64,
}

/// Why a file was not read.
#[derive(Debug)]
pub enum FileError {
    /// The system failed to read it, or the job was stopped.
    Io(io::Error),
    /// It is larger than its kind allows.
    TooLarge(FileKind),
    /// It was found where nobody named it, and is a pipe, a device or a folder.
    NotRegular,
    /// It is not UTF-8 from this line on.
    NotUtf8 {
        /// The first line that is not UTF-8, from 1.
        line: usize,
    },
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Io(error) => error.fmt(f),
            FileError::TooLarge(kind) => {
                write!(f, "larger than {}, expected {}", size(kind.bytes_max), kind.name)
            }
            FileError::NotRegular => f.write_str("not a regular file"),
            FileError::NotUtf8 { line } => write!(f, "line {line}: not UTF-8"),
        }
    }
}

impl std::error::Error for FileError {}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> FileError {
        FileError::Io(error)
    }
}

/// Returns a size in the largest unit that divides it.
fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 30 && bytes.is_multiple_of(1 << 30) => format!("{} GiB", bytes >> 30),
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ => format!("{bytes} bytes"),
    }
}

/// Asks whether to go on. An error ends the reading; it must not be of kind `Interrupted`, after
/// which readers try again.
pub type Ask = fn() -> io::Result<()>;

/// Always goes on.
///
/// # Errors
///
/// None.
pub fn never_stop() -> io::Result<()> {
    Ok(())
}

/// An open file, pipe or device. It waits for slow writers without a block that nothing can end:
/// it asks 20 times a second whether to go on. It does not ask while there are bytes: who takes
/// them knows how much they are worth.
#[derive(Debug)]
pub struct Source {
    file: File,
    /// The size of a regular file.
    size: Option<u64>,
    ask: Ask,
}

impl Source {
    /// Opens what a user named. A pipe without a writer is waited for when it is read.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be opened, or is a folder.
    pub fn open(path: &Path, ask: Ask) -> io::Result<Source> {
        let file = open(path)?;
        let meta = file.metadata()?;
        if meta.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(Source { size: meta.is_file().then_some(meta.len()), file, ask })
    }

    /// Opens standard input. Nothing else may read it.
    ///
    /// # Errors
    ///
    /// Fails if it is closed.
    pub fn standard_input(ask: Ask) -> io::Result<Source> {
        Ok(Source { file: system::standard_input()?, size: None, ask })
    }

    /// Returns the size of a regular file.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        self.size
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.size.is_none() && !system::is_ready(&self.file) {
                (self.ask)()?;
                continue;
            }
            match self.file.read(buffer) {
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
                    ) => {}
                read => return read,
            }
        }
    }
}

/// Opens a file that must be a regular one, such as one that is read twice.
///
/// # Errors
///
/// Fails if it cannot be opened, and if it is a pipe, a device or a folder. It never waits for the
/// writer of a pipe.
pub fn open_regular(path: &Path) -> Result<Source, FileError> {
    let source = Source::open(path, never_stop)?;
    if source.size.is_none() { Err(FileError::NotRegular) } else { Ok(source) }
}

/// Reads a file that a user named: a regular one, a pipe, or a device.
///
/// # Errors
///
/// Fails if it cannot be read, is too large, or reading was stopped. Never more than
/// `kind.bytes_max` bytes and a piece are read or held.
pub fn read(path: &Path, kind: FileKind, ask: Ask) -> Result<Vec<u8>, FileError> {
    let source = Source::open(path, ask)?;
    if source.size.is_some_and(|size| size > kind.bytes_max) {
        return Err(FileError::TooLarge(kind));
    }
    read_rest(source, Vec::new(), kind, ask)
}

/// Reads a file that nobody named, if there is one: only a regular file, so that it never waits.
///
/// # Errors
///
/// Fails if there is something that cannot be read, is too large, or is no regular file.
pub fn read_found(path: &Path, kind: FileKind, ask: Ask) -> Result<Option<Vec<u8>>, FileError> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // Asked before it is opened, because opening a device may do something.
        Ok(meta) if !meta.is_file() => return Err(FileError::NotRegular),
        _ => {}
    }
    let source = Source::open(path, ask)?;
    match source.size {
        None => Err(FileError::NotRegular),
        Some(size) if size > kind.bytes_max => Err(FileError::TooLarge(kind)),
        Some(_) => read_rest(source, Vec::new(), kind, ask).map(Some),
    }
}

/// Reads what is left of a stream after its first bytes. It asks before each piece whether to go
/// on: a part of such a file is worth nothing.
///
/// # Errors
///
/// Fails if the stream does, if there are too many bytes in all, and if `ask` does.
pub fn read_rest(
    mut from: impl Read,
    start: Vec<u8>,
    kind: FileKind,
    ask: Ask,
) -> Result<Vec<u8>, FileError> {
    let mut bytes = start;
    loop {
        if bytes.len() as u64 > kind.bytes_max {
            return Err(FileError::TooLarge(kind));
        }
        ask()?;
        // A buffer that doubles would take a third of its memory for nothing.
        if bytes.capacity() - bytes.len() < PIECE_BYTES + 1 {
            bytes.reserve_exact((bytes.len() / 4).max(2 * PIECE_BYTES));
        }
        if from.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut bytes)? == 0 {
            return Ok(bytes);
        }
    }
}

/// Returns bytes as text.
///
/// # Errors
///
/// Fails if they are not UTF-8.
pub fn text_of(bytes: Vec<u8>) -> Result<String, FileError> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        FileError::NotUtf8 { line }
    })
}

/// Returns the text of a small file of the system, such as one below `/proc`. Never more than a
/// megabyte is read.
///
/// # Errors
///
/// Fails if it cannot be read.
pub fn read_system(path: &Path) -> io::Result<String> {
    const BYTES_MAX: u64 = 1 << 20;
    let mut text = String::new();
    File::open(path)?.take(BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    system::without_waiting(&mut options);
    loop {
        match options.open(path) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            opened => return opened,
        }
    }
}

#[cfg(unix)]
mod system {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::fd::AsFd;

    /// How long a wait for bytes lasts before the job is asked again: 50 ms.
    const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

    /// Opens a pipe at once. On Linux, a poll then waits for its first writer. Elsewhere it may
    /// report the end of the pipe instead, so there the call waits.
    pub(super) fn without_waiting(options: &mut OpenOptions) {
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        }
        #[cfg(not(target_os = "linux"))]
        let _ = options;
    }

    pub(super) fn standard_input() -> io::Result<File> {
        Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
    }

    /// Waits a moment. Returns whether a read would end at once, by bytes, an end or an error.
    pub(super) fn is_ready(file: &File) -> bool {
        let mut fds = [PollFd::new(file, PollFlags::IN)];
        match poll(&mut fds, Some(&WAIT)) {
            Ok(number) => number > 0,
            Err(rustix::io::Errno::INTR) => false,
            // What cannot be polled is read.
            Err(_) => true,
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::{File, OpenOptions};
    use std::io;

    pub(super) fn without_waiting(_options: &mut OpenOptions) {}

    #[cfg(windows)]
    pub(super) fn standard_input() -> io::Result<File> {
        use std::os::windows::io::AsHandle;
        Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
    }

    #[cfg(not(windows))]
    pub(super) fn standard_input() -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn is_ready(_file: &File) -> bool {
        true
    }
}
