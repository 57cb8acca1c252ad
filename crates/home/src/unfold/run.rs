//! One execution of a handler by the reference evaluator.

use super::deed::{Deed, Deeds, Reply, Wanted};
use super::things::{Found, Thing, Things};
use super::time;
use super::tree::Action;
use super::unknown::Guesses;
use super::world::{EventKey, NoteKind, Origin, Site, Unit, UnitId, VarId, VarKind, World};
use crate::app::words;
use crate::value::Stored;
use anyorder_common::source::Span;
use anyorder_groovy::eval::{Evaluator, Host, Stop, TIME, Value};
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

/// What an execution did, and which others are to be tried.
pub(super) struct Done {
    pub(super) path: Vec<(Action, usize)>,
    pub(super) alternatives: Vec<Vec<usize>>,
}

/// The platform, for one execution.
pub(super) struct Run<'r, 'a> {
    pub(super) deeds: Deeds<'r, 'a>,
    pub(super) app: usize,
    /// What it did, with the replies.
    done: Vec<(Deed, Reply)>,
    /// What the variables hold, as far as this execution knows.
    known: HashMap<VarId, Stored>,
    /// The entries of `state` that it has read: what it changes inside them is kept.
    loaded: BTreeMap<VarId, Value>,
    pub(super) things: Things,
    /// What it takes unknown values for.
    pub(super) guesses: Guesses,
    place: Span,
    settings: BTreeMap<String, Value>,
    stop: &'r dyn Fn() -> bool,
    is_stopped: bool,
}

/// Most reads, choices and effects of one execution.
pub(super) const ACTIONS_MAX: usize = 300;

pub(super) type Answer = Option<Result<Value, Stop>>;

/// Runs a handler with these branches first, until `stop` is true.
pub(super) fn run(
    world: &mut World<'_>,
    unit: UnitId,
    given: Vec<usize>,
    stop: &dyn Fn() -> bool,
) -> Done {
    let (facts, memo) = (world.units[unit].clone(), world.memo);
    let mut deeds = Deeds::new(world, unit, given);
    if memo.is_none_or(|memo| !memo.repeat(&facts, &mut deeds)) {
        let done;
        (deeds, done) = evaluate(deeds, &facts, stop);
        if let (Some(memo), Some(done)) = (memo, done) {
            memo.keep(&facts, done);
        }
    }
    Done { path: deeds.path, alternatives: deeds.alternatives }
}

/// Runs a handler by the evaluator. Returns what it did, unless it was stopped.
fn evaluate<'r, 'a>(
    deeds: Deeds<'r, 'a>,
    facts: &Unit,
    stop: &'r dyn Fn() -> bool,
) -> (Deeds<'r, 'a>, Option<Vec<(Deed, Reply)>>) {
    let world = &deeds.world;
    let app = &world.apps[facts.app];
    let (methods, steps) = (app.methods.clone(), world.limits.steps_max);
    let settings = crate::config::values(&world.home.settings[facts.app]);
    let devices = world.home.devices.len();
    let mut host = Run {
        deeds,
        app: facts.app,
        done: vec![],
        known: HashMap::new(),
        loaded: BTreeMap::new(),
        things: Things::new(devices),
        guesses: Guesses::new(),
        place: Span::default(),
        settings,
        stop,
        is_stopped: false,
    };
    let parameters = app.parameters.get(&facts.handler).copied();
    let arguments = match (parameters, &facts.event) {
        (Some(1..), Some(event)) => vec![host.object(Thing::Event(event.clone()))],
        (Some(1..), None) => vec![Value::map(vec![])],
        _ => vec![],
    };
    if parameters.is_none() {
        host.unknown(&format!("the handler `{}`, which the app does not have", facts.handler));
        host.act(Deed::Stop);
    } else {
        let result = Evaluator::with(methods, &mut host, steps).call(&facts.handler, arguments);
        host.ended(result);
    }
    (host.deeds, (!host.is_stopped).then_some(host.done))
}

