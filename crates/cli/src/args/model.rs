//! The options of what runs models: those of `anyorder check`, and `replay`, `simulate`, `diff`,
//! `graph`, `fmt`.

use crate::args::choice::{Word, choice, word_of};
use crate::args::{LimitArgs, OutputArgs, ScheduleArgs};
use crate::units::{parse_bytes, parse_duration};
use anyorder_drive::states::{Algorithm, CheckOptions, GraphFormat, Order, Storage};
use anyorder_finding::Options;
use clap::{Args, ValueHint};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// What `anyorder check` is told about models.
#[derive(Args, Debug, Clone)]
pub(crate) struct SearchArgs {
    /// Which states come first; the counterexamples are the shortest in either order
    #[arg(long, value_parser = choice(ORDERS), value_name = "ORDER", default_value = "breadth", help_heading = "Models")]
    pub(crate) order: Order,

    /// The number of threads [default: one a core]; the result is the same with any
    #[arg(long, value_name = "N", help_heading = "Models")]
    pub(crate) threads: Option<NonZeroUsize>,

    /// What is kept of the states that were seen
    #[arg(long, value_parser = choice(STORAGES), value_name = "WHAT", default_value = "fingerprint", help_heading = "Models")]
    pub(crate) storage: Storage,

    /// The size of the field for `--storage bitstate`, such as `256M`
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "256M", help_heading = "Models")]
    pub(crate) storage_size: u64,

    /// End when something was found, after all states of that depth
    #[arg(long, help_heading = "Models")]
    pub(crate) first: bool,

    /// End after this many states: a limit, which leaves the answer open
    #[arg(long, value_name = "N", help_heading = "Models")]
    pub(crate) max_states: Option<u64>,

    /// Check runs of at most this many steps: a bound, up to which the answer is whole
    #[arg(long, value_name = "N", help_heading = "Models")]
    pub(crate) max_depth: Option<u32>,

    /// Write the search to this file from time to time, and when a limit or Ctrl-C ends it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Models")]
    pub(crate) checkpoint: Option<PathBuf>,

    /// How often `--checkpoint` writes, such as `5m`
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "60s", help_heading = "Models")]
    pub(crate) checkpoint_every: Duration,

    /// Go on with the search in this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Models")]
    pub(crate) resume: Option<PathBuf>,

    /// Search every state, instead of leaving out those that other orders of independent steps lead
    /// to
    #[arg(long, help_heading = "Models")]
    pub(crate) no_reduction: bool,

    /// Visit one of the states that differ only in which value of an index type is which
    #[arg(long, help_heading = "Models")]
    pub(crate) symmetry: bool,

    /// Write the schedule of each finding into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Models")]
    pub(crate) schedules: Option<PathBuf>,
}

impl SearchArgs {
    /// Returns what a check of a model is asked.
    pub(crate) fn options(&self) -> CheckOptions {
        CheckOptions {
            algorithm: self.no_reduction.then_some(Algorithm::Full),
            threads: self.threads.unwrap_or_else(cores),
            first: self.first,
            states_max: self.max_states,
            order: self.order,
            storage: match self.storage {
                Storage::Bitstate { .. } => Storage::Bitstate { bytes: self.storage_size.max(8) },
                storage => storage,
            },
            symmetry: self.symmetry,
            depth_max: self.max_depth,
            checkpoint: self.checkpoint.clone(),
            resume: self.resume.clone(),
            ..CheckOptions::default()
        }
    }

    /// Sets the options that were asked for among the options of a result.
    pub(crate) fn set(&self, options: &mut Options) {
        options.set("order", word_of(ORDERS, self.order));
        options.set("storage", word_of(STORAGES, self.storage));
        if let Storage::Bitstate { .. } = self.storage {
            options.set("storage-size", self.storage_size);
        }
        options.set("first", self.first);
        options.set("no-reduction", self.no_reduction);
        options.set("symmetry", self.symmetry);
        if let Some(most) = self.max_states {
            options.set("max-states", most);
        }
        if let Some(most) = self.max_depth {
            options.set("max-depth", u64::from(most));
        }
    }
}

/// Returns the number of cores.
pub(crate) fn cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Which states come first.
const ORDERS: &[Word<Order>] = &[
    ("breadth", "Level by level", Order::Breadth),
    ("depth", "The newest first: fewer states wait", Order::Depth),
];

/// What is kept of states. The size of the field is an option of its own.
const STORAGES: &[Word<Storage>] = &[
    ("fingerprint", "128 bits of each", Storage::Fingerprints),
    ("exact", "All of each: nothing is taken for something else", Storage::Exact),
    (
        "bitstate",
        "A few bits in a field of fixed size: states may be missed",
        Storage::Bitstate { bytes: 8 },
    ),
];

