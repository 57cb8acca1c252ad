//! The slice against no slice: random homes have the same conflicts, loops and broken rules with
//! what was left out and without it.

use crate::homes::Homes;
use anyorder_common::random::{Random, Rng};
use anyorder_drive::JobControl;
use anyorder_drive::model::{Model, check_model};
use anyorder_drive::states::CheckOptions;
use anyorder_home::app::App;
use anyorder_home::capability::Capabilities;
use anyorder_home::config::{self, Configuration};
use anyorder_home::lower::{HomeProgram, Options, program};
use anyorder_home::rules::Rule;
use anyorder_program::Program;
use anyorder_system::ProgramIdentity;
use anyorder_testkit::effort;
use std::collections::{BTreeMap, BTreeSet};

/// The answer of a search: titles of findings. `None` if the search was cut.
pub(crate) type Answer = Option<BTreeSet<String>>;

/// A loop of events ends a search of the states behind it.
pub(crate) const LOOP: &str = "no loop of events";

fn read(texts: &[String]) -> Vec<App> {
    let read = |(number, text): (usize, &String)| App::read(&format!("{number}.groovy"), text);
    texts.iter().enumerate().map(read).collect::<Result<_, _>>().expect("apps")
}

/// Returns the program of a home without rules, and the one with them.
fn programs(apps: &[App], home: &Configuration, is_whole: bool) -> [HomeProgram; 2] {
    [vec![], rules()].map(|rules| {
        let options = Options { is_whole, rules, ..Options::default() };
        program("home", apps, home, &options).expect("a program")
    })
}

/// Returns the programs of a home with all that apps do, and those that a search has.
pub(crate) fn made(texts: &[String]) -> [(HomeProgram, HomeProgram); 2] {
    let apps = read(texts);
    let mut home = config::shared(&apps, &Capabilities::built_in());
    let [all, all_ruled] = programs(&apps, &home, true);
    home.take_readers(&apps);
    let [some, some_ruled] = programs(&apps, &home, false);
    [(all, some), (all_ruled, some_ruled)]
}

pub(crate) fn answer(program: Program) -> Answer {
    let model =
        Model::from_program(program, ProgramIdentity::new("home"), vec![]).expect("a model");
    let options = CheckOptions { states_max: Some(30_000), ..CheckOptions::default() };
    let result = check_model(&model, &options, &JobControl::default()).expect("a result").result;
    let titles = result.findings.iter().map(|one| one.finding.title.clone()).collect();
    (result.limits.is_empty() && !result.open).then_some(titles)
}

/// The rules about the lock and the mode, which every home has.
fn rules() -> Vec<Rule> {
    let mut rules = Rule::built_in();
    let known = ["lock", "mode", "motion"];
    rules.retain(|rule| rule.never.iter().all(|(name, _)| known.contains(&&**name)));
    assert!(rules.len() >= 2, "{rules:?}");
    rules
}

/// Returns whether the smaller program answers as the whole one does.
fn agrees(whole: &BTreeSet<String>, small: &BTreeSet<String>, has_rules: bool) -> bool {
    let loops = |titles: &BTreeSet<String>| titles.iter().any(|title| title.contains(LOOP));
    if !has_rules {
        return whole == small;
    }
    // The first search answers whether there are loops; a search for rules may leave them out,
    // and then it goes beyond them.
    let broken = |titles: &BTreeSet<String>| {
        let mut titles = titles.clone();
        titles.retain(|title| title.contains("not ") && !title.contains(LOOP));
        titles
    };
    let (whole_broken, small_broken) = (broken(whole), broken(small));
    whole_broken.is_subset(&small_broken) && (loops(whole) || whole_broken == small_broken)
}

/// Forgets an event of the outside, so that the search has one input too few.
pub(crate) fn without_one(mut program: Program, rng: &mut Rng) -> Option<Program> {
    let at = rng.index(program.events.len());
    (!program.events.is_empty()).then(|| program.events.remove(at))?;
    Some(program)
}

#[test]
fn a_search_of_what_has_influence_answers_as_a_search_of_all() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut used: BTreeMap<&str, u64> = BTreeMap::new();
    let seeds = effort::seeds(160);
    let known = seeds.known.clone();
    for seed in seeds {
        let mut homes = Homes::new(seed);
        let texts = homes.home();
        if known.contains(&seed) {
            homes.used.iter().for_each(|(text, count)| *used.entry(text).or_default() += count);
        }
        let mut count = |what: &'static str, is: bool| {
            *counts.entry(what).or_default() += u64::from(is);
        };
        for ((all, some), has_rules) in made(&texts).into_iter().zip([false, true]) {
            count("variables left out", some.program.globals.len() < all.program.globals.len());
            count("events left out", some.program.events.len() < all.program.events.len());
            count("apps left out", some.program.components.len() < all.program.components.len());
            count("all left out", some.program.events.is_empty());
            let broken = without_one(some.program.clone(), &mut Rng::new(seed));
            let (Some(whole), Some(small)) = (answer(all.program), answer(some.program)) else {
                count("cut", true);
                continue;
            };
            let shown = texts.join("\n//----\n");
            assert!(
                agrees(&whole, &small, has_rules),
                "seed {seed}: with all {whole:#?}, with less {small:#?}\n{shown}"
            );
            let has = |part: &str| whole.iter().any(|title| title.contains(part));
            if has_rules {
                count("broken rule", has("not unlocked"));
                count("no broken rule", !has("not unlocked"));
            } else {
                count("conflict over the lamp", has("switch.switch"));
                count("conflict over the lock", has("lock.lock"));
                count("conflict over the mode", has("location.mode"));
                count("loop", has(LOOP));
                count("neither conflict nor loop", whole.is_empty());
            }
            if let Some(broken) = broken.and_then(answer) {
                let noticed = !agrees(&whole, &broken, has_rules);
                count("noticed: an input too few", noticed);
            }
        }
    }
    println!("{counts:#?}");
    for text in Homes::texts() {
        assert!(used.contains_key(text), "never used: {text}");
    }
    for (what, count) in &counts {
        let least = if *what == "cut" { 0 } else { 5 };
        assert!(*count >= least, "{what}: {count}");
    }
    let cut = counts.get("cut").copied().unwrap_or(0);
    assert!(cut * 20 < seeds_count(&counts), "{cut} searches were cut");
}

fn seeds_count(counts: &BTreeMap<&str, u64>) -> u64 {
    ["broken rule", "no broken rule"].iter().filter_map(|what| counts.get(what)).sum()
}
