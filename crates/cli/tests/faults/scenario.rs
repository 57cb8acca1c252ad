//! The commands under test, each with its files: a small example of every command, of every format
//! that it reads and writes.

use crate::shim::{Files, Place, shim};
use std::path::Path;

/// A command, and the files that it finds.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) arguments: Vec<String>,
    pub(crate) stdin: Vec<u8>,
    pub(crate) before: Files,
}

impl Scenario {
    /// Returns whether the command writes one JSON object to standard output.
    pub(crate) fn prints_json(&self) -> bool {
        let has = |word: &str| self.arguments.iter().any(|argument| argument == word);
        has("json") && !has("-o")
    }
}

/// What stands in each file that a command replaces.
pub(crate) const OLD: &[u8] = b"what was there before\n";

/// The commands. `CHILD` stands for a program behind a pipe. Words that end in `!` name files that
/// are there before, without the mark.
const COMMANDS: &[(&str, &str)] = &[
    ("check a text trace", "check notes.trace --format json -o result.json! --report report"),
    ("check to stdout", "check notes.trace --format json"),
    ("check as text", "check notes.trace"),
    ("check a binary trace", "check notes.bin --format sarif -o result.json!"),
    ("check std and sites", "check race.std --format jsonl -o result.json! --config rules.toml"),
    ("check a partial trace", "check part.edt --format junit -o result.json!"),
    ("check stdin", "check - --format json"),
    (
        "check against a baseline",
        "check notes.trace --baseline known.json --format json -o result.json!",
    ),
    (
        "check and write a baseline",
        "check notes.trace --write-baseline baseline.json! --format json -o result.json!",
    ),
    ("check two inputs", "check notes.trace race.std --report report --format json"),
    (
        "check with limits",
        "check notes.trace --time-limit 1h --memory-limit 4G --format json -o result.json!",
    ),
    ("check a model", "check page.any --threads 1 --schedules runs --format json -o result.json!"),
    ("check a model, report", "check page.any --threads 2 --report report"),
    (
        "check a model, saved",
        "check page.any --threads 1 --checkpoint saved! --checkpoint-every 1ms --format json",
    ),
    (
        "check a model, limited",
        "check tables.any --threads 1 --max-states 40 --checkpoint saved --format json",
    ),
    (
        "check a model, resumed",
        "check tables.any --threads 1 --resume cut --checkpoint saved --format json",
    ),
    ("predict", "predict race.std --format json -o result.json! --schedules runs"),
    ("predict a stream", "predict race.std --no-confirm --format json"),
    ("predict, specified", "predict race.std --spec types.spec --report report"),
    ("why", "why notes.trace 69 88 --format json"),
    ("consistency", "consistency part.edt --witness witness.txt! --format json"),
    ("inconsistency", "consistency bad.edt --certificate proof.txt! --format json -o result.json!"),
    ("explore a model", "explore page.any --threads 1 --format json -o result.json!"),
    (
        "explore one run",
        "explore page.any --algorithm r4 --threads 1 --schedules runs --format json",
    ),
    (
        "explore a program",
        "explore --program CHILD --threads 1 --format json -o result.json! --report report",
    ),
    (
        "explore a program, limited",
        "explore --program CHILD --threads 1 --time-limit 1h --format json",
    ),
    ("shrink", "shrink page.any run.json -o small.json!"),
    ("shrink a program's run", "shrink --program CHILD childrun.json -o small.json!"),
    ("replay", "replay page.any run.json"),
    ("replay a program", "replay --program CHILD childrun.json"),
    ("replay a witness", "replay race.std predicted.json"),
    ("simulate", "simulate page.any --runs 50 --schedules runs --format json -o result.json!"),
    ("diff", "diff page.any run.json run.json"),
    ("graph", "graph page.any -o graph.dot!"),
    ("fmt", "fmt ugly.any"),
    ("info", "info notes.bin --format json"),
    ("info, text", "info notes.trace"),
    ("convert to binary", "convert notes.trace out.bin! --to binary"),
    ("convert to text", "convert notes.bin out.trace! --to text"),
    ("convert to std", "convert race.std out.std! --to std"),
    ("convert to edtrace", "convert part.edt out.edt! --to edtrace"),
    ("convert to stdout", "convert notes.bin - --to text"),
    ("generate", "generate buyers --size 2 -o out.edt!"),
    ("generate and its run", "generate flat --size 100 -o out.edt! --run order.txt!"),
    ("explain", "explain race"),
    ("schema", "schema"),
    ("completions", "completions bash"),
    ("man", "man"),
    ("man pages", "man --dir pages"),
];