impl Run<'_, '_> {
    /// Writes back what changed inside of `state`, and notes why the execution ended early.
    fn ended(&mut self, result: Result<Value, Stop>) {
        for (var, value) in std::mem::take(&mut self.loaded) {
            self.store(var, &value);
        }
        match result {
            Ok(_) => {}
            // The platform logs an exception and goes on.
            Err(stop @ Stop::Throw(_)) => {
                let text = format!("the handler ends by {}", words(&stop));
                self.note(NoteKind::Approximated, text);
            }
            Err(Stop::Limit(TIME)) => {
                self.is_stopped = true;
                self.note(NoteKind::Limit, "an execution, by the limit of time".to_owned());
                self.act(Deed::Stop);
            }
            Err(stop) => {
                self.unknown(&words(&stop));
                self.act(Deed::Stop);
            }
        }
    }

    pub(super) fn site(&self) -> Site {
        let at = self.deeds.world.apps[self.app].position(self.place);
        Site { app: self.app, line: at.line, column: at.column }
    }

    /// Carries a deed out, and writes it down.
    pub(super) fn act(&mut self, deed: Deed) -> Reply {
        let reply = self.deeds.carry_out(&deed);
        self.done.push((deed, reply.clone()));
        reply
    }

    fn note(&mut self, kind: NoteKind, text: String) {
        let site = self.site();
        self.act(Deed::Note(kind, site, text));
    }

    pub(super) fn unknown(&mut self, what: &str) {
        self.note(NoteKind::NotUnderstood, what.to_owned());
    }

    pub(super) fn approximated(&mut self, what: &str) {
        self.note(NoteKind::Approximated, what.to_owned());
    }

    pub(super) fn object(&mut self, thing: Thing) -> Value {
        Value::Object(self.things.add(thing))
    }

    /// Takes any of so many alternatives.
    pub(super) fn choose(&mut self, count: u16) -> usize {
        match self.act(Deed::Choose(count)) {
            Reply::Branch(branch) => branch,
            Reply::Nothing | Reply::Value(_) => 0,
        }
    }

    /// Carries a deed out that has a value.
    fn valued(&mut self, deed: Deed) -> Stored {
        match self.act(deed) {
            Reply::Value(value) => value,
            Reply::Nothing | Reply::Branch(_) => Stored::Null,
        }
    }

    /// Reads a variable.
    pub(super) fn read(&mut self, var: VarId) -> Stored {
        if let Some(known) = self.known.get(&var) {
            return known.clone();
        }
        let kind = self.deeds.world.vars[var].kind.clone();
        let value = self.valued(Deed::Read(kind));
        self.known.insert(var, value.clone());
        value
    }

    /// Sets a variable that sends no event.
    pub(super) fn set(&mut self, var: VarId, value: &Stored) {
        if self.known.get(&var) == Some(value) {
            return;
        }
        let (kind, site) = (self.deeds.world.vars[var].kind.clone(), self.site());
        let value = self.valued(Deed::Set(kind, value.clone(), site));
        self.known.insert(var, value);
    }

    /// Makes a subscription hold.
    pub(super) fn hold(&mut self, wanted: Wanted) {
        self.act(Deed::Subscribe(wanted.clone()));
        let (var, site) = (self.deeds.flag(&wanted), self.site());
        if self.known.insert(var, Stored::Bool(true)) != Some(Stored::Bool(true)) {
            self.act(Deed::Hold(wanted, site));
        }
    }

    /// Sets an attribute: a change is an event.
    pub(super) fn update(&mut self, var: VarId, origin: Origin, name: &str, value: &Stored) {
        if self.known.get(&var) == Some(value) {
            return;
        }
        let (kind, site) = (self.deeds.world.vars[var].kind.clone(), self.site());
        self.act(Deed::Update(kind, (origin, name.to_owned()), value.clone(), site));
        self.forget();
    }

    /// Sends an event that changes nothing by itself.
    pub(super) fn emit(&mut self, event: EventKey) {
        let site = self.site();
        self.act(Deed::Emit(event, site));
        self.forget();
    }

    /// Runs a handler now.
    pub(super) fn run_now(&mut self, handler: &str) {
        let site = self.site();
        self.act(Deed::Run(handler.to_owned(), site));
        self.forget();
    }

    /// Ends timers or subscriptions: which there are is known when all is unfolded.
    pub(super) fn ends(&mut self, action: Action, ended: impl Fn(&VarKind, usize) -> bool) {
        let (vars, app) = (&self.deeds.world.vars, self.app);
        self.known.retain(|var, _| !ended(&vars[*var].kind, app));
        self.act(Deed::End(action));
    }

