//! The options of `anyorder explore` and `anyorder shrink`.

use crate::args::choice::{Word, choice, word_of};
use crate::args::{ListArgs, OutputArgs, ScheduleArgs};
use crate::units::{parse_duration, parse_threads};
use anyorder_drive::explore::{Order, ReversalOptions, Sleep, Swaps, UserEvents};
use anyorder_drive::states::Algorithm;
use anyorder_system::Schedule;
use clap::{Args, ValueHint};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// `anyorder explore`.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXPLORE_EXAMPLES, override_usage = "anyorder explore [OPTIONS] <MODEL>\n       anyorder explore [OPTIONS] --program <COMMAND>")]
pub(crate) struct ExploreArgs {
    /// The model; `-` reads standard input
    #[arg(required_unless_present = "program", conflicts_with = "program", value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) model: Option<PathBuf>,

    /// The command that starts a program that speaks the pipe protocol; it runs without a shell,
    /// and quotes group words
    #[arg(long, value_name = "COMMAND")]
    pub(crate) program: Option<String>,

    /// The algorithm [default: `stateful` for models, `r4` for programs and with `--recording`]
    #[arg(long, value_parser = choice(ALGORITHMS), value_name = "NAME")]
    pub(crate) algorithm: Option<ExploreAlgorithm>,

    #[command(flatten)]
    pub(crate) reversals: ReversalArgs,

    /// The number of threads [default: one per core; one for programs]; it does not change the
    /// result
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Stop at the first finding
    #[arg(long)]
    pub(crate) first: bool,

    /// Exit with status 1 for harmless reversals, too
    #[arg(long)]
    pub(crate) strict: bool,

    /// Stop after this many states (`stateful`, `paper`, `full`)
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_states: Option<u64>,

    /// Stop after this many runs of the program (`r4`), or steps (`stateful`, `paper`)
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_executions: Option<u64>,

    #[command(flatten)]
    pub(crate) out: OutputArgs,

    #[command(flatten)]
    pub(crate) list: ListArgs,

    #[command(flatten)]
    pub(crate) placed: ScheduleArgs,
}

/// The options of an exploration by reversals.
#[derive(Args, Debug, Clone)]
pub(crate) struct ReversalArgs {
    /// `r4`: maximum number of reversals between the recording and a run, or `none` for no bound
    /// [default: 1, and then more and more within `--budget`]
    #[arg(long, value_name = "K", help_heading = "Reversals (r4)")]
    pub(crate) bound: Option<BoundArg>,

    /// `r4`: without `--bound`, how long to go on with more reversals, other orders of inputs and
    /// more repeats; 0 for one reversal only
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "30s", help_heading = "Reversals (r4)")]
    pub(crate) budget: Duration,

    /// `r4`: vary this run [default: the run of the program's own scheduler]
    #[arg(long, value_name = "SCHEDULE", value_hint = ValueHint::FilePath, help_heading = "Reversals (r4)")]
    pub(crate) recording: Option<PathBuf>,

    /// `r4`: search depth-first, as published, instead of fewest reversals first; the runs are the
    /// same
    #[arg(long, help_heading = "Reversals (r4)")]
    pub(crate) paper_order: bool,

    /// `r4`: also run orders that are equivalent to an explored run
    #[arg(long, help_heading = "Reversals (r4)")]
    pub(crate) no_sleep: bool,

    /// Two writes of one value do not conflict (the default of `stateful` for models;
    /// `--values=false` turns it off)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) values: Option<bool>,

    /// `r4`: input events, which keep their order: `declared` ones, `all` tasks that no task posts,
    /// `none`, or kinds such as `click,key`; `any-order` for declared ones in any order [default:
    /// `declared`, and then `any-order` within `--budget`]
    #[arg(long, value_name = "LIST", help_heading = "Reversals (r4)")]
    pub(crate) user_events: Option<String>,

    /// `r4`: maximum number of tasks in the recording, and in a run after its planned tasks
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Reversals (r4)")]
    pub(crate) max_steps: u64,

    /// `r4`: maximum number of times that each event of a model happens in a run [default: 1, and
    /// then up to 3 within `--budget`]
    #[arg(long, value_name = "N", help_heading = "Reversals (r4)")]
    pub(crate) repeats: Option<u32>,

    /// `r4`: in how many runs of a program to swap two tasks that report nothing that they share,
    /// in search of what is not reported
    #[arg(long, value_name = "N", default_value_t = 64, help_heading = "Reversals (r4)")]
    pub(crate) swaps: u64,

    /// `r4`: the seed of `--swaps`, where there are more pairs than swaps
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = "Reversals (r4)")]
    pub(crate) seed: u64,

    /// `r4`: maximum number of alternatives run for each choice; if a choice has more, the result
    /// is incomplete
    #[arg(long, value_name = "N", default_value = "16", help_heading = "Reversals (r4)")]
    pub(crate) alternatives: std::num::NonZeroU32,

    /// `r4`: maximum number of attempts at a run that the program fails to complete
    #[arg(long, value_name = "N", default_value = "5", help_heading = "Reversals (r4)")]
    pub(crate) attempts: std::num::NonZeroU32,
}

