//! Apps by the rules of the published tool: counts that are worked out by hand, and those of the
//! published table.

use anyorder_home::published::{PublishedHome, State};
use anyorder_system::StateSystem;
use std::collections::{HashSet, VecDeque};

/// Returns the numbers of states and of transitions, as the published tool counts them: an answer
/// to a choice inside of a handler is no transition.
fn count(home: &PublishedHome) -> (usize, usize) {
    let (mut seen, mut waiting) = (HashSet::new(), VecDeque::new());
    let mut transitions = 0;
    let mut add = |state: State, waiting: &mut VecDeque<State>| {
        let mut bytes = vec![];
        home.encode(&state, &mut bytes);
        if seen.insert(bytes.clone()) {
            waiting.push_back(home.decode(&bytes).expect("a state"));
        }
    };
    for state in home.initial() {
        add(state, &mut waiting);
    }
    while let Some(state) = waiting.pop_front() {
        let mut next = vec![];
        home.successors(&state, &mut next);
        if matches!(state, State::Ready(_)) {
            transitions += next.len();
        }
        next.into_iter().for_each(|one| add(one.state, &mut waiting));
    }
    (seen.len(), transitions)
}

const DOOR: &str = r#"input "door", "capability.contactSensor""#;
const LAMP: &str = r#"input "lamp", "capability.switch""#;
const HALL: &str = r#"input "hall", "capability.motionSensor""#;

fn app(inputs: &[&str], installed: &str, methods: &str) -> String {
    let inputs = inputs.join("\n");
    format!(
        "preferences {{ section(\"s\") {{ {inputs} }} }}\n\
         def installed() {{\n{installed}\n}}\n{methods}\n"
    )
}

fn home(first: String, second: String) -> PublishedHome {
    let apps = [("first.groovy".to_owned(), first), ("second.groovy".to_owned(), second)];
    PublishedHome::new(&apps, &|| false).expect("a home")
}

fn check(first: String, second: String, expected: (usize, usize)) {
    let home = home(first, second);
    let counts = count(&home);
    assert_eq!(home.missing(), []);
    assert_eq!(counts, expected);
}

/// The door opens and the lamp goes on; somebody moves and it goes off. The first values are
/// (closed, inactive, off) and (open, active, on). From the first: door open and on, active and
/// off, both in the two orders with the lamp on and off. From the second nothing changes.
#[test]
fn events_of_one_value_come_from_two_first_states() {
    let first = app(
        &[DOOR, LAMP],
        r#"subscribe(door, "contact.open", opened)"#,
        "def opened(evt) { lamp.on() }",
    );
    let second = app(
        &[HALL, LAMP],
        r#"subscribe(hall, "motion.active", moved)"#,
        "def moved(evt) { lamp.off() }",
    );
    check(first, second, (1 + 5 + 1, 2 * 6));
}

