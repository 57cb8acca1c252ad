//! Updates of attributes as engines and reports see them.

use crate::machine::{Kind, Machine, NO_COMPONENT, Places};
use crate::program::SourceSite;
use crate::state::{State, StepDelta};
use crate::step::{AttributeUpdate, effects_update};
use crate::transitions::{Action, StepExecutor, candidates};
use crate::value::{Value, show::short};
use anyorder_system::{Place, Successor, Update, Updates};

/// An update of a step, for reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Write {
    /// The attribute: a global, or an element of one: `lamp`, `lamps[2]`.
    pub attribute: String,
    /// The attribute as engines name it.
    pub place: Place,
    /// The component, by its index.
    pub by: Option<u32>,
    /// Its new value.
    pub value: String,
    /// Its source position.
    pub site: Option<SourceSite>,
}

/// A transition, and what it wrote.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The action and the state after it.
    pub successor: Successor<State, Action>,
    /// Its updates in order; none if the program has no components.
    pub writes: Vec<Write>,
}

impl Machine {
    fn update(&self, global: u16, element: Option<&Value>, by: u16) -> Update {
        let container = self.tables().places.at(Kind::Global, u64::from(global));
        let place = element.map_or(container, |element| Places::element(container, element));
        Update { place, by: Some(u32::from(by)).filter(|_| by != NO_COMPONENT) }
    }

    /// Reports the updates of a step.
    pub(crate) fn report_updates(&self, updated: &[AttributeUpdate], out: &mut Updates) {
        for update in updated {
            out.push(self.update(update.global, update.element.as_ref(), update.by));
        }
        out.end();
    }

    /// Reports the updates of a remembered step.
    pub(crate) fn report_delta(&self, before: &State, delta: &StepDelta, out: &mut Updates) {
        effects_update(before, &delta.effects, |global, element, by| {
            out.push(self.update(global, element.as_ref(), by));
        });
        out.end();
    }

    /// Returns the updates of a step, in order; none if the program has no components.
    #[must_use]
    pub fn writes(&self, state: &State, action: &Action) -> Vec<Write> {
        if !self.reports_updates() {
            return Vec::new();
        }
        let executed = StepExecutor::logging(self, state).run_one(action);
        executed.map(|executed| self.writes_of(executed.updates)).unwrap_or_default()
    }

    /// Returns the transitions from a state, each with its updates, as [`writes`](Self::writes)
    /// reports them. Each step is executed once for each alternative, so this costs what
    /// [`successors`](anyorder_system::StateSystem::successors) costs. A step with more than
    /// `alternatives_max` alternatives has a failure in the place of the others. Returns `None` if
    /// the job of the thread was stopped.
    #[must_use]
    pub fn transitions(&self, state: &State, alternatives_max: u32) -> Option<Vec<Transition>> {
        let mut executor = StepExecutor::plain(self, state);
        executor.alternatives_max = alternatives_max;
        let mut steps = Vec::new();
        candidates(self, state, true, |step| steps.push(step));
        let mut found = Vec::new();
        for step in steps {
            executor.run(step, |executor, alternative, outcome| {
                let writes = self.writes_of(executor.take_updates());
                let successor = outcome.successor(self, Action { step, alternative });
                found.push(Transition { successor, writes });
            });
            if executor.interpreter.poll.is_stopped() {
                return None;
            }
        }
        Some(found)
    }

    /// Puts updates into words.
    pub(crate) fn writes_of(&self, updated: Vec<AttributeUpdate>) -> Vec<Write> {
        let of = |one: AttributeUpdate| {
            let Update { place, by } = self.update(one.global, one.element.as_ref(), one.by);
            let name = &self.program.globals[usize::from(one.global)].name;
            let attribute = match &one.element {
                Some(element) => format!("{name}[{}]", short(&self.program, element)),
                None => name.clone(),
            };
            let site = self.program.sites.get(one.site.index()).copied();
            let site = site.filter(|site| site.line > 0);
            let value = match (&one.value, &one.element) {
                (Some(value), _) => short(&self.program, value),
                (None, Some(_)) => "nothing".to_owned(),
                (None, None) => "other elements".to_owned(),
            };
            Write { attribute, place, by, value, site }
        };
        updated.into_iter().map(of).collect()
    }
}
