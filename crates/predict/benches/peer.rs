//! Our engines and RAPID's on the same STD file: processor time, wall time, memory, and the racing
//! accesses.
//!
//! `EVENTS` is the length (5,000,000). With `RAPID_CLASSPATH`, a Java class path to a build of
//! RAPID, its engines `HB`, `HBEpoch` and `WCP` run too (`RAPID_ENGINES`, by commas; `RAPID_JAVA`,
//! options of the machine by spaces). Each engine is a process of its own, start and reading
//! included; ours run three times, the least counts. RAPID and our engines print the source
//! position of each access that races with an earlier one, and the benchmark compares the lists.
//! The file is about 18 bytes an event, in a temporary folder that is removed at the end.

#![allow(clippy::print_stdout, reason = "a bench prints")]

mod measure;
mod workload;

use anyorder_formats::native_binary::{BinaryReader, BinaryWriter};
use anyorder_formats::std::{StdReader, StdWriter};
use anyorder_predict::{
    Analysis, CandidateOptions, Candidates, EdcAnalysis, HbAnalysis, MemoryOnly, Report,
    WdcAnalysis, run,
};
use anyorder_trace::{Tables, TraceSink, TraceSource, copy};
use measure::{Cost, memory_kib, number, print_load, run_process};
use std::collections::BTreeSet;
use std::error::Error;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use workload::{Shape, Workload};

/// Set for the processes of our own engines: what to run, `hb std FILE`.
const CHILD: &str = "ANYORDER_PEER_CHILD";

