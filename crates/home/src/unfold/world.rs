//! What all handlers share: variables with their domains, subscriptions, planned executions.

use super::memo::Memo;
use super::run;
use super::tree::{Action, Tree};
use crate::app::App;
use crate::config::Configuration;
use crate::value::Stored;
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub(crate) type VarId = usize;
pub(crate) type UnitId = usize;

/// Bounds of the trees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most executions of one handler for one event.
    pub paths_max: usize,
    /// Most values of one variable.
    pub values_max: usize,
    /// Most handlers with an event.
    pub units_max: usize,
    /// Most executions of all handlers.
    pub executions_max: usize,
    /// Most steps of one execution of the evaluator.
    pub steps_max: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            paths_max: 512,
            values_max: 24,
            units_max: 600,
            executions_max: 20_000,
            steps_max: 200_000,
        }
    }
}

/// Why a result is not the whole truth.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NoteKind {
    /// Something was not understood: executions end there.
    NotUnderstood,
    /// A limit cut executions or values.
    Limit,
    /// Something is treated more coarsely than it is.
    Approximated,
}

/// A remark with its place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Note {
    /// What kind it is.
    pub kind: NoteKind,
    /// The file of the app.
    pub file: String,
    /// The line, from 1; 0 if there is none.
    pub line: u32,
    /// The column, from 1; 0 if there is none.
    pub column: u32,
    /// What it is about.
    pub text: String,
}

/// A place in an app.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Site {
    pub(crate) app: usize,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// Who sends events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Origin {
    Device(usize),
    Location,
    App(usize),
}

/// An event.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct EventKey {
    pub(crate) origin: Origin,
    pub(crate) name: String,
    pub(crate) value: Stored,
}

/// What a variable is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum VarKind {
    /// An attribute of a device.
    Attribute(usize, String),
    /// An attribute of the location: `mode`, `alarmSystemStatus`.
    Location(String),
    /// `state.x` of an app.
    State(usize, String),
    /// The time: a count of quarters of a day.
    Clock,
    /// Whether a timer of an app runs.
    Timer(usize, String),
    /// Whether a subscription of an app holds.
    Subscribed(usize, usize),
    /// That requests from outside run a method of an app: always.
    Request(usize, String),
}

#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub(crate) kind: VarKind,
    pub(crate) domain: Vec<Stored>,
    /// Where it is read: the handler, and the branches that lead to the read.
    readers: Vec<(UnitId, Vec<usize>)>,
}

impl Var {
    fn is_read(&self) -> bool {
        !self.readers.is_empty()
    }
}

/// A handler for one event.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Unit {
    pub(crate) app: usize,
    pub(crate) handler: String,
    pub(crate) event: Option<EventKey>,
}

/// What an app asked to hear of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Subscription {
    pub(crate) app: usize,
    pub(crate) origin: Origin,
    pub(crate) name: String,
    /// Only events with this value.
    pub(crate) value: Option<String>,
    pub(crate) handler: String,
    pub(crate) var: VarId,
}

impl Subscription {
    pub(crate) fn takes(&self, event: &EventKey) -> bool {
        self.origin == event.origin
            && self.name == event.name
            && self.value.as_ref().is_none_or(|value| *value == event.value.to_string())
    }
}

/// Everything about the apps of one home.
#[derive(Clone)]
pub(crate) struct World<'a> {
    pub(crate) apps: &'a [App],
    pub(crate) home: &'a Configuration,
    pub(crate) limits: Limits,
    /// Timers run at once.
    pub(crate) is_immediate: bool,
    /// What other homes have evaluated.
    pub(super) memo: Option<&'a Memo>,
    pub(crate) vars: Vec<Var>,
    var_ids: HashMap<VarKind, VarId>,
    pub(crate) units: Vec<Unit>,
    unit_ids: HashMap<Unit, UnitId>,
    pub(crate) trees: Vec<Tree>,
    pub(crate) subscriptions: Vec<Subscription>,
    pub(crate) events: BTreeSet<EventKey>,
    pub(crate) notes: BTreeSet<Note>,
    /// The variables that the outside changes: apps read them or hear of them.
    pub(crate) outside: BTreeSet<VarId>,
    planned: Vec<(UnitId, Vec<usize>)>,
}

