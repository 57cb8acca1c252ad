//! What was typed and cannot be done.

use anyorder_common::text::{escape, shown};
use anyorder_drive::native_run::launch::Refusal;
use anyorder_generate::GenerateError;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;

use super::JobFailure;

/// Why what was typed cannot be done.
#[derive(Debug)]
pub(crate) enum Usage {
    /// Two inputs are `-`.
    StandardInputTwice,
    /// The specification for a program would be its standard input.
    SpecificationIsInput,
    /// Standard input cannot be read again.
    StandardInputTooLong,
    /// `explore` has no input.
    NothingToExplore,
    /// The algorithm cannot be used on a program, or on a recorded run of a model.
    Algorithm { word: &'static str, of_program: bool },
    /// `shrink --program` needs one schedule.
    OneSchedule,
    /// `shrink` needs a model and a schedule.
    ModelAndSchedule,
    /// `replay` found no schedule.
    NoSchedules,
    /// The command takes no web page.
    NotForPages { path: PathBuf, command: &'static str },
    /// A test is written for a finding of a web page only.
    NoPage,
    /// A test is written for one finding.
    OneFinding,
    /// `diff` needs two schedules.
    TwoSchedules { found: usize },
    /// Checkpoints are of one model.
    OneModel,
    /// A family of traces has no recorded run.
    NoRun { family: &'static str },
    /// A trace cannot be generated.
    Generate(GenerateError),
    /// There is no such topic; one may have a similar name.
    NoTopic { topic: String, near: Option<&'static str> },
    /// An option is for another kind of input than those given.
    OptionOf { path: PathBuf, option: &'static str, kind: &'static str },
    /// The model of a schedule is not among the inputs.
    NoModel { path: PathBuf, made_for: String },
    /// An input that `check` of a schedule has no use for.
    Unexpected { path: PathBuf },
    /// A second page.
    OnePage { path: PathBuf },
    /// `check` of a schedule without a program.
    ScheduleAlone { path: PathBuf },
    /// Not what `replay` of a trace needs: what it is.
    NotOfTrace { path: PathBuf, what: &'static str },
    /// A file of accepted findings or of settings that cannot be used: why not.
    Accepted { path: PathBuf, why: String },
    /// A program cannot be run by another one under a plan.
    NotAround { program: PathBuf, name: OsString },
    /// A variable of the environment that cannot be used.
    Variable { variable: &'static str, what: String },
    /// A trace that the format cannot hold without loss.
    Lossless(JobFailure),
    /// The output is a folder.
    OutputIsFolder { path: PathBuf },
    /// A text could not be made.
    CannotMake { what: &'static str, error: io::Error },
    /// A program cannot be recorded.
    Program { name: OsString, why: Refusal },
    /// A program cannot be started.
    NotStarted { name: OsString, error: io::Error },
    /// Nothing can be recorded.
    CannotRecord { error: io::Error },
    /// A limit or a signal cannot be watched.
    CannotWatch { what: &'static str, why: String },
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Usage::StandardInputTwice => "standard input is given twice, and can be read once",
            Usage::SpecificationIsInput => {
                "`--spec -`: the program has standard input; give a file"
            }
            Usage::StandardInputTooLong => "standard input holds more events than `--max-events`",
            Usage::NothingToExplore => "expected a model or `--program`",
            Usage::Algorithm { word, of_program } => {
                let what = match of_program {
                    true => "a program behind a pipe has no states to search",
                    false => "`--recording` needs `--algorithm r4`",
                };
                return write!(f, "--algorithm {word}: {what}");
            }
            Usage::OneSchedule => "expected one schedule or result with `--program`",
            Usage::ModelAndSchedule => "expected a model, and one schedule or result",
            Usage::NoSchedules => "the inputs contain no schedule and no result",
            Usage::NotForPages { path, command } => {
                return write!(f, "{}: `{command}` does not take web pages", shown(path));
            }
            Usage::NoPage => {
                "`--emit-test` needs the finding of a web page: a file of `--schedules` or `--report`"
            }
            Usage::OneFinding => "`--emit-test` writes a test for one finding: give one file",
            Usage::TwoSchedules { found } => {
                let what = "expected two schedules or results beside the model";
                return write!(f, "{what}, found {found}");
            }
            Usage::OneModel => "`--checkpoint` and `--resume` are for one model at a time",
            Usage::NoRun { family } => {
                return write!(f, "family `{family}` has no recorded run");
            }
            Usage::Generate(error) => return f.write_str(&escape(&error.to_string())),
            Usage::NoTopic { topic, .. } => {
                return write!(f, "no topic is called `{}`", escape(topic));
            }
            Usage::OptionOf { path, option, kind } => {
                return write!(f, "{}: `{option}` is an option for {kind} only", shown(path));
            }
            Usage::NoModel { path, .. } => {
                let what = "the model of this schedule is missing; give the model, too";
                return write!(f, "{}: {what}", shown(path));
            }
            Usage::Unexpected { path } => {
                let what = "unexpected input; expected one schedule, and one model or `--program`";
                return write!(f, "{}: {what}", shown(path));
            }
            Usage::OnePage { path } => {
                return write!(f, "{}: one page is checked at a time", shown(path));
            }
            Usage::ScheduleAlone { path } => {
                let what = "a schedule without its model; give the model, too";
                return write!(f, "{}: {what}", shown(path));
            }
            Usage::NotOfTrace { path, what } => return write!(f, "{}: {what}", shown(path)),
            Usage::Accepted { path, why } => {
                return write!(f, "{}: {}", shown(path), escape(why));
            }
            Usage::NotAround { program, name } => {
                let what =
                    "was built without `-fsanitize=thread`, so that it cannot be replayed by";
                return write!(f, "{}: {what} `{}`", shown(program), shown(name.as_ref()));
            }
            Usage::Variable { variable, what } => {
                return write!(f, "{variable}: {}", escape(what));
            }
            Usage::Lossless(failure) => return failure.fmt(f),
            Usage::OutputIsFolder { path } => {
                return write!(f, "cannot write `{}`: it is a directory", shown(path));
            }
            Usage::CannotMake { what, error } => {
                return write!(f, "cannot make {what}: {error}");
            }
            Usage::Program { name, why } => {
                return write!(f, "{}: {}", shown(name.as_ref()), escape(&why.to_string()));
            }
            Usage::NotStarted { name, error } => {
                return write!(f, "{}: cannot be started: {error}", shown(name.as_ref()));
            }
            Usage::CannotRecord { error } => return write!(f, "cannot record a program: {error}"),
            Usage::CannotWatch { what, why } => return write!(f, "{what}: {why}"),
        };
        f.write_str(words)
    }
}

impl Usage {
    /// Returns advice, if there is any.
    pub(super) fn hint(&self) -> Option<String> {
        let words = match self {
            Usage::StandardInputTooLong => "write it to a file: a long trace is read twice",
            Usage::Algorithm { .. } => "`--algorithm r4` varies one run",
            Usage::ModelAndSchedule | Usage::NoSchedules => {
                "`anyorder check MODEL --schedules DIR` writes schedules"
            }
            Usage::NotForPages { .. } => {
                "`anyorder check` reverses the events of a page, and keeps the run with the fewest \
                 reversals for each finding"
            }
            Usage::NoPage => "`anyorder check PAGE --report DIR` writes such files",
            Usage::OneFinding => "with a result, `--finding ID` chooses one",
            Usage::NoRun { .. } => "omit `--run`",
            Usage::Generate(_) => "`anyorder generate --help` describes the size of each family",
            Usage::NoTopic { near: Some(near), .. } => {
                return Some(format!("did you mean `{near}`?"));
            }
            Usage::NoTopic { near: None, .. } => "`anyorder explain` lists all topics",
            Usage::NoModel { made_for, .. } => match made_for.as_str() {
                "" | "-" => return None,
                name => return Some(format!("it was made for {}", escape(name))),
            },
            Usage::Unexpected { .. } => "`anyorder replay` runs several schedules",
            Usage::NotOfTrace { .. } => {
                "`anyorder predict TRACE --format json` and `anyorder check` write results; \
                 `anyorder replay TRACE RESULT` checks their witnesses again"
            }
            Usage::Lossless(_) => "`--lossy` leaves out what STD cannot hold, and lists the losses",
            Usage::Program { why: Refusal::Static | Refusal::NoLoader, .. } => {
                "link it with shared libraries: `gcc -fsanitize=thread` does so without \
                 `-static-libtsan`, `clang` needs `-shared-libsan` as well; for Rust see \
                 docs/native.md#rust"
            }
            Usage::Program { .. }
            | Usage::NotStarted { .. }
            | Usage::CannotRecord { .. }
            | Usage::StandardInputTwice
            | Usage::SpecificationIsInput
            | Usage::NothingToExplore
            | Usage::OneSchedule
            | Usage::TwoSchedules { .. }
            | Usage::OneModel
            | Usage::OptionOf { .. }
            | Usage::ScheduleAlone { .. }
            | Usage::OnePage { .. }
            | Usage::Accepted { .. }
            | Usage::OutputIsFolder { .. }
            | Usage::CannotMake { .. }
            | Usage::CannotWatch { .. }
            | Usage::NotAround { .. }
            | Usage::Variable { .. } => return None,
        };
        Some(words.to_owned())
    }
}
