//! Events inside the command, and events that wait in the queue of the hub.

use anyorder_drive::JobControl;
use anyorder_drive::home::{HomeModel, HomeOptions, check_home};
use anyorder_drive::states::{CheckOptions, StateProgram};

/// Returns the titles of the findings, and whether all was searched.
fn found(texts: &[&str], is_queued: bool) -> (String, bool) {
    let options = HomeOptions { is_queued, ..HomeOptions::default() };
    let search = CheckOptions::default();
    let result = check_home(&files(texts), &options, &search, &JobControl::default(), &mut ());
    let result = result.expect("a result");
    let titles: Vec<_> = result.findings.iter().map(|one| one.finding.title.clone()).collect();
    (titles.join("\n"), result.limits.is_empty())
}

fn files(texts: &[&str]) -> Vec<(String, String)> {
    let file = |(number, text): (usize, &&str)| (format!("{number}.groovy"), (*text).to_owned());
    texts.iter().enumerate().map(file).collect()
}

/// Locks the door only if the event of its own command comes inside the command.
const INSIDE: &str = "preferences { input 'gate', 'capability.contactSensor'
    input 'lamp', 'capability.switch'; input 'door', 'capability.lock' }
def installed() { subscribe(gate, 'contact.open', opened); subscribe(lamp, 'switch.on', lit) }
def opened(evt) { state.inside = 1; lamp.on(); state.inside = 0 }
def lit(evt) { if (state.inside == 1) { door.lock() } }";

/// Unlocks the door for whoever moves.
const UNLOCKS: &str = "preferences { input 'hall', 'capability.motionSensor'
    input 'door', 'capability.lock' }
def installed() { subscribe(hall, 'motion.active', moved) }
def moved(evt) { door.unlock() }";

/// Asks after its command whether somebody unlocked the door meanwhile.
const ASKS: &str = "preferences { input 'gate', 'capability.contactSensor'
    input 'lamp', 'capability.switch' }
def installed() { subscribe(gate, 'contact.open', opened) }
def opened(evt) { lamp.on(); if (lamp.currentSwitch == 'off') { setLocationMode('Night') } }";

/// Puts the lamp out when it is lit.
const OUT: &str = "preferences { input 'lamp', 'capability.switch' }
def installed() { subscribe(lamp, 'switch.on', lit) }
def lit(evt) { lamp.off(); setLocationMode('Away') }";

#[test]
fn an_event_in_the_queue_waits_for_the_end_of_the_handler() {
    let (now, is_complete) = found(&[INSIDE, UNLOCKS], false);
    assert!(now.contains("lock.lock") && is_complete, "{now}");
    let (later, is_complete) = found(&[INSIDE, UNLOCKS], true);
    assert!(!later.contains("set `lock.lock` to different") && is_complete, "{later}");
}

#[test]
fn a_handler_sees_the_answer_to_its_command_only_without_a_queue() {
    let (now, _) = found(&[ASKS, OUT], false);
    assert!(now.contains("location.mode"), "{now}");
    let (later, _) = found(&[ASKS, OUT], true);
    assert!(!later.contains("location.mode"), "{later}");
    assert!(later.contains("switch.switch"), "the lamp is in conflict in any case: {later}");
}

#[test]
fn a_rule_is_tested_around_each_event_of_the_queue() {
    for is_queued in [false, true] {
        let (titles, _) = found(&[UNLOCKS], is_queued);
        assert!(titles.contains("unlocked-when-away"), "{is_queued}: {titles}");
    }
}

#[test]
fn apps_that_answer_each_other_through_the_queue_are_a_loop() {
    const LIGHTS: &str = "preferences { input 'lamp', 'capability.switch' }
    def installed() { subscribe(lamp, 'switch.off', dark) }
    def dark(evt) { lamp.on() }";
    const DARKENS: &str = "preferences { input 'lamp', 'capability.switch' }
    def installed() { subscribe(lamp, 'switch.on', lit) }
    def lit(evt) { lamp.off() }";
    for is_queued in [false, true] {
        let (titles, _) = found(&[LIGHTS, DARKENS], is_queued);
        assert!(titles.contains("no loop of events"), "{is_queued}: {titles}");
        let (titles, _) = found(&[LIGHTS], is_queued);
        assert!(titles.is_empty(), "{is_queued}: {titles}");
    }
}

#[test]
fn the_models_of_a_home_differ_by_their_hashes() {
    let models = HomeModel::all(&files(&[INSIDE, UNLOCKS])).expect("models");
    let mut hashes: Vec<_> = models.iter().map(|one| one.model.program().hash).collect();
    assert_eq!(hashes.len(), 5);
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 5);
}
