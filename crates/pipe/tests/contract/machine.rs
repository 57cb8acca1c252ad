//! The order form in the model language, run by the machine. Kind 5: with snapshots.
//!
//! The machine has its own names for elements that the model does not name; [`Translated`]
//! translates them to those of the other kinds.

use super::by_hand::observation;
use anyorder_lang::lower::compile;
use anyorder_system::{
    Awaited, Capabilities, Choice, EnabledTask, Observation, PartPath, Posted, ProgramIdentity,
    RunError, Snapshots, Step, SystemFactory, TaskName, TaskSystem,
};
use anyorder_trace::Tables;
use anyorder_vm::{MachineFactory, MachineRun};
use std::sync::Arc;

/// The source of the model.
const ORDER_FORM: &str = include_str!("order_form.any");

/// Makes runs of the order form, with the names of the machine.
pub(crate) fn machine() -> MachineFactory {
    let compiled = compile(ORDER_FORM, "order_form.any").expect("the model is sound");
    assert!(compiled.warnings.is_empty(), "{:?}", compiled.warnings);
    MachineFactory(Arc::new(
        anyorder_vm::Machine::new(compiled.program).expect("the machine takes the program"),
    ))
}

/// Makes one run of the order form, with the names of the other kinds.
pub(crate) fn translated() -> Result<Translated, RunError> {
    Ok(Translated(machine().make()?))
}

/// A run whose tasks, handlers, failures and observations have the names of the other kinds.
pub(crate) struct Translated(MachineRun);

impl Translated {
    fn text(observed: &Observation, global: &str) -> String {
        let part = observed.part(&PartPath::new(["globals", global]));
        let text = part.and_then(|part| part.text.as_deref());
        text.expect("globals are observed with their texts").trim_matches('"').to_owned()
    }

    fn failures(observed: &Observation) -> Vec<String> {
        let failure = Translated::text(observed, "failure");
        if failure.is_empty() { Vec::new() } else { vec![failure] }
    }
}

/// Copies a name, and changes the label and the ordinal of its segments; the argument of `change`
/// says whether the segment is the root.
fn renamed(name: &TaskName, change: &dyn Fn(bool, &str, u32) -> (String, u32)) -> TaskName {
    let segment = name.segment();
    let creator = name.creator().map(|creator| renamed(creator, change));
    let (label, ordinal) = change(creator.is_none(), &segment.kind, segment.ordinal);
    let new = match creator {
        Some(creator) => creator.child(&segment.kind),
        None => TaskName::root(&segment.kind),
    };
    new.with_label(&label).with_ordinal(ordinal)
}

/// From the machine, which counts events from 1 and has no labels.
fn to_ours(name: &TaskName) -> TaskName {
    renamed(name, &|is_root, kind, ordinal| {
        let label = if kind == "reply" { "/orders" } else { "" };
        (label.to_owned(), ordinal - u32::from(is_root))
    })
}

/// To the machine.
fn to_machine(name: &TaskName) -> TaskName {
    renamed(name, &|is_root, _, ordinal| (String::new(), ordinal + u32::from(is_root)))
}

/// In the machine, the rule that timers wait for earlier posts needs a separate mailbox.
fn handler(name: String) -> String {
    if name == "timers" { "ui".to_owned() } else { name }
}

impl TaskSystem for Translated {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn program(&self) -> &ProgramIdentity {
        self.0.program()
    }

    fn tables(&self) -> &Tables {
        self.0.tables()
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.0.reset()
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        let ours = |enabled: EnabledTask| EnabledTask {
            task: to_ours(&enabled.task),
            handler: handler(enabled.handler),
            ..enabled
        };
        Ok(self.0.enabled()?.into_iter().map(ours).collect())
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        let failed = Translated::failures(&self.0.observe()?);
        let choice = Choice { task: to_machine(&choice.task), ..choice.clone() };
        let step = self.0.execute(&choice).map_err(|error| match error {
            RunError::Diverged(mut divergence) => {
                divergence.wanted = to_ours(&divergence.wanted);
                divergence.enabled = divergence.enabled.iter().map(to_ours).collect();
                RunError::Diverged(divergence)
            }
            other => other,
        })?;
        let mut failures = Translated::failures(&self.0.observe()?);
        failures.retain(|failure| !failed.contains(failure));
        let posted = step.posted.into_iter().map(|posted| Posted {
            task: to_ours(&posted.task),
            handler: handler(posted.handler),
            ..posted
        });
        Ok(Step {
            task: to_ours(&step.task),
            posted: posted.collect(),
            cancelled: step.cancelled.iter().map(to_ours).collect(),
            failures: step
                .failures
                .into_iter()
                .chain(failures.into_iter().map(Into::into))
                .collect(),
            ..step
        })
    }

    fn awaited(&mut self) -> Result<Vec<Awaited>, RunError> {
        self.0.awaited()
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        let observed = self.0.observe()?;
        let text = |global| Translated::text(&observed, global);
        let number = |global| text(global).parse().expect("a number");
        let failures = Translated::failures(&observed);
        Ok(observation(&text("status"), number("panel"), number("orders"), &text("log"), &failures))
    }

    fn snapshots(&mut self) -> Option<&mut dyn Snapshots> {
        self.0.snapshots()
    }
}