/// Removes its folder in the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One engine's run.
struct Row {
    name: String,
    cost: Cost,
    /// The source position of each access that races with an earlier one, in the order of the
    /// trace.
    racy: Vec<u32>,
    racy_count: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    if let Ok(what) = std::env::var(CHILD) {
        return child(&what);
    }
    let events = number("EVENTS", 5_000_000);
    let folder = Folder(std::env::temp_dir().join(format!("anyorder-peer-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0)?;
    let (text, binary) = (folder.0.join("trace.std"), folder.0.join("trace.edt"));
    let shape = Shape { events, ..Shape::default() };
    write(shape, &mut StdWriter::new(File::create(&text)?))?;
    write(shape, &mut BinaryWriter::new(File::create(&binary)?)?)?;
    let mib = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len() >> 20);
    println!("{events} events: {} MiB of STD, {} MiB binary", mib(&text), mib(&binary));
    print_load();
    println!(
        "{:<22} {:>8} {:>8} {:>8} {:>10} {:>8} {:>8}",
        "engine", "user s", "system s", "wall s", "peak MiB", "racy", "lines"
    );
    let mut ours = Vec::new();
    for engine in ["hb", "wdc", "edc"] {
        for (format, path) in [("binary", &binary), ("std", &text)] {
            let row = own(engine, format, path, &folder.0)?;
            row.print();
            ours.push(row);
        }
    }
    for pair in ours.chunks(2) {
        assert_eq!(pair[0].racy, pair[1].racy, "both formats say the same");
    }
    let Ok(classpath) = std::env::var("RAPID_CLASSPATH") else {
        println!("RAPID_CLASSPATH is not set: ours alone");
        return Ok(());
    };
    let engines = std::env::var("RAPID_ENGINES").unwrap_or("HB,HBEpoch,WCP".to_owned());
    for engine in engines.split(',') {
        let row = rapid(engine, &classpath, &text, &folder.0)?;
        row.print();
        if !row.cost.success {
            println!("  it failed");
            continue;
        }
        let (binary, std) = if engine == "WCP" { (2, 3) } else { (0, 1) };
        compare(&row, &ours[binary], &ours[std]);
    }
    Ok(())
}

/// Makes a trace, block by block.
fn write(shape: Shape, sink: &mut dyn TraceSink) -> Result<(), Box<dyn Error>> {
    copy(&mut Workload::new(shape), sink, |_| {})?;
    Ok(())
}

/// Runs an engine of ours three times in its own process; returns the run that took least.
fn own(engine: &str, format: &str, path: &Path, folder: &Path) -> Result<Row, Box<dyn Error>> {
    let output = folder.join("output");
    let mut best: Option<Cost> = None;
    let mut text = String::new();
    for _ in 0..3 {
        let what = format!("{engine} {format} {}", path.display());
        let mut command = Command::new(std::env::current_exe()?);
        let mut cost = run_process(command.env(CHILD, what), &output)?;
        assert!(cost.success, "our own engine fails");
        text = std::fs::read_to_string(&output)?;
        cost.memory_kib = field(&text, "peak ").map_or(cost.memory_kib, |peak| peak as u64);
        if best.is_none_or(|best| cost.processor() < best.processor()) {
            best = Some(cost);
        }
    }
    let racy = text.lines().filter_map(|line| line.parse().ok()).collect();
    let (name, cost) = (format!("ours, {engine}, {format}"), best.unwrap_or_default());
    Ok(Row { name, cost, racy, racy_count: field(&text, "racy ").unwrap_or_default() })
}

/// A number that our process prints behind its list.
fn field(text: &str, name: &str) -> Option<usize> {
    text.lines().rev().find_map(|line| line.strip_prefix(name))?.parse().ok()
}

/// Is one of our engines.
fn child(what: &str) -> Result<(), Box<dyn Error>> {
    let mut words = what.splitn(3, ' ');
    let mut word = || words.next().ok_or("three words");
    let (engine, format, path) = (word()?, word()?, word()?);
    let input = BufReader::with_capacity(1 << 20, File::open(path)?);
    match format {
        "binary" => report(engine, &mut BinaryReader::new(input)),
        _ => report(engine, &mut StdReader::new(input)),
    }
}

fn report(engine: &str, source: &mut dyn TraceSource) -> Result<(), Box<dyn Error>> {
    let options = CandidateOptions {
        candidates: if engine == "edc" { Candidates::Corrected } else { Candidates::Off },
        // There are many candidates under a common lock: listing them would use most of the memory.
        violations_max: if engine == "edc" { 0 } else { 10_000_000 },
        ..CandidateOptions::default()
    };
    let mut analysis: Box<dyn Analysis> = match engine {
        "hb" => Box::new(HbAnalysis::new(MemoryOnly, options)),
        "wdc" => Box::new(WdcAnalysis::new(MemoryOnly, options)),
        _ => Box::new(EdcAnalysis::new(MemoryOnly, options)),
    };
    run(source, &mut [analysis.as_mut()], |_| {})?;
    print_racy(source.tables(), &analysis.finish())
}

/// Prints the source position of each racy second action, and the memory that this process took.
fn print_racy(tables: &Tables, report: &Report) -> Result<(), Box<dyn Error>> {
    let racy = report.violations.iter().filter(|v| v.kind == anyorder_predict::ViolationKind::Racy);
    let seconds: BTreeSet<_> = racy.map(|v| (v.second.event, v.second.site)).collect();
    let mut out = std::io::stdout().lock();
    for (_, site) in seconds {
        writeln!(out, "{}", tables.site_text(site))?;
    }
    let (peak, _) = memory_kib("self").unwrap_or_default();
    writeln!(out, "racy {}", report.counts.racy_seconds)?;
    writeln!(out, "peak {peak}")?;
    Ok(())
}

/// Runs an engine of RAPID.
fn rapid(
    engine: &str,
    classpath: &str,
    trace: &Path,
    folder: &Path,
) -> Result<Row, Box<dyn Error>> {
    let output = folder.join("output");
    let mut command = Command::new("java");
    let options = std::env::var("RAPID_JAVA").unwrap_or("-Xmx12g".to_owned());
    command.args(options.split_whitespace()).args(["-cp", classpath, engine, "-f", "std", "-p"]);
    let cost = run_process(command.arg(trace), &output)?;
    let text = std::fs::read_to_string(&output)?;
    let racy: Vec<u32> = text.lines().map_while(|line| line.parse().ok()).collect();
    Ok(Row { name: format!("RAPID, {engine}"), cost, racy_count: racy.len(), racy })
}

impl Row {
    fn print(&self) {
        let Cost { user, system, wall, memory_kib, .. } = self.cost;
        let lines: BTreeSet<u32> = self.racy.iter().copied().collect();
        let memory = memory_kib >> 10;
        println!(
            "{:<22} {user:>8.2} {system:>8.2} {wall:>8.2} {memory:>10} {:>8} {:>8}",
            self.name,
            self.racy_count,
            if lines.is_empty() { String::new() } else { lines.len().to_string() }
        );
    }
}

/// Prints the speed-up of our engines, and compares the racy accesses.
fn compare(peer: &Row, binary: &Row, std: &Row) {
    for ours in [binary, std] {
        println!(
            "  {}: {:.0} times in processor time, {:.0} in user time, {:.0} in wall time, {:.0} in memory",
            ours.name,
            peer.cost.processor() / ours.cost.processor(),
            peer.cost.user / ours.cost.user,
            peer.cost.wall / ours.cost.wall,
            peer.cost.memory_kib as f64 / ours.cost.memory_kib.max(1) as f64,
        );
    }
    let verdict = if peer.racy == binary.racy {
        "the same racy accesses"
    } else if is_part(&peer.racy, &binary.racy) {
        "ours has all of its racy accesses, and more"
    } else if is_part(&binary.racy, &peer.racy) {
        "it has all of our racy accesses, and more"
    } else {
        "each has racy accesses that the other has not"
    };
    println!("  {verdict}");
}

/// Returns whether one list becomes the other by leaving entries out.
fn is_part(part: &[u32], whole: &[u32]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|wanted| whole.any(|found| found == wanted))
}
