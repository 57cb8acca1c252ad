//! Searches with reduction where that pays, and in full elsewhere.
//!
//! A reduced search looks at some states first. If it leaves out almost nothing, it costs more than
//! full search: it makes and stores footprints, and its runs have to be shortened afterwards. Then
//! full search starts from the beginning, up to a limit of many times the states sampled. At the
//! limit, a larger sample decides again: a program may have much to leave out in later states
//! only, and what full search has wasted by then is bounded. Each answer comes from one of the two
//! searches alone, so it has the guarantees of that search. Counted limits decide, so all of it is
//! the same with any number of threads.

use super::check::{CheckOptions, Found, Searched, assemble, with_missing};
use super::full::full;
use super::program::StateProgram;
use super::reduced::{by_stateful, shortest};
use super::report::publish;
use crate::{Failure, JobControl};
use anyorder_explore::stateful::{GiveUp, Reduction};
use anyorder_finding::stat;
use anyorder_system::Reducible;

/// When a sample decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stages {
    /// The states that the first sample expands.
    pub(super) first: u64,
    /// How many times as many the next one expands.
    pub(super) growth: u64,
    /// The limit on the states of full search, in states expanded by the sample.
    pub(super) factor: u64,
}

impl Default for Stages {
    fn default() -> Stages {
        Stages { first: 1 << 10, growth: 8, factor: 128 }
    }
}

/// Searches with reduction if samples of the states say that it pays, and else in full.
pub(super) fn sampled<P>(
    program: &P,
    options: &CheckOptions,
    stages: Stages,
    control: &JobControl<'_>,
) -> Result<Found, Failure>
where
    P: StateProgram,
    P::System: Reducible,
{
    let sample = |expanded: u64| by_stateful(program, options, GiveUp::Leave(expanded), control);
    let mut size = stages.first;
    let mut reduced = sample(size)?;
    if !reduced.0.detail.counts.left {
        return Ok(answer(program, reduced, options, control));
    }
    let mut states = reduced.0.stats.states;
    let asked = options.states_max;
    let bound = |size: u64| size.saturating_mul(stages.factor).min(asked.unwrap_or(u64::MAX));
    let full_options = CheckOptions { states_max: Some(bound(size)), ..options.clone() };
    let mut settled = false;
    let mut next_limit = |limit: u64| {
        if asked.is_some_and(|asked| limit >= asked) {
            return Ok(None);
        }
        size = size.saturating_mul(stages.growth.max(2));
        reduced = sample(size)?;
        states += reduced.0.stats.states;
        settled = !reduced.0.detail.counts.left && reduced.0.limits.is_empty();
        // What has cut a sample cuts full search as well.
        Ok((!settled).then(|| bound(size)))
    };
    let mut found = full(program, &full_options, control, (&mut (), &mut next_limit))?;
    if settled {
        return Ok(answer(program, reduced, options, control));
    }
    found.0.1.set(stat::SAMPLED_STATES, states);
    publish(program, &found.0.0.violations, control);
    with_missing(program, options, found, control)
}

/// Builds the result of a search with reduction.
fn answer<P: StateProgram>(
    program: &P,
    reduced: Searched<P::System, Reduction>,
    options: &CheckOptions,
    control: &JobControl<'_>,
) -> Found {
    publish(program, &reduced.0.violations, control);
    assemble(program, shortest(program.system(), reduced, options, control), control)
}

#[cfg(test)]
mod tests {
    use super::super::check::{Algorithm, CheckOptions};
    use super::{Found, Stages, sampled};
    use crate::JobControl;
    use crate::model::{Model, check_model};
    use anyorder_finding::{Kind, stat, stat::StatName};
    use std::collections::{BTreeMap, BTreeSet};
    use std::num::NonZeroUsize;
    use std::{fs, path::Path};

    type Findings = BTreeSet<(Kind, String)>;

    fn findings(result: &crate::JobResult) -> Findings {
        result.findings.iter().map(|one| (one.finding.kind, one.finding.title.clone())).collect()
    }

    fn lengths(result: &crate::JobResult) -> BTreeMap<(Kind, String), usize> {
        let length = |one: &crate::Reported| one.run.as_ref().map_or(0, |run| run.steps.len());
        let of =
            |one: &crate::Reported| ((one.finding.kind, one.finding.title.clone()), length(one));
        result.findings.iter().map(of).collect()
    }

    /// Wherever samples end and full search takes over, or gives way again, the findings are those
    /// of full search; its counts, where it answers; and all of it for any number of threads.
    #[test]
    fn the_findings_are_those_of_full_search_whenever_a_sample_decides() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
        let mut files: Vec<_> =
            fs::read_dir(folder).unwrap().map(|one| one.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "any"));
        files.sort();
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for (file, turn) in files.iter().zip(0u64..) {
            let text = fs::read_to_string(file).unwrap();
            let model = Model::compile(&file.to_string_lossy(), &text).unwrap();
            let options = CheckOptions::default();
            if options.plan(&model).0 != Algorithm::Stateful {
                *counts.entry("need full search").or_default() += 1;
                continue;
            }
            let whole = CheckOptions { algorithm: Some(Algorithm::Full), ..options.clone() };
            let control = JobControl::default();
            let full = check_model(&model, &whole, &control).unwrap().result;
            for (first, growth, factor) in [(1 + turn % 16, 2, 2), (8 + turn, 3, 4), (64, 8, 128)] {
                let stages = Stages { first, growth, factor };
                let (one, never_run): Found = sampled(&model, &options, stages, &control).unwrap();
                let what = format!("{} {stages:?}", file.display());
                assert_eq!(findings(&one), findings(&full), "{what}");
                assert!(one.limits.is_empty() && never_run.is_some(), "{what}: {:?}", one.limits);
                let threads = NonZeroUsize::new(3).unwrap();
                let many = CheckOptions { threads, ..options.clone() };
                let (many, _) = sampled(&model, &many, stages, &control).unwrap();
                assert_eq!(one.stats, many.stats, "{what}");
                let same =
                    |name: StatName| one.stats.get(name.word()) == full.stats.get(name.word());
                let is_full = same(stat::ALGORITHM);
                let sampled = one.stats.get(stat::SAMPLED_STATES.word()).is_some();
                assert_eq!(is_full, sampled, "{what}");
                if is_full {
                    assert!(same(stat::STATES) && same(stat::TRANSITIONS), "{what}");
                    assert_eq!(lengths(&one), lengths(&full), "{what}");
                }
                let name = if is_full { "full search answered" } else { "reduced search answered" };
                *counts.entry(name).or_default() += 1;
                let fewer = !is_full && !same(stat::STATES);
                *counts.entry("with fewer states").or_default() += u32::from(fewer);
            }
        }
        println!("{counts:?}");
        assert!(counts["full search answered"] > 20, "{counts:?}");
        assert!(counts["reduced search answered"] > 20, "{counts:?}");
        assert!(counts["with fewer states"] > 10, "{counts:?}");
    }
}
