//! One transition: an event, with all that apps do about it.

use super::device::Updated;
use super::events::Choice;
use super::kept::{Happened, Held, Kept};
use super::world::{Home, Running, Subscriptions, World};
use crate::app::words;
use anyorder_common::source::Span;
use anyorder_groovy::eval::{Evaluator, Host, List, Methods, Stop, TIME, Value, show};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Most steps of a handler.
const STEPS_MAX: u64 = 1_000_000;

/// Most calls inside calls of all handlers that wait for each other. A cycle of events goes beyond
/// it; there the published tool ends by an overflow of its stack.
const DEPTH_MAX: u32 = 100;

/// How many calls a handler inside of a command counts for: it takes as much stack.
const HANDLER_DEPTH: u32 = 4;

/// Most choices inside of one handler.
const NESTED_CHOICES_MAX: usize = 64;

/// What a transition leads to.
pub(super) enum Outcome {
    /// A state with all choices.
    Ended(World),
    /// A choice inside of a handler, of so many alternatives, with the places of the calls that
    /// are under way.
    Offered(World, u8, Vec<u32>),
    /// An exception that nothing catches: there is no state.
    Died,
    /// Something that is not understood, with the app and the place.
    Lost(usize, Span, String),
    /// The limit of time.
    Stopped,
}

/// What happens in a transition.
pub(super) enum Cause<'c> {
    /// The apps are installed.
    Install,
    /// An event comes.
    Choice(&'c Choice),
}

/// What an app holds while it runs.
pub(super) struct LiveApp {
    pub(super) fields: Vec<Value>,
    pub(super) heard: Subscriptions<Value>,
}

/// The platform, for one transition.
pub(super) struct Run<'h> {
    pub(super) home: &'h Home,
    methods: &'h [Methods],
    stop: &'h dyn Fn() -> bool,
    things: Vec<Held>,
    pub(super) mode: Kept,
    pub(super) location_mode: Kept,
    is_touched: i32,
    pub(super) is_own_mode: bool,
    is_manual: bool,
    hashed: BTreeSet<String>,
    /// The list of modes as it was read last.
    pub(super) modes: Option<List>,
    /// The mode as it was read last.
    pub(super) mode_text: Option<Rc<str>>,
    /// The text of the mode has its hash.
    pub(super) is_mode_hashed: bool,
    /// The data of the event that is sent next.
    pub(super) data: Option<String>,
    /// Where the calls stand that are under way.
    calls: Vec<u32>,
    pub(super) devices: Vec<[Vec<Kept>; 2]>,
    pub(super) apps: Vec<LiveApp>,
    /// Whose code runs; none outside of handlers.
    pub(super) app: Option<usize>,
    depth: u32,
    given: &'h [u8],
    taken: usize,
    offered: Option<(World, u8, Vec<u32>)>,
    place: Span,
    pub(super) updates: Vec<Updated>,
}

pub(super) type Answer = Option<Result<Value, Stop>>;

/// What stands before a map that was shown, among the names that were looked up.
const SHOWN: &str = "shown: ";

/// Names of events that people cause.
const MANUAL: &[&str] = &["Touched", "button", "nfcTouch", "threeAxis"];

/// Names of events whose values are numbers.
const NUMBERS: &[&str] = &[
    "battery",
    "hue",
    "saturation",
    "energy",
    "level",
    "temperature",
    "heatingSetpoint",
    "coolingSetpoint",
    "thermostatSetpoint",
    "illuminance",
];

pub(super) fn throw<T>(class: &str) -> Result<T, Stop> {
    Err(Stop::Throw(Value::Exception(Rc::new((class.to_owned(), None)))))
}

pub(super) fn unsupported<T>(what: &str) -> Result<T, Stop> {
    Err(Stop::Unsupported(what.to_owned()))
}

/// Carries a transition out, with these answers to the choices inside of it.
pub(super) fn run(
    home: &Home,
    methods: &[Methods],
    from: &World,
    cause: &Cause<'_>,
    given: &[u8],
    stop: &dyn Fn() -> bool,
) -> (Outcome, Vec<Updated>) {
    let mut run = Run {
        home,
        methods,
        stop,
        things: vec![],
        mode: from.mode.clone(),
        location_mode: from.location_mode.clone(),
        is_touched: from.is_touched,
        is_own_mode: from.is_own_mode,
        hashed: from.hashed.clone(),
        modes: None,
        mode_text: None,
        is_mode_hashed: from.is_mode_hashed,
        data: None,
        calls: vec![],
        is_manual: from.is_manual,
        devices: from.devices.clone(),
        apps: vec![],
        app: None,
        depth: 0,
        given,
        taken: 0,
        offered: None,
        place: Span::default(),
        updates: vec![],
    };
    for app in &from.apps {
        let fields = app.fields.iter().map(|one| run.value(one)).collect();
        let heard = Subscriptions {
            objects: app.heard.objects.iter().map(|one| run.value(one)).collect(),
            events: app.heard.events.clone(),
            values: app.heard.values.clone(),
            handlers: app.heard.handlers.iter().map(|one| run.value(one)).collect(),
        };
        run.apps.push(LiveApp { fields, heard });
    }
    let result = match cause {
        Cause::Install => run.install(),
        Cause::Choice(choice) => run.happen(choice),
    };
    let outcome = run.outcome(result);
    (outcome, run.updates)
}

