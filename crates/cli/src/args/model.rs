//! The options of the commands that run models: `anyorder check`, and `replay`, `simulate`, `diff`,
//! `graph`, `fmt`.

use crate::args::choice::{Word, choice, word_of};
use crate::args::{OutputArgs, PageArgs, ScheduleArgs, SpecificationArgs};
use crate::units::{parse_duration, parse_held_bytes, parse_threads};
use anyorder_drive::page::TestKind;
use anyorder_drive::states::{Algorithm, CheckOptions, GraphFormat, Order, Storage};
use anyorder_finding::{OptionValues, option};
use clap::{Args, ValueHint};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// The options of `anyorder check` for models.
#[derive(Args, Debug, Clone)]
pub(crate) struct SearchArgs {
    /// The search order; counterexamples are shortest in either order
    #[arg(long, value_parser = choice(ORDERS), value_name = "ORDER", default_value = "breadth", help_heading = "Models")]
    pub(crate) order: Order,

    /// The number of threads [default: one per core]; it does not change the result
    #[arg(long, value_name = "N", value_parser = parse_threads, help_heading = "Models")]
    pub(crate) threads: Option<NonZeroUsize>,

    /// How to store visited states
    #[arg(long, value_parser = choice(STORAGES), value_name = "WHAT", default_value = "fingerprint", help_heading = "Models")]
    pub(crate) storage: Storage,

    /// The size of the bit field for `--storage bitstate`, such as `256M`
    #[arg(long, value_name = "SIZE", value_parser = parse_held_bytes, default_value = "256M", help_heading = "Models")]
    pub(crate) storage_size: u64,

    /// Stop at the first finding, after all states at that depth
    #[arg(long, help_heading = "Models")]
    pub(crate) first: bool,

    /// Stop after this many states; the result is then incomplete
    #[arg(long, value_name = "N", help_heading = "Models")]
    pub(crate) max_states: Option<u64>,

    /// Check runs of at most this many steps; the result is complete up to this bound
    #[arg(long, value_name = "N", help_heading = "Models")]
    pub(crate) max_depth: Option<u32>,

    /// Save the search to this file periodically, and when a limit or Ctrl-C ends it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Models")]
    pub(crate) checkpoint: Option<PathBuf>,

    /// The interval between checkpoints, such as `5m`
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "60s", help_heading = "Models")]
    pub(crate) checkpoint_every: Duration,

    /// Resume the search saved in this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Models")]
    pub(crate) resume: Option<PathBuf>,

    /// Search every state, including those that differ only in the order of independent steps
    #[arg(long, help_heading = "Models")]
    pub(crate) no_reduction: bool,

    /// The search [default: `stateful`; `threads` first for threads whose calls have a
    /// specification]
    #[arg(long, value_parser = choice(ALGORITHMS), value_name = "NAME", conflicts_with = "no_reduction", help_heading = "Models")]
    pub(crate) algorithm: Option<Algorithm>,

    /// Visit one of the states that differ only by a permutation of an index type
    #[arg(long, help_heading = "Models")]
    pub(crate) symmetry: bool,

    /// Write the schedule of each finding into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Models")]
    pub(crate) schedules: Option<PathBuf>,
}