    /// Other handlers have run: nothing is known any more.
    fn forget(&mut self) {
        self.known.clear();
    }

    /// Reads an entry of `state`. What is changed inside of it is kept.
    pub(super) fn state(&mut self, name: &str) -> Value {
        let var = self.deeds.world.var(VarKind::State(self.app, name.to_owned()));
        if let Some(loaded) = self.loaded.get(&var) {
            return loaded.clone();
        }
        let value = self.read(var).value();
        self.loaded.insert(var, value.clone());
        value
    }

    fn store(&mut self, var: VarId, value: &Value) {
        match Stored::of(value) {
            Some(value) => self.set(var, &value),
            None => self.unknown("a value of `state` that cannot be kept"),
        }
    }

    pub(super) fn set_state(&mut self, name: &str, value: &Value) {
        let var = self.deeds.world.var(VarKind::State(self.app, name.to_owned()));
        self.loaded.insert(var, value.clone());
        self.store(var, value);
    }

    /// Returns the moment of now.
    pub(super) fn now(&mut self) -> i64 {
        let clock = self.deeds.world.var(VarKind::Clock);
        match self.read(clock) {
            Stored::Number(quarters) => time::moment(quarters),
            _ => time::moment(0),
        }
    }

    pub(super) fn settings_map(&self) -> Value {
        let entry = |(key, value): (&String, &Value)| (Value::text(key), value.clone());
        Value::map(self.settings.iter().map(entry).collect())
    }

    /// Returns the value of a name of the app.
    fn named(&mut self, name: &str) -> Value {
        if let Some(value) = self.settings.get(name) {
            return value.clone();
        }
        match name {
            "settings" => self.settings_map(),
            "state" | "atomicState" => self.object(Thing::State),
            "location" => self.object(Thing::Location),
            "app" => self.object(Thing::App),
            "log" => self.object(Thing::Log),
            "params" | "request" => self.anything("a request"),
            "temperatureScale" => Value::text("F"),
            _ if self.deeds.world.apps[self.app].parameters.contains_key(name) => Value::text(name),
            _ if name.starts_with(char::is_uppercase) => self.object(Thing::Class(name.to_owned())),
            // A setting that was not given.
            _ => Value::Null,
        }
    }
}

impl Host for Run<'_, '_> {
    fn property(&mut self, object: Option<u32>, name: &str) -> Answer {
        let Some(object) = object else {
            let is_own = self.deeds.world.apps[self.app].has_getter(name);
            if is_own && !self.settings.contains_key(name) {
                return None;
            }
            return Some(Ok(self.named(name)));
        };
        match self.things.get(object)? {
            Found::Device(device) => self.device_property(device, name),
            Found::Other(Thing::State) => Some(Ok(self.state(name))),
            Found::Other(thing) => self.thing_property(&thing, name),
        }
    }

    fn set_property(&mut self, object: Option<u32>, name: &str, value: &Value) -> bool {
        match object.map(|object| self.things.get(object)) {
            Some(Some(Found::Other(Thing::State))) => self.set_state(name, value),
            Some(Some(Found::Other(Thing::Location))) if name == "mode" => self.set_mode(value),
            Some(_) => self.unknown(&format!("setting the property `{name}`")),
            // A variable of the script.
            None => return false,
        }
        true
    }

    fn call(&mut self, object: Option<u32>, name: &str, arguments: &[Value]) -> Answer {
        let Some(object) = object else { return self.call_named(name, arguments) };
        match self.things.get(object)? {
            Found::Device(device) => self.device_call(device, name, arguments),
            Found::Other(thing) => self.thing_call(&thing, name, arguments),
        }
    }

    fn equals(&mut self, object: u32, other: &Value) -> Option<Result<bool, Stop>> {
        self.object_equals(object, other)
    }

    fn order(&mut self, object: u32, other: &Value) -> Option<Result<Ordering, Stop>> {
        self.object_order(object, other)
    }

    fn is_true(&mut self, object: u32) -> Option<Result<bool, Stop>> {
        self.object_is_true(object)
    }

    fn is_unknown(&self, object: u32) -> bool {
        self.is_unknown_object(object)
    }

    fn print(&mut self, _: &str) {}

    fn at(&mut self, place: Span) {
        self.place = place;
    }

    fn is_stopped(&self) -> bool {
        (self.stop)()
    }
}
