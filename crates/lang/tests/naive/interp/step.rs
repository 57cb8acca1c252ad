//! Steps: semantics.md, section 3.

use super::canon;
use super::fired::rule;
use super::program::{Mutant, Program};
use super::run::{Failure, Locals, Mode, Run, Stop, Update};
use super::state::{Body, Control, Flags, Key, Mailbox, Message, Pid, State};
use super::value::Value;
use crate::naive::words;
use anyorder_lang::ast::{self, Block, Expr};
use std::collections::BTreeMap;

/// A transition: what runs, the choices made, and where it leads.
#[derive(Clone, Debug)]
pub struct Transition {
    pub label: String,
    /// Whose step it is.
    pub pid: Pid,
    /// What runs: its process and its body, and whether the body begins. `None` for `init`.
    pub by: Option<(Pid, Body, bool)>,
    /// T11: the class that fairness speaks of.
    pub class: Option<String>,
    #[expect(dead_code, reason = "for debugging: alternatives are compared by where they lead")]
    pub alternative: Vec<usize>,
    pub result: Result<State, Failure>,
    /// U1: what it updates, in order.
    pub updates: Vec<Update>,
}

type Outcome = (Vec<usize>, Result<State, Failure>, Vec<Update>);

impl Control {
    pub fn new(body: Body, args: Vec<Value>, handle: Option<u64>, event: Option<Key>) -> Control {
        let (begun, log, stack, frames) = (false, vec![], vec![], vec![]);
        Control { body, args, begun, log, stack, frames, handle, event, created_for: None }
    }
}

impl State {
    /// A state with nothing in it.
    pub fn empty() -> State {
        State {
            globals: BTreeMap::new(),
            objects: BTreeMap::new(),
            locks: BTreeMap::new(),
            waiting: BTreeMap::new(),
            mailboxes: BTreeMap::new(),
            pool: vec![],
            running: BTreeMap::new(),
            events: BTreeMap::new(),
            time: 0,
            fresh: 0,
            alive: Default::default(),
            before_init: false,
        }
    }
}

/// The locals and the statements that a body begins with.
pub fn entry(p: &'static Program, control: &Control) -> (Locals, &'static Block) {
    let family = |family: &'static Option<ast::Family>| {
        family.iter().map(|f| f.var.name.clone()).collect::<Vec<String>>()
    };
    let params =
        |params: &'static [ast::Param]| params.iter().map(|q| q.name.name.clone()).collect();
    let (names, body): (Vec<String>, &'static Block) = match control.body {
        Body::Thread(i) => (family(&p.threads[i].family), &p.threads[i].body),
        Body::Event(i) => (family(&p.events[i].family), &p.events[i].body),
        Body::Task(i) => (params(&p.tasks[i].params), &p.tasks[i].body),
        Body::Fn(i) => (params(&p.fns[i].params), &p.fns[i].body),
    };
    (names.into_iter().zip(control.args.clone()).collect(), body)
}

/// S4: the state before `init`, or the one after it where there is exactly one, and no failure.
pub fn initial(p: &'static Program) -> State {
    let before = before_init(p);
    let mut outcomes = init(p, &before);
    if p.mutant == Mutant::FirstInitOnly {
        outcomes.truncate(1);
    }
    match outcomes.pop() {
        Some((_, Ok(state), _)) if outcomes.is_empty() => state,
        _ => {
            rule("S4");
            before
        }
    }
}

fn before_init(p: &'static Program) -> State {
    let mut state = State::empty();
    state.before_init = true;
    for (number, members) in p.event_members.iter().enumerate() {
        for member in members {
            let on = !p.events[number].disabled || p.mutant == Mutant::DisabledIgnored;
            if !on {
                rule("S5");
            }
            let flags = Flags { on, started: false };
            state.events.insert((number, *member), flags);
        }
    }
    for (number, (_, size, _)) in p.handlers.iter().enumerate() {
        for i in 0..size.unwrap_or(1) {
            state.mailboxes.insert((number, i), Mailbox::default());
        }
    }
    for (number, members) in p.thread_members.iter().enumerate() {
        for member in members {
            let control = Control::new(Body::Thread(number), vec![Value::Int(*member)], None, None);
            state.running.insert(Pid::Thread((number, *member)), control);
        }
    }
    state
}

