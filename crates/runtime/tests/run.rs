//! Compiles small programs and runs them under the shared object.

use crate::image;
use crate::reader::Recording;
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// What a run did.
pub(crate) struct Run {
    pub(crate) output: String,
    /// The exit status, or the negated number of the signal.
    pub(crate) status: i32,
    /// The recordings: the process's own is first, then those of its children.
    pub(crate) recordings: Vec<Recording>,
    pub(crate) maps: String,
}

/// Returns whether there is a compiler for C++.
pub(crate) fn has_cpp() -> bool {
    Command::new("g++").arg("--version").output().is_ok()
}

/// Compiles a program of `tests/programs` for ThreadSanitizer. Returns the path of the program.
pub(crate) fn compile(source: &str, compiler: &str, options: &[&str]) -> PathBuf {
    type Built = Mutex<BTreeMap<String, Arc<OnceLock<()>>>>;
    static BUILT: Built = Mutex::new(BTreeMap::new());
    let name = format!("{source}-{compiler}{}", options.concat());
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
    // Tests run side by side: while one is running a program, another one must not write it.
    let built = Arc::clone(BUILT.lock().expect("no test panics here").entry(name).or_default());
    built.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
        let output = Command::new(compiler)
            .args(["-g", "-w", "-fsanitize=thread", "-pthread"])
            .args(options)
            .arg(source)
            .arg("-o")
            .arg(&program)
            .output()
            .expect("the compiler runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    });
    program
}

/// Runs a program under the shared object, without a recording.
pub(crate) fn forwarded(program: &Path, arguments: &[&str]) -> Run {
    finish(&limited(&mut command(program, arguments)))
}

/// Runs a program under the shared object, with a recording and more variables.
pub(crate) fn recorded(program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
    recorded_by(program, arguments, variables, limited)
}

/// Runs a command for a minute at the most.
fn limited(command: &mut Command) -> Output {
    let mut all = Command::new("timeout");
    all.args(["-s", "KILL", "60"]).arg(command.get_program()).args(command.get_args());
    all.env_remove("ANYORDER_RECORDING");
    all.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    all.output().expect("the program runs")
}

/// As [`recorded`], where `run` starts the program and waits for its end.
pub(crate) fn recorded_by(
    program: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
    run: impl FnOnce(&mut Command) -> Output,
) -> Run {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("recording-{number}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for the recording");
    let mut command = command(program, arguments);
    command.env("ANYORDER_RECORDING", &folder).envs(variables.iter().copied());
    let mut run = finish(&run(&mut command));
    let entries = std::fs::read_dir(&folder).expect("the folder of the recording");
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "rec") {
            run.recordings.push(Recording::read(&path));
        } else {
            run.maps += &std::fs::read_to_string(path).expect("the list of modules");
        }
    }
    run.recordings.sort_by_key(|recording| recording.flags & 4);
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    run
}

fn command(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).env("LD_LIBRARY_PATH", image::folder());
    command.env_remove("ANYORDER_RECORDING");
    command
}

fn finish(output: &Output) -> Run {
    let status = output.status.code().or(output.status.signal().map(|signal| -signal));
    Run {
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        status: status.expect("a status or a signal"),
        recordings: Vec::new(),
        maps: String::new(),
    }
}
