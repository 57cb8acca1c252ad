//! The engine finds what DroidRacer reported on two real runs: `docs/droidracer-comparison.md`.

#![expect(clippy::print_stderr, reason = "tests say what they compared")]

use anyorder_formats::droidracer::{
    DroidRacerReader, Reported, ReportedGroup, ReportedRace, reported,
};
use anyorder_hb::{Checked, RaceOptions, RuleSet, check};
use anyorder_system::Control;
use anyorder_trace::{Location, LocationId, Trace};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The categories in the words of findings, each with the list of the log.
type Lists<'r> = [(&'static str, &'r [ReportedGroup]); 5];

/// A pair of accesses by their `rwId`s, the smaller one first.
type Pair = (u32, u32);

/// The item that both sides count: class and field, or object and field where the category is
/// `co_enabled`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum CountedItem {
    Class(String, String),
    Object(u64, String),
}

/// One real run: what its log reports, and what the check found in its trace.
struct Run {
    app: &'static str,
    report: Reported,
    trace: &'static Trace,
    checked: Checked<'static>,
}

impl Run {
    /// Reads and checks a real log.
    fn new(app: &'static str) -> Run {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let path = root.join("../../data/droidracer").join(app).join("trace.txt");
        let text = std::fs::read_to_string(&path).expect("the log is there");
        let mut source = DroidRacerReader::new(text.as_bytes());
        let trace = Trace::read(&mut source).unwrap_or_else(|error| panic!("{app}: {error}"));
        let trace: &Trace = Box::leak(Box::new(trace));
        let checked = check(trace, &RaceOptions::new(RuleSet::Android), &Control::default());
        assert_eq!(checked.stopped, None, "{app}");
        Run { app, report: reported(&text), trace, checked }
    }

    /// The categories in which each pair of accesses was found.
    fn found(&self) -> BTreeMap<Pair, BTreeSet<&str>> {
        let mut found: BTreeMap<Pair, BTreeSet<&str>> = BTreeMap::new();
        assert!(self.checked.locks.is_empty(), "{}: the log has no locks in memory", self.app);
        for group in &self.checked.groups {
            let listed = group.pairs.len() as u64;
            assert_eq!(listed, group.pairs_total, "{}: all pairs are listed", self.app);
            for (a, b) in &group.pairs {
                let [a, b] = [a, b].map(|event| self.trace.event_name(*event));
                let number = |label: &str| label.parse().expect("accesses are named by rwId");
                let pair = pair(number(&a), number(&b));
                found.entry(pair).or_default().insert(group.category.word());
            }
        }
        found
    }

    fn location(&self, (access, _): Pair) -> LocationId {
        let event = self.trace.find(&format!("rwId:{access}")).expect("the trace has this access");
        self.trace.event(event).location().expect("an access has a location")
    }

    /// The item that a found pair counts as; `None` if its location is no field.
    fn counted(&self, found: Pair, category: &str) -> Option<CountedItem> {
        let name = |id| self.trace.tables().name(id).to_owned();
        match self.trace.tables().locations[self.location(found).index()] {
            Location::Field { object, field, .. } if category == "co_enabled" => {
                Some(CountedItem::Object(object, name(field)))
            }
            Location::Field { class, field, .. } | Location::Static { class, field } => {
                Some(CountedItem::Class(name(class), name(field)))
            }
            Location::Named(_) | Location::Range { .. } => None,
        }
    }
}

fn pair(a: u32, b: u32) -> Pair {
    (a.min(b), a.max(b))
}

fn lists(report: &Reported) -> Lists<'_> {
    [
        ("multi_threaded", &report.multi_threaded),
        ("cross_posted", &report.cross_posted),
        ("co_enabled", &report.co_enabled),
        ("delayed", &report.delayed),
        ("uncategorised", &report.uncategorised),
    ]
}

/// The categories under which the log lists the item of a race.
fn listed_under(report: &Reported, race: &ReportedRace) -> BTreeSet<&'static str> {
    let is_of = |group: &ReportedGroup| match group {
        ReportedGroup::Class { class, field } => *class == race.class && *field == race.field,
        ReportedGroup::Object { object, field, .. } => {
            Some(*object) == race.object && *field == race.field
        }
        ReportedGroup::Database { path } => Some(path) == race.database.as_ref(),
    };
    lists(report)
        .into_iter()
        .filter(|(_, groups)| groups.iter().any(is_of))
        .map(|(category, _)| category)
        .collect()
}