/// The initialisers in the order of the file, then `init`.
fn init(p: &'static Program, before: &State) -> Vec<Outcome> {
    alternatives(p, before, &Pid::Init, Mode::Atomic, &|run| {
        run.state.before_init = false;
        for global in &p.globals {
            run.frames.push(Locals::new());
            let value = match &global.init {
                Some(init) => run.eval(init)?,
                None => run.default_value(global.ty.as_ref().expect("a type"))?,
            };
            if let Some(ty) = &global.ty {
                run.check_type(ty, &value)?;
            }
            run.frames.pop();
            run.state.globals.insert(global.name.name.clone(), value);
        }
        for init in &p.inits {
            run.frame(Locals::new(), init)?;
        }
        Ok(())
    })
}

/// Runs something once for each way to choose.
fn alternatives(
    p: &'static Program,
    state: &State,
    pid: &Pid,
    mode: Mode,
    f: &dyn Fn(&mut Run) -> Result<(), Stop>,
) -> Vec<Outcome> {
    let mut outcomes = vec![];
    let mut choices: Vec<usize> = vec![];
    loop {
        let mut run = Run::new(p, state.clone(), pid.clone(), mode);
        run.choices = choices;
        let result = f(&mut run);
        let made: Vec<usize> = run.made.iter().map(|m| m.0).collect();
        match result {
            Ok(()) => outcomes.push((made, Ok(run.state), run.updates)),
            Err(Stop::Failed(failure)) => outcomes.push((made, Err(failure), run.updates)),
            Err(Stop::Dropped | Stop::Blocked) => {}
            Err(Stop::Suspended) => panic!("an atomic body stands still"),
        }
        let Some(last) = run.made.iter().rposition(|(choice, n)| choice + 1 < *n) else {
            return outcomes;
        };
        choices = run.made[..=last].iter().map(|m| m.0).collect();
        choices[last] += 1;
    }
}

/// All transitions of a state (T10).
pub fn successors(p: &'static Program, state: &State) -> Vec<Transition> {
    let mut all = vec![];
    let mut add = |label: String, pid: &Pid, class: Option<String>, by, outcomes: Vec<Outcome>| {
        all.extend(outcomes.into_iter().map(|(alternative, result, updates)| Transition {
            label: label.clone(),
            pid: pid.clone(),
            by: Option::clone(&by),
            class: class.clone(),
            alternative,
            result,
            updates,
        }));
    };
    if state.before_init {
        add("init".into(), &Pid::Init, None, None, init(p, state));
        return all;
    }
    for (pid, control) in &state.running {
        let label = format!("go {}", body_name(p, control));
        let outcomes = alternatives(p, state, pid, Mode::Stepping, &|run| {
            rule(if matches!(pid, Pid::Thread(_) | Pid::Fork(_)) { "T3" } else { "T5" });
            let apart = p.mutant == Mutant::ThreadsBeginFirst && !control.begun;
            go_on(run, pid, control, u32::from(!apart))
        });
        let by = Some((pid.clone(), control.body, false));
        add(label, pid, fairness(p, pid), by, outcomes);
    }
    for (key, mailbox) in &state.mailboxes {
        if state.running.contains_key(&Pid::Handler(*key)) {
            continue;
        }
        for message in one_of_equals(p, state, allowed(p, key.0, mailbox)) {
            let name = words::message(p, state, message);
            let pid = Pid::Handler(*key);
            let class = fairness(p, &pid);
            let by = Some((pid.clone(), Body::Task(message.task), true));
            let outcomes = begin_task(p, state, &pid, message);
            add(format!("begin {name}"), &pid, class, by, outcomes);
        }
    }
    for message in one_of_equals(p, state, state.pool.iter().collect()) {
        let name = words::message(p, state, message);
        let pid = Pid::Any(message.handle);
        let class = Some("posted to any".to_string());
        let by = Some((pid.clone(), Body::Task(message.task), true));
        let outcomes = begin_task(p, state, &pid, message);
        add(format!("begin {name}"), &pid, class, by, outcomes);
    }
    for (number, members) in p.event_members.iter().enumerate() {
        for member in members {
            let name = &p.events[number].name.name;
            let index = p.events[number].family.as_ref().map(|_| format!("[{member}]"));
            let index = index.unwrap_or_default();
            let key = (number, *member);
            let class = fairness(p, &Pid::Event(key));
            let outcomes = begin_event(p, state, key);
            let by = Some((Pid::Event(key), Body::Event(number), true));
            add(format!("begin {name}{index}"), &runner(p, key), class, by, outcomes);
        }
    }
    all
}

