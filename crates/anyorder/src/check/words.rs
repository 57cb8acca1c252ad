//! Operations in words, as Rust writes them: `count.load(Relaxed) → 0`.

use super::trace::{Line, Trace};
use anyorder_threads::{Act, Change, LockMode, ObjectId, Patience, place, received, sent};

impl Trace {
    /// Returns an operation in words.
    #[must_use]
    pub fn words(&self, line: &Line) -> String {
        let name = self.object_name(line.object);
        let result = line.result;
        let took = result & 1 == 1;
        match &line.act {
            Act::Load(order) => match self.once_words(line.object, result) {
                Some(words) => words,
                None => format!("{name}.load({order:?}) → {}", self.value(line.object, result)),
            },
            Act::Store(value, order) => match self.once_words(line.object, *value) {
                Some(words) => words,
                None => format!("{name}.store({}, {order:?})", self.value(line.object, *value)),
            },
            Act::Update { change, success, .. } => {
                let wrote = change.writes(result);
                let call = self.change_words(line.object, *change);
                let old = self.value(line.object, result);
                match change {
                    Change::CompareExchange { .. } | Change::ExchangePlace { .. } => {
                        let outcome = if wrote { "Ok" } else { "Err" };
                        format!("{name}.{call}, {success:?}) → {outcome}({old})")
                    }
                    _ => format!("{name}.{call}, {success:?}) → {old}"),
                }
            }
            Act::Fence(order) => format!("fence({order:?})"),
            Act::Lock(mode, patience) => {
                let verb = self.lock_verb(line.object, *mode, *patience);
                let outcome = match result {
                    1 => "",
                    3 => " → poisoned",
                    _ if *patience == Patience::TimeOut => " → timed out",
                    _ => " → would block",
                };
                format!("{name}.{verb}(){outcome}")
            }
            Act::Unlock(_) => format!("unlock {name}"),
            Act::Convert { to, .. } => {
                let verb = if *to == LockMode::Exclusive { "upgrade" } else { "downgrade" };
                let outcome = if took { "" } else { " → would block" };
                format!("{verb} {name}{outcome}")
            }
            Act::Poison(true) => format!("poison {name}"),
            Act::Poison(false) => format!("{name}.clear_poison()"),
            Act::IsPoisoned => format!("{name}.is_poisoned() → {took}"),
            Act::IsFree(mode) => {
                let which = if *mode == LockMode::Shared { "_exclusive" } else { "" };
                format!("{name}.is_locked{which}() → {}", !took)
            }
            Act::Use => self.data_words("read", line.object, result),
            Act::Alter(value) => self.data_words("write", line.object, *value),
            Act::Access { write: false } => self.data_words("read", line.object, result),
            Act::Access { write: true } => format!("write {name}"),
            Act::Wait { lock, .. } => format!("{name}.wait(), unlock {}", self.object_name(*lock)),
            Act::Wake(_) if took => format!("woken by {name}"),
            Act::Wake(_) => format!("{name}.wait timed out"),
            Act::Notify { all, .. } => {
                let which = if *all { "all" } else { "one" };
                let vain = if line.in_vain { ": nobody waits" } else { "" };
                format!("{name}.notify_{which}(){vain}")
            }
            Act::Park(_) if self.is_waker(line.object) => "pending → woken".to_owned(),
            Act::Unpark if self.is_waker(line.object) => {
                format!("wake {}", self.parked_at(line.object))
            }
            Act::Park(_) if took => "park() → unparked".to_owned(),
            Act::Park(_) => "park() → timed out".to_owned(),
            Act::Unpark => {
                let vain = if line.in_vain { ": was unparked already" } else { "" };
                format!("unpark {}{vain}", self.parked_at(line.object))
            }
            Act::Retain => format!("clone {name}"),
            Act::Drop if took => format!("drop {name}: the last one"),
            Act::Drop => format!("drop a clone of {name}"),
            Act::Owners => format!("count of {name} → {result}"),
            Act::Upgrade => format!("{name}.upgrade() → {}", if took { "Some" } else { "None" }),
            Act::TakeSole => format!("try_unwrap {name} → {}", if took { "Ok" } else { "Err" }),
            Act::Spawn(child) => format!("spawn {}", self.thread_name(*child)),
            Act::Exit(_) => "ends".to_owned(),
            Act::Join => format!("join {}", self.joined_name(line.object)),
            Act::IsFinished => {
                format!("is {} finished? → {took}", self.joined_name(line.object))
            }
            Act::Choose(count) => format!("choose({count}) → {result}"),
            Act::Await(_) | Act::Yield => "spins, gives way".to_owned(),
            Act::Invoke(call) => format!("{name}: {}", self.call_words(*call)),
            Act::Return { call, .. } => format!("{name}: {} ends", self.call_words(*call)),
            Act::Fail(_) => "panics".to_owned(),
            Act::Receive(_) if result >= received::FIRST => {
                let sent = line.reads_from.and_then(|at| self.lines[at].step);
                match sent {
                    Some(step) => format!("{name}.recv() → message of step {step}"),
                    None => format!("{name}.recv() → a message"),
                }
            }
            act => queue_words(name, act, result),
        }
    }

    fn call_words(&self, call: u64) -> &str {
        self.calls.iter().find(|known| known.0 == call).map_or("a call", |known| &known.1)
    }

    fn joined_name(&self, end: ObjectId) -> &str {
        self.joined_at(end).map_or("a thread", |thread| self.thread_name(thread))
    }

    /// Returns the name of the thread that parks at a token.
    pub(super) fn parked_at(&self, token: ObjectId) -> &str {
        let parks = |line: &&Line| line.object == token && matches!(line.act, Act::Park(_));
        let parked = self.lines.iter().find(parks);
        parked.map_or("a thread", |line| self.thread_name(line.thread))
    }

