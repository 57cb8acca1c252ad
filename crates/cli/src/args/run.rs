//! The options of `anyorder run`.

use crate::args::{
    CountingArgs, ListArgs, OutputArgs, OutputFormat, SpecificationArgs, WitnessArgs,
};
use crate::units::{parse_duration, parse_recording};
use anyorder_drive::{CheckTraceOptions, GroupBy, Specifications};
use clap::{Args, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::check::GROUPS;
use super::choice::{Word, choice};

/// `anyorder run`.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    /// The program and its arguments. Options of `anyorder` stand before it
    #[arg(required_unless_present = "replay", num_args = 1.., value_name = "PROGRAM", trailing_var_arg = true, allow_hyphen_values = true, value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,

    /// Write the recorded run to this file, as a trace for `anyorder check` and all other commands:
    /// as text if the name ends with `.txt`, else in the binary format
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Run")]
    pub(crate) record: Option<PathBuf>,

    /// Record only; do not look for anything
    #[arg(long, requires = "record", help_heading = "Run")]
    pub(crate) no_check: bool,

    /// Run the program again for each finding with a witness, and hold its threads so that the
    /// order of the witness happens
    #[arg(long, conflicts_with = "no_check", help_heading = "Run")]
    pub(crate) confirm: bool,

    /// The most runs for `--confirm`
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        requires = "confirm",
        help_heading = "Run"
    )]
    pub(crate) max_reruns: usize,

    /// Run the program N times more, in random orders that seeds decide: only one of its threads
    /// runs at a time. With 1, there is only this run, and its streams are ours
    #[arg(long, value_name = "N", conflicts_with = "no_check", value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Random orders")]
    pub(crate) stress: Option<u64>,

    /// The seed of the first run in a random order; each later one has the next number
    #[arg(
        long,
        value_name = "S",
        default_value_t = 1,
        requires = "stress",
        help_heading = "Random orders"
    )]
    pub(crate) stress_seed: u64,

    /// How it is chosen which thread goes on
    #[arg(long, value_name = "HOW", value_parser = choice(STRATEGIES), default_value = "mixed", requires = "stress", help_heading = "Random orders")]
    pub(crate) stress_strategy: StressStrategy,

    /// For `pct`: how many events have to be in a certain order for a mistake to show
    #[arg(long, value_name = "D", default_value_t = 3, requires = "stress", value_parser = clap::value_parser!(u32).range(1..=16), help_heading = "Random orders")]
    pub(crate) stress_depth: u32,

    /// For `pct`: how many steps the first run is expected to have; later ones go by those before
    #[arg(long, value_name = "N", requires = "stress", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Random orders")]
    pub(crate) stress_steps: Option<u64>,

    /// Check each run in another order, too, as the plain one is: code that seldom runs is looked
    /// at then
    #[arg(long, requires = "stress", help_heading = "Random orders")]
    pub(crate) stress_check: bool,

    /// Make a finding happen again that `--confirm` reproduced: a result as JSON, or the plan
    /// beside a recording. Another PROGRAM, such as `gdb --args ./prog`, runs it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["record", "confirm", "stress", "suppressions", "spec", "object", "format", "report", "output", "baseline", "write_baseline"], help_heading = "Run")]
    pub(crate) replay: Option<PathBuf>,

    /// The id of the finding that `--replay` is about, or its beginning
    #[arg(long, value_name = "ID", requires = "replay", help_heading = "Run")]
    pub(crate) finding: Option<String>,

    /// Do not run it, but print the command that does
    #[arg(long, requires = "replay", help_heading = "Run")]
    pub(crate) print_command: bool,

    /// The greatest size of a recording; for example `4G`. What the program does later is not
    /// looked at, and the result is not complete
    #[arg(long, value_name = "SIZE", value_parser = parse_recording, help_heading = "Run")]
    pub(crate) max_recording: Option<u64>,

    /// The maximum number of events to check, without accesses to memory that only one thread
    /// uses. Later events are not checked, and the result is incomplete
    #[arg(long, value_name = "N", default_value_t = 32_000_000, help_heading = "Run")]
    pub(crate) max_trace: u64,

    /// The maximum number of events to check together. A longer run is split where no thread holds
    /// a lock; orders across a split are not found, and the result is incomplete. A million events
    /// take 100 to 800 MB. `--record` keeps and checks the first part only
    #[arg(long, value_name = "N", default_value_t = 4_000_000, value_parser = clap::value_parser!(u64).range(1000..), help_heading = "Run")]
    pub(crate) max_part: u64,

    /// End the program after this time, and look at what it did until then; for example `30s`
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Run")]
    pub(crate) run_time_limit: Option<Duration>,

    /// Suppressions in the syntax of ThreadSanitizer: what they match does not count. Files that
    /// `TSAN_OPTIONS` and `ANYORDER_OPTIONS` name (`suppressions=FILE`) are read, too
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What counts")]
    pub(crate) suppressions: Vec<PathBuf>,

    /// Exit with the status of the program, whatever is found
    #[arg(long, help_heading = "Run")]
    pub(crate) exit_zero: bool,

    /// How to group races into findings
    #[arg(long, value_parser = choice(GROUPS), value_name = "HOW", default_value = "sites", help_heading = "Analysis")]
    pub(crate) group_by: GroupBy,

    /// Maximum number of event pairs listed for each finding; all are counted
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Analysis")]
    pub(crate) max_pairs: usize,

    /// Report only happens-before races of this run; do not predict what happens in other orders
    #[arg(long, help_heading = "Analysis")]
    pub(crate) no_predict: bool,

    #[command(flatten)]
    pub(crate) types: SpecificationArgs,

    #[command(flatten)]
    pub(crate) witnesses: WitnessArgs,

    #[command(flatten)]
    pub(crate) out: OutputArgs,

    #[command(flatten)]
    pub(crate) list: ListArgs,

    #[command(flatten)]
    pub(crate) counting: CountingArgs,
}

