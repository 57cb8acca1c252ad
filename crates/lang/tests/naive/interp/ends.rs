//! T9: what a run that ends is checked for, beyond whether it may end.

use super::program::Program;
use super::run::{Mode, Run};
use super::state::{Body, Control, Key, Pid, State};
use super::step::{Transition, allowed, body_name, go_on, holds, is_daemon};

/// T9: whether a run may end in a state with these transitions.
pub fn is_end(transitions: &[Transition]) -> bool {
    transitions.iter().all(is_optional)
}

/// T9: whether a transition need not come.
pub fn is_optional(transition: &Transition) -> bool {
    transition.class.is_none() && transition.label != "init"
}

/// T14: who takes a transition (`i`nput, `d`aemon or `w`orker), its part, and where it stands in
/// the text.
pub fn actor(p: &'static Program, state: &State, transition: &Transition) -> (char, String, usize) {
    let Some((pid, body, begins)) = &transition.by else { return ('w', "init".to_owned(), 0) };
    let (kind, name, daemon, block) = match *body {
        Body::Thread(i) => {
            ("thread", &p.threads[i].name.name, p.threads[i].daemon, &p.threads[i].body)
        }
        Body::Event(i) => ("event", &p.events[i].name.name, p.events[i].daemon, &p.events[i].body),
        Body::Task(i) => ("task", &p.tasks[i].name.name, p.tasks[i].daemon, &p.tasks[i].body),
        Body::Fn(i) => ("fn", &p.fns[i].name.name, p.fns[i].daemon, &p.fns[i].body),
    };
    let daemon = daemon || matches!(pid, Pid::Handler(key) if is_daemon(p, key.0));
    let at = if *begins {
        block.stmts.first().map_or(0, |stmt| stmt.span.start as usize)
    } else {
        let mut run = Run::new(p, state.clone(), pid.clone(), Mode::Stepping);
        let _ = go_on(&mut run, pid, &state.running[pid], 0);
        run.at.start as usize
    };
    let who = match (body, begins) {
        (Body::Event(_), true) => 'i',
        _ if daemon => 'd',
        _ => 'w',
    };
    (who, format!("{kind} {name}"), at)
}

/// T9: whether a run may end in a state that offers optional transitions only.
pub fn may_rest(p: &'static Program, state: &State) -> bool {
    p.finals.is_empty() || p.finals.iter().any(|e| holds(p, state, e))
}

/// T9: the places where something waits that must not wait for ever: where it stands in the text,
/// and why. For states without transitions.
pub fn waiting_places(p: &'static Program, state: &State) -> Vec<(usize, String)> {
    let mut places = vec![];
    let mut turns = vec![];
    let stands = |pid: &Pid, control: &Control, budget: u32| {
        let mut run = Run::new(p, state.clone(), pid.clone(), Mode::Stepping);
        let _ = go_on(&mut run, pid, control, budget);
        (run.at.start as usize, run.wants_lock, run.locked)
    };
    for (pid, control) in &state.running {
        let daemon = match control.body {
            Body::Thread(i) => p.threads[i].daemon,
            Body::Event(i) => p.events[i].daemon,
            Body::Task(i) => p.tasks[i].daemon,
            Body::Fn(i) => p.fns[i].daemon,
        } || matches!(pid, Pid::Handler(key) if is_daemon(p, key.0));
        let (at, wants_lock, lock) = stands(pid, control, 1);
        if !daemon || wants_lock {
            let lock = lock.filter(|_| wants_lock);
            let why = lock.map_or("it".to_owned(), |lock| lock_words(p, state, lock));
            places.push((at, format!("waits for {why}")));
        }
    }
    let held = state.mailboxes.iter().flat_map(|(key, mailbox)| {
        mailbox.front.iter().chain(&mailbox.rest).map(move |message| (Some(*key), message))
    });
    let pool = state.pool.iter().map(|message| (None, message));
    for (key, message) in held.chain(pool) {
        if p.tasks[message.task].daemon || key.is_some_and(|key| is_daemon(p, key.0)) {
            continue;
        }
        let pid = key.map_or(Pid::Any(message.handle), Pid::Handler);
        let open = match key {
            None => true,
            Some(key) => {
                let all = allowed(p, key.0, &state.mailboxes[&key]);
                let head = all.iter().any(|one| one.handle == message.handle);
                head && !state.running.contains_key(&pid)
            }
        };
        if open {
            let body = Body::Task(message.task);
            let control = Control::new(body, message.args.clone(), Some(message.handle), None);
            let mode = if p.access { Mode::Stepping } else { Mode::Atomic };
            let mut run = Run::new(p, state.clone(), pid.clone(), mode);
            let _ = go_on(&mut run, &pid, &control, 0);
            places.push((run.at.start as usize, "waits for it".to_owned()));
        } else {
            turns.push((0, format!("{} never comes", p.tasks[message.task].name.name)));
        }
    }
    if places.is_empty() {
        places = turns;
    }
    if places.is_empty() {
        places.extend(state.locks.keys().map(|key| (0, p.locks[key.0].0.clone())));
    }
    places
}

/// A lock and its holder, without the numbers of members.
fn lock_words(p: &Program, state: &State, lock: Key) -> String {
    let holder = match &state.locks[&lock] {
        pid @ Pid::Thread(key) if state.running.contains_key(pid) => {
            p.threads[key.0].name.name.clone()
        }
        Pid::Handler(key) => p.handlers[key.0].0.clone(),
        Pid::Event(key) => p.events[key.0].name.name.clone(),
        pid @ (Pid::Any(_) | Pid::Fork(_)) => match state.running.get(pid) {
            Some(control) => body_name(p, control),
            None => "nobody".to_owned(),
        },
        _ => "nobody".to_owned(),
    };
    format!("{}, held by {holder}", p.locks[lock.0].0)
}
