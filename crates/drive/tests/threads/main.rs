//! Models of threads: the search by what each thread can see against the search of all states.

use anyorder_common::random::Rng;
use anyorder_drive::model::{Model, check_model, replay_model};
use anyorder_drive::states::{Algorithm, CheckOptions, ReplayVerdict};
use anyorder_drive::{Failure, JobControl, JobResult, schedule_of};
use anyorder_finding::Kind;
use anyorder_testkit::effort;
use std::collections::{BTreeMap, BTreeSet};

mod classics;
mod generate;

use generate::{Generator, KINDS};

fn checked(
    model: &Model,
    algorithm: Algorithm,
    states_max: Option<u64>,
) -> Result<JobResult, Failure> {
    let options =
        CheckOptions { algorithm: Some(algorithm), states_max, ..CheckOptions::default() };
    check_model(model, &options, &JobControl::default()).map(|checked| checked.result)
}

/// What tells findings apart, in results of any engine.
fn ids(result: &JobResult) -> BTreeSet<(Kind, String, String)> {
    let of = |one: &anyorder_drive::Reported| {
        let finding = &one.finding;
        let sites = format!(
            "{:?}",
            finding.sites.iter().map(|site| (site.line, site.column)).collect::<Vec<_>>()
        );
        (finding.kind, finding.title.clone(), sites)
    };
    result.findings.iter().map(of).collect()
}

#[test]
fn random_models_have_the_findings_of_all_states() {
    let mut count: BTreeMap<String, u64> = BTreeMap::new();
    let mut used: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in effort::seeds(150) {
        let mut rng = Rng::new(seed);
        let mut generator = Generator::new(&mut rng);
        let text = generator.model();
        for (kind, times) in generator.used {
            *used.entry(kind).or_default() += times;
        }
        let model = Model::compile("random.any", &text);
        let model = model.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        let mut hit = |what: &str| *count.entry(what.to_owned()).or_default() += 1;
        let states = checked(&model, Algorithm::Full, Some(60_000)).expect("states");
        if !states.limits.is_empty() {
            hit("too large");
            continue;
        }
        let threads = match checked(&model, Algorithm::Threads, None) {
            Ok(threads) => threads,
            Err(error) => {
                hit(&format!("unfit: {error}"));
                continue;
            }
        };
        if !threads.limits.is_empty() {
            hit(&format!("incomplete: {:?}", threads.limits));

            continue;
        }
        let (found, wanted) = (ids(&threads), ids(&states));
        hit(if wanted.is_empty() { "nothing found" } else { "something found" });
        for (kind, ..) in &wanted {
            hit(&format!("{kind:?}"));
        }
        assert_eq!(
            found,
            wanted,
            "seed {seed}\n{text}\n{:?}",
            threads.findings.iter().map(|f| f.run.clone()).collect::<Vec<_>>()
        );
        for one in &threads.findings {
            assert_eq!(one.finding.confirmed, Some(true), "seed {seed}\n{text}");
            let schedule = schedule_of(&one.finding).expect("a schedule");
            let replayed = replay_model(&model, &schedule).expect("a replay");
            assert_eq!(replayed.verdict, ReplayVerdict::Reproduced, "seed {seed}\n{text}");
        }
    }
    println!("{count:#?}\n{used:#?}");
    for kind in KINDS {
        assert!(used.contains_key(kind), "never written: {kind}");
    }
    for what in ["Assertion", "Deadlock", "Final", "nothing found", "something found"] {
        assert!(count.contains_key(what), "never seen: {what}");
    }
    // Every model that is made fits; few get no whole answer, and say so.
    let of = |word: &str| -> u64 {
        count.iter().filter(|(what, _)| what.starts_with(word)).map(|(_, times)| times).sum()
    };
    assert_eq!(of("unfit"), 0);
    let incomplete = of("incomplete");
    assert!(incomplete * 100 <= count.values().sum(), "{incomplete}");
}
