//! Shapes of published apps whose conflicts were once not seen: small apps of the same shape.

use anyorder_drive::JobControl;
use anyorder_drive::home::{HomeOptions, check_home};
use anyorder_drive::states::CheckOptions;

/// What a check says: titles of findings, and whether it is complete.
fn checked(texts: &[&str]) -> (Vec<String>, bool) {
    let file = |(number, text): (usize, &&str)| (format!("{number}.groovy"), (*text).to_owned());
    let apps: Vec<(String, String)> = texts.iter().enumerate().map(file).collect();
    let options = HomeOptions::default();
    let search = CheckOptions::default();
    let result = check_home(&apps, &options, &search, &JobControl::default(), &mut ());
    let result = result.expect("a result");
    let titles = result.findings.iter().map(|one| one.finding.title.clone()).collect();
    (titles, result.limits.is_empty())
}

fn conflict(texts: &[&str], attribute: &str) {
    let (titles, _) = checked(texts);
    assert!(titles.iter().any(|title| title.contains(attribute)), "{titles:?}\n{texts:#?}");
}

fn silent(texts: &[&str]) {
    let (titles, is_complete) = checked(texts);
    assert!(titles.is_empty() && is_complete, "{titles:?} {is_complete}\n{texts:#?}");
}

fn incomplete(texts: &[&str]) {
    let (titles, is_complete) = checked(texts);
    assert!(titles.is_empty() && !is_complete, "{titles:?}\n{texts:#?}");
}

/// Lights the lamp when the gate opens.
const LIGHT: &str = "preferences { input 'gate', 'capability.contactSensor'
    input 'lamp', 'capability.switch' }
def installed() { subscribe(gate, 'contact.open', opened) }
def opened(evt) { lamp.on() }";

/// Puts the lamp out if `condition`, when something moves.
fn dark(more: &str, condition: &str) -> String {
    format!(
        "preferences {{ input 'hall', 'capability.motionSensor'
        input 'lamp', 'capability.switch'; {more} }}
        def installed() {{ subscribe(hall, 'motion.active', moved) }}
        def moved(evt) {{ if ({condition}) {{ lamp.off() }} }}"
    )
}

#[test]
fn a_reading_compared_with_a_text_may_be_its_value() {
    conflict(&[LIGHT, &dark("", "hall.currentState('motion') == 'active'")], "switch.switch");
    silent(&[LIGHT, &dark("", "hall.currentState('motion') == 'inactive'")]);
    conflict(&[LIGHT, &dark("", "hall.currentState('motion').value == 'active'")], "switch.switch");
}

#[test]
fn a_default_that_is_no_option_is_not_chosen() {
    let of = |options: &str, condition: &str| {
        let input =
            format!("input 'when', 'enum', defaultValue: 'Goal Reached', options: [{options}]");
        dark(&input, condition)
    };
    conflict(&[LIGHT, &of("'Goal', 'Threshold'", "when == 'Goal'")], "switch.switch");
    silent(&[LIGHT, &of("'Goal', 'Threshold'", "when == 'Goal Reached'")]);
    silent(&[LIGHT, &of("'Goal Reached', 'Goal'", "when == 'Goal'")]);
}

#[test]
fn options_made_of_devices_have_the_ids_that_a_handler_sees() {
    let input = "input 'main', 'enum', options: lamp.collect { it.id }";
    conflict(&[LIGHT, &dark(input, "main == lamp.id")], "switch.switch");
    silent(&[LIGHT, &dark(input, "main != lamp.id")]);
}

#[test]
fn the_data_of_an_event_is_anything() {
    let parsed = "new groovy.json.JsonSlurper().parseText(evt.data)";
    for condition in [
        &format!("{parsed}.presence == '1'"),
        &format!("lamp.id.split('/')[0] == {parsed}.dni.split('/')[0]"),
        &format!("{parsed}.level > 4"),
        &format!("\"${{{parsed}.presence}}!\" == '1!'"),
        &format!("!{parsed}.quiet"),
        "parseJson(evt.data)?.presence in ['1', '2']",
        "evt.jsonData.count + 1 == 2",
        "[1, 2].contains(evt.jsonData.count)",
    ] {
        conflict(&[LIGHT, &dark("", condition)], "switch.switch");
    }
    // One value is not two.
    let two = format!("({{ def d = {parsed}; d.a == '1' && d.a == '2' }})()");
    silent(&[LIGHT, &dark("", &two)]);
    let same = format!("({{ def d = {parsed}; d.a == '1' && d.a != '1' }})()");
    silent(&[LIGHT, &dark("", &same)]);
    // What cannot be decided is not silence.
    let each = format!("({{ def n = 0; {parsed}.list.each {{ n++ }}; n > 1 }})()");
    incomplete(&[LIGHT, &dark("", &each)]);
}