/// Whose step the start of an event is: for tests, in which its handler is no array.
fn runner(p: &Program, key: Key) -> Pid {
    match &p.events[key.0].on {
        None => Pid::Event(key),
        Some(on) => Pid::Handler((p.handler(&on.name.name), 0)),
    }
}

/// T11: the class of a process, unless it is unfair.
fn fairness(p: &Program, pid: &Pid) -> Option<String> {
    if p.mutant == Mutant::UnfairIgnored && !matches!(pid, Pid::Any(_) | Pid::Fork(_)) {
        return Some(format!("{pid:?}"));
    }
    let unfair = match pid {
        Pid::Thread(key) => p.threads[key.0].unfair,
        Pid::Handler(key) => p.unfair_handlers.contains(&p.handlers[key.0].0),
        Pid::Event(key) => p.events[key.0].unfair,
        Pid::Init => true,
        Pid::Any(_) | Pid::Fork(_) => return Some("dynamic".into()),
    };
    if unfair {
        rule("T11");
    }
    if unfair { None } else { Some(format!("{pid:?}")) }
}

/// C4: the state with all threads that have not begun at their first visible operation, where that
/// is left to the machine.
pub fn begun(p: &'static Program, state: &State) -> State {
    let mut state = state.clone();
    for (pid, control) in state.running.clone() {
        if control.begun {
            continue;
        }
        let ahead =
            alternatives(p, &state, &pid, Mode::Stepping, &|run| go_on(run, &pid, &control, 0));
        if let [(_, Ok(next), _)] = ahead.as_slice()
            && next.running.contains_key(&pid)
        {
            state = next.clone();
        }
    }
    state
}

pub fn body_name(p: &Program, control: &Control) -> String {
    let member = match control.args.first() {
        Some(Value::Int(member)) => format!("[{member}]"),
        _ => String::new(),
    };
    match control.body {
        Body::Thread(i) if p.threads[i].family.is_some() => {
            format!("{}{member}", p.threads[i].name.name)
        }
        Body::Event(i) if p.events[i].family.is_some() => {
            format!("{}{member}", p.events[i].name.name)
        }
        Body::Thread(i) => p.threads[i].name.name.clone(),
        Body::Event(i) => p.events[i].name.name.clone(),
        Body::Task(i) => p.tasks[i].name.name.clone(),
        Body::Fn(i) => p.fns[i].name.name.clone(),
    }
}

/// Section 4.
pub fn allowed<'a>(p: &Program, handler: usize, mailbox: &'a Mailbox) -> Vec<&'a Message> {
    if let Some(message) = mailbox.front.first() {
        return vec![message];
    }
    let rest = &mailbox.rest;
    let oldest = match p.handlers[handler].2 {
        ast::Mailbox::Bag => return rest.iter().collect(),
        ast::Mailbox::Fifo if p.mutant == Mutant::FifoIsStack => rest.last(),
        ast::Mailbox::Delayed if p.mutant != Mutant::DelayIgnored => {
            rest.iter().min_by_key(|m| m.due)
        }
        _ => rest.first(),
    };
    oldest.into_iter().collect()
}

/// M3: equal messages that nobody has a handle of are one.
fn one_of_equals<'a>(
    p: &'static Program,
    state: &State,
    all: Vec<&'a Message>,
) -> Vec<&'a Message> {
    if all.len() < 2 || p.mutant == Mutant::EqualMessagesAreMany {
        return all;
    }
    let referred = canon::referred(p, state);
    // The handles of all that has ended are one value.
    let handle = |h: u64| if state.alive.contains(&h) { h } else { 0 };
    let args =
        |m: &Message| -> Vec<Value> { m.args.iter().map(|arg| arg.map_handles(&handle)).collect() };
    let mut kept: Vec<&Message> = vec![];
    for message in all {
        let free = |m: &Message| !referred.contains(&m.handle);
        let same = |m: &&Message| {
            let creators = p.mutant == Mutant::CreatorsDoNotCount;
            m.task == message.task
                && (creators || m.created_for == message.created_for)
                && args(m) == args(message)
                && free(m)
        };
        if free(message) && kept.iter().any(same) {
            rule("M3");
        } else {
            kept.push(message);
        }
    }
    kept
}

