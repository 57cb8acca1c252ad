//! The table of capabilities: it reads, each fact has a source, mistakes are refused.

use anyorder_home::capability::{AttributeValue, Capabilities, Effect};

#[test]
fn the_table_reads_and_has_what_apps_ask_for() {
    let table = Capabilities::read(Capabilities::built_in_text()).expect("a table");
    assert!(table.names().count() > 80, "{}", table.names().count());
    let switch = table.get("switch").expect("a switch");
    assert_eq!(switch.attributes["switch"].initial, AttributeValue::Text("off".into()));
    let on = Effect::Value(AttributeValue::Text("on".into()));
    assert_eq!(switch.commands["on"], [("switch".to_owned(), on)]);
    let color = &table.get("colorControl").expect("a colour").commands["setColor"];
    assert!(color.contains(&("hue".to_owned(), Effect::Entry(0, "hue".to_owned()))));
}

#[test]
fn an_initial_value_is_one_of_its_kind_and_texts_are_among_the_values() {
    let table = Capabilities::built_in();
    for name in table.names() {
        let capability = table.get(name).expect("a capability");
        for (attribute, facts) in &capability.attributes {
            let known = facts.is_number() || facts.values.contains(&facts.initial);
            assert!(known, "{name}.{attribute} starts with {}", facts.initial);
        }
    }
}

#[test]
fn mistakes_are_refused() {
    let wrong = [
        ("[capability.x]\nsource = 'a'", "no known source"),
        (
            "[sources]\na = 'A'\n[capability.x]\nsource = 'a'\ncommands.on = { y = 'z' }",
            "no attribute",
        ),
        (
            "[sources]\na = 'A'\n[capability.x]\nsource = 'a'\nattributes.y = { initial = 1 }",
            "needs",
        ),
        ("[sources]\na = 'A'\n[capability.x]\nsorce = 'a'", "unknown field"),
    ];
    for (text, expected) in wrong {
        let error = Capabilities::read(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{error}");
    }
}
