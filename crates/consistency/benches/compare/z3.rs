//! Runs Z3 on a trace, by the script in `benches/z3`.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The environment variable that names another interpreter.
const VARIABLE: &str = "ANYORDER_Z3_PYTHON";

/// A Python that can import Z3.
#[derive(Debug)]
pub(crate) struct Z3 {
    pub(crate) python: PathBuf,
    pub(crate) version: String,
}

/// The result of Z3.
#[derive(Clone, Debug)]
pub(crate) enum Z3Result {
    /// An answer, and the processor time of `check()`.
    Answer { answer: String, check: Duration },
    /// `check()` reached the limit.
    TimedOut,
    /// Building the constraints took more than four times the limit.
    NotStated,
}

impl Z3Result {
    /// Returns the time of `check()`, or the limit if it was exceeded; `None` if `check()` did not
    /// start.
    pub(crate) fn at_least(&self, limit: Duration) -> Option<Duration> {
        match self {
            Z3Result::Answer { check, .. } => Some(*check),
            Z3Result::TimedOut => Some(limit),
            Z3Result::NotStated => None,
        }
    }

    /// Returns the time in milliseconds as a cell of a table.
    pub(crate) fn cell(&self, limit: Duration) -> String {
        match self {
            Z3Result::Answer { check, .. } => format!("{:.1}", check.as_secs_f64() * 1e3),
            Z3Result::TimedOut => format!(">{}", limit.as_millis()),
            Z3Result::NotStated => "not stated".to_owned(),
        }
    }
}

/// Finds an interpreter: the named one, that of `setup.sh`, or the one on the path.
pub(crate) fn find() -> Option<Z3> {
    // The bench is `TARGET/release/deps/compare-...`.
    let own = std::env::current_exe().ok();
    let target = own.as_deref().and_then(|path| path.ancestors().nth(3));
    let candidates = [
        std::env::var_os(VARIABLE).map(PathBuf::from),
        target.map(|target| target.join("z3-venv/bin/python3")),
        Some(PathBuf::from("python3")),
    ];
    candidates.into_iter().flatten().find_map(|python| {
        let script = "import z3; print(z3.get_version_string())";
        let output = Command::new(&python).args(["-c", script]).output().ok()?;
        let version = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        output.status.success().then_some(Z3 { python, version })
    })
}

impl Z3 {
    /// Decides a file in a separate process.
    ///
    /// The limit is for processor time of `check()`, which the script enforces. Here the whole
    /// process is killed after four times as much, in case the script hangs.
    pub(crate) fn decide(&self, path: &Path, encoding: &str, limit: Duration) -> Z3Result {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/z3/check.py");
        let mut child = Command::new(&self.python)
            .arg(script)
            .args(["--encoding", encoding, "--limit", &limit.as_secs().to_string()])
            .arg(path)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let begin = Instant::now();
        let killed = loop {
            if child.try_wait().expect("a child").is_some() {
                break false;
            }
            if begin.elapsed() > limit * 4 {
                child.kill().expect("a child");
                break true;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let output = child.wait_with_output().expect("its output");
        let text = String::from_utf8(output.stdout).expect("text");
        if let Some(line) = text.lines().find(|line| line.contains("\"answer\"")) {
            let answer = field(line, "answer").to_owned();
            let seconds: f64 = field(line, "check_s").parse().expect("seconds");
            assert_ne!(answer, "unknown", "Z3 gave up on {}", path.display());
            return Z3Result::Answer { answer, check: Duration::from_secs_f64(seconds) };
        }
        // Any other end of the script is our error and must not count as a slow Z3.
        let over = killed || out_of_time(output.status);
        assert!(over, "check.py failed on {}: {}", path.display(), output.status);
        if text.contains("\"built\"") {
            return Z3Result::TimedOut;
        }
        Z3Result::NotStated
    }
}

/// Returns whether a process was killed because its processor time was used up.
fn out_of_time(status: ExitStatus) -> bool {
    const SIGXCPU: i32 = 24;
    status.signal() == Some(SIGXCPU)
}

/// Returns the value of a field of one flat JSON object.
fn field<'a>(line: &'a str, name: &str) -> &'a str {
    let key = format!("\"{name}\": ");
    let rest = line.split_once(&key).expect("a field").1;
    let end = rest.find([',', '}']).expect("the end of a value");
    rest[..end].trim_matches('"')
}
