//! Systems that lose replies, change results or answer wrongly: no wrong result counts as harmful.

use crate::tests::r4::random::{KINDS, Numbers, Random};
use crate::tests::r4::slides::Slides;
use crate::tests::r4::toy::{ALL, NONE, Skills, Toy};
use crate::tests::r4::worked::{options, run, shown};
use anyorder_explore::r4::{FindingKind, Limit, Outcome, ReversalOptions, Sleep, explore};
use anyorder_system::{
    Awaited, Capabilities, Choice, Control, EnabledDetail, EnabledTask, Level, Observation,
    PartPath, ProgramIdentity, RunError, Snapshots, Step, TaskName, TaskRole, TaskSystem,
};
use anyorder_trace::Tables;
use std::collections::BTreeSet;

/// The faults: each occurs one time in so many; 0 for never.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) lose: usize,
    pub(crate) observe: usize,
    pub(crate) diverge: usize,
}

struct Unstable<S> {
    inner: S,
    numbers: Numbers,
    faults: Faults,
    /// After a loss every request fails until the next reset.
    gone: bool,
}

impl<S> Unstable<S> {
    fn hit(&mut self, one_in: usize) -> bool {
        one_in > 0 && self.numbers.below(one_in) == 0
    }

    fn lose(&mut self) -> Result<(), RunError> {
        self.gone |= self.hit(self.faults.lose);
        if self.gone { Err(RunError::Unstable("the reply was lost".to_owned())) } else { Ok(()) }
    }
}

impl<S: TaskSystem> TaskSystem for Unstable<S> {
    fn capabilities(&self) -> Capabilities {
        Capabilities { deterministic: false, ..self.inner.capabilities() }
    }

    fn program(&self) -> &ProgramIdentity {
        self.inner.program()
    }

    fn tables(&self) -> &Tables {
        self.inner.tables()
    }

    fn role(&self, task: &TaskName) -> TaskRole {
        self.inner.role(task)
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.gone = false;
        self.inner.reset()
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        self.lose()?;
        self.inner.enabled()
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        self.lose()?;
        if self.hit(self.faults.diverge) {
            let mut wrong = choice.clone();
            wrong.task = TaskName::root("nobody");
            return self.inner.execute(&wrong);
        }
        self.inner.execute(choice)
    }

    fn awaited(&mut self) -> Result<Vec<Awaited>, RunError> {
        self.lose()?;
        self.inner.awaited()
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        self.lose()?;
        let mut observation = self.inner.observe()?;
        if self.hit(self.faults.observe) {
            let noise = self.numbers.below(1 << 30).to_le_bytes();
            observation.set(PartPath::new(["noise"]), Level::Output, &noise);
        }
        Ok(observation)
    }

    fn snapshots(&mut self) -> Option<&mut dyn Snapshots> {
        self.inner.snapshots()
    }
}

pub(crate) fn shaky(
    model: &Slides,
    skills: Skills,
    faults: Faults,
    seed: u64,
    options: &ReversalOptions,
) -> Outcome {
    let factory = || -> Result<_, RunError> {
        let (inner, numbers) = (Toy::new(model.clone(), skills), Numbers(seed));
        Ok(Unstable { inner, numbers, faults, gone: false })
    };
    explore(&factory, options, &Control::default()).expect("a recording")
}

const BARE: Skills = Skills { snapshot: false, ..ALL };

pub(crate) fn harmful(outcome: &Outcome) -> usize {
    let is = |kind: &FindingKind| !matches!(kind, FindingKind::Unstable(_));
    outcome.findings.iter().filter(|found| is(&found.kind)).count()
}

#[test]
fn lost_replies_are_asked_for_again() {
    let expected = shown(&run(true, &options(Some(2))));
    let (mut retries, mut lost) = (0, 0);
    for seed in 1..=100u64 {
        let faults = Faults { lose: 50, ..Faults::default() };
        let options = ReversalOptions { attempts: 20, ..options(Some(2)) };
        let outcome = shaky(&Slides::new(true), BARE, faults, seed * 77, &options);
        assert_eq!(harmful(&outcome), 0, "seed {seed}");
        retries += outcome.counts.retries;
        lost += outcome.counts.lost;
        if outcome.counts.lost == 0 {
            assert_eq!(shown(&outcome), expected, "seed {seed}");
            assert!(outcome.complete);
        }
    }
    println!("{retries} retries, {lost} sequences given up");
    assert!(retries > 300 && lost < 5);
}

