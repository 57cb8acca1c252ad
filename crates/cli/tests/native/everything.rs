//! A program with everything that makes a runtime stumble, and without a mistake: it does the same
//! under `anyorder run` as without, and nothing is reported.

use super::{HIDDEN, found};
use crate::common::{command, folder, ran, workspace};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A C compiler, the C++ compiler beside it, and what `anyorder run` needs of them.
struct Compiler {
    c: &'static str,
    cc: &'static str,
    options: &'static [&'static str],
}

const GCC: Compiler = Compiler { c: "gcc", cc: "g++", options: &[] };
const CLANG: Compiler = Compiler {
    c: "clang",
    cc: "clang++",
    options: &["-shared-libsan", "-mllvm", "-tsan-instrument-read-before-write=1"],
};

impl Compiler {
    /// Returns whether it is installed, with its runtime.
    fn is_there(&self) -> bool {
        let mut command = Command::new(self.c);
        command.arg("-print-file-name=libclang_rt.tsan-x86_64.so").stderr(Stdio::null());
        match command.output() {
            Ok(output) => self.options.is_empty() || output.stdout.contains(&b'/'),
            Err(_) => false,
        }
    }

    /// Compiles in a folder.
    fn run(&self, folder: &Path, program: &str, arguments: &[&str]) {
        let mut compiler = Command::new(program);
        compiler.args(["-g", "-O1", "-pthread", "-fsanitize=thread"]).args(self.options);
        let output = compiler.args(arguments).current_dir(folder).output().expect("a compiler");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{compiler:?}: {said}");
    }

    /// Builds the program and its library.
    fn build(&self, folder: &Path) {
        let source = |name: &str| -> String {
            let path: PathBuf = workspace().join("crates/cli/tests/native").join(name);
            path.to_str().expect("a path").to_owned()
        };
        let (c, cc) = (source("everything.c"), source("everything.cc"));
        self.run(folder, self.c, &["-c", "-o", "parts.o", &c]);
        self.run(folder, self.cc, &["-std=c++17", "-o", "everything", &cc, "parts.o", "-ldl"]);
        let library = ["-std=c++17", "-DPLUGIN", "-shared", "-fPIC", "-o", "plugin.so", &cc];
        self.run(folder, self.cc, &library);
    }
}

/// What the program prints, in each run.
const EXPECTED: &str = "threads: 20120\nforks: 1048\nlibraries: 625\njumps: 9675\n\
    exceptions: 1766\nsignals: 280\nlocals: 80\nstandard: 65\ncancels: 444416\ncrowd: 500500\n\
    locks: 31872\nreuse: 28832075\nkinds: 116142\nc11: 60061107\nends: 0\nregistered last\n\
    a thread at the end\nregistered first\nstatic object: 1\n";

/// Builds the program and runs it. `ANYORDER_EVERYTHING_RUNS` has how often; twice without it.
fn runs_as_without(compiler: &Compiler) {
    let folder = folder();
    compiler.build(folder.path());
    let runs = std::env::var("ANYORDER_EVERYTHING_RUNS").ok().and_then(|runs| runs.parse().ok());
    for _ in 0..runs.unwrap_or(2) {
        let file = folder.path().join("result.json");
        let output = file.to_str().expect("a path");
        let arguments = ["run", "--format", "json", "--output", output, "./everything", "all"];
        let ran = ran(command(&arguments).current_dir(folder.path()));
        assert_eq!((ran.stdout.as_str(), ran.status), (EXPECTED, 17), "{}", ran.stderr);
        let text = std::fs::read_to_string(&file).expect("a result");
        let result: Value = serde_json::from_str(&text).expect("one object");
        assert_eq!(found(&result), [], "{}: {result}", compiler.c);
        let verdict = (&result["verdict"], &result["complete"]);
        assert_eq!(verdict, (&"ok".into(), &true.into()), "{:?}", result["warnings"]);
        // The children of the forks have recordings of their own.
        let inputs = result["inputs"].as_array().expect("a list");
        assert_eq!(inputs.len(), 5, "{inputs:?}");
    }
}

#[test]
fn by_gcc_it_runs_as_without() {
    runs_as_without(&GCC);
}

const SKIPPED: &str = "skipped: there is no clang with the shared runtime of ThreadSanitizer";

#[test]
fn by_clang_it_runs_as_without() {
    if CLANG.is_there() {
        runs_as_without(&CLANG);
    } else {
        println!("{SKIPPED}");
    }
}

#[test]
fn small_programs_by_clang_have_the_same_findings() {
    if !CLANG.is_there() {
        println!("{SKIPPED}");
        return;
    }
    let folder = folder();
    let source = workspace().join("crates/cli/tests/native/programs.c");
    let source = source.to_str().expect("a path");
    CLANG.run(folder.path(), CLANG.c, &["-o", "programs", source]);
    let categories = |which: &str| -> (Vec<String>, String) {
        let arguments = ["run", "--format", "json", "./programs", which];
        let ran = ran(command(&arguments).current_dir(folder.path()));
        let result: Value = serde_json::from_str(&ran.stdout).expect("one object");
        let found = found(&result).into_iter().map(|one| one.0).collect();
        (found, result["warnings"].to_string())
    };
    for (which, category) in HIDDEN {
        let (found, warnings) = categories(which);
        assert_eq!(found, [category], "{which}");
        assert!(warnings.contains("-tsan-instrument-read-before-write"), "{which}: {warnings}");
    }
    for which in ["race-joined", "use-joined", "use-counted", "use-unless-closed"] {
        assert_eq!(categories(which).0, [""; 0], "{which}");
    }
}