#[test]
fn an_unknown_level_is_not_silence() {
    let dim = "preferences { input 'gate', 'capability.contactSensor'
        input 'lamp', 'capability.switchLevel' }
        def installed() { subscribe(gate, 'contact.open', opened) }
        def opened(evt) { lamp.setLevel(evt.jsonData.level) }";
    incomplete(&[LIGHT, dim]);
}

#[test]
fn a_request_from_outside_runs_the_methods_of_mappings() {
    let web = "preferences { input 'lamp', 'capability.switch' }
        mappings { path('/lamp') { action: [GET: 'list', PUT: 'change'] } }
        def installed() { }
        def list() { [state: lamp.currentSwitch] }
        def change() { if (request.JSON?.value == 'off') { lamp.off() } }";
    conflict(&[LIGHT, web], "switch.switch");
    let reads = web.replace("lamp.off()", "log.debug 'off'");
    silent(&[LIGHT, &reads]);
}

#[test]
fn a_lamp_that_people_light_is_put_out_before_it_is_lit() {
    // Puts the lamp out once only, and only before the other app can have lit it.
    let dark = "preferences { input 'lamp', 'capability.switch'
        input 'hall', 'capability.motionSensor' }
        def installed() { subscribe(hall, 'motion.active', moved) }
        def moved(evt) { if (!state.done) { state.done = true; lamp.off(); runIn(60, later) } }
        def later() { lamp.on(); lamp.off() }";
    conflict(&[dark, LIGHT], "switch.switch");
}

#[test]
fn a_subscription_to_what_a_device_does_not_have_is_not_silence() {
    let odd = dark("", "true").replace("'motion.active'", "'wobble'");
    incomplete(&[LIGHT, &odd]);
}

#[test]
fn a_property_may_be_a_method_of_the_app() {
    let asks = |body: &str| {
        dark("", "allOk") + &format!("\nprivate getAllOk() {{ modeOk && true }}\n{body}")
    };
    conflict(&[LIGHT, &asks("private getModeOk() { location.mode == 'Away' }")], "switch.switch");
    silent(&[LIGHT, &asks("private getModeOk() { location.mode == 'Moon' }")]);
}

#[test]
fn inputs_behind_times_and_routines_are_known() {
    let dark = "preferences { page(name: 'main') }
        def main() { dynamicPage(name: 'main') { section {
            input 'start', 'time', required: false
            input 'routine', 'enum', options: location.helloHome.getPhrases().label
            def shown = hhmm(start)
            input 'lamp', 'capability.switch'
            input 'hall', 'capability.motionSensor' } } }
        private hhmm(time) {
            def f = new java.text.SimpleDateFormat('h:mm a')
            f.setTimeZone(location.timeZone)
            f.format(timeToday(time, location.timeZone)) + '!'
        }
        def installed() { subscribe(hall, 'motion.active', moved) }
        def moved(evt) { lamp.off() }";
    conflict(&[LIGHT, dark], "switch.switch");
    // A page that cannot be read to its end may lack inputs.
    let odd = dark.replace("location.helloHome.getPhrases().label", "nothing.at.all");
    incomplete(&[LIGHT, &odd]);
}

#[test]
fn a_button_has_one_of_four_numbers() {
    let key = |number: u32| {
        "preferences { input 'key', 'capability.button'; input 'lamp', 'capability.switch' }
            def installed() { subscribe(key, 'button', pressed) }
            def pressed(evt) {
                def number = parseJson(evt.data)?.buttonNumber
                if ((1..4).contains(number)) { \"${'number' + number}\"() } else { odd() }
            }
            def number1() { }\ndef number2() { }\ndef number3() { }\ndef number4() { }
            def odd() { }"
            .replace(
                &format!("number{number}() {{ }}"),
                &format!("number{number}() {{ lamp.off() }}"),
            )
            .replace(if number == 9 { "odd() { }" } else { "~" }, "odd() { lamp.off() }")
    };
    (1..=4).for_each(|number| conflict(&[LIGHT, &key(number)], "switch.switch"));
    silent(&[LIGHT, &key(9)]);
}
