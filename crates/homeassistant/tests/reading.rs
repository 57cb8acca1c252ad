//! YAML and its tags.

use anyorder_homeassistant::yaml::{Value, parse, plain};

#[test]
fn plain_scalars_are_those_of_yaml_1_1() {
    for (text, value) in [
        ("on", Value::Bool(true)),
        ("No", Value::Bool(false)),
        ("oN", Value::Text("oN".into())),
        ("10:30:00", Value::Int(37_800)),
        ("07:00", Value::Text("07:00".into())),
        ("010", Value::Int(8)),
        ("0x1F", Value::Int(31)),
        ("1_000", Value::Int(1000)),
        ("1.5", Value::Float(1.5)),
        ("1e3", Value::Text("1e3".into())),
        ("~", Value::Null),
    ] {
        assert_eq!(plain(text), value, "{text}");
    }
}

#[test]
fn keys_merge_and_the_last_duplicate_counts() {
    let text = "base: &b {a: 1, c: 3}\nmine: {<<: *b, a: 2}\ntwice: 1\ntwice: 2\n";
    let (node, problems) = parse(text, 0).expect("YAML");
    let mine = node.get("mine").expect("there");
    assert_eq!(mine.get("a").map(|n| &n.value), Some(&Value::Int(2)));
    assert_eq!(mine.get("c").map(|n| &n.value), Some(&Value::Int(3)));
    assert_eq!(node.get("twice").map(|n| &n.value), Some(&Value::Int(2)));
    assert_eq!(problems.len(), 1);
    assert_eq!((problems[0].place.line, problems[0].place.column), (4, 1));
}

#[test]
fn includes_do_not_leave_the_configuration() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("config");
    std::fs::create_dir(&config).expect("made");
    std::fs::write(folder.path().join("secret.yaml"), "- alias: x\n").expect("written");
    let text = "automation: !include ../secret.yaml\nscript: {s: {sequence: []}}\n";
    std::fs::write(config.join("configuration.yaml"), text).expect("written");
    let loaded = anyorder_homeassistant::config::load(&config).expect("loaded");
    assert!(loaded.automations.is_empty());
    assert_eq!(loaded.problems[0].construct, "file outside of the configuration");
}
