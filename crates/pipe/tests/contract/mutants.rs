//! Systems that break the contract: each flaw is found, by the clause about it.

use super::by_hand::{ByHand, by_hand_with_focus};
use super::promises::{Effort, check};
use anyorder_system::{
    AccessKind, Accesses, Awaited, Capabilities, Choice, EnabledTask, Hash128, Level, Observation,
    PartPath, ProgramIdentity, RunError, SnapshotId, Snapshots, Step, TaskName, TaskSystem,
};
use anyorder_trace::Tables;

/// A flaw of a mutant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flaw {
    None,
    /// The reset keeps the number of runs.
    ResetLeavesSomething,
    /// A step depends on the number of resets.
    StepsDiffer,
    /// One enabled task is missing.
    EnabledMissesOne,
    /// A disabled task is reported as enabled.
    EnabledInventsOne,
    /// A missing task runs as if it were the first one.
    RunsAnother,
    /// A divergence increments a counter.
    DivergenceChangesState,
    /// Tasks are numbered over the whole run, not per creator.
    NamesCountOverRun,
    /// Writes to one variable are not reported.
    ForgetsAccesses,
    /// Enabling, disabling and cancelling tasks is not reported.
    ForgetsSwitches,
    /// Restored states lack a part.
    RestoreLosesSomething,
    /// All states have one fingerprint.
    FingerprintIsConstant,
    /// Ids are reassigned after each reset.
    TablesStartAgain,
    /// A system without snapshots declares them.
    DeclaresTooMuch,
}

struct Mutant {
    inner: ByHand,
    flaw: Flaw,
    resets: u64,
    noise: u64,
    posts: u32,
}

impl Mutant {
    fn is(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }
}

/// Changes the ordinal of the last segment of a name; the mutant runs only names that it assigned.
fn renamed(name: &TaskName, by: u32) -> TaskName {
    name.with_ordinal(name.segment().ordinal + by)
}

impl TaskSystem for Mutant {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn program(&self) -> &ProgramIdentity {
        self.inner.program()
    }

    fn tables(&self) -> &Tables {
        self.inner.tables()
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.resets += 1;
        self.posts = 0;
        if !self.is(Flaw::ResetLeavesSomething) {
            self.noise = 0;
        }
        if self.is(Flaw::TablesStartAgain) {
            self.inner = by_hand_with_focus()?;
        }
        self.inner.reset()
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        let mut enabled = self.inner.enabled()?;
        if self.is(Flaw::EnabledMissesOne) && enabled.len() > 1 {
            enabled.pop();
        }
        if self.is(Flaw::EnabledInventsOne) && enabled.len() > 1 {
            let task = TaskName::root("ghost");
            enabled.push(EnabledTask { task, ..enabled[0].clone() });
        }
        Ok(enabled)
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        let mut step = match self.inner.execute(choice) {
            Err(RunError::Diverged(divergence)) => {
                if self.is(Flaw::DivergenceChangesState) {
                    self.noise += 1;
                }
                match divergence.enabled.first() {
                    Some(first) if self.is(Flaw::RunsAnother) => {
                        self.inner.execute(&Choice::of(first.clone()))?
                    }
                    _ => return Err(RunError::Diverged(divergence)),
                }
            }
            other => other?,
        };
        if self.is(Flaw::ResetLeavesSomething) {
            self.noise += 1;
        }
        if self.is(Flaw::StepsDiffer) && self.resets % 3 == 1 {
            step.failures.push("a moody step".into());
        }
        if self.is(Flaw::NamesCountOverRun) {
            for posted in &mut step.posted {
                posted.task = renamed(&posted.task, self.posts);
                self.posts += 1;
            }
        }
        let tables = self.inner.tables();
        let is_forgotten = |location: &str| match self.flaw {
            Flaw::ForgetsAccesses => location == "focus",
            Flaw::ForgetsSwitches => location.starts_with("task."),
            _ => false,
        };
        if let Accesses::List(list) = &mut step.accesses {
            list.retain(|access| {
                let is_read = access.kind == AccessKind::Read;
                is_read || !is_forgotten(&tables.location_text(access.location))
            });
        }
        Ok(step)
    }

    fn awaited(&mut self) -> Result<Vec<Awaited>, RunError> {
        self.inner.awaited()
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        let mut observation = self.inner.observe()?;
        if self.noise > 0 {
            let path = PartPath::new(["noise"]);
            observation.set(path, Level::Heap, self.noise.to_string().as_bytes());
        }
        Ok(observation)
    }

    fn snapshots(&mut self) -> Option<&mut dyn Snapshots> {
        if self.is(Flaw::DeclaresTooMuch) { None } else { Some(self) }
    }
}

impl Snapshots for Mutant {
    fn save(&mut self) -> Result<SnapshotId, RunError> {
        self.inner.save()
    }

    fn restore(&mut self, snapshot: SnapshotId) -> Result<(), RunError> {
        if self.is(Flaw::RestoreLosesSomething) {
            self.noise += 1;
        }
        self.inner.restore(snapshot)
    }

    fn forget(&mut self, snapshot: SnapshotId) {
        self.inner.forget(snapshot);
    }

    fn fingerprint(&mut self) -> Hash128 {
        if self.is(Flaw::FingerprintIsConstant) { Hash128::new() } else { self.inner.fingerprint() }
    }
}

#[test]
fn every_flaw_is_found_by_the_clause_about_it() {
    use Flaw::*;
    let cases = [
        (ResetLeavesSomething, "reset"),
        (StepsDiffer, "repeatable"),
        (EnabledMissesOne, "divergence"),
        (EnabledInventsOne, "answers"),
        (RunsAnother, "divergence"),
        (DivergenceChangesState, "divergence"),
        (NamesCountOverRun, "names"),
        (ForgetsAccesses, "commuting"),
        (ForgetsSwitches, "commuting"),
        (RestoreLosesSomething, "snapshots"),
        (FingerprintIsConstant, "snapshots"),
        (TablesStartAgain, "tables"),
        (DeclaresTooMuch, "snapshots"),
    ];
    let effort = Effort { seed: 99, walks: 40, steps_max: 12 };
    let found = |flaw| {
        let make =
            || Ok(Mutant { inner: by_hand_with_focus()?, flaw, resets: 0, noise: 0, posts: 0 });
        check(&make, effort).err().map(|violation| (violation.clause, violation.text))
    };
    assert_eq!(found(None), Option::None, "without a flaw, nothing is found");
    for (flaw, clause) in cases {
        let (by, text) = found(flaw).unwrap_or_else(|| panic!("{flaw:?} is not found"));
        println!("{flaw:?}: {by}: {}", text.chars().take(90).collect::<String>());
        assert_eq!(by, clause, "{flaw:?} is found by another clause: {text}");
    }
}
