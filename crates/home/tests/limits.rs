//! The limit of time inside executions and preferences, and the places of exceptions.

use anyorder_drive::JobControl;
use anyorder_drive::home::{HomeOptions, check_home};
use anyorder_drive::states::CheckOptions;
use anyorder_home::app::App;
use anyorder_home::capability::Capabilities;
use anyorder_home::config;
use anyorder_home::lower::{HomeProgram, Options, Unfolded};
use std::cell::Cell;

const INPUTS: &str = "preferences { input 'lamp', 'capability.switch' }\n";

/// Unfolds an app; time is over at the question of this number.
fn unfolded(text: &str, questions: u64) -> (HomeProgram, u64) {
    let left = Cell::new(questions);
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        left.set(left.get().saturating_sub(1));
        left.get() == 0
    };
    let apps = [App::read("app.groovy", text).expect("an app")];
    let home = config::shared(&apps, &Capabilities::built_in());
    let options = Options { is_whole: true, ..Options::default() };
    let made = Unfolded::new(&apps, &home, &options, None, &stop).program("home", &options);
    (made.expect("a program"), asked.get())
}

#[test]
fn an_execution_ends_by_the_limit_of_time() {
    let long = format!(
        "{INPUTS}def installed() {{ def n = 0; for (i in 1..20000) {{ n = n + i }}; lamp.on() }}"
    );
    let (whole, asked) = unfolded(&long, u64::MAX);
    assert!(whole.notes.is_empty(), "{:?}", whole.notes);
    assert!(asked > 20, "the time is asked for inside the execution: {asked}");
    let (cut, asked) = unfolded(&long, 10);
    assert!(asked <= 12, "it ends soon: {asked}");
    assert!(cut.notes.iter().any(|note| note.text.contains("limit of time")), "{:?}", cut.notes);
}

#[test]
fn preferences_end_by_the_limit_of_time() {
    let text = "preferences { def n = 0; for (i in 1..100000) { n = n + i }
        input 'lamp', 'capability.switch' }
    def installed() { lamp.on() }";
    let apps = [App::read_watched("app.groovy", text, &|| true).expect("an app")];
    let home = config::shared_watched(&apps, &Capabilities::built_in(), &|| true);
    assert!(home.devices.is_empty());
    assert_eq!(home.not_understood[0][0].what, "more time than the limit");
    let home = config::shared(&apps, &Capabilities::built_in());
    assert_eq!((home.devices.len(), home.not_understood[0].len()), (1, 0));
}

#[test]
fn an_exception_in_preferences_has_its_place() {
    let text = "def installed() { lamp.on() }
preferences {
    input 'lamp', 'capability.switch'
    def nothing = null
    nothing.size()
}
";
    let app = ("app.groovy".to_owned(), text.to_owned());
    let (options, search) = (HomeOptions::default(), CheckOptions::default());
    let result = check_home(&[app], &options, &search, &JobControl::default(), &mut ());
    let warnings = result.expect("a result").warnings;
    let lost = warnings.iter().find(|one| one.text.contains("in the preferences"));
    let lost = lost.expect("the exception is a warning");
    assert!(lost.places[0].starts_with("app.groovy:5:"), "{:?}", lost.places);
}

#[test]
fn a_rule_that_no_app_can_break_is_not_searched() {
    let check = |text: &str| {
        let app = ("app.groovy".to_owned(), text.to_owned());
        let (options, search) = (HomeOptions::default(), CheckOptions::default());
        check_home(&[app], &options, &search, &JobControl::default(), &mut ()).expect("a result")
    };
    let with = |command: &str| {
        check(&format!(
            "preferences {{ input 'door', 'capability.lock'
                input 'hall', 'capability.motionSensor'; input 'who', 'capability.presenceSensor' }}
            def installed() {{ subscribe(hall, 'motion.active', moved) }}
            def moved(evt) {{ door.{command}() }}"
        ))
    };
    let states = |result: &anyorder_drive::JobResult| {
        result.stats.get("states").and_then(|stat| stat.integer()).unwrap_or(0)
    };
    let (locks, unlocks) = (with("lock"), with("unlock"));
    assert!(locks.findings.is_empty() && locks.limits.is_empty());
    assert!(!unlocks.findings.is_empty());
    assert!(states(&locks) < states(&unlocks), "{} {}", states(&locks), states(&unlocks));
}
