//! What all commands with a result document do in the same order: begin the document, add what the
//! jobs give, judge the whole, and write it. A command says only what is its own.

use super::render::{self, Form, set_elapsed};
use crate::args::{CountingArgs, Global};
use crate::commands::AcceptedFindings;
use crate::failure::Failure;
use crate::guard::{Document, Done};
use crate::watch::Watch;
use crate::witness::{Replay, name_replays, write_schedules};
use anyorder_drive::JobResult;
use anyorder_finding::{Finding, Input, OptionValues, Outcome};
use anyorder_trace::Trace;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// A command with a result document, from its begin to its exit status.
pub(super) struct Runner<'a> {
    pub(super) watch: &'a Watch,
    pub(super) global: &'a Global,
    document: Document,
    accepted: Option<Arc<AcceptedFindings>>,
}

/// How the verdict comes about.
pub(super) enum Judgement<'a> {
    /// The findings decide. They keep their order.
    InOrder,
    /// The findings decide, the worst first. Those that were accepted before do not count.
    Ranked,
    /// Like `Ranked`; then the command decides.
    RankedThen(&'a dyn Fn(&mut Outcome)),
    /// The command decides.
    Own(&'a dyn Fn(&mut Outcome)),
}

/// What a command does at its end.
pub(super) struct Ending<'a> {
    /// How its findings with a schedule are replayed: the source of the schedules, and the program
    /// or the page as words of a command. The schedules are written if they have a folder.
    pub(super) replay: Option<(Replay<'a>, Option<&'a str>)>,
    /// Adds to a schedule what only its own file has.
    pub(super) complete: &'a dyn Fn(&mut serde_json::Value),
    /// Changes the result before it is judged.
    pub(super) change: &'a dyn Fn(&mut Outcome),
    /// How the verdict comes about.
    pub(super) judgement: Judgement<'a>,
    /// Sets what is measured to the end.
    pub(super) measure: &'a dyn Fn(&mut Outcome),
    /// Writes the command's own files.
    pub(super) write: &'a dyn Fn() -> Result<(), Failure>,
    /// The text after the verdict, escaped.
    pub(super) remarks: &'a str,
    /// The trace of the timeline.
    pub(super) trace: Option<&'a Trace>,
}

impl Default for Ending<'_> {
    fn default() -> Self {
        Ending {
            replay: None,
            complete: &|_| {},
            change: &|_| {},
            judgement: Judgement::Ranked,
            measure: &|_| {},
            write: &|| Ok(()),
            remarks: "",
            trace: None,
        }
    }
}

impl<'a> Runner<'a> {
    /// Begins the document of a command.
    pub(super) fn begin(document: Document, global: &'a Global, watch: &'a Watch) -> Runner<'a> {
        watch.begin(document.clone());
        Runner { watch, global, document, accepted: None }
    }

    /// Reads the findings that are accepted, and do not count.
    pub(super) fn accepting(self, counting: &CountingArgs) -> Result<Runner<'a>, Failure> {
        self.accepting_with(counting, &[])
    }

    /// The same, with files of suppressions in the syntax of ThreadSanitizer.
    pub(super) fn accepting_with(
        self,
        counting: &CountingArgs,
        suppressions: &[PathBuf],
    ) -> Result<Runner<'a>, Failure> {
        let accepted = Arc::new(AcceptedFindings::read(counting)?.with_tsan(suppressions)?);
        self.watch.draft().accept(&accepted);
        Ok(Runner { accepted: Some(accepted), ..self })
    }

    /// Names the input of the job that begins.
    pub(super) fn working_on(&self, input: &Input) {
        self.watch.draft().working_on(std::slice::from_ref(input));
    }

    /// Prints the remarks of a job that has ended.
    pub(super) fn ended(&self, result: &JobResult) {
        self.watch.done();
        self.global.remark(&result.remarks);
    }

    /// Adds the result of a job on its inputs, and the options of the command.
    pub(super) fn add(
        &self,
        inputs: Vec<Input>,
        result: JobResult,
        options: impl FnOnce(&mut OptionValues),
    ) {
        self.watch.draft().add(inputs, result);
        self.watch.draft().change(|outcome| {
            options(&mut outcome.options);
            self.watch.asked.set(&mut outcome.options);
        });
    }

    /// Judges the whole, writes it, and returns the exit status.
    pub(super) fn finish(self, ending: Ending<'_>) -> Result<ExitCode, Failure> {
        self.watch.done();
        let (mut outcome, runs) = self.watch.draft().take(self.document.command).finish();
        if let Some((replay, subject)) = ending.replay {
            name_replays(&mut outcome.findings, replay, subject);
        }
        (ending.change)(&mut outcome);
        self.judge(&ending.judgement, &mut outcome);
        set_elapsed(&mut outcome, self.watch.started);
        (ending.measure)(&mut outcome);
        let done = self.watch.draft().finish(outcome, runs);
        self.write(&ending, &done)
    }

    fn judge(&self, judgement: &Judgement<'_>, outcome: &mut Outcome) {
        let policy = &self.document.policy;
        match judgement {
            Judgement::InOrder => outcome.judge(policy),
            Judgement::Own(judge) => judge(outcome),
            Judgement::Ranked | Judgement::RankedThen(_) => match &self.accepted {
                Some(accepted) => accepted.judge(outcome, policy, self.global),
                None => {
                    outcome.findings.sort_by(Finding::rank);
                    outcome.judge(policy);
                }
            },
        }
        if let Judgement::RankedThen(judge) = judgement {
            judge(outcome);
        }
    }

    fn write(&self, ending: &Ending<'_>, done: &Done) -> Result<ExitCode, Failure> {
        let findings = &done.outcome.findings;
        if let Some((replay, _)) = ending.replay {
            write_schedules(findings, replay, ending.complete)?;
        }
        if let Some(accepted) = &self.accepted {
            accepted.write(findings)?;
        }
        (ending.write)()?;
        let Document { out, max_findings, policy, .. } = &self.document;
        let form =
            Form { out, max_findings: *max_findings, remarks: ending.remarks, runs: &done.runs };
        render::finish(&form, &done.outcome, policy, ending.trace)
    }
}