fn begin_task(p: &'static Program, state: &State, pid: &Pid, message: &Message) -> Vec<Outcome> {
    let mode = if p.access { Mode::Stepping } else { Mode::Atomic };
    alternatives(p, state, pid, mode, &|run| {
        for mailbox in run.state.mailboxes.values_mut() {
            mailbox.front.retain(|m| m.handle != message.handle);
            mailbox.rest.retain(|m| m.handle != message.handle);
        }
        run.state.pool.retain(|m| m.handle != message.handle);
        if p.mutant != Mutant::TimeStandsStill {
            if run.state.time < message.due {
                rule("M4");
            }
            run.state.time = run.state.time.max(message.due);
        }
        rule(if p.access { "T4" } else { "T1" });
        let body = Body::Task(message.task);
        let control = Control {
            created_for: message.created_for,
            ..Control::new(body, message.args.clone(), Some(message.handle), None)
        };
        go_on(run, pid, &control, u32::from(p.mutant == Mutant::BeginDoesOne))
    })
}

/// E1.
fn begin_event(p: &'static Program, state: &State, key: Key) -> Vec<Outcome> {
    let decl = p.events[key.0];
    let flags = state.events[&key];
    if !flags.on || (p.is_once(key) && flags.started) {
        return vec![];
    }
    let member = vec![Value::Int(key.1)];
    let locals: Locals =
        decl.family.iter().map(|f| f.var.name.clone()).zip(member.clone()).collect();
    let happened = |r: &'static ast::Ref, has_ended: bool| {
        let number = p.event(&r.name.name);
        let test = |key: Key| {
            let runs = state.running.values().any(|control| control.event == Some(key));
            state.events[&key].started && !(has_ended && runs)
        };
        match &r.index {
            None => p.event_members[number].iter().all(|m| test((number, *m))),
            Some(index) => match observe(p, state, index, &locals) {
                Ok(Value::Int(m)) => test((number, m)),
                other => panic!("the index of an event: {other:?}"),
            },
        }
    };
    if p.mutant != Mutant::AfterIgnored && !decl.after.iter().all(|r| happened(r, true)) {
        return vec![];
    }
    let before = p.before_in_drivers(key);
    if !before.is_empty() {
        rule("E2");
    }
    rule("E1");
    if p.mutant != Mutant::DriverIgnored && !before.into_iter().all(|r| happened(r, false)) {
        return vec![];
    }
    let pid = match &decl.on {
        None => Pid::Event(key),
        Some(on) => {
            let number = p.handler(&on.name.name);
            let index = match &on.index {
                None => 0,
                Some(index) => match observe(p, state, index, &locals) {
                    Ok(Value::Int(i)) => i,
                    other => panic!("the index of a handler: {other:?}"),
                },
            };
            Pid::Handler((number, index))
        }
    };
    if state.running.contains_key(&pid) {
        return vec![];
    }
    if let Some(guard) = &decl.when {
        match observe(p, state, guard, &locals) {
            Ok(Value::Bool(true)) => {}
            Ok(Value::Bool(false)) => return vec![],
            Ok(other) => {
                let kind = if other == Value::Null { "null" } else { "type" };
                return vec![(vec![], Err(Failure { kind, at: guard.span.start }), vec![])];
            }
            Err(Stop::Failed(_)) if p.mutant == Mutant::FailingGuardIsFalse => return vec![],
            Err(Stop::Failed(failure)) => {
                rule("T8");
                return vec![(vec![], Err(failure), vec![])];
            }
            Err(other) => panic!("a guard stops: {other:?}"),
        }
    }
    let mode = if p.access { Mode::Stepping } else { Mode::Atomic };
    alternatives(p, state, &pid, mode, &|run| {
        rule(if p.access { "T4" } else { "T2" });
        let flags = run.state.events.get_mut(&key).expect("an event");
        if flags.started {
            rule("E5");
        }
        flags.started = p.mutant != Mutant::StartedForgotten || !flags.started;
        let control = Control::new(Body::Event(key.0), member.clone(), None, Some(key));
        go_on(run, &pid, &control, u32::from(p.mutant == Mutant::BeginDoesOne))
    })
}