impl<'a> World<'a> {
    /// Unfolds the apps: their trees, variables and subscriptions.
    pub(crate) fn unfold(
        apps: &'a [App],
        home: &'a Configuration,
        limits: Limits,
        is_immediate: bool,
        memo: Option<&'a Memo>,
        stop: &dyn Fn() -> bool,
    ) -> World<'a> {
        let mut world = World {
            apps,
            home,
            limits,
            is_immediate,
            memo,
            vars: vec![],
            var_ids: HashMap::new(),
            units: vec![],
            unit_ids: HashMap::new(),
            trees: vec![],
            subscriptions: vec![],
            events: BTreeSet::new(),
            notes: BTreeSet::new(),
            outside: BTreeSet::new(),
            planned: vec![],
        };
        for app in home.installed.iter().copied() {
            let facts = &apps[app];
            let is_installed = facts.parameters.contains_key("installed");
            let first = if is_installed { "installed" } else { "updated" };
            world.unit(Unit { app, handler: first.to_owned(), event: None });
        }
        for app in home.installed.iter().copied() {
            for what in &home.not_understood[app] {
                let site = Site { app, line: what.line, column: what.column };
                let text = format!("in the preferences: {}", what.what);
                world.note(NoteKind::NotUnderstood, site, text);
            }
        }
        world.requests();
        world.close(stop);
        world.outside = (0..world.vars.len()).filter(|var| world.is_seen(*var)).collect();
        world.outside.extend(world.set_with_events());
        world
    }

    /// Subscribes apps to the requests from outside that their `mappings` name.
    fn requests(&mut self) {
        for app in self.home.installed.iter().copied() {
            for handler in self.apps[app].requests.clone() {
                let var = self.var(VarKind::Request(app, handler.clone()));
                let (origin, name) = (Origin::App(app), format!("request {handler}"));
                let event = EventKey { origin, name: name.clone(), value: Stored::from("now") };
                self.event(event);
                self.subscribe(Subscription { app, origin, name, value: None, handler, var });
            }
        }
    }

    /// Adds the attributes that rules name, of all devices: people change them, whether or not an
    /// app reads them.
    pub(crate) fn watch(&mut self, names: &BTreeSet<&str>) {
        for device in 0..self.home.devices.len() {
            let own = self.home.devices[device].attributes.keys();
            let own: Vec<String> = own.filter(|name| names.contains(&***name)).cloned().collect();
            for name in own {
                let var = self.var(VarKind::Attribute(device, name));
                self.outside.insert(var);
            }
        }
        if names.contains("mode") {
            self.var(VarKind::Location("mode".to_owned()));
        }
    }

    /// Returns the variables of a kind.
    pub(crate) fn vars_of(&self, is: impl Fn(&VarKind) -> bool) -> impl Iterator<Item = VarId> {
        (0..self.vars.len()).filter(move |var| is(&self.vars[*var].kind))
    }

    /// Returns the handlers that an event runs, each with the variable of its subscription.
    pub(crate) fn hearing(&self, event: &EventKey) -> impl Iterator<Item = (VarId, UnitId)> {
        self.subscriptions.iter().filter(|one| one.takes(event)).filter_map(|one| {
            let (app, handler) = (one.app, one.handler.clone());
            let unit = self.known_unit(&Unit { app, handler, event: Some(event.clone()) })?;
            Some((one.var, unit))
        })
    }

    /// Returns the variables of an attribute of any device, or of the location.
    pub(crate) fn vars_named(&self, attribute: &str) -> Vec<VarId> {
        let named = |var: &VarId| match &self.vars[*var].kind {
            VarKind::Attribute(_, name) | VarKind::Location(name) => name == attribute,
            _ => false,
        };
        (0..self.vars.len()).filter(named).collect()
    }

    /// Returns the variables that apps set with an event. People set them, too: a command is a
    /// change only if somebody else set another value before.
    fn set_with_events(&self) -> BTreeSet<VarId> {
        let nodes = self.trees.iter().flat_map(|tree| &tree.nodes);
        let set = nodes.filter_map(|node| match &node.action {
            Some(Action::Set { var, event: Some(_), .. }) => Some(*var),
            _ => None,
        });
        set.collect()
    }

    /// Returns whether an app reads a variable, or hears of it.
    fn is_seen(&self, var: VarId) -> bool {
        let heard = |origin: Origin, name: &str| {
            self.subscriptions.iter().any(|one| one.origin == origin && one.name == name)
        };
        self.vars[var].is_read()
            || match &self.vars[var].kind {
                VarKind::Attribute(device, name) => heard(Origin::Device(*device), name),
                VarKind::Location(name) => heard(Origin::Location, name),
                _ => false,
            }
    }

    /// Replaces all trees and subscriptions, and leaves out the other variables.
    pub(crate) fn keep(
        &mut self,
        vars: &BTreeSet<VarId>,
        trees: Vec<Tree>,
        subscriptions: Vec<Subscription>,
    ) {
        self.outside = vars
            .iter()
            .enumerate()
            .filter(|(_, old)| self.outside.contains(old))
            .map(|(new, _)| new)
            .collect();
        self.vars = vars.iter().map(|old| self.vars[*old].clone()).collect();
        self.var_ids =
            self.vars.iter().enumerate().map(|(var, facts)| (facts.kind.clone(), var)).collect();
        self.trees = trees;
        self.subscriptions = subscriptions;
    }

    /// Runs what is planned until nothing is.
    fn close(&mut self, stop: &dyn Fn() -> bool) {
        let mut executed = 0;
        while let Some((unit, branches)) = self.planned.pop() {
            if stop() {
                let text = "the executions of handlers, by the limit of time".to_owned();
                self.note(NoteKind::Limit, Site::default(), text);
                self.planned.clear();
                return;
            }
            if executed >= self.limits.executions_max {
                let text = "more executions of all handlers than the limit".to_owned();
                self.note(NoteKind::Limit, Site::default(), text);
                self.planned.clear();
                return;
            }
            executed += 1;
            if self.trees[unit].paths >= self.limits.paths_max {
                let Unit { app, handler, .. } = &self.units[unit];
                let text = format!("`{handler}` has more executions than the limit");
                self.note(NoteKind::Limit, Site { app: *app, ..Site::default() }, text);
                continue;
            }
            let done = run::run(self, unit, branches, stop);
            self.planned.extend(done.alternatives.into_iter().map(|branches| (unit, branches)));
            self.trees[unit].insert(done.path);
        }
    }

    /// Returns the number of a handler with an event, and plans its first execution if it is new.
    pub(crate) fn unit(&mut self, unit: Unit) -> UnitId {
        if let Some(known) = self.unit_ids.get(&unit) {
            return *known;
        }
        let id = self.units.len();
        if id >= self.limits.units_max {
            let text = "more handlers with events than the limit".to_owned();
            self.note(NoteKind::Limit, Site { app: unit.app, ..Site::default() }, text);
        } else {
            self.planned.push((id, vec![]));
        }
        self.units.push(unit.clone());
        self.unit_ids.insert(unit, id);
        self.trees.push(Tree::default());
        id
    }

    /// Returns the number of a handler that is known.
    pub(crate) fn known_unit(&self, unit: &Unit) -> Option<UnitId> {
        self.unit_ids.get(unit).copied()
    }

    /// Returns the number of a variable; a new one has its first value as its domain, or all values
    /// that the outside may give it.
    pub(crate) fn var(&mut self, kind: VarKind) -> VarId {
        if let Some(known) = self.var_ids.get(&kind) {
            return *known;
        }
        let domain = self.first_domain(&kind);
        self.vars.push(Var { kind: kind.clone(), domain, readers: vec![] });
        self.var_ids.insert(kind, self.vars.len() - 1);
        self.vars.len() - 1
    }

    fn first_domain(&self, kind: &VarKind) -> Vec<Stored> {
        match kind {
            VarKind::Attribute(device, name) => {
                let facts = &self.home.devices[*device].attributes[name];
                let mut domain = vec![Stored::from(&facts.initial)];
                let others = facts.values.iter().map(Stored::from);
                let others: Vec<Stored> = others.filter(|value| *value != domain[0]).collect();
                if facts.is_outside {
                    domain.extend(others);
                }
                domain
            }
            VarKind::Location(name) if name == "mode" => {
                self.home.modes.iter().map(|mode| Stored::from(&**mode)).collect()
            }
            VarKind::Location(_) => ["off", "stay", "away"].map(Stored::from).to_vec(),
            VarKind::State(..) => vec![Stored::Null],
            VarKind::Clock => (0..super::time::QUARTERS).map(Stored::Number).collect(),
            VarKind::Request(..) => vec![Stored::Bool(true)],
            VarKind::Timer(..) | VarKind::Subscribed(..) => {
                vec![Stored::Bool(false), Stored::Bool(true)]
            }
        }
    }

    /// Returns the variable whose change is an event, if it has one.
    pub(crate) fn var_of(&self, event: &EventKey) -> Option<VarId> {
        let name = event.name.clone();
        let kind = match event.origin {
            Origin::Device(device) => VarKind::Attribute(device, name),
            Origin::Location => VarKind::Location(name),
            Origin::App(_) => return None,
        };
        self.var_ids.get(&kind).copied()
    }

    /// Returns a value of a variable, also of one that is not known yet.
    pub(super) fn value_at(&self, kind: &VarKind, branch: usize) -> Option<Stored> {
        match self.var_ids.get(kind) {
            Some(var) => self.vars[*var].domain.get(branch).cloned(),
            None => self.first_domain(kind).into_iter().nth(branch),
        }
    }

    /// Returns whether a variable surely takes a value, also behind so many other new ones.
    pub(super) fn has_room(&self, kind: &VarKind, value: &Stored, more: usize) -> bool {
        self.var_ids.get(kind).is_none_or(|var| {
            let domain = &self.vars[*var].domain;
            domain.len() + more < self.limits.values_max || domain.contains(value)
        })
    }

    /// Returns the position of a value in the domain of a variable. A new value extends it; beyond
    /// the limit the last value stands for it.
    pub(crate) fn value(&mut self, var: VarId, value: &Stored, site: Site) -> usize {
        if let Some(known) = self.vars[var].domain.iter().position(|one| one == value) {
            return known;
        }
        if self.vars[var].domain.len() >= self.limits.values_max {
            let text = format!("{} takes more values than the limit", self.name(var));
            self.note(NoteKind::Limit, site, text);
            return self.vars[var].domain.len() - 1;
        }
        self.vars[var].domain.push(value.clone());
        let new = self.vars[var].domain.len() - 1;
        let again = self.vars[var].readers.iter().map(|(unit, branches)| {
            let mut branches = branches.clone();
            branches.push(new);
            (*unit, branches)
        });
        self.planned.extend(again.collect::<Vec<_>>());
        new
    }

    /// Remembers that a handler reads a variable behind these branches.
    pub(crate) fn reads(&mut self, var: VarId, unit: UnitId, branches: &[usize]) {
        self.vars[var].readers.push((unit, branches.to_vec()));
    }

    /// Adds a subscription, and plans its handler for all events that it takes.
    pub(crate) fn subscribe(&mut self, new: Subscription) {
        let same = |one: &Subscription| Subscription { var: new.var, ..one.clone() } == new;
        if self.subscriptions.iter().any(same) {
            return;
        }
        self.subscriptions.push(new);
        for event in self.events.clone() {
            self.handle(&event);
        }
    }

    /// Returns the flag of a subscription; a known one has its own.
    pub(crate) fn flag(
        &mut self,
        app: usize,
        origin: Origin,
        (name, value): (&str, Option<&str>),
        handler: &str,
    ) -> VarId {
        let known = self.subscriptions.iter().find(|one| {
            one.app == app
                && one.origin == origin
                && one.name == name
                && one.value.as_deref() == value
                && one.handler == handler
        });
        match known {
            Some(known) => known.var,
            None => self.var(VarKind::Subscribed(app, self.subscriptions.len())),
        }
    }

    /// Takes note of an event that may happen, and plans its handlers.
    pub(crate) fn event(&mut self, event: EventKey) {
        if self.events.insert(event.clone()) {
            self.handle(&event);
        }
    }

    fn handle(&mut self, event: &EventKey) {
        let takers = self.subscriptions.iter().filter(|one| one.takes(event));
        let takers: Vec<(usize, String)> =
            takers.map(|one| (one.app, one.handler.clone())).collect();
        for (app, handler) in takers {
            self.unit(Unit { app, handler, event: Some(event.clone()) });
        }
    }

    pub(crate) fn note(&mut self, kind: NoteKind, site: Site, text: String) {
        let file = self.apps.get(site.app).map_or(String::new(), |app| app.file.clone());
        self.notes.insert(Note { kind, file, line: site.line, column: site.column, text });
    }

    /// Returns the name of a variable, in the platform's words.
    pub(crate) fn name(&self, var: VarId) -> String {
        let app = |app: &usize| self.apps[*app].name.as_str();
        match &self.vars[var].kind {
            VarKind::Attribute(device, name) => {
                format!("{}.{name}", self.home.devices[*device].name)
            }
            VarKind::Location(name) => format!("location.{name}"),
            VarKind::State(of, name) => format!("{}: state.{name}", app(of)),
            VarKind::Clock => "time".to_owned(),
            VarKind::Timer(of, handler) => format!("{}: timer {handler}", app(of)),
            VarKind::Subscribed(of, number) => format!("{}: subscription {number}", app(of)),
            VarKind::Request(of, handler) => format!("{}: request {handler}", app(of)),
        }
    }

    /// Counts the executions of all handlers.
    pub(crate) fn paths(&self) -> usize {
        self.trees.iter().map(|tree| tree.paths).sum()
    }

    /// Returns the handlers that install the apps, each with its app.
    pub(crate) fn first_units(&self) -> BTreeMap<UnitId, usize> {
        let first = |(id, unit): (usize, &Unit)| {
            let is_first =
                unit.event.is_none() && matches!(&*unit.handler, "installed" | "updated");
            is_first.then_some((id, unit.app))
        };
        self.units.iter().enumerate().filter_map(first).collect()
    }
}
