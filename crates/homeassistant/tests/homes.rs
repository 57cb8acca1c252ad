//! The example home: its faults are found, and its repairs are silent.

use anyorder_homeassistant::analyse::{FindingKind, Options, check};
use anyorder_homeassistant::config::load;
use anyorder_homeassistant::syntax::Home;
use std::path::Path;

fn found(name: &str) -> Vec<(FindingKind, String)> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/homeassistant").join(name);
    let home = Home::new(load(&path).expect("a configuration"));
    let checked = check(&home, &Options::default(), &|| false);
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
