//! `anyorder explain`: explains the terms of the reports.

use crate::args::ExplainArgs;
use crate::failure::{Failure, Usage};
use crate::output::to_stdout;
use anyorder_common::similar::most_similar;
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
        let near = most_similar(topic, topics());
        return Err(Usage::NoTopic { topic: topic.clone(), near }.into());
    };
    to_stdout(|out| writeln!(out, "{}", text.trim_end()))?;
    Ok(ExitCode::SUCCESS)
}
