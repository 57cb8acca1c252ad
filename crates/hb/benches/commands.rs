//! How the cost of whole commands grows with each thing that can grow, one at a time, and how it
//! grew before a change.
//!
//! `cargo build --release && cargo bench -p anyorder-hb --bench commands` writes traces to a
//! temporary folder, each family at one size and twice that size. It runs `check --no-predict` and
//! `predict --no-confirm` of the binary on them (with `--whole`, `check` and `predict`), and
//! `check` on generated messages, which asks whether they are consistent. For each it prints the
//! processor seconds on the larger trace and the exponent between the two: 1.0 is linear, 2.0
//! quadratic. It prints no exponent where the smaller trace takes under [`LEAST`] seconds.
//!
//! `-- --now FILE` names the binary (`target/release/anyorder`); `--before FILE` measures another
//! one beside it; `--limit SECONDS` ends each run (20); `--doublings N` sets the sizes (3);
//! `--only WORD` chooses families by a part of their names.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use anyorder_formats::native_binary::BinaryWriter;
use anyorder_testkit::synthetic::growth::FAMILIES;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The least seconds from which an exponent means something.
const LEAST: f64 = 0.05;

/// Families of messages that the command itself generates, and a size.
const MESSAGES: [(&str, &str, u32); 4] = [
    ("messages, not nested", "flat", 2_000),
    ("nested chains of messages", "shuffle", 2_000),
    ("rings of orders", "knot", 200),
    ("nodes of a broadcast", "consensus", 6),
];

struct Options {
    binaries: Vec<PathBuf>,
    limit: String,
    doublings: u32,
    only: String,
    /// Whether pairs are searched for witnesses.
    is_whole: bool,
    folder: PathBuf,
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let folder = std::env::temp_dir().join(format!("anyorder-commands-{}", std::process::id()));
    let now = value("--now").unwrap_or_else(|| {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/release/anyorder").to_owned()
    });
    let options = Options {
        binaries: value("--before").into_iter().chain([now]).map(PathBuf::from).collect(),
        limit: value("--limit").unwrap_or_else(|| "20".to_owned()),
        doublings: value("--doublings").and_then(|n| n.parse().ok()).unwrap_or(3),
        only: value("--only").unwrap_or_default(),
        is_whole: arguments.iter().any(|argument| argument == "--whole"),
        folder,
    };
    std::fs::create_dir_all(&options.folder)?;
    let result = table(&options);
    std::fs::remove_dir_all(&options.folder)?;
    result
}

fn table(options: &Options) -> io::Result<()> {
    let words: &[&str] = if options.binaries.len() == 2 { &["before", "now"] } else { &["now"] };
    print!("| what grows | to |");
    for command in ["check", "predict"] {
        for word in words {
            print!(" {command} {word}, s | exponent |");
        }
    }
    println!("\n| --- | ---{}", " | ---: | ---:".repeat(2 * words.len()) + " |");
    for family in FAMILIES.iter().filter(|family| family.name.contains(&options.only)) {
        let sizes = [family.start << (options.doublings - 1), family.start << options.doublings];
        let mut files = Vec::new();
        for size in sizes {
            let path = options.folder.join(format!("{size}.trace"));
            let mut sink = BinaryWriter::new(BufWriter::new(File::create(&path)?))?;
            (family.make)(size).map_err(io::Error::other)?.write(&mut sink)?;
            sink.into_inner().flush()?;
            files.push(path);
        }
        print!("| {} | {} |", family.name, sizes[1]);
        for command in [["check", "--no-predict"], ["predict", "--no-confirm"]] {
            let command = if options.is_whole { &command[..1] } else { &command[..] };
            cells(options, command, &files)?;
        }
        println!();
    }
    for (name, family, start) in MESSAGES.iter().filter(|row| row.0.contains(&options.only)) {
        let sizes = [start << (options.doublings - 1), start << options.doublings];
        let mut files = Vec::new();
        for size in sizes {
            let path = options.folder.join(format!("{size}.generated"));
            let mut command = Command::new(&options.binaries[options.binaries.len() - 1]);
            command.args(["generate", family, "--size", &size.to_string(), "--to", "binary"]);
            command.arg("--output").arg(&path);
            command.stderr(Stdio::null()).status()?;
            files.push(path);
        }
        print!("| {name} | {} |", sizes[1]);
        cells(options, &["check"], &files)?;
        println!("{}", " |".repeat(2 * words.len()));
    }
    Ok(())
}

/// Prints the seconds and the exponent of a command, for each binary.
fn cells(options: &Options, command: &[&str], files: &[PathBuf]) -> io::Result<()> {
    for binary in &options.binaries {
        let mut seconds = Vec::new();
        for file in files {
            seconds.push(run(binary, command, file, &options.limit)?);
        }
        let [(smaller, _), (larger, is_cut)] = seconds[..] else { continue };
        let exponent = (larger / smaller).log2();
        let more = if is_cut { "> " } else { "" };
        let exponent =
            if is_cut || smaller < LEAST { String::from("-") } else { format!("{exponent:.1}") };
        print!(" {more}{larger:.2} | {exponent} |");
        io::stdout().flush()?;
    }
    Ok(())
}

/// Returns the processor seconds of a command (the least of two runs, if they are short), and
/// whether its limit ended it.
fn run(binary: &Path, command: &[&str], file: &Path, limit: &str) -> io::Result<(f64, bool)> {
    let once = || {
        let before = children_seconds()?;
        let mut child = Command::new(binary);
        child.args(command).arg(file).args(["--time-limit", &format!("{limit}s")]);
        child.args(["--format", "json", "--output"]).arg(file.with_extension("json"));
        let status = child.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        let seconds = children_seconds()? - before;
        let text = std::fs::read_to_string(file.with_extension("json")).unwrap_or_default();
        let is_cut = text.contains("\"complete\": false") || text.contains("\"complete\":false");
        Ok::<_, io::Error>((seconds, is_cut || status.code().is_none_or(|code| code > 3)))
    };
    let first = once()?;
    if first.0 > 1.0 {
        return Ok(first);
    }
    let second = once()?;
    Ok(if second.0 < first.0 { second } else { first })
}

/// Returns the processor seconds of all children that have ended, in steps of 10 ms.
fn children_seconds() -> io::Result<f64> {
    const TICKS: f64 = 100.0;
    let text = std::fs::read_to_string("/proc/self/stat")?;
    // The fields after the name of the program, which may contain spaces.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: Vec<f64> = fields.skip(13).take(2).filter_map(|field| field.parse().ok()).collect();
    Ok(ticks.iter().sum::<f64>() / TICKS)
}
