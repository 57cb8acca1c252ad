//! The home as a state system.

use super::events::{Choice, NoEvents};
use super::run::{self, Cause, Outcome};
use super::world::{Home, NoHome, World};
use anyorder_common::hash::Hash128;
use anyorder_common::state_hash::StateHash;
use anyorder_groovy::eval::Methods;
use anyorder_system::{StateSystem, Successor};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A state of the home.
#[derive(Clone, Debug)]
pub enum State {
    /// Before the first values are chosen. The two states after it are initial, too: the choice of
    /// first values is no transition in the counts of the published tool.
    Root,
    /// All events can come.
    Ready(Ready),
    /// A handler asks for the history of a device.
    Asked(Asked),
}

/// What a state between events holds.
#[derive(Clone, Debug)]
pub struct Ready(Arc<World>);

/// A choice inside of a handler: what the state holds there, and how it was reached.
#[derive(Clone, Debug)]
pub struct Asked(Arc<Pending>);

#[derive(Debug)]
struct Pending {
    world: World,
    count: u8,
    from: World,
    /// The event under way; none while the apps are installed.
    event: Option<usize>,
    given: Vec<u8>,
    /// The places of the calls that are under way.
    places: Vec<u32>,
}

/// A transition: the event that comes, or the answer to a choice inside of a handler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// An event, by its number.
    Event(usize),
    /// An answer, from 0.
    Answer(u8),
}

/// Something that was not understood: an execution ended there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Missing {
    /// The file of the app.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What it is.
    pub what: String,
}

/// Apps in the home of the published tool.
#[derive(Debug)]
pub struct PublishedHome {
    home: Home,
    number: u64,
    missing: Mutex<BTreeSet<Missing>>,
    /// How the choices inside of handlers were reached, by what their states hold.
    asked: Mutex<HashMap<Vec<u8>, Arc<Pending>>>,
}

thread_local! {
    /// The methods of the apps of the home that this thread has worked on last: they are counted
    /// without locks, so each thread has its own.
    static METHODS: RefCell<Option<(u64, Rc<Vec<Methods>>)>> = const { RefCell::new(None) };
}

impl PublishedHome {
    /// Makes the home of apps, each with its file and text.
    ///
    /// # Errors
    ///
    /// Returns why the published tool makes no events of these apps, in words.
    pub fn new(
        apps: &[(String, String)],
        stop: &dyn Fn() -> bool,
    ) -> Result<PublishedHome, String> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let home = Home::new(apps, stop).map_err(|why| match why {
            NoHome::Syntax(text) => text,
            NoHome::Events(NoEvents::End) => "a subscription without an event".to_owned(),
            NoHome::Events(NoEvents::NoInput(name)) => {
                format!("a subscription to `{name}`, which is no input")
            }
            NoHome::Events(NoEvents::Unknown(name)) => {
                format!("a subscription to `{name}`, which the published tool does not know")
            }
        })?;
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let mut missing = BTreeSet::new();
        for app in &home.apps {
            if let Some(what) = app.lost.clone() {
                missing.insert(Missing { file: app.file.clone(), line: 1, column: 1, what });
            }
        }
        let asked = Mutex::default();
        Ok(PublishedHome { home, number, missing: Mutex::new(missing), asked })
    }

    /// Returns the number of events, as the published table counts them.
    #[must_use]
    pub fn events_count(&self) -> usize {
        self.home.choices.len()
    }

    /// Returns what was not understood so far, in order.
    #[must_use]
    pub fn missing(&self) -> Vec<Missing> {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.iter().cloned().collect()
    }

    /// Returns the number of answers to all choices inside of handlers that were found: the
    /// published tool counts them as states, and not as transitions.
    #[must_use]
    pub fn answers_count(&self) -> u64 {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.values().map(|pending| u64::from(pending.count)).sum()
    }

    fn methods(&self) -> Rc<Vec<Methods>> {
        METHODS.with(|cell| {
            let mut cell = cell.borrow_mut();
            match &*cell {
                Some((number, methods)) if *number == self.number => methods.clone(),
                _ => {
                    let all = self.home.apps.iter().map(|app| Methods::of([&app.script]));
                    let methods = Rc::new(all.collect::<Vec<_>>());
                    *cell = Some((self.number, methods.clone()));
                    methods
                }
            }
        })
    }

    /// Runs an event, or the installation, with these answers.
    fn after(&self, from: &World, event: Option<usize>, given: Vec<u8>) -> Option<State> {
        let methods = self.methods();
        let cause = match event {
            Some(event) => Cause::Choice(&self.home.choices[event]),
            None => Cause::Install,
        };
        let (outcome, _) = run::run(&self.home, &methods, from, &cause, &given, &|| false);
        match outcome {
            Outcome::Ended(world) => Some(State::Ready(Ready(Arc::new(world)))),
            Outcome::Offered(world, count, places) => {
                let pending = Pending { world, count, from: from.clone(), event, given, places };
                Some(State::Asked(Asked(self.remember(pending))))
            }
            Outcome::Died | Outcome::Stopped => None,
            Outcome::Lost(app, place, what) => {
                let (line, column) = self.home.position(app, place.start as usize);
                let file = self.home.apps[app].file.clone();
                let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
                missing.insert(Missing { file, line, column, what });
                None
            }
        }
    }

    fn remember(&self, pending: Pending) -> Arc<Pending> {
        let key = key_of(&pending);
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.entry(key).or_insert_with(|| Arc::new(pending)).clone()
    }
}