/// The only event is one of two choices; the other one does nothing.
#[test]
fn one_event_is_one_of_two_choices() {
    let first = app(&[DOOR], r#"subscribe(door, "contact.open", opened)"#, "def opened(evt) { }");
    let second = app(&[LAMP], "lamp.on()", "");
    // Closed and open, and open with the other first values.
    check(first, second, (1 + 2 + 1, 2 * 3));
}

/// A subscription without a value has the name of the field that its events are compared with. The
/// first such event makes the hash of that text, also if it changes nothing.
#[test]
fn the_first_look_up_of_a_name_is_seen() {
    let first = app(&[HALL], r#"subscribe(hall, "motion", moved)"#, "def moved(evt) { }");
    let second = app(&[DOOR], r#"subscribe(door, "contact.open", opened)"#, "def opened(evt) { }");
    // From (inactive, closed): the door before any motion, 2; all after one, 4. From (active,
    // open): 1 before, 2 after.
    check(first, second, (1 + 6 + 3, 3 * 9));
}

/// A mode that an app sets is another text than the one of an event.
#[test]
fn a_mode_of_an_app_is_a_text_of_its_own() {
    let first =
        app(&[], "subscribe(app, touched)", r#"def touched(evt) { setLocationMode("home") }"#);
    let second = app(&[], "subscribe(location, changed)", "def changed(evt) { }");
    // Three modes before the touch; after it three and the one of the app. Both first values lead
    // to the same.
    check(first, second, (1 + 3 + 4, 4 * 7));
}

/// The history of a device is a choice inside of the handler: a state, but no transition.
#[test]
fn a_history_is_a_choice() {
    let first = app(
        &[DOOR, LAMP],
        r#"subscribe(door, "contact.open", opened)"#,
        "def opened(evt) { if (door.eventsSince(new Date()).size() > 1) { lamp.on() } }",
    );
    let second =
        app(&[DOOR], r#"subscribe(door, "contact.closed", closed)"#, "def closed(evt) { }");
    // From (closed, off): door and lamp in all ways, and a choice with the lamp on and off. From
    // (open, on): the door in two ways, and a choice.
    check(first, second, (1 + 4 + 2 + 2 + 1, 2 * 6));
}

/// An exception that nothing catches: a transition without a state.
#[test]
fn an_exception_ends_an_execution() {
    let first = app(
        &[DOOR, LAMP],
        r#"subscribe(door, "contact.open", opened)"#,
        "def opened(evt) { lamp.on(); lamp.blink() }",
    );
    let second =
        app(&[DOOR], r#"subscribe(door, "contact.closed", closed)"#, "def closed(evt) { }");
    // Closed for ever; or open and then closed.
    check(first, second, (1 + 1 + 2, 2 * 3));
}

/// Events that cause each other without end overflow the stack.
#[test]
fn a_cycle_of_events_ends_an_execution() {
    let first = app(&[LAMP], r#"subscribe(lamp, "switch.on", lit)"#, "def lit(evt) { lamp.off() }");
    let second =
        app(&[LAMP], r#"subscribe(lamp, "switch.off", dark)"#, "def dark(evt) { lamp.on() }");
    check(first, second, (1 + 1 + 1, 2 * 2));
}

/// The last app hears of an event first.
#[test]
fn the_last_app_hears_first() {
    let heard = |value: &str| {
        let method = format!("def opened(evt) {{ lamp.setLevel({value}) }}");
        app(&[DOOR, LAMP], r#"subscribe(door, "contact.open", opened)"#, &method)
    };
    let home = home(heard("10"), heard("20"));
    let mut next = vec![];
    home.successors(&home.initial()[1], &mut next);
    let level = home.show(&next[0].state);
    let level = level.iter().find(|(name, _)| name == "switch.currentLevel").expect("a level");
    assert_eq!(level.1, "Int(10)");
}

/// Rows of the published table, with states and transitions.
const ROWS: &[(&str, &str, usize, usize)] = &[
    ("turn-on-by-zip-code", "undead-early-warning", 4, 6),
    ("darken-behind-me", "turn-off-with-motion", 9, 24),
    ("its-too-hot", "its-too-cold", 13, 12),
    ("good-night-house", "nfc-tag-toggle", 13, 24),
    ("lock-it-when-i-leave", "NotifyIfLeftUnlocked", 11, 40),
    ("darken-behind-me", "lights-off-with-no-motion-and-presence", 22, 105),
    ("good-night-house", "make-it-so", 35, 136),
    ("double-tap", "humidity-alert", 37, 48),
    ("step-notifier", "turn-on-by-zip-code", 46, 180),
    ("energy-saver", "good-night", 113, 896),
];

#[test]
fn counts_are_those_of_the_published_table() {
    let files = crate::corpus::apps("iotcheck/smartapps");
    let text_of = |name: &str| {
        let file = files.iter().find(|file| file.file_stem().is_some_and(|stem| stem == name))?;
        Some((name.to_owned(), std::fs::read_to_string(file).ok()?))
    };
    for (first, second, states, transitions) in ROWS {
        let (Some(first), Some(second)) = (text_of(first), text_of(second)) else { continue };
        let home = PublishedHome::new(&[first, second], &|| false).expect("a home");
        assert_eq!(count(&home), (*states, *transitions), "{:?}", home.missing());
    }
}