/// `anyorder replay`.
#[derive(Args, Debug, Clone)]
#[command(after_help = REPLAY_EXAMPLES, override_usage = "anyorder replay [OPTIONS] <MODEL>... <SCHEDULE>\n       anyorder replay [OPTIONS] --program <COMMAND> <SCHEDULE>\n       anyorder replay [OPTIONS] <TRACE> <WITNESS>")]
pub(crate) struct ReplayArgs {
    /// The model, and a schedule or a result of `anyorder check --format json`, told apart by their
    /// content; `-` reads standard input. A result of several models needs them all. Or a trace,
    /// and a witness or a result of `anyorder predict`
    #[arg(required = true, value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Of a result, only the finding whose id begins so
    #[arg(long, value_name = "ID")]
    pub(crate) finding: Option<String>,

    /// The schedule is for a program behind a pipe, started by this command; see `anyorder explore`
    #[arg(long, value_name = "COMMAND")]
    pub(crate) program: Option<String>,

    /// The specifications that `anyorder predict` was given
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) spec: Option<PathBuf>,

    /// The types of objects that `anyorder predict` was given; may be repeated
    #[arg(long, value_name = "NAME=TYPE")]
    pub(crate) object: Vec<String>,
}

const REPLAY_EXAMPLES: &str = "\
Examples:
  anyorder check lock.any --schedules runs                  write a schedule for each finding
  anyorder replay lock.any runs/0123456789abcdef.json       and run one again
  anyorder replay lock.any result.json --finding 0123       one finding of a result
  anyorder check lock.any --format json | anyorder replay lock.any -
  anyorder replay fixed.any runs/0123456789abcdef.json      does it still occur?
  anyorder replay --program 'node app.js' runs/0123456789abcdef.json
  anyorder replay app.std runs/0123456789abcdef.json        check a prediction again

The exit status is 1 when the finding occurs again, 0 when it does not, 3 when the schedule cannot be followed.";

/// `anyorder simulate`.
#[derive(Args, Debug, Clone)]
#[command(after_help = SIMULATE_EXAMPLES)]
pub(crate) struct SimulateArgs {
    /// The model; `-` reads standard input
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,

    /// The number of random runs, at least 1
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: u64,

    /// Another number gives other runs, the same number the same runs
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,

    /// The most steps of a run
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) max_steps: u32,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) out: OutputArgs,

    #[command(flatten)]
    pub(crate) placed: ScheduleArgs,
}

const SIMULATE_EXAMPLES: &str = "\
Examples:
  anyorder simulate large.any --runs 100000 --seed 7
  anyorder simulate large.any --max-steps 50 --time-limit 1m

Random runs find failures, broken invariants, deadlocks and wrong ends where they are common;
they prove nothing. Responses are about runs that go on for ever: `anyorder check`, which looks
at every state, checks them.";

/// `anyorder diff`.
#[derive(Args, Debug, Clone)]
#[command(after_help = DIFF_EXAMPLES, override_usage = "anyorder diff [OPTIONS] <MODEL> <A> <B>")]
pub(crate) struct DiffArgs {
    /// A model, and two schedules of it or results of `anyorder check --format json`, whose first
    /// findings are taken; told apart by their content
    #[arg(required = true, value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,
}

const DIFF_EXAMPLES: &str = "\
Examples:
  anyorder diff lock.any good.json bad.json

Shows both runs side by side up to where they part, and the values that differ then. The exit status is 0 when
they are the same, 1 when they differ, 3 when one cannot be followed.";

/// `anyorder graph`.
#[derive(Args, Debug, Clone)]
#[command(after_help = GRAPH_EXAMPLES)]
pub(crate) struct GraphArgs {
    /// The model; `-` reads standard input
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,

    /// The form of the graph
    #[arg(long, value_parser = choice(GRAPHS), default_value = "dot")]
    pub(crate) format: GraphFormat,

    /// End after this many states
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) max_states: u64,

    /// Look no deeper than this many steps
    #[arg(long, value_name = "N")]
    pub(crate) max_depth: Option<u32>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

/// The forms of a graph.
const GRAPHS: &[Word<GraphFormat>] = &[
    ("dot", "For Graphviz", GraphFormat::Dot),
    ("json", "States with their values, and transitions", GraphFormat::Json),
];

const GRAPH_EXAMPLES: &str = "\
Examples:
  anyorder graph lock.any | dot -Tsvg > lock.svg
  anyorder graph lock.any --format json --max-depth 5

The exit status is 3 when a limit left states out.";

/// `anyorder fmt`.
#[derive(Args, Debug, Clone)]
#[command(after_help = FMT_EXAMPLES)]
pub(crate) struct FmtArgs {
    /// Models, which are written in place; `-` reads standard input and writes standard output
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Write nothing; list the files that are not formatted, with exit status 1
    #[arg(long)]
    pub(crate) check: bool,
}

const FMT_EXAMPLES: &str = "\
Examples:
  anyorder fmt *.any
  anyorder fmt --check *.any     for a build service
  anyorder fmt - < lock.any";