impl Run<'_> {
    fn outcome(&mut self, result: Result<(), Stop>) -> Outcome {
        let lost = |own: &Self, what: String| Outcome::Lost(own.app.unwrap_or(0), own.place, what);
        if let Some(offered) = self.offered.take() {
            let (world, count, places) = offered;
            return Outcome::Offered(world, count, places);
        }
        match result {
            Ok(()) => match self.world() {
                Some(world) => Outcome::Ended(world),
                None => lost(self, "a value that is kept between events".to_owned()),
            },
            Err(Stop::Limit(TIME)) => Outcome::Stopped,
            // Events that cause each other without end.
            Err(Stop::Throw(_) | Stop::Limit("calls")) => Outcome::Died,
            Err(stop) => lost(self, words(&stop)),
        }
    }

    /// Returns what the state holds now.
    fn world(&self) -> Option<World> {
        let kept = |value: &Value| Kept::of(value, &|id| self.held(id).cloned());
        let all = |values: &[Value]| values.iter().map(kept).collect::<Option<Vec<Kept>>>();
        let mut apps = vec![];
        for app in &self.apps {
            let heard = Subscriptions {
                objects: all(&app.heard.objects)?,
                events: app.heard.events.clone(),
                values: app.heard.values.clone(),
                handlers: all(&app.heard.handlers)?,
            };
            apps.push(Running { fields: all(&app.fields)?, heard });
        }
        // Only names of events that are texts of the program have a hash that is seen. The keys of
        // maps have theirs.
        let events = apps.iter().flat_map(|app: &Running| &app.heard.events);
        let names = events.filter(|(_, is_text)| *is_text).map(|(name, _)| name);
        let is_key = |name: &str| {
            let is = |(key, _): &(Kept, Kept)| matches!(key, Kept::Text(key) if key == name);
            let fields = apps.iter().flat_map(|app| &app.fields);
            fields.into_iter().any(|one| matches!(one, Kept::Map(all) if all.iter().any(is)))
        };
        let is_hashed = |name: &&String| self.hashed.contains(*name) || is_key(name);
        let shown = self.hashed.iter().filter(|name| name.starts_with(SHOWN));
        let hashed = names.filter(is_hashed).chain(shown).cloned().collect();
        Some(World {
            mode: self.mode.clone(),
            location_mode: self.location_mode.clone(),
            is_touched: self.is_touched,
            is_own_mode: self.is_own_mode,
            is_mode_hashed: self.is_mode_hashed,
            hashed,
            is_manual: self.is_manual,
            devices: self.devices.clone(),
            apps,
        })
    }

    pub(super) fn held(&self, id: u32) -> Option<&Held> {
        self.things.get(id as usize)
    }

    /// Returns an object. Equal ones are one.
    pub(super) fn object(&mut self, held: Held) -> Value {
        Value::Object(intern(&mut self.things, &held))
    }

    pub(super) fn value(&mut self, kept: &Kept) -> Value {
        kept.value(&mut |held| intern(&mut self.things, held))
    }

    /// Returns what is kept of a value.
    pub(super) fn kept(&self, value: &Value) -> Result<Kept, Stop> {
        let kept = Kept::of(value, &|id| self.held(id).cloned());
        kept.map_or_else(|| unsupported("a value of a field that cannot be kept"), Ok)
    }

    /// Takes one of so many alternatives.
    pub(super) fn choose(&mut self, count: u8) -> Result<u8, Stop> {
        if let Some(given) = self.given.get(self.taken) {
            self.taken += 1;
            return Ok(*given);
        }
        if self.taken >= NESTED_CHOICES_MAX {
            return Err(Stop::Limit("choices"));
        }
        match self.world() {
            Some(world) => {
                let places = self.calls.iter().copied().chain([self.place.start]).collect();
                self.offered = Some((world, count, places));
                // It only ends the run.
                Err(Stop::Limit("choices"))
            }
            None => unsupported("a value that is kept between events"),
        }
    }

    fn install(&mut self) -> Result<(), Stop> {
        for app in 0..self.apps.len() {
            self.call_app(app, "installed", vec![])?;
        }
        Ok(())
    }

    fn happen(&mut self, choice: &Choice) -> Result<(), Stop> {
        match choice {
            Choice::Nothing => {}
            Choice::Scheduled(app, method) => {
                self.call_app(*app, method, vec![])?;
            }
            Choice::Touch(name, value) => {
                self.is_touched = 1;
                self.send(name, &Value::text(value), "touchedSensorID0")?;
            }
            Choice::Location(name, value) => self.set_mode(name, &Value::text(value), false)?,
            Choice::Device(device, name, value) => self.simulate(*device, name, value)?,
        }
        Ok(())
    }

    /// Sets the mode, and sends an event of this name if it changes. `is_own`: to a text that is
    /// not one of the program.
    pub(super) fn set_mode(&mut self, name: &str, value: &Value, is_own: bool) -> Result<(), Stop> {
        let mode = Kept::Text(show(value));
        if self.mode == mode {
            return Ok(());
        }
        self.mode = mode.clone();
        self.location_mode = mode;
        self.is_own_mode = is_own;
        self.is_mode_hashed = false;
        self.mode_text = None;
        self.send(name, value, "locationID0")
    }

    /// Notes that a property with this name is looked up.
    pub(super) fn look_up(&mut self, name: &str) {
        // The names of methods were looked up when their class was made.
        let is_method = self.home.apps.iter().any(|app| app.methods.contains(name));
        if !is_method && !self.hashed.contains(name) {
            self.hashed.insert(name.to_owned());
        }
    }

    /// Calls a method of an app.
    pub(super) fn call_app(
        &mut self,
        app: usize,
        name: &str,
        arguments: Vec<Value>,
    ) -> Result<Value, Stop> {
        if self.depth + HANDLER_DEPTH > DEPTH_MAX {
            return Err(Stop::Limit("calls"));
        }
        self.depth += HANDLER_DEPTH;
        let methods = self.methods[app].clone();
        let outer = self.app.replace(app);
        let result = Evaluator::with(methods, self, STEPS_MAX).call(name, arguments);
        self.depth -= HANDLER_DEPTH;
        // What ended the run is looked for where it was.
        if result.is_ok() {
            self.app = outer;
        }
        if matches!(result, Err(Stop::Throw(_))) {
            self.app = outer;
        }
        result
    }

    /// Calls what a subscription or a timer names: a method, or its name.
    pub(super) fn call_handler(
        &mut self,
        own: usize,
        handler: &Value,
        arguments: Vec<Value>,
    ) -> Result<Value, Stop> {
        match handler {
            Value::Text(name) => self.call_app(own, name, arguments),
            Value::Object(id) => match self.held(*id).cloned() {
                Some(Held::Method(app, name)) => self.call_app(app, &name, arguments),
                _ => throw("MissingMethodException"),
            },
            _ => unsupported("a closure as a handler"),
        }
    }

    /// Sends an event: the last app hears it first.
    pub(super) fn send(&mut self, name: &str, value: &Value, device: &str) -> Result<(), Stop> {
        let text = match value {
            Value::Null => Kept::Null,
            value => Kept::Text(show(value)),
        };
        if NUMBERS.contains(&name) {
            match &text {
                Kept::Text(text) if number_of(text).is_some() => {}
                Kept::Text(_) => return throw("NumberFormatException"),
                _ => return throw("NullPointerException"),
            }
        }
        let is_manual = MANUAL.contains(&name);
        self.is_manual |= is_manual;
        let event = Happened {
            name: name.to_owned(),
            value: text.clone(),
            device: device.to_owned(),
            is_manual,
            data: self.data.take(),
        };
        let event = self.object(Held::Event(Box::new(event)));
        for app in (0..self.apps.len()).rev() {
            let mut at = 0;
            while at < self.apps[app].heard.events.len() {
                let heard = &self.apps[app].heard;
                let fits = |wanted: &String| {
                    wanted.is_empty() || matches!(&text, Kept::Text(text) if text == wanted)
                };
                if heard.events[at].0 == name && heard.values.get(at).is_some_and(fits) {
                    let handler = heard.handlers[at].clone();
                    self.call_handler(app, &handler, vec![event.clone()])?;
                }
                at += 1;
            }
        }
        if is_manual {
            self.is_manual = false;
        }
        Ok(())
    }

    /// Returns the place of a field of the app that runs.
    fn field(&self, name: &str) -> Option<(usize, usize)> {
        let app = self.app?;
        let at = self.home.apps[app].fields.iter().position(|(own, _)| own == name)?;
        Some((app, at))
    }

    fn named(&mut self, name: &str) -> Answer {
        if let Some((app, at)) = self.field(name) {
            return Some(Ok(self.apps[app].fields[at].clone()));
        }
        Some(Ok(match name {
            "location" => self.object(Held::Location),
            "app" => self.object(Held::App),
            "log" => self.object(Held::Log),
            "temperatureScale" => Value::text("F"),
            "Calendar" | "Date" | "TimeZone" | "System" | "SimpleDateFormat"
            | "GregorianCalendar" | "JsonSlurper" | "JsonOutput" | "URLEncoder" | "Random" => {
                self.object(Held::Class(name.to_owned()))
            }
            "functionList" | "objectList" | "eventList" | "valueList" | "reference" => {
                return Some(unsupported(&format!("`{name}`")));
            }
            _ => return None,
        }))
    }
}