    /// The words for what tells whether something is done once.
    fn once_words(&self, object: ObjectId, value: u64) -> Option<String> {
        let known = self.object(object)?;
        let type_name = known.type_name.as_deref()?;
        let is_once = ["Once", "LazyLock"].iter().any(|prefix| type_name.starts_with(prefix));
        is_once.then(|| match value {
            0 => format!("{} is not initialised", known.name),
            1 => format!("{} is poisoned", known.name),
            _ => format!("{} is initialised", known.name),
        })
    }

    pub(super) fn lock_verb(&self, object: ObjectId, mode: LockMode, patience: Patience) -> String {
        let type_name = self.object(object).and_then(|known| known.type_name.as_deref());
        let is_rw = type_name.is_some_and(|name| name.starts_with("RwLock"));
        let verb = match mode {
            LockMode::Exclusive if is_rw => "write",
            LockMode::Exclusive => "lock",
            LockMode::Shared => "read",
            LockMode::Upgradable => "upgradable_read",
        };
        match patience {
            Patience::Try => format!("try_{verb}"),
            Patience::TimeOut => format!("try_{verb}_for"),
            Patience::Wait => verb.to_owned(),
        }
    }

    /// Reads and writes of data. Only of primitive types is the value known.
    fn data_words(&self, verb: &str, object: ObjectId, value: u64) -> String {
        let name = self.object_name(object);
        match (self.primitive(object, value), verb) {
            (Some(value), "read") => format!("read {name} → {value}"),
            (Some(value), _) => format!("write {value} to {name}"),
            (None, _) => format!("{verb} {name}"),
        }
    }

    /// Returns a value of data whose type is primitive.
    pub(super) fn primitive(&self, object: ObjectId, value: u64) -> Option<String> {
        primitive(self.object(object)?.type_name.as_deref()?, value)
    }

    /// Returns the value of an atomic.
    fn value(&self, object: ObjectId, value: u64) -> String {
        let type_name = self.object(object).and_then(|known| known.type_name.as_deref());
        match type_name {
            Some(name) if name.starts_with('*') => pointer(value),
            Some(name) => primitive(name, value).unwrap_or_else(|| value.to_string()),
            None => value.to_string(),
        }
    }

    /// A change of an atomic as a call, up to its orderings.
    fn change_words(&self, object: ObjectId, change: Change) -> String {
        let value = |value| self.value(object, value);
        match change {
            Change::Swap(by) => format!("swap({}", value(by)),
            Change::Add(by) => format!("fetch_add({}", value(by)),
            Change::Sub(by) => format!("fetch_sub({}", value(by)),
            Change::And(by) => format!("fetch_and({}", value(by)),
            Change::Or(by) => format!("fetch_or({}", value(by)),
            Change::Xor(by) => format!("fetch_xor({}", value(by)),
            Change::Nand(by) => format!("fetch_nand({}", value(by)),
            Change::Max(by) | Change::SignedMax(by) => format!("fetch_max({}", value(by)),
            Change::Min(by) | Change::SignedMin(by) => format!("fetch_min({}", value(by)),
            Change::CompareExchange { current, new } | Change::ExchangePlace { current, new } => {
                format!("compare_exchange({}, {}", value(current), value(new))
            }
        }
    }
}

fn queue_words(name: &str, act: &Act, result: u64) -> String {
    match act {
        Act::Send(..) => match result {
            sent::DONE => format!("{name}.send()"),
            sent::FULL => format!("{name}.send() → full"),
            _ => format!("{name}.send() → no receiver"),
        },
        Act::Receive(_) => match result {
            received::DISCONNECTED => format!("{name}.recv() → no sender"),
            _ => format!("{name}.recv() → empty"),
        },
        Act::Senders(true) => format!("clone a sender of {name}"),
        Act::Senders(false) => format!("drop a sender of {name}"),
        Act::Receivers(true) => format!("clone a receiver of {name}"),
        Act::Receivers(false) => format!("drop the receiver of {name}"),
        Act::Arrive => format!("arrive at {name}"),
        Act::Pass(_) => format!("pass {name}"),
        Act::Acquire(count, _) => match result {
            0 => format!("{name}.acquire({count}) → not available"),
            2 => format!("{name}.acquire({count}) → closed"),
            _ => format!("{name}.acquire({count})"),
        },
        Act::Release(count) => format!("{name}.release({count})"),
        Act::Close => format!("{name}.close()"),
        act => format!("{act:?}"),
    }
}

/// A number that stands for an address is the same in all executions.
fn pointer(value: u64) -> String {
    match value {
        0 => "null".to_owned(),
        value if value >> 56 == place::MARK => format!("ptr:{:x}", value as u32),
        value => format!("ptr:{value:x}"),
    }
}

/// Returns a value of a primitive type in words; `None` for other types.
fn primitive(type_name: &str, value: u64) -> Option<String> {
    Some(match type_name {
        "bool" => (value & 1 == 1).to_string(),
        "u8" => (value as u8).to_string(),
        "u16" => (value as u16).to_string(),
        "u32" => (value as u32).to_string(),
        "u64" | "usize" => value.to_string(),
        "i8" => (value as i8).to_string(),
        "i16" => (value as i16).to_string(),
        "i32" => (value as i32).to_string(),
        "i64" | "isize" => (value as i64).to_string(),
        "char" => format!("{:?}", char::from_u32(value as u32)?),
        "f32" => format!("{:?}", f32::from_bits(value as u32)),
        "f64" => format!("{:?}", f64::from_bits(value)),
        _ => return None,
    })
}
