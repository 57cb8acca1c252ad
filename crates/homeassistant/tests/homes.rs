//! The example homes: their faults are found, and their repairs are silent.

use anyorder_homeassistant::analyse::{FindingKind, Options, check};
use anyorder_homeassistant::config::load;
use anyorder_homeassistant::syntax::Home;
use std::cell::Cell;
use std::path::Path;

fn home(name: &str) -> Home {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/homeassistant").join(name);
    Home::new(load(&path).expect("a configuration"))
}

fn found(name: &str) -> Vec<(FindingKind, String)> {
    let checked = check(&home(name), &Options::default(), &|| false);
    assert_eq!(checked.problems, Vec::new(), "{name}");
    assert_eq!(checked.cut, 0, "{name}");
    checked.findings.into_iter().map(|finding| (finding.kind, finding.entity)).collect()
}

#[test]
fn the_faults_of_the_example_are_found() {
    let found = found("evening");
    for fault in [
        (FindingKind::Order, "light.porch"),
        (FindingKind::Loop, "light.lamp"),
        (FindingKind::Overwritten, "light.hall"),
        (FindingKind::Refused, "light.hall"),
    ] {
        assert!(found.contains(&(fault.0, fault.1.to_owned())), "{fault:?} in {found:?}");
    }
}

#[test]
fn the_repairs_are_silent() {
    for name in ["repaired-1", "repaired-2", "repaired-3"] {
        assert_eq!(found(name), Vec::new(), "{name}");
    }
}

/// Each fault of one or more automations, and three ways to repair it.
#[test]
fn each_fault_has_three_repairs() {
    for (name, kind, repairs) in [
        ("ring", FindingKind::Loop, ["condition", "mode", "one"]),
        ("refused", FindingKind::Refused, ["condition", "mode", "one"]),
        ("overlap", FindingKind::Overlapping, ["condition", "mode", "one"]),
        ("cut-short", FindingKind::CutShort, ["condition", "mode", "split"]),
        ("lost-update", FindingKind::Overwritten, ["condition", "mode", "one"]),
    ] {
        let kinds: Vec<FindingKind> =
            found(&format!("{name}/wrong")).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [kind], "{name}");
        for repair in repairs {
            assert_eq!(found(&format!("{name}/{repair}")), Vec::new(), "{name}/{repair}");
        }
    }
}

#[test]
fn what_is_left_out_changes_no_finding() {
    for name in ["evening", "repaired-3", "cut-short/wrong", "lost-update/mode", "ring/condition"] {
        let home = home(name);
        let of = |reduced: bool| {
            let options = Options { reduced, states_max: 5_000 };
            let checked = check(&home, &options, &|| false);
            assert_eq!(checked.cut, 0, "{name}");
            let mut found: Vec<_> =
                checked.findings.iter().map(|f| (f.kind, f.entity.clone())).collect();
            found.sort();
            found
        };
        assert_eq!(of(true), of(false), "{name}");
    }
}

/// Twenty questions that nobody can answer: a million ways through one run.
fn unknowns() -> Home {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("automations.yaml");
    let mut text = "- alias: all\n  triggers:\n    - {trigger: state, entity_id: \
                    binary_sensor.a, to: \"on\"}\n  actions:\n"
        .to_owned();
    for number in 0..20 {
        text += &format!(
            "    - if: \"{{{{ unknown_function({number}) }}}}\"\n      then:\n        - action: \
             light.toggle\n          target: {{entity_id: light.l{number}}}\n"
        );
    }
    text += "- alias: other\n  triggers:\n    - {trigger: state, entity_id: binary_sensor.a, to: \
             \"on\"}\n  actions:\n    - action: light.turn_off\n      target:\n        entity_id: [";
    text += &(0..20).map(|number| format!("light.l{number}")).collect::<Vec<_>>().join(", ");
    text += "]\n";
    std::fs::write(&path, text).expect("written");
    Home::new(load(&path).expect("a configuration"))
}

#[test]
fn a_step_of_a_million_alternatives_keeps_the_limits() {
    let home = unknowns();
    let checked = check(&home, &Options { states_max: 20, reduced: true }, &|| false);
    assert_eq!(checked.pairs, 1);
    assert_eq!(checked.cut, 1);
    assert!(checked.states <= 20 && checked.states > 1, "{}", checked.states);
    // What was searched until then is in the answer.
    assert!(!checked.findings.is_empty());
}

#[test]
fn a_check_ends_wherever_it_is_stopped() {
    let home = home("ring/mode");
    let asked = Cell::new(0_u64);
    let whole = check(&home, &Options::default(), &|| {
        asked.set(asked.get() + 1);
        false
    });
    let all = asked.get();
    assert!(all > 20, "{all}");
    for stop_at in (0..all).step_by((all as usize / 20).max(1)) {
        let polls = Cell::new(0_u64);
        let checked = check(&home, &Options::default(), &|| {
            polls.set(polls.get() + 1);
            polls.get() > stop_at
        });
        // Nothing more is begun: each level that is left asks at most once more.
        assert!(polls.get() <= stop_at + 40, "{} polls after {stop_at}", polls.get());
        assert!(checked.cut + checked.left > 0, "after {stop_at} of {all} polls");
        assert!(checked.states <= whole.states);
    }
}