impl SearchArgs {
    /// Returns the options of a check of a model.
    pub(crate) fn options(&self) -> CheckOptions {
        CheckOptions {
            algorithm: self.algorithm.or(self.no_reduction.then_some(Algorithm::Full)),
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

    /// Returns the search that was asked for, as typed.
    pub(crate) fn algorithm_word(&self) -> Option<&'static str> {
        self.algorithm.map(|one| word_of(ALGORITHMS, one))
    }

    /// Records the given options among the options of a result.
    pub(crate) fn set(&self, options: &mut OptionValues) {
        options.set(option::ORDER, word_of(ORDERS, self.order));
        options.set(option::STORAGE, word_of(STORAGES, self.storage));
        if let Storage::Bitstate { .. } = self.storage {
            options.set(option::STORAGE_SIZE, self.storage_size);
        }
        options.set(option::FIRST, self.first);
        options.set(option::NO_REDUCTION, self.no_reduction);
        options.set_some(option::ALGORITHM, self.algorithm_word());
        options.set(option::SYMMETRY, self.symmetry);
        options.set_some(option::MAX_STATES, self.max_states);
        options.set_some(option::MAX_DEPTH, self.max_depth.map(u64::from));
    }
}

/// Returns the number of cores.
pub(crate) fn cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// The searches of states.
const ALGORITHMS: &[Word<Algorithm>] = &[
    (
        "stateful",
        "Skips states that differ only in the order of independent steps",
        Algorithm::Stateful,
    ),
    ("full", "All states", Algorithm::Full),
    ("threads", "What each thread can see, for models of threads alone", Algorithm::Threads),
];

/// The search orders.
const ORDERS: &[Word<Order>] = &[
    ("breadth", "Level by level", Order::Breadth),
    ("depth", "Newest states first; the queue stays shorter", Order::Depth),
];

/// The ways to store states. The size of the field is a separate option.
const STORAGES: &[Word<Storage>] = &[
    ("fingerprint", "A 128-bit hash of each state", Storage::Fingerprints),
    ("exact", "Each whole state; no two states are confused", Storage::Exact),
    (
        "bitstate",
        "A few bits of each state in a field of fixed size; states may be missed",
        Storage::Bitstate { bytes: 8 },
    ),
];

/// `anyorder replay`.
#[derive(Args, Debug, Clone)]
#[command(after_help = REPLAY_EXAMPLES, override_usage = "anyorder replay [OPTIONS] <MODEL>... <SCHEDULE>\n       anyorder replay [OPTIONS] --program <COMMAND> <SCHEDULE>\n       anyorder replay [OPTIONS] [PAGE] <SCHEDULE>\n       anyorder replay [OPTIONS] <TRACE> <WITNESS>")]
pub(crate) struct ReplayArgs {
    /// A model or a web page and a schedule or JSON result, or a trace and a witness or JSON result
    /// of `anyorder predict`; recognised by their content. `-` reads standard input. A result of
    /// several models needs all of them
    #[arg(required = true, value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// For a result, only the finding whose id begins with ID
    #[arg(long, value_name = "ID")]
    pub(crate) finding: Option<String>,

    /// Start a program with this command, and run the schedule on it; see `anyorder explore`
    #[arg(long, value_name = "COMMAND")]
    pub(crate) program: Option<String>,

    /// Do not replay the finding of a web page, but write a test that forces its two orders and
    /// fails while they end differently
    #[arg(long, value_name = "KIND", value_parser = choice(TESTS), help_heading = "Web pages")]
    pub(crate) emit_test: Option<TestKind>,

    /// The file for the test [default: standard output]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "emit_test", help_heading = "Web pages")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) page: PageArgs,

    #[command(flatten)]
    pub(crate) types: SpecificationArgs,
}

/// The kinds of tests.
const TESTS: &[Word<TestKind>] = &[
    ("playwright", "For the test runner of Playwright", TestKind::Playwright),
    ("devtools", "For Node with a Chromium, and nothing else", TestKind::DevTools),
];

const REPLAY_EXAMPLES: &str = "\
Examples:
  anyorder check lock.any --schedules runs                  write a schedule for each finding
  anyorder replay lock.any runs/0123456789abcdef.json       and run one again
  anyorder replay lock.any result.json --finding 0123       one finding of a result
  anyorder check lock.any --format json | anyorder replay lock.any -
  anyorder replay fixed.any runs/0123456789abcdef.json      does it still occur?
  anyorder replay --program 'node app.js' runs/0123456789abcdef.json
  anyorder replay report/0123456789abcdef.json              a page, with its responses
  anyorder replay http://localhost:8000/ report/0123456789abcdef.json    on the page as it is now
  anyorder replay report/0123456789abcdef.json --emit-test playwright -o order.spec.mjs
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

    /// The random seed; equal seeds give equal runs
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Maximum number of steps in a run
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) max_steps: u32,

    #[command(flatten)]
    pub(crate) out: OutputArgs,

    #[command(flatten)]
    pub(crate) placed: ScheduleArgs,
}

const SIMULATE_EXAMPLES: &str = "\
Examples:
  anyorder simulate large.any --runs 100000 --seed 7
  anyorder simulate large.any --max-steps 50 --time-limit 1m

Random runs find common failures, broken invariants, deadlocks and wrong ends. They prove
nothing. Responses are properties of infinite runs; `anyorder check` checks them.";

/// `anyorder diff`.
#[derive(Args, Debug, Clone)]
#[command(after_help = DIFF_EXAMPLES, override_usage = "anyorder diff [OPTIONS] <MODEL> <A> <B>")]
pub(crate) struct DiffArgs {
    /// A model, and two of its schedules or JSON results of `anyorder check`; of a result, the
    /// first finding is used
    #[arg(required = true, value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,
}

const DIFF_EXAMPLES: &str = "\
Examples:
  anyorder diff lock.any good.json bad.json

Shows both runs side by side up to the first difference, and the values that differ there. The exit status is 0 when
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

    /// Stop after this many states
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) max_states: u64,

    /// Maximum number of steps from an initial state
    #[arg(long, value_name = "N")]
    pub(crate) max_depth: Option<u32>,

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
