//! One run of the binary: how it ended, what it wrote, what it took.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The bytes of each output stream that are kept.
const OUTPUT_BYTES_MAX: u64 = 64 << 20;

/// What a run did.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The exit status, if no signal ended it.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was killed because it did not end.
    pub killed: bool,
    /// The time from start to end.
    pub wall: Duration,
    /// The processor time of all its threads and of the children that it waited for.
    pub processor: Duration,
    /// The peak of the resident memory, in bytes. A new process starts with the peak of this one,
    /// so this one forgets its own first.
    pub peak_bytes: u64,
    /// The standard output.
    pub stdout: Vec<u8>,
    /// The standard error.
    pub stderr: Vec<u8>,
}

/// Runs a command in `folder`, and kills it with its children after `patience`. `streams` is a
/// folder for its output.
///
/// # Errors
///
/// When the command cannot be started, or its output not be stored.
pub fn run(
    binary: &Path,
    arguments: &[String],
    folder: &Path,
    stdin: Option<&Path>,
    streams: &Path,
    patience: Duration,
) -> io::Result<Ran> {
    let (out, err) = (streams.join("stdout"), streams.join("stderr"));
    let input =
        stdin.map_or_else(|| Ok(Stdio::null()), |path| File::open(path).map(Stdio::from))?;
    let mut command = Command::new(binary);
    command.args(arguments).current_dir(folder).env_clear();
    command.env("PATH", "/usr/bin:/bin").env("COLUMNS", "100").env("TMPDIR", streams);
    command.stdin(input).stdout(File::create(&out)?).stderr(File::create(&err)?).process_group(0);
    forget_peak();
    let start = Instant::now();
    let child = command.spawn()?;
    let (status, usage, killed) = wait(&child, start, patience)?;
    let wall = start.elapsed();
    let read = |path: &Path| -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes)?;
        fs::remove_file(path)?;
        Ok(bytes)
    };
    let time = |time: libc::timeval| {
        Duration::from_micros(time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_usec.unsigned_abs())
    };
    Ok(Ran {
        status: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        killed,
        wall,
        processor: time(usage.ru_utime) + time(usage.ru_stime),
        peak_bytes: usage.ru_maxrss.unsigned_abs() * 1024,
        stdout: read(&out)?,
        stderr: read(&err)?,
    })
}

/// Returns free memory to the system, and makes the peak of this process what it uses now. Linux
/// counts the peak of the process that starts another one as the other's.
#[allow(unsafe_code, reason = "no safe call returns free memory to the system")]
fn forget_peak() {
    // SAFETY: the call takes no pointers, and the allocator may be used by other threads meanwhile.
    unsafe { libc::malloc_trim(0) };
    // Without it (no /proc), the peak stays, and runs look larger than they are.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Waits for the end of a child; kills its group after `patience`. Returns its status, what it
/// used, and whether it was killed.
fn wait(
    child: &Child,
    start: Instant,
    patience: Duration,
) -> io::Result<(i32, libc::rusage, bool)> {
    let id = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let mut killed = false;
    loop {
        if let Some((status, usage)) = ended(id)? {
            // Grandchildren that outlive the child end with it.
            kill_group(id);
            return Ok((status, usage, killed));
        }
        let elapsed = start.elapsed();
        if elapsed > patience && !killed {
            kill_group(id);
            killed = true;
        }
        let pause = (elapsed / 16).clamp(Duration::from_micros(200), Duration::from_millis(20));
        thread::sleep(pause);
    }
}

/// Returns the status and the usage of a child that has ended.
#[allow(unsafe_code, reason = "no safe call returns the memory that one child took")]
fn ended(id: libc::pid_t) -> io::Result<Option<(i32, libc::rusage)>> {
    let mut status = 0;
    // SAFETY: `rusage` holds only numbers, for which zeros are values; both pointers are to live
    // locals that the call fills. The child is ours and nobody else waits for it.
    let (answer, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(id, &raw mut status, libc::WNOHANG, &raw mut usage), usage)
    };
    match answer {
        0 => Ok(None),
        -1 => {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::Interrupted { Ok(None) } else { Err(error) }
        }
        _ => Ok(Some((status, usage))),
    }
}

/// Kills all processes of a child's group. There may be none left.
#[allow(unsafe_code, reason = "the standard library kills no groups")]
fn kill_group(id: libc::pid_t) {
    // SAFETY: the call takes numbers only. The group is that of our child, made at its start.
    unsafe { libc::kill(-id, libc::SIGKILL) };
}
