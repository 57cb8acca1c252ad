//! What is left out of a home does not change the answer: with and without it, the same attributes
//! are in conflict, and the same apps take part.

use anyorder_home::app::App;
use anyorder_home::capability::Capabilities;
use anyorder_home::config;
use anyorder_home::lower::{Options, program};

fn apps(texts: &[&str]) -> Vec<App> {
    let read = |(number, text): (usize, &&str)| App::read(&format!("{number}.groovy"), text);
    texts.iter().enumerate().map(read).collect::<Result<_, _>>().expect("apps")
}

const LIGHT: &str = "preferences { input 'door', 'capability.contactSensor'
    input 'sun', 'capability.illuminanceMeasurement'; input 'lamp', 'capability.switch' }
def installed() { subscribe(door, 'contact', moved); subscribe(sun, 'illuminance', seen) }
def moved(evt) { if (evt.value == 'open') { lamp.on() } }
def seen(evt) { state.last = evt.value; log.debug state.last }";

const DARK: &str = "preferences { input 'door', 'capability.contactSensor'
    input 'lamp', 'capability.switch' }
def installed() { subscribe(door, 'contact.closed', shut) }
def shut(evt) { lamp.off() }";

#[test]
fn what_has_no_influence_is_left_out() {
    let apps = apps(&[LIGHT, DARK]);
    let home = config::shared(&apps, &Capabilities::built_in());
    let events = |is_whole: bool| {
        let options = Options { is_whole, ..Options::default() };
        let made = program("home", &apps, &home, &options).expect("a program").program;
        made.events.iter().map(|event| event.declared().0.to_owned()).collect::<Vec<_>>()
    };
    let (whole, sliced) = (events(true), events(false));
    assert!(whole.iter().any(|name| name.contains("illuminance")), "{whole:?}");
    assert!(!sliced.iter().any(|name| name.contains("illuminance")), "{sliced:?}");
    assert!(sliced.iter().any(|name| name.contains("contact")), "{sliced:?}");
}

#[test]
fn apps_that_only_read_are_known_by_their_text() {
    let quiet = "preferences { input 'lamp', 'capability.switch' }
        def installed() { subscribe(lamp, 'switch', told) }";
    let ends = [
        ("def told(evt) { log.debug evt.value; httpPostJson([uri: 'x']) }", false),
        ("def told(evt) { lamp.on() }", true),
        ("def told(evt) { lamp*.off() }", true),
        ("def told(evt) { lamp.\"${evt.value}\"() }", true),
        ("def told(evt) { def f = lamp.&on; f() }", true),
        ("def told(evt) { lamp.sing() }", true),
        ("def told(evt) { location.mode = 'Away' }", true),
        ("def told(evt) { setLocationMode('Away') }", true),
        ("def told(evt) { location.helloHome.execute('Bye') }", true),
        ("def told(evt) { other() }\ndef other() { log.info 'x' }", false),
    ];
    for (end, expected) in ends {
        let apps = apps(&[&format!("{quiet}\n{end}")]);
        let home = config::shared(&apps, &Capabilities::built_in());
        assert_eq!(home.acting(&apps), [expected], "{end}");
    }
}