/// Returns what tells a choice inside of a handler from others: what the state holds, and where
/// the program stands. Local variables are no part of a state of the published tool.
fn key_of(pending: &Pending) -> Vec<u8> {
    let mut key = vec![2];
    let of = (&pending.world, pending.count, pending.event, &pending.places);
    key = postcard::to_extend(&of, key).unwrap_or_default();
    key
}

impl StateSystem for PublishedHome {
    type State = State;
    type Action = Action;

    fn initial(&self) -> Vec<State> {
        let first = [true, false].map(|is_second| {
            let world = self.home.first(!is_second);
            self.after(&world, None, vec![])
        });
        std::iter::once(State::Root).chain(first.into_iter().flatten()).collect()
    }

    fn successors(&self, state: &State, out: &mut Vec<Successor<State, Action>>) {
        // An execution that ends by an exception leads to no state of its own: it is a transition
        // that goes nowhere.
        let mut add = |action, next: Option<State>| {
            let next = next.unwrap_or_else(|| state.clone());
            out.push(Successor { action, state: next, failure: None });
        };
        match state {
            State::Root => {}
            State::Ready(Ready(world)) => {
                for event in 0..self.home.choices.len() {
                    add(Action::Event(event), self.after(world, Some(event), vec![]));
                }
            }
            State::Asked(Asked(pending)) => {
                for answer in 0..pending.count {
                    let given = pending.given.iter().copied().chain([answer]).collect();
                    add(Action::Answer(answer), self.after(&pending.from, pending.event, given));
                }
            }
        }
    }

    fn encode(&self, state: &State, out: &mut Vec<u8>) {
        match state {
            State::Root => out.push(0),
            State::Ready(Ready(world)) => {
                let mut all = std::mem::take(out);
                all.push(1);
                *out = postcard::to_extend(&**world, all).unwrap_or_default();
            }
            State::Asked(Asked(pending)) => out.extend(key_of(pending)),
        }
    }

    fn decode(&self, bytes: &[u8]) -> Option<State> {
        Some(match bytes.split_first()? {
            (0, []) => State::Root,
            (1, rest) => State::Ready(Ready(Arc::new(postcard::from_bytes(rest).ok()?))),
            (2, _) => {
                let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
                State::Asked(Asked(asked.get(bytes)?.clone()))
            }
            _ => return None,
        })
    }

    fn fingerprint(&self, state: &State) -> Hash128 {
        let mut bytes = vec![];
        self.encode(state, &mut bytes);
        StateHash::of_bytes(&bytes)
    }

    fn show(&self, state: &State) -> Vec<(String, String)> {
        let world = match state {
            State::Root => return vec![],
            State::Ready(Ready(world)) => &**world,
            State::Asked(Asked(pending)) => &pending.world,
        };
        let mut all = vec![("mode".to_owned(), format!("{:?}", world.mode))];
        for (device, both) in self.home.devices.iter().zip(&world.devices) {
            let facts = &self.home.table.devices[*device];
            let groups = [("", &facts.group, &both[0]), (".item", &facts.item, &both[1])];
            for (part, fields, values) in groups {
                let one = |((name, _), value): (&(String, _), _)| {
                    (format!("{}{part}.{name}", facts.key), format!("{value:?}"))
                };
                all.extend(fields.iter().zip(values).map(one));
            }
        }
        for (app, running) in self.home.apps.iter().zip(&world.apps) {
            let changed =
                app.fields.iter().zip(&running.fields).filter(|((_, first), now)| first != *now);
            all.extend(
                changed
                    .map(|((name, _), now)| (format!("{}.{name}", app.file), format!("{now:?}"))),
            );
        }
        all.extend(world.hashed.iter().map(|name| (format!("hash of {name}"), "made".to_owned())));
        all
    }

    fn describe(&self, state: &State, action: &Action) -> String {
        match action {
            Action::Event(event) => self.home.choices.get(*event).map_or_else(String::new, words),
            Action::Answer(answer) => match state {
                State::Asked(Asked(pending)) if pending.count == 2 => {
                    format!("the history has {answer} events")
                }
                _ => format!("the history is number {answer}"),
            },
        }
    }
}

/// Returns an event in words.
fn words(choice: &Choice) -> String {
    match choice {
        Choice::Device(_, name, value)
        | Choice::Location(name, value)
        | Choice::Touch(name, value) => format!("{name} {value}"),
        Choice::Scheduled(_, method) => format!("the schedule of `{method}`"),
        Choice::Nothing => "nothing".to_owned(),
    }
}
