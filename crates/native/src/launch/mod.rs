//! Starts a program under the recording runtime.
//!
//! The image of the runtime is put into a folder under the names of ThreadSanitizer's runtimes, and
//! that folder comes first where the loader looks for libraries. So a program that was built by
//! `-fsanitize=thread` with a shared runtime, as `gcc` does it, runs with ours, and need not be
//! built again. A program that was built without it has the image loaded before all else: its
//! locks, threads and memory are seen, and its accesses are not.

mod child;
mod folder;
mod recognise;
mod rust;

pub use child::{Ended, Program, Signal};
pub use recognise::{
    Build, Recognised, Refusal, Sanitized, find_program, lacks_instrumented_std, recognise,
};

use folder::RunFolder;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The runtime: a shared object. Empty where it cannot be built: then no program can be recorded.
pub const IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/image.so"));

/// The file of the image. The loader takes it for what a program by `gcc` asks for.
const IMAGE_NAME: &str = "libtsan.so.2";

/// The other names under which a program asks for it.
const OTHER_NAMES: &[&str] =
    &["libtsan.so.0", "libtsan.so.1", "libclang_rt.tsan.so", "libclang_rt.tsan-x86_64.so"];

/// The variable by which the program finds the folder for its recording.
const RECORDING: &str = "ANYORDER_RECORDING";

/// The variable with the most bytes of its recording.
const RECORDING_MAX: &str = "ANYORDER_MAX_RECORDING";

/// The variable by which it finds its plan.
const PLAN: &str = "ANYORDER_PLAN";

/// The variable by which it finds what decides its order.
const SCHEDULE: &str = "ANYORDER_SCHEDULE";

/// A folder with the image, and one for the recording. Both are removed with it, and by the next
/// run if this one is killed.
#[derive(Debug)]
pub struct Stage {
    folder: RunFolder,
}

/// What a program is started with.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The program, as it was found.
    pub program: &'a Path,
    /// The name under which it is started, as it was typed.
    pub name: &'a OsStr,
    /// Its arguments.
    pub arguments: &'a [OsString],
    /// How it was built.
    pub build: &'a Build,
    /// Its standard output, where it is not ours.
    pub stdout: Option<Stdio>,
    /// The plan that its threads keep. Under one nothing is recorded.
    pub plan: Option<&'a Path>,
    /// The file that decides the order of its threads.
    pub schedule: Option<&'a Path>,
    /// Files that take its standard output and errors. It reads nothing then.
    pub caught: Option<[std::fs::File; 2]>,
    /// Whether it reads nothing, and what it prints is thrown away.
    pub is_silent: bool,
    /// The most bytes of a recording.
    pub recording_max: Option<u64>,
}

impl Stage {
    /// Makes the folders, below the folder for temporary files. Removes those that runs which were
    /// killed have left there.
    ///
    /// # Errors
    ///
    /// Fails where a program cannot be recorded on this system, and with errors of the file system.
    pub fn new() -> io::Result<Stage> {
        if IMAGE.is_empty() {
            let what = "programs can be recorded on Linux on x86-64 only";
            return Err(io::Error::new(io::ErrorKind::Unsupported, what));
        }
        let folder = RunFolder::create(&std::env::temp_dir())?;
        let stage = Stage { folder };
        std::fs::create_dir(stage.libraries())?;
        std::fs::create_dir(stage.recordings())?;
        let image = stage.libraries().join(IMAGE_NAME);
        std::fs::write(&image, IMAGE)?;
        for name in OTHER_NAMES {
            // One file under several names: the loader loads it once.
            std::fs::hard_link(&image, stage.libraries().join(name))?;
        }
        Ok(stage)
    }

    fn libraries(&self) -> PathBuf {
        self.folder.path().join("lib")
    }

    /// Returns the folder of the recordings.
    #[must_use]
    pub fn recordings(&self) -> PathBuf {
        self.folder.path().join("recording")
    }

    /// Returns the file of a plan.
    #[must_use]
    pub fn plan(&self) -> PathBuf {
        self.folder.path().join("plan")
    }

    /// Returns the file that decides the order of a run.
    #[must_use]
    pub fn schedule(&self) -> PathBuf {
        self.folder.path().join("schedule")
    }

    /// Makes the files that take the standard output and errors of a run.
    ///
    /// # Errors
    ///
    /// Fails when they cannot be made.
    pub fn catch(&self) -> io::Result<[std::fs::File; 2]> {
        let [output, errors] = self.caught();
        Ok([std::fs::File::create(output)?, std::fs::File::create(errors)?])
    }

    /// Returns the paths of these files.
    #[must_use]
    pub fn caught(&self) -> [PathBuf; 2] {
        ["output", "errors"].map(|name| self.folder.path().join(name))
    }

    /// Starts a program. It has our standard streams, but for its output where another one is
    /// given.
    ///
    /// # Errors
    ///
    /// Fails when the system cannot start it.
    pub fn start(&self, launch: Launch<'_>) -> io::Result<Program> {
        let mut command = Command::new(launch.program);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::arg0(&mut command, launch.name);
        command.args(launch.arguments);
        command.envs(self.variables(launch.plan, launch.build));
        if let Some(most) = launch.recording_max {
            command.env(RECORDING_MAX, most.to_string());
        }
        command.envs(launch.schedule.map(|file| (SCHEDULE, file)));
        if let Some([stdout, stderr]) = launch.caught {
            command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
        }
        if let Some(stdout) = launch.stdout {
            command.stdout(stdout);
        }
        if launch.is_silent {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        }
        Ok(Program::new(command.spawn()?))
    }

    /// Returns the variables with which a program runs under the image.
    #[must_use]
    pub fn variables(&self, plan: Option<&Path>, build: &Build) -> Vec<(&'static str, OsString)> {
        let mut all = vec![
            (RECORDING, self.recordings().into_os_string()),
            ("LD_LIBRARY_PATH", before("LD_LIBRARY_PATH", self.libraries())),
        ];
        all.extend(plan.map(|plan| (PLAN, plan.as_os_str().to_owned())));
        if build.needs_preload() {
            let image = self.libraries().join(IMAGE_NAME);
            all.push(("LD_PRELOAD", before("LD_PRELOAD", image)));
        }
        all
    }

    /// Keeps the folders: nobody removes them. Returns the one that has all of them.
    #[must_use]
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    /// Returns the recordings that are there, each with its `.maps`, in the order of their names.
    ///
    /// # Errors
    ///
    /// Fails when the folder cannot be read.
    pub fn found(&self) -> io::Result<Vec<(PathBuf, PathBuf)>> {
        found(&self.recordings())
    }
}

/// Returns the recordings in a folder: `PID-N.rec` with `PID-N.maps`, in the order in which the
/// images began as far as their numbers tell.
///
/// # Errors
///
/// Fails when the folder cannot be read.
pub fn found(folder: &Path) -> io::Result<Vec<(PathBuf, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let numbers = path.file_stem().and_then(OsStr::to_str).and_then(|stem| {
            let (process, image) = stem.split_once('-')?;
            Some((process.parse::<u64>().ok()?, image.parse::<u64>().ok()?))
        });
        if path.extension().is_some_and(|end| end == "rec")
            && let Some(numbers) = numbers
        {
            found.push((numbers, path.with_extension("maps"), path));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, maps, path)| (path, maps)).collect())
}

/// Puts a path before those that a variable has.
fn before(variable: &str, path: PathBuf) -> OsString {
    let mut value = path.into_os_string();
    if let Some(old) = std::env::var_os(variable).filter(|old| !old.is_empty()) {
        value.push(":");
        value.push(old);
    }
    value
}