impl ReversalArgs {
    /// Returns the options of an exploration by reversals.
    pub(crate) fn options(&self, recording: Option<Schedule>, workers: usize) -> ReversalOptions {
        ReversalOptions {
            bound: self.bound.map_or(Some(1), |bound| bound.0),
            order: if self.paper_order { Order::DepthFirst } else { Order::Levels },
            sleep: if self.no_sleep { Sleep::Off } else { Sleep::Exact },
            recording,
            user_events: match self.user_events.as_deref().unwrap_or("declared") {
                "declared" => UserEvents::Declared,
                "any-order" => UserEvents::Free,
                "all" => UserEvents::All,
                "none" => UserEvents::None,
                kinds => {
                    let kinds = kinds.split(',').map(|kind| kind.trim().to_owned());
                    UserEvents::Kinds(kinds.filter(|kind| !kind.is_empty()).collect())
                }
            },
            same_value: self.values.unwrap_or(false),
            workers,
            attempts: self.attempts.get(),
            alternatives_max: self.alternatives.get(),
            swaps: Swaps { count: self.swaps, seed: self.seed },
            ..ReversalOptions::default()
        }
    }
}

/// A number of reversals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BoundArg(pub(crate) Option<u32>);

impl std::str::FromStr for BoundArg {
    type Err = String;

    fn from_str(text: &str) -> Result<BoundArg, String> {
        match text {
            "none" => Ok(BoundArg(None)),
            number => number
                .parse()
                .map(|bound| BoundArg(Some(bound)))
                .map_err(|_| "expected a number, or `none`".to_owned()),
        }
    }
}

/// An algorithm of `anyorder explore`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExploreAlgorithm {
    /// The states of a model.
    States(Algorithm),
    /// One run, and reversals of its conflicts.
    Reversals,
}

impl ExploreAlgorithm {
    /// Returns the name under which results list it.
    pub(crate) fn word(self) -> &'static str {
        word_of(ALGORITHMS, self)
    }
}

/// The algorithms of `anyorder explore`.
const ALGORITHMS: &[Word<ExploreAlgorithm>] = &[
    (
        "stateful",
        "Skips states that differ only in the order of independent steps",
        ExploreAlgorithm::States(Algorithm::Stateful),
    ),
    (
        "paper",
        "The published stateful algorithm, for comparison",
        ExploreAlgorithm::States(Algorithm::Paper),
    ),
    ("r4", "Reverses the conflicts of one run", ExploreAlgorithm::Reversals),
    ("full", "All states", ExploreAlgorithm::States(Algorithm::Full)),
    (
        "threads",
        "What each thread can see, for models of threads alone",
        ExploreAlgorithm::States(Algorithm::Threads),
    ),
];

const EXPLORE_EXAMPLES: &str = "\
Examples:
  anyorder explore home.any                            search the states of a model
  anyorder explore home.any --algorithm full           search without reduction
  anyorder explore page.any --algorithm r4 --bound 2   one run, with up to two reversals
  anyorder explore page.any --recording run.json       vary a given run
  anyorder explore --program 'node app.js'             vary a run of a program
  anyorder explore --program 'python3 app.py' --report report

A reversal is equivalent, equivalent except for timers, a late registration, or harmful.
The exit status is 1 when a reversal is harmful, a run fails, or the program is not stable.";

/// `anyorder shrink`.
#[derive(Args, Debug, Clone)]
#[command(after_help = SHRINK_EXAMPLES, override_usage = "anyorder shrink [OPTIONS] <MODEL> <SCHEDULE>\n       anyorder shrink [OPTIONS] --program <COMMAND> <SCHEDULE>")]
pub(crate) struct ShrinkArgs {
    /// The model, and a schedule or a JSON result, recognised by their content; `-` reads standard
    /// input
    #[arg(required = true, value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Start a program with this command, and run the schedule on it
    #[arg(long, value_name = "COMMAND")]
    pub(crate) program: Option<String>,

    /// For a result, the finding whose id begins with ID [default: the first with a schedule]
    #[arg(long, value_name = "ID")]
    pub(crate) finding: Option<String>,

    /// Count reversals from this run [default: the run of the program's own scheduler]
    #[arg(long, value_name = "SCHEDULE", value_hint = ValueHint::FilePath)]
    pub(crate) recording: Option<PathBuf>,

    /// Maximum number of runs
    #[arg(long, value_name = "N", default_value_t = 2000, help_heading = "Limits")]
    pub(crate) max_executions: u64,

    /// Write the schedule to this file instead of standard output
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
}

const SHRINK_EXAMPLES: &str = "\
Examples:
  anyorder simulate lock.any --schedules runs                long runs that fail
  anyorder shrink lock.any runs/0123456789abcdef.json -o small.json
  anyorder replay lock.any small.json
  anyorder shrink --program 'node app.js' runs/0123456789abcdef.json

Minimises first the reversals of conflicts in the recording, then the tasks. The failure keeps its kind and place.
The exit status is 0, or 3 when the schedule does not fail.";