/// The listed races that were not found in a category of theirs.
fn missing(run: &Run, found: &BTreeMap<Pair, BTreeSet<&str>>) -> Vec<Pair> {
    let is_missing = |race: &&ReportedRace| {
        let listed = listed_under(&run.report, race);
        assert!(!listed.is_empty(), "{}: {race:?} is in no category of the log", run.app);
        found
            .get(&pair(race.first, race.second))
            .is_none_or(|categories| categories.is_disjoint(&listed))
    };
    run.report.races.iter().filter(is_missing).map(|r| pair(r.first, r.second)).collect()
}

/// The items that the log lists, by category.
fn listed(report: &Reported) -> BTreeSet<(&'static str, CountedItem)> {
    let mut result = BTreeSet::new();
    for (category, groups) in lists(report) {
        for group in groups {
            let counted = match group.clone() {
                ReportedGroup::Class { class, field } => CountedItem::Class(class, field),
                ReportedGroup::Object { object, field, .. } => CountedItem::Object(object, field),
                ReportedGroup::Database { path } => panic!("no database is listed, but {path} is"),
            };
            assert!(result.insert((category, counted)), "the log lists {group:?} twice");
        }
    }
    result
}

/// Compares one run with its log. `counts` are the sizes of the log's category lists, `added` the
/// number of findings on what DroidRacer does not report.
fn compare(app: &'static str, races: usize, counts: [u64; 5], added: usize) -> Run {
    let run = Run::new(app);
    let found = run.found();
    let none: Vec<Pair> = Vec::new();
    assert_eq!(run.report.races.len(), races, "{app}");
    assert_eq!(missing(&run, &found), none, "{app}: listed, but not found");

    // The same classes, objects and fields in each category: none less, and none more.
    let mut ours = BTreeSet::new();
    for (pair, categories) in &found {
        let counted = |c: &&'static str| Some((*c, run.counted(*pair, c)?));
        let words = lists(&run.report).map(|(word, _)| word);
        ours.extend(words.iter().filter(|word| categories.contains(*word)).filter_map(counted));
    }
    assert_eq!(ours, listed(&run.report), "{app}");

    // The statistics say as much.
    let of_log = lists(&run.report).map(|(word, groups)| (word, groups.len() as u64));
    let of_check = run.checked.statistics.races_by_category.0.map(|(c, n)| (c.word(), n));
    assert_eq!(of_check, of_log, "{app}");
    assert_eq!(of_check.map(|(_, n)| n), counts, "{app}");
    assert_eq!(run.checked.groups.len(), listed(&run.report).len() + added, "{app}");
    eprintln!("{app}: {races} of {races} listed races found; by category {of_check:?}");
    run
}

#[test]
fn remindme() {
    compare("RemindMe", 54, [0, 3, 33, 0, 0], 0);
}

#[test]
fn twitter_and_one_race_more() {
    let run = compare("twitter", 31, [0, 20, 7, 4, 0], 1);
    let found = run.found();
    let on_no_field: Vec<(Pair, LocationId)> = found
        .keys()
        .map(|pair| (*pair, run.location(*pair)))
        .filter(|(_, location)| {
            matches!(run.trace.tables().locations[location.index()], Location::Named(_))
        })
        .collect();
    let pairs: Vec<Pair> = on_no_field.iter().map(|(pair, _)| *pair).collect();
    assert_eq!(pairs, [(993, 14661), (994, 14661), (995, 14661)]);
    for (pair, location) in on_no_field {
        assert_eq!(
            run.trace.location_text(location),
            "database:/data/data/com.twitter.android/databases/global.db"
        );
        assert_eq!(found[&pair], BTreeSet::from(["multi_threaded"]));
    }
}

#[test]
fn a_race_that_is_not_found_is_missing() {
    let run = Run::new("twitter");
    let all = run.found();
    for race in &run.report.races {
        let race = pair(race.first, race.second);
        let mut less = all.clone();
        less.remove(&race);
        assert_eq!(missing(&run, &less), [race]);
        let mut moved = all.clone();
        moved.insert(race, BTreeSet::from(["uncategorised"]));
        assert_eq!(missing(&run, &moved), [race]);
    }
}

#[test]
fn without_the_rules_of_android_the_lists_differ() {
    for app in ["RemindMe", "twitter"] {
        let run = Run::new(app);
        let other = check(run.trace, &RaceOptions::new(RuleSet::Mailbox), &Control::default());
        assert_ne!(
            other.statistics.races_by_category, run.checked.statistics.races_by_category,
            "{app}"
        );
    }
}
