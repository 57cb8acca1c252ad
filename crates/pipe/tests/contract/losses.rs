//! Children that lose replies: with repetition, the runs are the same.

use super::by_hand::by_hand;
use super::children::Language;
use super::kinds::{all_runs, assert_same_runs};
use super::promises::{Effort, assert_keeps};
use anyorder_pipe::{PipeSystem, Retrying};
use anyorder_system::{RunError, SystemFactory, TaskSystem};
use anyorder_testkit::effort::is_due;
use std::sync::atomic::{AtomicU64, Ordering};

const ATTEMPTS: u32 = 20;
const LOSE_ONE_IN_FIFTY: [&str; 4] = ["--lose", "50", "--seed", "11"];

/// Makes systems that repeat lost requests, and counts the losses of all of them.
struct RetryingFactory<'a, F> {
    factory: F,
    retries: &'a AtomicU64,
}

struct Counting<'a> {
    system: Retrying<PipeSystem>,
    retries: &'a AtomicU64,
}

impl Drop for Counting<'_> {
    fn drop(&mut self) {
        self.retries.fetch_add(self.system.retries(), Ordering::Relaxed);
    }
}

impl<'a, F: SystemFactory<System = PipeSystem>> SystemFactory for RetryingFactory<'a, F> {
    type System = Counting<'a>;

    fn make(&self) -> Result<Counting<'a>, RunError> {
        // The first reply may be lost, too.
        let mut made = self.factory.make();
        for _ in 1..ATTEMPTS {
            if made.is_ok() {
                break;
            }
            made = self.factory.make();
        }
        Ok(Counting { system: Retrying::new(made?, ATTEMPTS), retries: self.retries })
    }
}

/// Forwards all other calls.
macro_rules! pass_on {
    ($($name:ident(&self) -> $result:ty;)* ; $($changing:ident(&mut self $(, $argument:ident: $type:ty)?) -> $outcome:ty;)*) => {
        impl TaskSystem for Counting<'_> {
            $(fn $name(&self) -> $result { self.system.$name() })*
            $(fn $changing(&mut self $(, $argument: $type)?) -> Result<$outcome, RunError> {
                self.system.$changing($($argument)?)
            })*
        }
    };
}

pass_on! {
    capabilities(&self) -> anyorder_system::Capabilities;
    program(&self) -> &anyorder_system::ProgramIdentity;
    tables(&self) -> &anyorder_trace::Tables;
    ;
    reset(&mut self) -> ();
    enabled(&mut self) -> Vec<anyorder_system::EnabledTask>;
    execute(&mut self, choice: &anyorder_system::Choice) -> anyorder_system::Step;
    observe(&mut self) -> anyorder_system::Observation;
}

/// The languages that are due: children that start again and again take long.
fn languages() -> impl Iterator<Item = Language> {
    let due = |(index, _): &(usize, Language)| is_due(*index, Language::ALL.len());
    Language::ALL.into_iter().enumerate().filter(due).map(|(_, language)| language)
}

#[test]
fn with_losses_the_same_runs_are_found() {
    let expected = all_runs(&by_hand);
    for language in languages() {
        let Some(factory) = language.order_form(&LOSE_ONE_IN_FIFTY) else { continue };
        let retries = AtomicU64::new(0);
        let runs = all_runs(&RetryingFactory { factory, retries: &retries });
        let retries = retries.into_inner();
        println!("{language:?}: {retries} requests repeated");
        assert!(retries >= 5, "{language:?}: only {retries} replies were lost");
        assert_same_runs(&format!("{language:?} with losses"), &expected, &runs);
    }
}

#[test]
fn with_losses_the_contract_is_kept() {
    for language in languages() {
        let Some(factory) = language.order_form(&LOSE_ONE_IN_FIFTY) else { continue };
        let retries = AtomicU64::new(0);
        let effort = Effort { seed: 5, walks: 1, steps_max: 6 };
        assert_keeps(
            &format!("{language:?} with losses"),
            &RetryingFactory { factory, retries: &retries },
            effort,
        );
        assert!(retries.into_inner() > 0, "{language:?}: no reply was lost");
    }
}

#[test]
fn a_caller_sees_a_loss_as_an_error_and_can_go_on() {
    for language in languages() {
        let Some(factory) = language.order_form(&["--lose", "4", "--seed", "3"]) else { continue };
        let (mut unstable, mut answered) = (0, 0);
        let Some(mut system) = (0..ATTEMPTS).find_map(|_| factory.make().ok()) else {
            panic!("{language:?}: no child ever answered");
        };
        for _ in 0..60 {
            match system.enabled() {
                Ok(_) => answered += 1,
                Err(RunError::Unstable(text) | RunError::TimedOut(text)) => {
                    assert!(text.contains("enabled"), "{text}");
                    unstable += 1;
                    while system.reset().is_err() {}
                }
                Err(other) => panic!("{language:?}: {other}"),
            }
        }
        println!("{language:?}: {answered} answers, {unstable} losses");
        assert!(unstable > 3 && answered > 20, "{language:?}: {unstable} and {answered}");
    }
}
