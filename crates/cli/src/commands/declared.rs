//! `anyorder schema`, `completions` and `man`: outputs generated from declarations.

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::failure::{Failure, JobFailure, Usage};
use crate::output::{bytes_to, to_folder, to_stdout};
use clap::CommandFactory;
use std::process::ExitCode;

/// Prints the JSON Schema of results.
pub(crate) fn schema() -> Result<ExitCode, Failure> {
    to_stdout(|out| writeln!(out, "{}", anyorder_finding::schema().trim_end()))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a completion script.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "anyorder", &mut script);
    bytes_to(None, |out| out.write_all(&script).map_err(failed))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page, or writes one page per command into a folder.
pub(crate) fn man(args: &ManArgs) -> Result<ExitCode, Failure> {
    let mut command = Cli::command();
    command.build();
    let Some(dir) = &args.dir else {
        let page = page(command)?;
        bytes_to(None, |out| out.write_all(&page).map_err(failed))?;
        return Ok(ExitCode::SUCCESS);
    };
    let shown =
        command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help").cloned();
    to_folder(dir, |out| {
        for sub in shown.chain([command.clone()]) {
            let name = sub.get_display_name().unwrap_or_else(|| sub.get_name()).replace(' ', "-");
            let page = page(sub)?;
            out.file(&format!("{name}.1"), &mut |file| file.write_all(&page))?;
        }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

fn failed(error: std::io::Error) -> Failure {
    JobFailure::writing("stdout", error).into()
}

fn page(command: clap::Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|error| Usage::CannotMake { what: "the manual page", error })?;
    Ok(page)
}