/// How it is chosen which thread goes on, in a random order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StressStrategy {
    /// One of the others, by the seed.
    Mixed,
    /// Each thread is as likely as the others.
    Random,
    /// Random priorities of threads.
    Pct,
    /// Random priorities of steps.
    Pos,
}

/// Their words.
pub(crate) const STRATEGIES: &[Word<StressStrategy>] = &[
    ("mixed", "one of the others for each run, by its seed", StressStrategy::Mixed),
    ("random", "each thread that can go on is as likely as the others", StressStrategy::Random),
    ("pct", "threads have random priorities, which change a few times", StressStrategy::Pct),
    ("pos", "steps have random priorities, which change where they conflict", StressStrategy::Pos),
];

impl RunArgs {
    /// Returns the options of the check of a recorded run, with these specifications.
    pub(crate) fn trace_options(
        &self,
        specifications: Option<Specifications>,
    ) -> CheckTraceOptions {
        CheckTraceOptions {
            specifications,
            group_by: self.group_by,
            max_pairs: self.max_pairs,
            predict: !self.no_predict,
            witnesses: self.witnesses.options(self.counting.strict),
            ..CheckTraceOptions::default()
        }
    }

    /// Returns where the standard output of the program and the result go.
    pub(crate) fn streams(&self) -> RunStreams {
        match (&self.out.output, self.out.format) {
            _ if self.replay.is_some() => RunStreams::Apart,
            (Some(_), _) => RunStreams::Apart,
            (None, OutputFormat::Text) => RunStreams::ResultToStderr,
            (None, _) => RunStreams::ProgramToStderr,
        }
    }
}

/// Where the standard output of the program and the result go, so that they do not mix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RunStreams {
    /// The result goes to a file.
    Apart,
    /// The program has standard output, and the result is for people.
    ResultToStderr,
    /// The result is for machines, and has standard output.
    ProgramToStderr,
}

const EXAMPLES: &str = "\
Examples:
  gcc -g -O1 -fsanitize=thread -o prog prog.c
  anyorder run ./prog                              run it, and print what can go wrong in other orders
  anyorder run --confirm ./prog                    and make it happen in second runs
  anyorder run --confirm --format json -o found.json ./prog
  anyorder run --replay found.json                 and make it happen again
  anyorder run --replay found.json -- gdb --args ./prog
  anyorder run --stress 50 ./prog                  and run it in 50 random orders
  anyorder run --spec types.spec ./prog            with the commutativity of your own types
  anyorder run --report report -- ./prog -v file   and write an HTML report
  anyorder run --run-time-limit 10s ./server       end it after 10 seconds, or by Ctrl-C
  anyorder run --record run.trace --no-check ./prog
  anyorder check run.trace                         look at it later
  anyorder run --format sarif -o races.sarif ./prog

The program has standard input and output; the result goes to standard error, or to the file of
`--output`. With a format for machines and no `--output`, the result has standard output, and what the
program prints there goes to standard error.

Exit status: 1 with findings that count, 2 if the program cannot be run; else that of the program
(128 and the number of the signal that ended it), if it is not 0; else 3 if the result is not complete.";