fn intern(things: &mut Vec<Held>, held: &Held) -> u32 {
    let at = things.iter().position(|known| known == held).unwrap_or_else(|| {
        things.push(held.clone());
        things.len() - 1
    });
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Returns whether the value of an event with this name is a number.
pub(super) fn is_number(name: &str) -> bool {
    NUMBERS.contains(&name)
}

/// Returns the whole number that the value of an event shows: what is behind a point is cut.
pub(super) fn number_of(text: &str) -> Option<i32> {
    let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
    whole.trim().parse().ok()
}

impl Host for Run<'_> {
    fn property(&mut self, object: Option<u32>, name: &str) -> Answer {
        let Some(object) = object else { return self.named(name) };
        self.look_up(name);
        let held = self.held(object)?.clone();
        self.thing_property(&held, name)
    }

    fn set_property(&mut self, object: Option<u32>, name: &str, value: &Value) -> bool {
        let Some(object) = object else {
            let Some((app, at)) = self.field(name) else { return false };
            self.apps[app].fields[at] = value.clone();
            return true;
        };
        let held = self.held(object).cloned();
        held.is_some_and(|held| self.set_thing(&held, name, value))
    }

    fn call(&mut self, object: Option<u32>, name: &str, arguments: &[Value]) -> Answer {
        let Some(object) = object else { return self.platform(name, arguments) };
        let held = self.held(object)?.clone();
        self.thing_call(&held, name, arguments)
    }

    fn order(&mut self, object: u32, other: &Value) -> Option<Result<Ordering, Stop>> {
        match (self.held(object)?, other) {
            (Held::Date(own), Value::Object(other)) => match self.held(*other)? {
                Held::Date(other) => Some(Ok(own.cmp(other))),
                _ => None,
            },
            // A date has no order with a number.
            (Held::Date(_), _) => Some(throw("ClassCastException")),
            _ => None,
        }
    }

    fn items(&mut self, object: u32, method: &str) -> Option<Vec<Value>> {
        let Held::Group(device) = *self.held(object)? else { return None };
        let facts = &self.home.table.devices[device];
        let iterates = facts.list.is_some() && facts.iterates.iter().any(|one| one == method);
        iterates.then(|| vec![self.object(Held::Item(device))])
    }

    /// The letters of a text are its field `value`; they equal no text.
    fn text_property(&mut self, text: &str, name: &str) -> Option<Value> {
        let letters = || text.chars().map(|letter| Value::text(letter.to_string())).collect();
        (name == "value").then(|| Value::list(letters()))
    }

    /// A map that is shown keeps the view of its entries, and so it is another state.
    fn shown(&mut self, value: &Value) {
        match value {
            Value::List(list) if self.modes.as_ref().is_some_and(|own| Rc::ptr_eq(own, list)) => {
                self.look_up("shown: modes");
            }
            Value::Map(map) => {
                for app in 0..self.apps.len() {
                    let fields = &self.apps[app].fields;
                    let is = |one: &Value| matches!(one, Value::Map(own) if Rc::ptr_eq(own, map));
                    if let Some(at) = fields.iter().position(is) {
                        self.look_up(&format!("{SHOWN}{app}.{at}"));
                    }
                }
            }
            _ => {}
        }
    }

    /// A text keeps the hash that is made of it.
    fn keyed(&mut self, key: &Value) {
        if let (Value::Text(key), Some(mode)) = (key, &self.mode_text)
            && self.is_own_mode
            && Rc::ptr_eq(key, mode)
        {
            self.is_mode_hashed = true;
        }
    }

    fn has_binding(&self) -> bool {
        false
    }

    fn takes_together(&self) -> bool {
        false
    }

    fn enter(&mut self) -> bool {
        let may = self.depth < DEPTH_MAX;
        if may {
            self.depth += 1;
            self.calls.push(self.place.start);
        }
        may
    }

    fn leave(&mut self) {
        self.depth -= 1;
        self.calls.pop();
    }

    fn print(&mut self, _: &str) {}

    fn at(&mut self, place: Span) {
        self.place = place;
    }

    fn is_stopped(&self) -> bool {
        (self.stop)()
    }
}
