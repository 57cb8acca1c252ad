//! Homes that share what was evaluated have the programs of homes that share nothing.

use crate::homes::Homes;
use anyorder_home::app::App;
use anyorder_home::capability::Capabilities;
use anyorder_home::config;
use anyorder_home::lower::{HomeProgram, Options, Unfolded};
use anyorder_home::unfold::Memo;
use anyorder_testkit::effort;
use std::collections::BTreeMap;

/// Returns the program of each pair of apps, and whether it was known.
fn pairs(texts: &[String], memo: Option<&Memo>, is_immediate: bool) -> Vec<(HomeProgram, bool)> {
    let read = |(number, text): (usize, &String)| App::read(&format!("{number}.groovy"), text);
    let apps: Vec<App> =
        texts.iter().enumerate().map(read).collect::<Result<_, _>>().expect("apps");
    let all = config::shared(&apps, &Capabilities::built_in());
    let options = Options { is_immediate, is_whole: true, ..Options::default() };
    let made = |pair: [usize; 2]| {
        let home = all.with_only(&pair);
        let before = memo.map_or((0, 0), Memo::counts);
        let unfolded = Unfolded::new(&apps, &home, &options, memo, &|| false);
        let after = memo.map_or((0, 0), Memo::counts);
        let program = unfolded.program("home", &options).expect("a program");
        (program, after.1 == before.1)
    };
    let pairs = (0..apps.len()).flat_map(|a| (a + 1..apps.len()).map(move |b| [a, b]));
    pairs.map(made).collect()
}

fn differs(one: &HomeProgram, other: &HomeProgram) -> bool {
    one.program != other.program || one.notes != other.notes || one.executions != other.executions
}

#[test]
fn pairs_that_share_executions_have_the_same_programs() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in effort::seeds(120) {
        let mut homes = Homes::new(seed);
        let mut texts = homes.home();
        texts.extend(homes.home());
        texts.truncate(4);
        let is_immediate = seed % 3 == 0;
        let memo = Memo::default();
        let alone = pairs(&texts, None, is_immediate);
        let shared = pairs(&texts, Some(&memo), is_immediate);
        let again = pairs(&texts, Some(&memo), is_immediate);
        for ((alone, shared), again) in alone.iter().zip(&shared).zip(&again) {
            assert!(!differs(&alone.0, &shared.0), "seed {seed}: {}", texts.join("\n//----\n"));
            assert!(!differs(&alone.0, &again.0), "seed {seed}: {}", texts.join("\n//----\n"));
            assert!(again.1, "seed {seed}: nothing is left to evaluate");
            *counts.entry("programs with something new").or_default() += u64::from(!shared.1);
            *counts.entry("programs of known executions").or_default() += u64::from(shared.1);
        }
        let (repeated, evaluated) = memo.counts();
        *counts.entry("repeated").or_default() += repeated;
        *counts.entry("evaluated").or_default() += evaluated;
        // The memo of other apps is noticed: their deeds are other ones.
        let mixed: Vec<String> = texts.iter().map(|text| swapped(text)).collect();
        let other = pairs(&mixed, None, is_immediate);
        let memo = Memo::default();
        pairs(&texts, Some(&memo), is_immediate);
        if mixed != texts && alone.iter().zip(&other).any(|(one, other)| differs(&one.0, &other.0))
        {
            *counts.entry("homes that differ by two commands").or_default() += 1;
            let wrong = pairs(&mixed, Some(&memo), is_immediate);
            let noticed = wrong.iter().zip(&other).any(|(one, other)| differs(&one.0, &other.0));
            *counts.entry("noticed: a memo of other apps").or_default() += u64::from(noticed);
        }
    }
    println!("{counts:#?}");
    for what in [
        "programs with something new",
        "programs of known executions",
        "repeated",
        "evaluated",
        "homes that differ by two commands",
        "noticed: a memo of other apps",
    ] {
        assert!(counts.get(what).is_some_and(|count| *count >= 5), "{what}");
    }
    assert!(counts["repeated"] > counts["evaluated"], "{counts:#?}");
}

/// Returns the app with two commands in each other's place.
fn swapped(text: &str) -> String {
    text.replace("door.lock()", "door.L()")
        .replace("door.unlock()", "door.lock()")
        .replace("door.L()", "door.unlock()")
}
