//! The system under test; forbidden behaviour becomes a violation.

use anyorder_system::{
    Accesses, Capabilities, Choice, EnabledTask, Observation, ProgramIdentity, RunError, Step,
    TaskSystem,
};
use anyorder_trace::{LocationId, SiteId, Tables};
use std::fmt;

/// A violated clause of the contract.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Violation {
    /// The clause, in one word.
    pub(crate) clause: &'static str,
    /// The observed behaviour.
    pub(crate) text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.clause, self.text)
    }
}

/// Makes a violation.
pub(crate) fn violation<T>(clause: &'static str, text: impl Into<String>) -> Result<T, Violation> {
    Err(Violation { clause, text: text.into() })
}

/// Fails with a violation when two values that must be equal differ.
pub(crate) fn same<T: PartialEq + fmt::Debug>(
    clause: &'static str,
    what: &str,
    a: &T,
    b: &T,
) -> Result<(), Violation> {
    if a == b {
        return Ok(());
    }
    violation(clause, format!("{what}: {a:?} and then {b:?}"))
}

/// The observable part of a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StateView {
    /// The enabled tasks.
    pub(crate) enabled: Vec<EnabledTask>,
    /// The observation of the run.
    pub(crate) observation: Observation,
}

/// A step with its texts: two instances, which share no ids, are compared by them.
#[derive(Clone, Debug)]
pub(crate) struct RenderedStep {
    /// The step.
    pub(crate) step: Step,
    /// Its accesses, with the text of their sites.
    pub(crate) accesses: Vec<(String, String)>,
}

impl PartialEq for RenderedStep {
    fn eq(&self, other: &RenderedStep) -> bool {
        let rest =
            |shown: &RenderedStep| Step { accesses: Accesses::Unknown, ..shown.step.clone() };
        self.accesses == other.accesses && rest(self) == rest(other)
    }
}

impl RenderedStep {
    /// Returns the step without source positions, for systems written in different languages.
    pub(crate) fn without_sites(&self) -> String {
        let accesses: Vec<&String> = self.accesses.iter().map(|(access, _)| access).collect();
        format!("{:?} {accesses:?}", Step { accesses: Accesses::Unknown, ..self.step.clone() })
    }
}

fn shown(step: Step, tables: &Tables) -> RenderedStep {
    let show = |a: &anyorder_system::Access| {
        let location = tables.location_text(a.location);
        let access = format!("{:?} {location} {:?} {:?}", a.kind, a.read, a.written);
        (access, tables.site_text(a.site))
    };
    let mut accesses: Vec<_> = step.accesses.as_slice().iter().map(show).collect();
    if matches!(step.accesses, Accesses::Set(_)) {
        accesses.sort();
    }
    RenderedStep { step, accesses }
}

/// A monitored system: its tables must only grow, and constant properties must not change.
pub(crate) struct Subject<S> {
    /// The system.
    pub(crate) system: S,
    capabilities: Capabilities,
    program: ProgramIdentity,
    locations: Vec<String>,
    sites: Vec<String>,
}

impl<S: TaskSystem> Subject<S> {
    pub(crate) fn new(system: S) -> Subject<S> {
        let (capabilities, program) = (system.capabilities(), system.program().clone());
        Subject { system, capabilities, program, locations: Vec::new(), sites: Vec::new() }
    }

    pub(crate) fn reset(&mut self) -> Result<(), Violation> {
        let result = self.system.reset();
        self.after("reset", result)
    }

    pub(crate) fn view(&mut self) -> Result<StateView, Violation> {
        let enabled = self.system.enabled();
        let enabled = self.after("enabled", enabled)?;
        let observation = self.system.observe();
        Ok(StateView { enabled, observation: self.after("observe", observation)? })
    }

    pub(crate) fn execute(&mut self, choice: &Choice) -> Result<RenderedStep, Violation> {
        let result = self.system.execute(choice);
        let step = self.after(&format!("execute `{}`", choice.task), result)?;
        for access in step.accesses.as_slice() {
            let known = access.location.index() < self.locations.len()
                && access.site.index() < self.sites.len();
            if !known {
                return violation("tables", format!("an id of {access:?} is in no table"));
            }
        }
        Ok(shown(step, self.system.tables()))
    }

    /// Resets the system and makes choices.
    pub(crate) fn run_to(&mut self, choices: &[Choice]) -> Result<(), Violation> {
        self.reset()?;
        choices.iter().try_for_each(|choice| self.execute(choice).map(drop))
    }

    /// Checks the invariants after a request.
    pub(crate) fn after<T>(
        &mut self,
        asked: &str,
        result: Result<T, RunError>,
    ) -> Result<T, Violation> {
        same("capabilities", "capabilities", &self.capabilities, &self.system.capabilities())?;
        same("capabilities", "the program", &self.program, self.system.program())?;
        let tables = self.system.tables();
        let location = |index| tables.location_text(LocationId::from_index(index));
        let site = |index| tables.site_text(SiteId::from_index(index));
        watch("location", &mut self.locations, tables.locations.len(), location)?;
        watch("site", &mut self.sites, tables.sites.len(), site)?;
        result.or_else(|error| violation("answers", format!("{asked}: {error}")))
    }
}

/// Checks that a table only grew, and stores it.
fn watch(
    what: &str,
    known: &mut Vec<String>,
    count: usize,
    text: impl Fn(usize) -> String,
) -> Result<(), Violation> {
    if count < known.len() {
        return violation("tables", format!("the table of {what}s shrank"));
    }
    for (index, was) in known.iter().enumerate() {
        same("tables", &format!("{what} {index}"), was, &text(index))?;
    }
    known.extend((known.len()..count).map(text));
    Ok(())
}