/// Runs a body on: to its end, or up to the next visible operation when `budget` have been done.
pub fn go_on(run: &mut Run, pid: &Pid, control: &Control, budget: u32) -> Result<(), Stop> {
    run.budget = budget;
    match run.control(control) {
        Ok(()) => {
            run.state.running.remove(pid);
            rule("C5");
            if run.state.locks.values().any(|holder| holder == pid) {
                rule("S2");
            }
            if let Some(handle) = control.handle {
                run.state.alive.remove(&handle);
            }
            Ok(())
        }
        Err(Stop::Suspended) => {
            let stands = Control {
                begun: true,
                log: std::mem::take(&mut run.log),
                stack: std::mem::take(&mut run.stack),
                frames: std::mem::take(&mut run.frames),
                ..control.clone()
            };
            run.state.running.insert(pid.clone(), stands);
            Ok(())
        }
        Err(stop) => Err(stop),
    }
}

/// T8.
pub fn observe(
    p: &'static Program,
    state: &State,
    e: &'static Expr,
    locals: &Locals,
) -> Result<Value, Stop> {
    let mut run = Run::new(p, state.clone(), Pid::Init, Mode::Observer);
    run.frames.push(locals.clone());
    run.eval(e)
}

/// Whether an observer is true; `false` when it fails.
pub fn holds(p: &'static Program, state: &State, e: &'static Expr) -> bool {
    state.before_init || matches!(observe(p, state, e, &Locals::new()), Ok(Value::Bool(true)))
}

/// T8: what triggers a response, and what answers.
pub fn response(p: &'static Program, state: &State, r: &'static ast::ResponseDecl) -> (bool, bool) {
    if state.before_init {
        return (false, true);
    }
    let trigger = observe(p, state, &r.trigger, &Locals::new());
    if p.mutant == Mutant::FailingTriggerIsFalse && trigger.is_err() {
        return (false, holds(p, state, &r.reaction));
    }
    (!matches!(trigger, Ok(Value::Bool(false))), holds(p, state, &r.reaction))
}

/// T9: whether it is fine that nothing happens any more.
pub fn is_final(p: &'static Program, state: &State) -> bool {
    if state.before_init {
        return false;
    }
    rule("T9");
    let waits = something_waits(p, state);
    match p.finals.as_slice() {
        [] => !waits && (state.locks.is_empty() || p.mutant == Mutant::LocksMayStay),
        all => {
            let hidden = p.mutant == Mutant::FinalHidesWaiting;
            (!waits || hidden) && all.iter().any(|e| holds(p, state, e))
        }
    }
}

/// T9: whether a state that is not final is a deadlock; else it is a wrong end.
pub fn is_stuck(p: &'static Program, state: &State) -> bool {
    state.before_init || p.finals.is_empty() || something_waits(p, state)
}

/// T9, T12: whether anything waits that may not wait for ever.
fn something_waits(p: &'static Program, state: &State) -> bool {
    let message_waits = |handler: Option<usize>, message: &Message| {
        let daemon = p.tasks[message.task].daemon || handler.is_some_and(|h| is_daemon(p, h));
        if daemon {
            rule("T12");
        }
        !daemon || p.mutant == Mutant::DaemonIgnored
    };
    let held = state.mailboxes.iter().flat_map(|(key, mailbox)| {
        mailbox.front.iter().chain(&mailbox.rest).map(|message| (Some(key.0), message))
    });
    let pool = state.pool.iter().map(|message| (None, message));
    let mut messages = held.chain(pool);
    if messages.any(|(handler, message)| message_waits(handler, message)) {
        return true;
    }
    state.running.iter().any(|(pid, control)| {
        let own = match control.body {
            Body::Thread(i) => p.threads[i].daemon,
            Body::Event(i) => p.events[i].daemon,
            Body::Task(i) => p.tasks[i].daemon,
            Body::Fn(i) => p.fns[i].daemon,
        };
        let daemon = own || matches!(pid, Pid::Handler(key) if is_daemon(p, key.0));
        if !daemon || p.mutant == Mutant::DaemonIgnored {
            return true;
        }
        rule("T12");
        p.mutant != Mutant::DaemonsMayWantLocks && wants_lock(p, state, pid, control)
    })
}

pub fn is_daemon(p: &Program, handler: usize) -> bool {
    p.daemon_handlers.contains(&p.handlers[handler].0)
}

/// Whether all that keeps a body from going on is a lock that is taken.
fn wants_lock(p: &'static Program, state: &State, pid: &Pid, control: &Control) -> bool {
    let mut run = Run::new(p, state.clone(), pid.clone(), Mode::Stepping);
    matches!(go_on(&mut run, pid, control, 1), Err(Stop::Blocked)) && run.wants_lock
}
