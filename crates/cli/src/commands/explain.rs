//! `anyorder explain`: explains the terms of the reports.

use crate::args::ExplainArgs;
use crate::failure::Failure;
use crate::output::to_stdout;
use anyorder_common::similar::most_similar;
use anyorder_common::text::escape;
use anyorder_finding::{explain, topics};
use std::process::ExitCode;

/// Prints one text, or the list of topics.
pub(crate) fn run(args: &ExplainArgs) -> Result<ExitCode, Failure> {
    let Some(topic) = &args.topic else {
        to_stdout(|out| {
            writeln!(out, "Topics of `anyorder explain`:")?;
            topics().try_for_each(|topic| writeln!(out, "  {topic}"))
        })?;
        return Ok(ExitCode::SUCCESS);
    };
    let Some(text) = explain(topic) else {
        let failure = Failure::new(format!("no topic is called `{}`", escape(topic)));
        return Err(match most_similar(topic, topics()) {
            Some(near) => failure.with_hint(format!("did you mean `{near}`?")),
            None => failure.with_hint("`anyorder explain` lists all topics"),
        });
    };
    to_stdout(|out| writeln!(out, "{}", text.trim_end()))?;
    Ok(ExitCode::SUCCESS)
}
