//! The real Groovy 2.4: one long-lived process that answers requests on its standard input.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The process.
pub(crate) struct Oracle {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// Returns the libraries of Groovy, from `ANYORDER_GROOVY_JARS` or where Debian puts them.
fn jars() -> Option<PathBuf> {
    let folder = std::env::var_os("ANYORDER_GROOVY_JARS")
        .map_or_else(|| PathBuf::from("/usr/share/groovy/lib"), PathBuf::from);
    let mut names = std::fs::read_dir(&folder).ok()?.flatten().map(|entry| entry.file_name());
    let found = names.any(|name| name.to_string_lossy().starts_with("groovy-2.4"));
    found.then(|| folder.join("*"))
}

impl Oracle {
    /// Starts the script `name` in `tests/oracle`; `None`, with a word, where there is no Groovy
    /// 2.4.
    pub(crate) fn start(name: &str) -> Option<Oracle> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle").join(name);
        let child = jars().and_then(|jars| {
            Command::new("java")
                .args(["-Xss256m", "-Xmx1g", "-XX:+UseSerialGC", "-cp"])
                .arg(jars)
                .arg("groovy.ui.GroovyMain")
                .arg(script)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .ok()
        });
        let Some(mut child) = child else {
            println!("skipped: Groovy 2.4 and java are needed (apt-get install groovy)");
            return None;
        };
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Some(Oracle { child, input, output })
    }

    /// Gives a text to the script; returns its answer, or its message.
    pub(crate) fn ask(&mut self, text: &str) -> Result<String, String> {
        let input = self.input.as_mut().expect("a pipe");
        write!(input, "{}\n{text}", text.len()).expect("Groovy reads");
        input.flush().expect("Groovy reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("Groovy answers");
        let (status, length) = line.trim().split_once(' ').expect("a status and a length");
        let mut answer = vec![0; length.parse::<usize>().expect("a length") + 1];
        self.output.read_exact(&mut answer).expect("Groovy answers");
        answer.pop();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        if status == "ok" { Ok(answer) } else { Err(answer) }
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        self.input = None;
        self.child.wait().ok();
    }
}

/// Returns the files of the corpus that `ANYORDER_GROOVY_CORPUS` names: a folder of Groovy files.
pub(crate) fn corpus() -> Vec<(PathBuf, String)> {
    let Some(folder) = std::env::var_os("ANYORDER_GROOVY_CORPUS") else {
        println!("skipped: no folder of Groovy files in ANYORDER_GROOVY_CORPUS");
        return vec![];
    };
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::from(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "groovy") {
                let bytes = std::fs::read(&path).expect("a file");
                found.push((path, String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
    }
    found.sort();
    found
}
