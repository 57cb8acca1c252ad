//! Builds the shim, and runs the program above it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The kinds of calls, in the order of `enum kind` in `shim.c`.
pub(crate) const KINDS: [&str; 22] = [
    "open", "read", "write", "close", "fsync", "rename", "unlink", "truncate", "mkdir", "stat",
    "mode", "folder", "spawn", "wait", "kill", "thread", "memory", "clock", "sleep", "pipe",
    "poll", "exit",
];

/// The number of a kind.
pub(crate) fn kind(name: &str) -> usize {
    KINDS.iter().position(|kind| *kind == name).expect("a kind")
}

/// A run that takes longer hangs: it takes a hundredth of a second without a fault.
const HANG: Duration = Duration::from_secs(30);

/// One fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    /// The kind of the call; `None` for a call of any kind.
    pub(crate) kind: Option<usize>,
    /// The number of the call, from 1.
    pub(crate) at: u64,
    /// What happens, as `shim.c` names it.
    pub(crate) how: &'static str,
    /// What a loss of power leaves.
    pub(crate) seed: u64,
}

/// What a run left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) hung: bool,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) files: Files,
    pub(crate) calls: Calls,
}

/// The files of a folder with their content, by their paths in it.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// The calls of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Calls {
    pub(crate) total: u64,
    pub(crate) counts: Vec<u64>,
    /// How often the fault happened.
    pub(crate) fired: u64,
    /// The descriptor and the path or name of the first call that failed.
    pub(crate) fd: i64,
    pub(crate) what: String,
}

/// The shim and a child for the pipe, built once.
#[derive(Debug)]
pub(crate) struct Shim {
    library: PathBuf,
    pub(crate) child: PathBuf,
}

/// Returns the shim; `None` without a C compiler.
pub(crate) fn shim() -> Option<&'static Shim> {
    static SHIM: OnceLock<Option<Shim>> = OnceLock::new();
    let built = SHIM.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults");
        let (library, child) = (folder.join("faults-shim.so"), folder.join("faults-child"));
        let run = |arguments: &[&str], from: &str, to: &Path| {
            let mut cc = Command::new("cc");
            cc.args(arguments)
                .arg("-o")
                .arg(to)
                .arg(source.join(from))
                .arg("-ldl")
                .arg("-lpthread");
            cc.status()
        };
        if let Err(error) = Command::new("cc").arg("--version").stdout(Stdio::null()).status() {
            println!("skipped: no C compiler ({error})");
            return None;
        }
        for (arguments, from, to) in [
            (&["-shared", "-fPIC", "-O1"][..], "shim.c", &library),
            (&["-O1"][..], "child.c", &child),
        ] {
            let status = run(arguments, from, to).expect("the compiler runs");
            assert!(status.success(), "the compiler refuses {from}");
        }
        Some(Shim { library, child })
    });
    built.as_ref()
}

/// The binary under test.
pub(crate) fn binary() -> PathBuf {
    std::env::var_os("ANYORDER_FAULTS_BINARY")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_anyorder")), PathBuf::from)
}

/// A folder in which runs take place, one after the other.
#[derive(Debug)]
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        Place { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// The folder of the files of a run.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Makes the folder of the run hold these files and no others.
    pub(crate) fn reset(&self, files: &Files) {
        let (work, kept) = (self.work(), self.folder.path().join("kept"));
        for folder in [&work, &kept] {
            if folder.exists() {
                fs::remove_dir_all(folder).expect("a folder can be removed");
            }
            fs::create_dir_all(folder).expect("a folder can be made");
        }
        for (name, bytes) in files {
            let path = work.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
            fs::write(path, bytes).expect("a file can be written");
        }
    }

    /// Runs the program in the folder as it is.
    pub(crate) fn run(&self, arguments: &[String], stdin: &[u8], fault: Option<&Fault>) -> Ran {
        let shim = shim().expect("the shim");
        let shared = self.folder.path().join("shared");
        fs::write(&shared, vec![0; 2048]).expect("a file can be written");
        let (input, output) = (self.folder.path().join("stdin"), self.folder.path().join("stdout"));
        let errors = self.folder.path().join("stderr");
        fs::write(&input, stdin).expect("a file can be written");
        let file = |path: &Path| fs::File::create(path).expect("a file can be made");
        let mut command = Command::new(binary());
        command.args(arguments).current_dir(self.work());
        command
            .env_clear()
            .env("COLUMNS", "100")
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.stdin(fs::File::open(&input).expect("a file can be read"));
        command.stdout(file(&output)).stderr(file(&errors));
        command.env("LD_PRELOAD", &shim.library).env("ANYORDER_SHIM", &shared);
        command.env("ANYORDER_SHIM_KEPT", self.folder.path().join("kept"));
        if let Some(Fault { kind, at, how, seed }) = fault {
            let kind = kind.map_or("-1".to_owned(), |kind| kind.to_string());
            command.env("ANYORDER_SHIM_FAULT", format!("{kind}:{at}:{how}"));
            command.env("ANYORDER_SHIM_SEED", seed.to_string());
        }
        let mut child = command.spawn().expect("the binary runs");
        let (status, hung) = wait(&mut child);
        Ran {
            status: status.code(),
            signal: status.signal(),
            hung,
            stdout: fs::read(&output).expect("a file can be read"),
            stderr: String::from_utf8_lossy(&fs::read(&errors).expect("a file")).into_owned(),
            files: files_of(&self.work()),
            calls: calls(&fs::read(&shared).expect("a file can be read")),
        }
    }
}

fn wait(child: &mut Child) -> (std::process::ExitStatus, bool) {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return (status, false);
        }
        if started.elapsed() > HANG {
            child.kill().expect("a child can be killed");
            return (child.wait().expect("a child ends"), true);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns the files below a folder.
pub(crate) fn files_of(folder: &Path) -> Files {
    fn add(folder: &Path, prefix: &str, files: &mut Files) {
        for entry in fs::read_dir(folder).expect("a folder can be read") {
            let entry = entry.expect("a folder can be read");
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type().expect("a file has a type").is_dir() {
                add(&entry.path(), &format!("{name}/"), files);
            } else {
                let mut bytes = Vec::new();
                let read =
                    fs::File::open(entry.path()).and_then(|mut file| file.read_to_end(&mut bytes));
                read.expect("a file can be read");
                files.insert(name, bytes);
            }
        }
    }
    let mut files = Files::new();
    add(folder, "", &mut files);
    files
}

/// Reads `struct shared` of `shim.c`.
fn calls(bytes: &[u8]) -> Calls {
    let word =
        |at: usize| u64::from_le_bytes(bytes[8 * at..8 * at + 8].try_into().expect("8 bytes"));
    let text = &bytes[8 * (KINDS.len() + 3)..];
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    Calls {
        total: word(0),
        counts: (1..=KINDS.len()).map(word).collect(),
        fired: word(KINDS.len() + 1),
        fd: word(KINDS.len() + 2).cast_signed(),
        what: String::from_utf8_lossy(&text[..end]).into_owned(),
    }
}
