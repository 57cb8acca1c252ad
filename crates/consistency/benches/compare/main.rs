//! Compares the solver with Z3, and shows its growth.
//!
//! `cargo bench -p anyorder-consistency --bench compare [-- PART] [--filter TEXT,TEXT] [--limit
//! SECONDS] [--encodings LIST]`
//!
//! `PART` is `table` (the traces of the paper's tables and harder ones, against Z3), `growth`
//! (large traces, and formulas near the hardest clause ratio), `z3-growth` (the largest formulas
//! that Z3 decides within the limit) or `real` (the Android logs); the default is
//! all of them. `benches/z3/README.md` says how Z3 is found; without it only our own times are
//! printed.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod growth;
mod ours;
mod real;
mod rows;
mod table;
mod z3;

use std::path::PathBuf;
use std::time::Duration;

/// The options of the command line.
#[derive(Clone, Debug)]
struct Options {
    part: Option<String>,
    /// Only rows whose name contains one of them.
    filter: Vec<String>,
    /// Processor time that Z3's `check()` may take.
    limit: Duration,
    /// The encodings of the traces for Z3; the first is the paper's.
    encodings: Vec<String>,
    /// The most measurements of one time; the best counts.
    runs: u32,
}

impl Options {
    fn wants(&self, name: &str) -> bool {
        self.filter.iter().any(|part| name.contains(part.as_str()))
    }
}

fn main() {
    let mut options = Options {
        part: None,
        filter: vec![String::new()],
        limit: Duration::from_secs(60),
        encodings: vec!["paper".to_owned(), "int".to_owned()],
        runs: 20,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().expect("an option has a value");
        match argument.as_str() {
            "--bench" => {}
            ours::ONCE => return ours::once(&PathBuf::from(value())),
            "--filter" => options.filter = value().split(',').map(str::to_owned).collect(),
            "--limit" => options.limit = Duration::from_secs(value().parse().expect("seconds")),
            "--encodings" => options.encodings = value().split(',').map(str::to_owned).collect(),
            "--runs" => options.runs = value().parse().expect("a number of runs"),
            part if !part.starts_with('-') => options.part = Some(part.to_owned()),
            other => panic!("unknown option {other}"),
        }
    }
    let z3 = z3::find();
    match &z3 {
        Some(z3) => println!("z3 {}, {}", z3.version, z3.python.display()),
        None => println!("z3 is absent (see benches/z3/README.md): only our own times follow"),
    }
    println!("load {}", load());
    let wanted = |part: &str| options.part.as_deref().is_none_or(|options| options == part);
    let folder = std::env::temp_dir().join(format!("anyorder-compare-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for traces");
    if wanted("table") {
        table::print(&options, z3.as_ref(), &folder);
    }
    if wanted("growth") {
        growth::large(&options, &folder);
        growth::formulas(&options, z3.as_ref(), &folder);
    }
    if wanted("z3-growth")
        && let Some(z3) = &z3
    {
        growth::formulas_of_z3(&options, z3, &folder);
    }
    if wanted("real") {
        real::print(&options);
    }
    println!("load {}", load());
    std::fs::remove_dir_all(&folder).expect("a folder that can be removed");
}

/// Returns the load of the machine over one, five and fifteen minutes, if the system reports it.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}
