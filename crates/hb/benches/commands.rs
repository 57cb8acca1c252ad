//! How the time and memory of whole commands grow with each thing that can grow, one at a time.
//!
//! `cargo build --release && cargo bench -p anyorder-hb --bench commands` doubles each family of
//! inputs up to 100,000 and runs the binary on them: `check --no-predict` and
//! `predict --no-confirm` on traces (with `--whole`, `check` and `predict`), `consistency` on
//! messages, `check` on models. For each it prints the largest size whose run ended, its processor
//! seconds and peak memory in MB, and the exponents between that size and half of it: 1.0 is
//! linear, 2.0 quadratic. It prints no exponent where the smaller run takes under [`LEAST`] seconds
//! or [`LEAST_MB`].
//!
//! `-- --now FILE` names the binary (`target/release/anyorder`); `--before FILE` measures another
//! one beside it; `--to N` sets the size at which a family ends; `--limit SECONDS` ends each run
//! (20), and `--memory SIZE` bounds it (6G); `--only WORD` chooses families by a part of their
//! names.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod texts;

use anyorder_formats::native_binary::BinaryWriter;
use anyorder_testkit::synthetic::growth::{FAMILIES, Family};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use texts::TEXTS;

/// The least seconds from which an exponent means something.
const LEAST: f64 = 0.05;

/// The least megabytes from which an exponent means something: the program itself takes ten.
const LEAST_MB: f64 = 24.0;

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
    memory: String,
    to: u32,
    only: String,
    /// Whether pairs are searched for witnesses.
    is_whole: bool,
    folder: PathBuf,
}

/// What one run took.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    megabytes: f64,
    /// Whether a limit ended it.
    is_cut: bool,
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
        memory: value("--memory").unwrap_or_else(|| "6G".to_owned()),
        to: value("--to").and_then(|n| n.parse().ok()).unwrap_or(100_000),
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
    print!("| what grows | command |");
    for word in words {
        print!(" {word}: to | s | exponent | MB | exponent |");
    }
    println!("\n| --- | ---{}", " | ---: | ---: | ---: | ---: | ---:".repeat(words.len()) + " |");
    for family in FAMILIES.iter().filter(|family| family.name.contains(&options.only)) {
        for command in [["check", "--no-predict"], ["predict", "--no-confirm"]] {
            let command = if options.is_whole { &command[..1] } else { &command[..] };
            row(options, family.name, command, family.start, |size, path| {
                trace(family, size, path)
            })?;
        }
    }
    for text in TEXTS.iter().filter(|text| text.name.contains(&options.only)) {
        row(options, text.name, text.command, text.start, |size, path| {
            std::fs::write(path, (text.make)(size))
        })?;
    }
    for (name, family, start) in MESSAGES.iter().filter(|row| row.0.contains(&options.only)) {
        row(options, name, &["check"], *start, |size, path| {
            let mut command = Command::new(&options.binaries[options.binaries.len() - 1]);
            command.args(["generate", family, "--size", &size.to_string(), "--to", "binary"]);
            command.arg("--output").arg(path);
            command.stderr(Stdio::null()).status().map(drop)
        })?;
    }
    Ok(())
}

/// Writes the trace of a family.
fn trace(family: &Family, size: u32, path: &Path) -> io::Result<()> {
    let mut sink = BinaryWriter::new(BufWriter::new(File::create(path)?))?;
    (family.make)(size).map_err(io::Error::other)?.write(&mut sink)?;
    sink.into_inner().flush()
}

/// Prints a row: what the command costs as the input doubles.
fn row(
    options: &Options,
    name: &str,
    command: &[&str],
    start: u32,
    make: impl Fn(u32, &Path) -> io::Result<()>,
) -> io::Result<()> {
    print!("| {name} | {} |", command.join(" "));
    // Models are recognised by the ending of their names.
    let path = options.folder.join(if name.contains("model") { "in.any" } else { "in.trace" });
    for binary in &options.binaries {
        let (mut size, mut costs) = (start, Vec::new());
        loop {
            make(size, &path)?;
            costs.push(run(binary, command, &path, options)?);
            if size >= options.to || costs[costs.len() - 1].is_cut {
                break;
            }
            size *= 2;
        }
        cells(size, &costs);
        io::stdout().flush()?;
    }
    println!();
    Ok(())
}

/// Prints the last of the costs, and the exponents between the last two runs that ended.
fn cells(size: u32, costs: &[Cost]) {
    let last = costs[costs.len() - 1];
    let more = if last.is_cut { "> " } else { "" };
    let [.., before, after] = (if last.is_cut { &costs[..costs.len() - 1] } else { costs }) else {
        print!(" {more}{size} | {:.2} | - | {:.0} | - |", last.seconds, last.megabytes);
        return;
    };
    let exponent = |before: f64, after: f64, least: f64| match before < least {
        true => String::from("-"),
        false => format!("{:.2}", (after / before).log2()),
    };
    let seconds = exponent(before.seconds, after.seconds, LEAST);
    let bytes = exponent(before.megabytes, after.megabytes, LEAST_MB);
    print!(" {more}{size} | {:.2} | {seconds} | {:.0} | {bytes} |", last.seconds, last.megabytes);
}

/// Runs a command; of two runs, if they are short, the one that took less time counts.
fn run(binary: &Path, command: &[&str], file: &Path, options: &Options) -> io::Result<Cost> {
    let once = || {
        let before = children_seconds()?;
        let mut call = Command::new(binary);
        call.args(command).arg(file).args(["--time-limit", &format!("{}s", options.limit)]);
        call.args(["--memory-limit", &options.memory]);
        call.args(["--format", "json", "--output"]).arg(file.with_extension("json"));
        let mut child = call.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let megabytes = peak(&mut child)?;
        let status = child.wait()?;
        let seconds = children_seconds()? - before;
        let text = std::fs::read_to_string(file.with_extension("json")).unwrap_or_default();
        let limits = text.split("\"limits\":[").nth(1).and_then(|rest| rest.split(']').next());
        let limits = limits.unwrap_or_default();
        let is_cut = limits.contains("time-limit") || limits.contains("memory-limit");
        let is_cut = is_cut || status.code().is_none_or(|code| code > 3);
        Ok::<_, io::Error>(Cost { seconds, megabytes, is_cut })
    };
    let first = once()?;
    if first.seconds > 1.0 {
        return Ok(first);
    }
    let second = once()?;
    Ok(if second.seconds < first.seconds { second } else { first })
}

/// Waits for a child; returns the peak of its resident memory. The system forgets the peak when the
/// child ends, so this asks again and again.
fn peak(child: &mut Child) -> io::Result<f64> {
    let path = format!("/proc/{}/status", child.id());
    let mut kilobytes = 0.0;
    while child.try_wait()?.is_none() {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        kilobytes = number.unwrap_or(kilobytes);
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(kilobytes / 1024.0)
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