#[test]
fn what_is_given_up_is_reported() {
    let mut lost = 0;
    for seed in 1..=50u64 {
        let faults = Faults { lose: 20, ..Faults::default() };
        let options = ReversalOptions { attempts: 2, lost_max: 3, ..options(Some(2)) };
        let factory = || -> Result<_, RunError> {
            let (inner, numbers) = (Toy::new(Slides::new(true), BARE), Numbers(seed * 991));
            Ok(Unstable { inner, numbers, faults, gone: false })
        };
        let Ok(outcome) = explore(&factory, &options, &Control::default()) else { continue };
        assert_eq!(harmful(&outcome), 0, "seed {seed}");
        lost += outcome.counts.lost;
        if outcome.counts.lost > 0 {
            assert!(!outcome.complete && outcome.limits.contains(&Limit::Lost));
            let unstable = outcome.findings.iter().filter(|found| found.run.is_none()).count();
            assert_eq!(unstable as u64, outcome.counts.lost);
        }
    }
    assert!(lost > 20, "{lost}");
}

#[test]
fn wrong_observations_are_never_harmful() {
    let (mut unstable, mut reported) = (0, 0);
    for seed in 1..=200u64 {
        let faults = Faults { observe: 10, ..Faults::default() };
        let outcome = shaky(&Slides::new(true), ALL, faults, seed * 77, &options(Some(2)));
        assert_eq!(harmful(&outcome), 0, "seed {seed}: {:?}", outcome.findings);
        unstable += outcome.counts.unstable;
        reported += outcome.findings.len();
    }
    println!("{unstable} unstable runs, {reported} reported");
    assert!(unstable > 50 && reported > 50);
}

#[test]
fn runs_that_take_another_course_are_never_harmful() {
    let (mut odd, mut others) = (0, 0);
    for skills in [ALL, BARE, NONE] {
        for seed in 1..=200u64 {
            let faults = Faults { diverge: 60, ..Faults::default() };
            let outcome = shaky(&Slides::new(true), skills, faults, seed * 77, &options(Some(2)));
            // A program that does not know its enabled tasks may begin with another run than the
            // recorded one: then harm may be near.
            if !outcome.runs[0].late.is_empty() || !outcome.runs[0].skipped.is_empty() {
                assert_eq!(skills.enabled, EnabledDetail::Unknown);
                others += 1;
                continue;
            }
            assert_eq!(harmful(&outcome), 0, "seed {seed}: {:?}", outcome.findings);
            odd += outcome.counts.unstable + outcome.counts.retries;
        }
    }
    assert!(odd > 50 && others < 100, "{odd} {others}");
}

#[test]
fn harm_that_is_there_is_found_by_shaky_systems_too() {
    let (mut found, mut all) = (0, 0);
    for seed in 1..=60u64 {
        let model = Random::new(KINDS[1].1, &mut Numbers(seed.wrapping_mul(0x1234_5678_9abc_def1)));
        let options = ReversalOptions {
            bound: Some(1),
            sleep: Sleep::Exact,
            attempts: 30,
            ..ReversalOptions::default()
        };
        let steady = crate::tests::r4::random::explored(&model, &options);
        let faults = Faults { lose: 50, ..Faults::default() };
        let factory = || -> Result<_, RunError> {
            let (inner, numbers) = (Toy::new(model.clone(), BARE), Numbers(seed));
            Ok(Unstable { inner, numbers, faults, gone: false })
        };
        let outcome = explore(&factory, &options, &Control::default()).expect("a recording");
        let kinds = |outcome: &Outcome| -> BTreeSet<String> {
            let show = |found: &anyorder_explore::r4::Found| {
                format!("{:?} {:?}", found.kind, found.reversal)
            };
            let is = |found: &&anyorder_explore::r4::Found| {
                !matches!(found.kind, FindingKind::Unstable(_))
            };
            outcome.findings.iter().filter(is).map(show).collect()
        };
        let (expected, ours) = (kinds(&steady), kinds(&outcome));
        assert!(ours.is_subset(&expected), "seed {seed}");
        (found, all) = (found + ours.len(), all + expected.len());
    }
    println!("{found} of {all}");
    assert!(all > 20 && found * 10 > all * 9);
}
