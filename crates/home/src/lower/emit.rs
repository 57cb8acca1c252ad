//! Functions: handlers, and who hears of an event.

use super::footprint::Footprints;
use super::queue::Queue;
use super::{Options, Order, events};
use crate::rules::Rule;
use crate::unfold::{Action, EventKey, Node, Site, Unit, VarId, VarKind, World};
use crate::value::Stored;
use anyorder_program::{
    Component, ConstId, FuncId, FunctionBuilder, GlobalId, Label, Literal, Op, Program,
    ProgramBuilder, ProgramError, Reg, SiteId,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Events inside events beyond which apps set something in turn without end.
const DEPTH_MAX: i32 = 12;

pub(super) struct Emitter<'w, 'a> {
    pub(super) b: ProgramBuilder,
    pub(super) world: &'w World<'a>,
    pub(super) options: &'w Options,
    pub(super) globals: Vec<GlobalId>,
    units: Vec<FuncId>,
    delivered: BTreeMap<EventKey, FuncId>,
    constants: HashMap<Stored, ConstId>,
    files: Vec<Option<u16>>,
    /// Whether apps answered each other's events without end.
    endless: GlobalId,
    /// Whether an app broke each rule.
    pub(super) breaches: Vec<GlobalId>,
    /// Subscriptions that hold in all states.
    fixed: BTreeSet<VarId>,
    footprints: Footprints,
    /// The queue, if events wait.
    pub(super) queue: Option<Queue>,
}

pub(super) fn program(
    name: &str,
    world: &World<'_>,
    options: &Options,
) -> Result<Program, ProgramError> {
    let mut b = ProgramBuilder::new(name);
    let mut files = vec![None; world.apps.len()];
    for app in &world.home.installed {
        files[*app] = Some(b.file(&world.apps[*app].file));
    }
    let fixed = fixed(world);
    let globals = (0..world.vars.len()).map(|var| {
        let first = match fixed.contains(&var) {
            true => Stored::Bool(true),
            false => world.vars[var].domain.first().cloned().unwrap_or_default(),
        };
        b.global(&world.name(var), first.literal())
    });
    let globals = globals.collect();
    let endless = b.global("loop", Literal::Bool(false));
    let breach = |rule: &Rule| b.global(&format!("rule {}", rule.name), Literal::Bool(false));
    let breaches: Vec<GlobalId> = options.rules.iter().map(breach).collect();
    let units: Vec<FuncId> = world.units.iter().map(|_| b.declare_function()).collect();
    let queue = options.is_queued.then(|| Queue::new(&mut b));
    let mut emitter = Emitter {
        b,
        world,
        options,
        globals,
        units,
        delivered: BTreeMap::new(),
        constants: HashMap::new(),
        files,
        endless,
        breaches,
        fixed,
        footprints: Footprints::new(world),
        queue,
    };
    for event in &world.events {
        let function = emitter.b.declare_function();
        emitter.delivered.insert(event.clone(), function);
    }
    emitter.deliveries();
    for unit in 0..world.units.len() {
        emitter.handler(unit);
    }
    emitter.never("no loop of events", endless);
    for (rule, flag) in options.rules.iter().zip(emitter.breaches.clone()) {
        emitter.never(&format!("not {}: {}", rule.name, rule.reason), flag);
    }
    emitter.components();
    emitter.first();
    events::outside(&mut emitter);
    emitter.b.finish()
}

/// Finds the subscriptions that the first handlers always make and that nothing takes back.
fn fixed(world: &World<'_>) -> BTreeSet<VarId> {
    let first = world.first_units();
    let mut made = BTreeSet::new();
    let mut taken_back = BTreeSet::new();
    for (unit, tree) in world.trees.iter().enumerate() {
        let mut own_made = BTreeSet::new();
        for action in tree.nodes.iter().filter_map(|node| node.action.as_ref()) {
            if let Action::Unsubscribe { .. } = action
                && first.contains_key(&unit)
                && tree.paths == 1
            {
                // What it made before, in this order, it may take back.
                taken_back.append(&mut own_made);
            } else if let Action::Unsubscribe { app, .. } = action {
                let own = |kind: &VarKind| matches!(kind, VarKind::Subscribed(of, _) if of == app);
                taken_back.extend((0..world.vars.len()).filter(|var| own(&world.vars[*var].kind)));
            }
            let Action::Set { var, value, .. } = action else { continue };
            if !matches!(world.vars[*var].kind, VarKind::Subscribed(..)) {
                continue;
            }
            if *value != Stored::Bool(true) {
                taken_back.insert(*var);
            } else if first.contains_key(&unit) && tree.paths == 1 {
                made.insert(*var);
                own_made.insert(*var);
            }
        }
    }
    let requests = |var: &VarId| matches!(world.vars[*var].kind, VarKind::Request(..));
    let mut fixed = &made - &taken_back;
    fixed.extend((0..world.vars.len()).filter(requests));
    fixed
}

/// The registers of a handler: how deep it runs, and three for what comes up.
const DEPTH: Reg = Reg(0);

struct Registers {
    value: Reg,
    other: Reg,
    deeper: Reg,
}

impl Emitter<'_, '_> {
    pub(super) fn constant(&mut self, value: &Stored) -> ConstId {
        match self.constants.get(value) {
            Some(known) => *known,
            None => {
                let new = self.b.constant(value.literal());
                self.constants.insert(value.clone(), new);
                new
            }
        }
    }

    fn site(&mut self, site: Site) -> SiteId {
        match self.files.get(site.app) {
            Some(Some(file)) if site.line > 0 => self.b.site(*file, site.line, site.column),
            _ => SiteId(0),
        }
    }

    /// Writes the function of a handler: each node of its tree once, without recursion over it.
    fn handler(&mut self, unit: usize) {
        let facts = &self.world.units[unit];
        let name = format!("{}.{}", self.world.apps[facts.app].name, facts.handler);
        let mut f = self.b.function(&name, 1);
        let regs = Registers { value: f.reg(), other: f.reg(), deeper: f.reg() };
        f.emit(Op::AddInt { dst: regs.deeper, a: DEPTH, value: 1 });
        let tree = &self.world.trees[unit];
        let mut written: Vec<Option<Label>> = vec![None; tree.nodes.len()];
        let mut open: Vec<(Label, usize)> = vec![(f.label(), 0)];
        while let Some((label, first)) = open.pop() {
            f.bind(label);
            let mut at = first;
            loop {
                if let Some(known) = written[at] {
                    f.jump(known);
                    break;
                }
                let here = f.label();
                f.bind(here);
                written[at] = Some(here);
                let node = &tree.nodes[at];
                let Some(action) = &node.action else {
                    // A handler that was planned and never run was cut.
                    f.emit(Op::ReturnNull);
                    break;
                };
                if matches!(action, Action::Read(_) | Action::Choose(_)) {
                    self.branches(&mut f, &regs, action, node, &mut open);
                    break;
                }
                self.action(&mut f, &regs, action);
                match node.next.get(&0) {
                    Some(next) => at = *next,
                    None => {
                        f.emit(Op::ReturnNull);
                        break;
                    }
                }
            }
        }
        self.b.define(self.units[unit], f);
    }

    fn branches(
        &mut self,
        f: &mut FunctionBuilder,
        regs: &Registers,
        action: &Action,
        node: &Node,
        open: &mut Vec<(Label, usize)>,
    ) {
        let (value, other) = (regs.value, regs.other);
        match action {
            Action::Read(var) => f.emit(Op::GetGlobal { dst: value, global: self.globals[*var] }),
            Action::Choose(count) => {
                let labels: Vec<String> = (0..*count).map(|one| one.to_string()).collect();
                let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                let choice = self.b.choice(&labels);
                f.emit(Op::Choose { dst: value, choice })
            }
            _ => return,
        };
        for (branch, next) in &node.next {
            let label = f.label();
            match action {
                Action::Read(var) => {
                    let constant = self.constant(&self.world.vars[*var].domain[*branch]);
                    f.emit(Op::Const { dst: other, constant });
                    f.emit(Op::Eq { dst: other, a: value, b: other });
                }
                _ => {
                    let branch = i32::try_from(*branch).unwrap_or(i32::MAX);
                    f.emit(Op::EqInt { dst: other, a: value, value: branch });
                }
            }
            f.jump_if(other, label);
            open.push((label, *next));
        }
        // A branch that a limit cut: there is no such transition.
        f.emit(Op::Bool { dst: other, value: false });
        f.emit(Op::Assume { cond: other });
        f.emit(Op::ReturnNull);
    }

    fn action(&mut self, f: &mut FunctionBuilder, regs: &Registers, action: &Action) {
        let call = |function| Op::Call { dst: regs.value, func: function, args: regs.deeper };
        match action {
            Action::Set { var, .. } if self.fixed.contains(var) => {}
            Action::Set { var, value, event, site } => {
                f.at(self.site(*site));
                let global = self.globals[*var];
                let constant = self.constant(value);
                let Some(event) = event else {
                    f.emit(Op::Const { dst: regs.value, constant });
                    f.emit(Op::SetGlobal { global, src: regs.value });
                    return;
                };
                let same = f.label();
                f.emit(Op::Const { dst: regs.other, constant });
                f.emit(Op::GetGlobal { dst: regs.value, global });
                f.emit(Op::Eq { dst: regs.value, a: regs.value, b: regs.other });
                f.jump_if(regs.value, same);
                f.emit(Op::SetGlobal { global, src: regs.other });
                if let Some(function) = self.delivery(event) {
                    self.send(f, (regs.value, regs.deeper), event, function);
                }
                f.bind(same);
            }
            Action::Emit { event, site } => {
                f.at(self.site(*site));
                if let Some(function) = self.delivery(event) {
                    self.send(f, (regs.value, regs.deeper), event, function);
                }
            }
            Action::Run { unit, site } => {
                f.at(self.site(*site));
                f.emit(call(self.units[*unit]));
            }
            Action::Unschedule { app, handler } => {
                let ends = |_, kind: &VarKind| match kind {
                    VarKind::Timer(of, name) => {
                        of == app && handler.as_ref().is_none_or(|handler| handler == name)
                    }
                    _ => false,
                };
                self.ends(f, regs, ends);
            }
            Action::Unsubscribe { app, from } => {
                let subscriptions = &self.world.subscriptions;
                let ends = |var: VarId, kind: &VarKind| match kind {
                    VarKind::Subscribed(of, _) => {
                        let one = subscriptions.iter().find(|one| one.var == var);
                        let origin = one.map(|one| one.origin);
                        of == app
                            && from.as_ref().is_none_or(|from| {
                                origin.is_some_and(|origin| from.contains(&origin))
                            })
                    }
                    _ => false,
                };
                self.ends(f, regs, ends);
            }
            Action::Unknown | Action::Read(_) | Action::Choose(_) => {}
        }
    }

    /// Ends timers or subscriptions.
    fn ends(
        &self,
        f: &mut FunctionBuilder,
        regs: &Registers,
        ends: impl Fn(VarId, &VarKind) -> bool,
    ) {
        f.emit(Op::Bool { dst: regs.value, value: false });
        for (var, facts) in self.world.vars.iter().enumerate() {
            if ends(var, &facts.kind) && !self.fixed.contains(&var) {
                f.emit(Op::SetGlobal { global: self.globals[var], src: regs.value });
            }
        }
    }

    /// Returns the function that runs the handlers of an event; `None` if it has none.
    pub(super) fn delivery(&self, event: &EventKey) -> Option<FuncId> {
        let heard = self.world.subscriptions.iter().any(|one| one.takes(event));
        self.delivered.get(event).copied().filter(|_| heard)
    }

    fn deliveries(&mut self) {
        for (event, function) in self.delivered.clone() {
            if self.queue.is_some() && self.delivery(&event).is_some() {
                self.wait_for(&event, function);
            }
            let f = self.deliver(&event);
            self.b.define(function, f);
        }
    }

    /// Runs the handlers of an event now, or lets it wait in the queue. The registers are one for
    /// the result and the one with the depth.
    pub(super) fn send(
        &self,
        f: &mut FunctionBuilder,
        (dst, depth): (Reg, Reg),
        event: &EventKey,
        function: FuncId,
    ) {
        match &self.queue {
            Some(queue) => queue.put(f, event, depth),
            None => {
                f.emit(Op::Call { dst, func: function, args: depth });
            }
        }
    }

    /// Writes the function that runs the handlers of an event.
    fn deliver(&mut self, event: &EventKey) -> FunctionBuilder {
        let mut f = self.b.function(&events::shown(self.world, event), 1);
        let regs = Registers { value: f.reg(), other: f.reg(), deeper: f.reg() };
        let (ends, deep) = (f.label(), f.label());
        let mut apps: Vec<usize> = self
            .world
            .subscriptions
            .iter()
            .filter(|one| one.takes(event))
            .map(|one| one.app)
            .collect();
        apps.sort_unstable();
        apps.dedup();
        // A loop is known: what else it would run does not matter, and there may be much of it.
        f.emit(Op::GetGlobal { dst: regs.value, global: self.endless });
        f.jump_if(regs.value, ends);
        f.emit(Op::Int { dst: regs.other, value: DEPTH_MAX });
        f.emit(Op::Le { dst: regs.value, a: regs.other, b: DEPTH });
        f.jump_if(regs.value, deep);
        f.emit(Op::AddInt { dst: regs.deeper, a: DEPTH, value: 1 });
        let orders = self.orders(&apps, event);
        if orders.len() == 1 {
            self.in_order(&mut f, &regs, event, &orders[0]);
        } else {
            let name = |order: &Vec<usize>| self.world.apps[order[0]].name.clone() + " first";
            let labels: Vec<String> = orders.iter().map(name).collect();
            let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
            let choice = self.b.choice(&labels);
            let chosen = f.value(|dst| Op::Choose { dst, choice });
            for (number, order) in orders.iter().enumerate() {
                let next = f.label();
                let value = i32::try_from(number).unwrap_or(i32::MAX);
                f.emit(Op::EqInt { dst: regs.value, a: chosen, value });
                f.jump_if_not(regs.value, next);
                self.in_order(&mut f, &regs, event, order);
                f.jump(ends);
                f.bind(next);
            }
        }
        f.bind(ends);
        f.emit(Op::ReturnNull);
        f.bind(deep);
        let endless = self.endless;
        f.emit(Op::Bool { dst: regs.value, value: true });
        f.emit(Op::SetGlobal { global: endless, src: regs.value });
        f
    }

    /// Returns the orders in which apps may hear of an event: all of two or three, else two; one
    /// if no order matters.
    fn orders(&self, apps: &[usize], event: &EventKey) -> Vec<Vec<usize>> {
        let backward: Vec<usize> = apps.iter().rev().copied().collect();
        let footprint = |app: &usize| self.footprints.hearing(self.world, *app, event);
        let touched: Vec<_> = apps.iter().map(footprint).collect();
        let mut pairs = touched.iter().enumerate();
        let is_any = pairs.all(|(at, one)| touched[..at].iter().all(|it| it.is_independent(one)));
        match (self.options.order, apps) {
            (Order::LastFirst, _) => vec![backward],
            (Order::Any, [] | [_]) => vec![apps.to_vec()],
            (Order::Any, _) if is_any => vec![apps.to_vec()],
            (Order::Any, [a, b, c]) => {
                let (a, b, c) = (*a, *b, *c);
                [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]]
                    .map(|order| order.to_vec())
                    .to_vec()
            }
            (Order::Any, _) => vec![apps.to_vec(), backward],
        }
    }

    fn in_order(
        &mut self,
        f: &mut FunctionBuilder,
        regs: &Registers,
        event: &EventKey,
        order: &[usize],
    ) {
        for app in order {
            let own = |one: &&crate::unfold::Subscription| one.app == *app && one.takes(event);
            for one in self.world.subscriptions.iter().filter(own) {
                let unit =
                    Unit { app: *app, handler: one.handler.clone(), event: Some(event.clone()) };
                let Some(unit) = self.world.known_unit(&unit) else { continue };
                let skip = f.label();
                if !self.fixed.contains(&one.var) {
                    f.emit(Op::GetGlobal { dst: regs.value, global: self.globals[one.var] });
                    f.jump_if_not(regs.value, skip);
                }
                f.emit(Op::Call { dst: regs.value, func: self.units[unit], args: regs.deeper });
                f.bind(skip);
            }
        }
    }

    /// Adds the invariant that a flag stays false.
    pub(super) fn never(&mut self, name: &str, flag: GlobalId) {
        let mut f = self.b.function(name, 0);
        let value = f.value(|dst| Op::GetGlobal { dst, global: flag });
        let holds = f.value(|dst| Op::Not { dst, a: value });
        f.emit(Op::Return { src: holds });
        let holds = self.b.add(f);
        self.b.invariant(name, holds);
    }

    fn components(&mut self) {
        let installed = &self.world.home.installed;
        for (number, of) in installed.iter().enumerate() {
            let app = &self.world.apps[*of];
            let mut before = installed[..number].iter();
            let twin = before.any(|other| self.world.apps[*other].name == app.name);
            let name =
                if twin { format!("{} ({})", app.name, number + 1) } else { app.name.clone() };
            let own = self.world.units.iter().enumerate().filter(|(_, unit)| unit.app == *of);
            let functions = own.map(|(unit, _)| self.units[unit]).collect();
            self.b.component(Component { name: events::plain(&name), functions });
        }
    }

    /// Writes `init`: the apps are installed one after another.
    fn first(&mut self) {
        let mut f = self.b.function("install", 0);
        let depth = f.value(|dst| Op::Int { dst, value: 0 });
        let result = f.reg();
        let first = self.world.first_units();
        for app in &self.world.home.installed {
            let of = first.iter().find(|(_, of)| *of == app);
            if let Some((unit, _)) = of {
                f.emit(Op::Call { dst: result, func: self.units[*unit], args: depth });
            }
        }
        let function = self.b.add(f);
        self.b.program_mut().init = Some(function);
    }

    /// Returns the function of a timer.
    pub(super) fn timer(&self, app: usize, handler: &str) -> Option<FuncId> {
        let unit = Unit { app, handler: handler.to_owned(), event: None };
        self.world.known_unit(&unit).map(|unit| self.units[unit])
    }
}