/// Makes all commands and their files. Files that a command makes are made by the program itself.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let shim = shim().expect("the shim");
    let child = shim.child.to_str().expect("a path in UTF-8");
    let files = inputs(child);
    let only = std::env::var("ANYORDER_FAULTS").unwrap_or_default();
    let mut all: Vec<Scenario> =
        COMMANDS.iter().map(|(name, line)| scenario(name, line, child, &files)).collect();
    if all.iter().any(|one| one.name == only) {
        all.retain(|one| one.name == only);
    }
    all
}

fn scenario(name: &'static str, line: &str, child: &str, files: &Files) -> Scenario {
    let mut before = Files::new();
    let mut arguments = Vec::new();
    for word in line.split(' ') {
        match word.strip_suffix('!') {
            Some(path) => {
                before.insert(path.to_owned(), OLD.to_vec());
                arguments.push(path.to_owned());
            }
            None if word == "CHILD" => arguments.push(child.to_owned()),
            None => arguments.push(word.to_owned()),
        }
        if let Some(bytes) = files.get(word) {
            before.insert(word.to_owned(), bytes.clone());
        }
        if word == "race.std" {
            before.insert("sites.tsv".to_owned(), files["sites.tsv"].clone());
        }
    }
    if name == "check a model, saved" {
        // Only a checkpoint, or an empty file, is replaced.
        before.insert("saved".to_owned(), files["cut-page"].clone());
    }
    if name == "check to stdout" || name == "why" {
        // Found by itself.
        before.insert("anyorder.toml".to_owned(), files["rules.toml"].clone());
    }
    if line.contains("--report") {
        before.insert("report/index.html".to_owned(), OLD.to_vec());
    }
    let stdin =
        if line.contains(" - --format") { files["notes.trace"].clone() } else { Vec::new() };
    Scenario { name, arguments, stdin, before }
}

/// The files that commands read.
fn inputs(child: &str) -> Files {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let read = |path: &str| std::fs::read(root.join(path)).expect("an example");
    let mut files = Files::from([
        ("notes.trace".to_owned(), read("notes-app.trace")),
        ("race.std".to_owned(), read("traces/uaf_pred.std")),
        ("page.any".to_owned(), read("models/four-events.any")),
        ("tables.any".to_owned(), read("models/dining-philosophers.any")),
        ("sites.tsv".to_owned(), b"1\tmain\tapp.c:3\n2\twork\tapp.c:9\n".to_vec()),
        (
            "rules.toml".to_owned(),
            b"[[suppress]]\nlocation = \"nothing.*\"\nreason = \"none\"\n".to_vec(),
        ),
        ("ugly.any".to_owned(), b"model   ugly\nvar x=0;\nevent   press{x=1;}\n".to_vec()),
        ("types.spec".to_owned(), b"spec cell {\n    get() ~ get();\n}\n".to_vec()),
        ("bad.edt".to_owned(), Vec::new()),
    ]);
    let made = [
        ("notes.bin", "convert notes.trace notes.bin --to binary"),
        ("known.json", "check notes.trace --write-baseline known.json"),
        ("part.edt", "generate buyers --size 2 -o part.edt"),
        ("bad.edt", "generate sat3 --size 6 --ratio 9 --seed 3 -o bad.edt"),
        ("cut", "check tables.any --threads 1 --max-states 40 --checkpoint cut"),
        ("cut-page", "check page.any --threads 1 --max-states 2 --checkpoint cut-page"),
        ("predicted.json", "predict race.std --format json -o predicted.json"),
        ("run.json", "check page.any --threads 1 --format json -o run.json"),
        ("childrun.json", "explore --program CHILD --format json -o childrun.json"),
    ];
    let place = Place::new();
    for (name, line) in made {
        place.reset(&files);
        let arguments: Vec<String> = line
            .split(' ')
            .map(|word| if word == "CHILD" { child } else { word }.to_owned())
            .collect();
        let ran = place.run(&arguments, &[], None);
        let bytes = ran.files.get(name);
        let bytes = bytes.unwrap_or_else(|| panic!("`{line}` makes no {name}: {}", ran.stderr));
        files.insert(name.to_owned(), bytes.clone());
    }
    files
}
