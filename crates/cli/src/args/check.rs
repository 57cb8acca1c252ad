//! The options of `anyorder check`.

use crate::args::choice::{Word, choice};
use crate::args::{
    CountingArgs, Global, HomeArgs, ListArgs, OutputArgs, PageArgs, SearchArgs, SpecificationArgs,
    StepArgs, WitnessArgs,
};
use crate::units::parse_duration;
use anyorder_drive::{CheckTraceOptions, GroupBy, RuleSet, Specifications};
use anyorder_finding::CoverageLevel;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use std::time::Duration;

/// `anyorder check`.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckArgs {
    /// Traces, models and web pages: an address `http://...`, an HTML file, or a HAR archive; `-`
    /// reads standard input. With a schedule beside a model, vary that run
    /// one conflict at a time, as `anyorder explore` does. Smart-home apps are files that end in
    /// `.groovy`, or folders of them: they are checked together
    #[arg(required_unless_present_any = ["program", "serve"], value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Start a program with this command, and vary one run of it over the pipe protocol, as
    /// `anyorder explore` does
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["spec", "object", "serve"], help_heading = "Input")]
    pub(crate) program: Option<String>,

    /// For a program, a web page, or a schedule beside a model: how long to go on with more
    /// reversals, other orders of inputs and more repeats
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "30s", help_heading = "Input")]
    pub(crate) budget: Duration,

    /// The rules that order events; `auto` chooses them by the contents of the trace
    #[arg(long, value_parser = choice(RULES), default_value = "auto", help_heading = "Analysis")]
    pub(crate) rules: Rules,

    /// When a race counts as covered, because ordering other races orders it too [default: task for
    /// event-driven traces, access for threads]
    #[arg(long, value_parser = choice(COVERAGE), value_name = "LEVEL", help_heading = "Analysis")]
    pub(crate) coverage: Option<CoverageLevel>,

    /// How to group races into findings
    #[arg(long, value_parser = choice(GROUPS), value_name = "HOW", default_value = "field", help_heading = "Analysis")]
    pub(crate) group_by: GroupBy,

    /// Maximum number of event pairs listed for each finding; all are counted
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Analysis")]
    pub(crate) max_pairs: usize,

    /// Do not filter out late registrations and unload-like patterns
    #[arg(long, help_heading = "Analysis")]
    pub(crate) no_filters: bool,

    /// Report only happens-before races in traces of threads; do not predict races in other orders
    #[arg(long, help_heading = "Analysis")]
    pub(crate) no_predict: bool,

    /// Whether `begin` and `end` in a trace of threads mark blocks that should be atomic; `auto`:
    /// if a thread begins more than twice. Those that other threads interrupt are findings
    #[arg(long, value_name = "WHETHER", value_parser = choice(TRANSACTIONS), default_value = "auto", help_heading = "Analysis")]
    pub(crate) transactions: Transactions,

    #[command(flatten)]
    pub(crate) page: PageArgs,

    #[command(flatten)]
    pub(crate) steps: StepArgs,

    #[command(flatten)]
    pub(crate) home: HomeArgs,

    #[command(flatten)]
    pub(crate) types: SpecificationArgs,

    #[command(flatten)]
    pub(crate) witnesses: WitnessArgs,

    #[command(flatten)]
    pub(crate) search: SearchArgs,

    #[command(flatten)]
    pub(crate) out: OutputArgs,

    #[command(flatten)]
    pub(crate) list: ListArgs,

    #[command(flatten)]
    pub(crate) counting: CountingArgs,
}

impl CheckArgs {
    /// Returns the options for traces, with these specifications.
    pub(crate) fn trace_options(
        &self,
        specifications: Option<Specifications>,
        global: &Global,
    ) -> CheckTraceOptions {
        CheckTraceOptions {
            specifications,
            more_words: self.types.words(),
            rules: self.rules,
            coverage: self.coverage,
            group_by: self.group_by,
            max_pairs: self.max_pairs,
            filters: !self.no_filters,
            predict: !self.no_predict,
            witnesses: self.witnesses.options(self.counting.strict),
            transactions: self.transactions,
            infer_coherence: global.infer_co,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  anyorder check app.trace                            print the races of a trace
  anyorder check app.trace --report report            and write report/index.html
  anyorder check *.trace --format sarif -o races.sarif
  anyorder check app.trace --write-baseline known.json   accept what is there now ...
  anyorder check app.trace --baseline known.json         ... and fail on what is new
  anyorder check lock.any                             search every order of a model
  anyorder check lock.any --max-depth 20 --report report
  anyorder check lock.any run.json                    vary the run in run.json
  anyorder check --program 'node app.js'              vary a run of a program
  anyorder check http://localhost:8000/ --actions steps.json   vary a run of a web page
  anyorder check page.html --report report            a page in a file
  anyorder check --serve dist /shop.html --actions steps.json
  anyorder check light.groovy alarm.groovy            two smart-home apps in one home
  anyorder check apps/ --pairs                        each pair of the apps in a folder
  gzip -dc app.std.gz | anyorder check -              read standard input

The exit status is 1 when there are findings that count.";

/// The chosen rule set, if any. An alias hides the `Option` from clap's derive, which would
/// otherwise make the option optional and drop its default.
pub(crate) type Rules = Option<RuleSet>;

/// The rule sets, and the choice by content.
pub(crate) const RULES: &[Word<Rules>] = &[
    (
        "auto",
        "`android` for logs of the Android runtime, `mailbox` for traces with posted tasks, otherwise `threads`",
        None,
    ),
    ("android", "Mailboxes and the order of Android's component callbacks", Some(RuleSet::Android)),
    ("mailbox", "Tasks posted to mailboxes, with threads and locks", Some(RuleSet::Mailbox)),
    ("threads", "Threads, locks, conditions and atomics only", Some(RuleSet::Threads)),
];

/// Whether there are atomic blocks, if it is said.
pub(crate) type Transactions = Option<bool>;

/// Whether `begin` and `end` mark atomic blocks.
const TRANSACTIONS: &[Word<Transactions>] = &[
    ("auto", "Blocks, if a thread begins more than twice", None),
    ("yes", "Each `begin` of a thread up to its `end`, even all that a thread does", Some(true)),
    ("no", "They mark when a thread runs, or nothing", Some(false)),
];

/// Levels of coverage.
const COVERAGE: &[Word<CoverageLevel>] = &[
    ("task", "A third task lies between the two", CoverageLevel::Task),
    ("access", "A third event lies between the two", CoverageLevel::Access),
    (
        "single",
        "Ordering one other race orders this one; for comparison only",
        CoverageLevel::Single,
    ),
];

/// How races are grouped into findings.
pub(crate) const GROUPS: &[Word<GroupBy>] = &[
    ("field", "All races of one field or variable, by category", GroupBy::Field),
    ("sites", "All races between two positions in the source", GroupBy::Sites),
];
