//! Translates operations into events. The meaning of an operation depends on those before it.

use super::fields::Fields;
use super::inputs::{InputOperation, Inputs};
use super::threads::Threads;
use crate::fault::LineError;
use anyorder_trace::{
    Columns, EventKind, HandlerId, Interner, Location, Mailbox, NameId, Position, SiteId,
    TableFull, TaskDef, TaskId, TaskKind, Unknown,
};
use hashbrown::HashMap;

/// The state of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Posted,
    Removed,
    Called,
}

/// A message, and its task.
#[derive(Clone, Copy, Debug)]
struct Message {
    task: TaskId,
    stage: Stage,
}

/// Translates operations into events, one by one.
#[derive(Debug, Default)]
pub(super) struct Translator {
    /// The tables.
    pub(super) interner: Interner,
    threads: Threads,
    inputs: Inputs,
    messages: HashMap<u32, Message>,
    /// Event numbers of broadcast operations, by the operation number that later ones refer to.
    broadcasts: HashMap<u32, u64>,
}

/// The destination of the events of an operation.
pub(super) struct Out<'a> {
    /// The events of the block so far.
    pub(super) columns: &'a mut Columns,
    /// The number of the block's first event.
    pub(super) first: u64,
    /// The number of the line's operation or access.
    pub(super) number: u32,
}

impl Out<'_> {
    /// Appends an event. It never fails: the result ends most translations.
    fn push(&mut self, kind: EventKind, task: TaskId, operand: u32) -> Translated {
        self.columns.push(kind.into(), task, operand, SiteId::UNKNOWN);
        self.columns.numbers.push(self.number);
        Ok(None)
    }
}

/// The result of translating an operation.
pub(super) type Translated = Result<Option<Warning>, LineError>;

/// A warning about an operation.
#[derive(Debug)]
pub(super) struct Warning {
    pub(super) message: String,
    /// How it was treated, where it is unknown or has no place.
    pub(super) unknown: Option<Unknown>,
}

impl Warning {
    /// Returns a warning about an operation that is not in the trace.
    fn left_out(message: String) -> Translated {
        Ok(Some(Warning { message, unknown: Some(Unknown::LeftOut) }))
    }
}

impl From<String> for Warning {
    fn from(message: String) -> Warning {
        Warning { message, unknown: None }
    }
}

impl Translator {
    /// Translates a `READ`, `WRITE`, `READ-STATIC` or `WRITE-STATIC`.
    pub(super) fn access(
        &mut self,
        word: &[u8],
        fields: &Fields<'_>,
        out: &mut Out<'_>,
    ) -> Translated {
        let kind = match word {
            b"READ" | b"READ-STATIC" => EventKind::Read,
            b"WRITE" | b"WRITE-STATIC" => EventKind::Write,
            _ => return self.unknown(word, fields, out),
        };
        let tid = fields.count("tid")?;
        let location = if word.ends_with(b"-STATIC") {
            let (class, field) = self.class_and_field(fields)?;
            Location::Static { class, field }
        } else if fields.has("database") && !fields.has("obj") {
            Location::Named(self.interner.name(&format!("database:{}", fields.text("database")?))?)
        } else {
            let object = fields.identity("obj")?;
            let (class, field) = self.class_and_field(fields)?;
            Location::Field { object, class, field }
        };
        let location = self.interner.location(location)?;
        let task = self.current(tid)?;
        out.push(kind, task, location.0)
    }

    fn class_and_field(&mut self, fields: &Fields<'_>) -> Result<(NameId, NameId), LineError> {
        let class = self.interner.name(&fields.text("class")?)?;
        let field = fields.count("field")?;
        Ok((class, self.interner.name(&field.to_string())?))
    }

    /// Translates any other operation.
    pub(super) fn operation(
        &mut self,
        word: &[u8],
        fields: &Fields<'_>,
        out: &mut Out<'_>,
    ) -> Translated {
        match word {
            // An `ACCESS` only closes a run of accesses, each of which has its own line.
            b"START" | b"ACCESS" => Ok(None),
            b"THREADINIT" => {
                let tid = fields.count("tid")?;
                let initial = self.threads.begin(&mut self.interner, tid)?.initial;
                out.push(EventKind::Begin, initial, 0)
            }
            b"THREADEXIT" => {
                let tid = fields.count("tid")?;
                let initial = self.threads.get(&mut self.interner, tid)?.initial;
                self.threads.exit(tid);
                out.push(EventKind::Exit, initial, 0)
            }
            b"NATIVE-ENTRY" => self.enter(fields, out),
            b"NATIVE-EXIT" => self.leave(fields, out),
            b"FORK" => {
                let (parent, child) = (fields.count("par-tid")?, fields.count("child-tid")?);
                let task = self.current(parent)?;
                let handler = self.threads.begin(&mut self.interner, child)?.handler;
                out.push(EventKind::Fork, task, handler.0)
            }
            b"JOIN" => self.join(fields, out),
            b"ATTACH-Q" | b"LOOP" => self.queue(word, fields, out),
            b"POST" => self.post(fields, out),
            b"CALL" => self.call(fields, out),
            b"RET" => self.ret(fields, out),
            b"REMOVE" => self.remove(fields, out),
            b"LOCK" | b"UNLOCK" => {
                let tid = fields.count("tid")?;
                fields.identity("lock-obj")?;
                let name = self.interner.name(&fields.text("lock-obj")?)?;
                let lock = self.interner.lock(name)?;
                let task = self.current(tid)?;
                let kind = if word == b"LOCK" { EventKind::Acquire } else { EventKind::Release };
                out.push(kind, task, lock.0)
            }
            b"NOTIFY" => {
                let (tid, notified) = (fields.count("tid")?, fields.signed("notifiedTid")?);
                self.condition(EventKind::Signal, tid, notified, out)
            }
            b"WAIT" => {
                let tid = fields.count("tid")?;
                self.condition(EventKind::Wake, tid, i64::from(tid), out)
            }
            _ => self.input_operation(word, fields, out),
        }
    }

    /// Begins a burst of a thread that is not watched.
    fn enter(&mut self, fields: &Fields<'_>, out: &mut Out<'_>) -> Translated {
        let tid = fields.count("tid")?;
        let name = if fields.has("thread-name") { fields.text("thread-name")? } else { "".into() };
        let odd = self.threads.find(tid).is_some_and(|thread| thread.in_burst);
        let burst = self.threads.begin_burst(&mut self.interner, tid, &name)?;
        out.push(EventKind::Begin, burst, 0)?;
        Ok(odd.then(|| format!("thread {tid} enters again before it exits").into()))
    }

    /// Ends the burst of a thread.
    fn leave(&mut self, fields: &Fields<'_>, out: &mut Out<'_>) -> Translated {
        let tid = fields.count("tid")?;
        let thread = self.threads.get(&mut self.interner, tid)?;
        if !thread.in_burst {
            return Ok(Some(format!("thread {tid} exits without having entered").into()));
        }
        let burst = std::mem::replace(&mut thread.current, thread.initial);
        thread.in_burst = false;
        out.push(EventKind::Exit, burst, 0)
    }

    fn input_operation(
        &mut self,
        word: &[u8],
        fields: &Fields<'_>,
        out: &mut Out<'_>,
    ) -> Translated {
        let Some(operation) = self.inputs.operation(&mut self.interner, word, fields)? else {
            return self.unknown(word, fields, out);
        };
        let tid = if fields.has("tid") || !fields.has("queue") {
            fields.count("tid")?
        } else {
            // Adding and removing idle handlers name only the queue. Its thread performs them.
            let queue = fields.identity("queue")?;
            match self.threads.of_queue(queue) {
                Some(tid) => tid,
                None => {
                    let message =
                        format!("no thread has attached queue {queue}; the operation is left out");
                    return Warning::left_out(message);
                }
            }
        };
        self.input_event(tid, operation, word, out)
    }

    fn input_event(
        &mut self,
        tid: u32,
        operation: InputOperation,
        word: &[u8],
        out: &mut Out<'_>,
    ) -> Translated {
        let task = self.current(tid)?;
        out.push(operation.kind, task, operation.input.0)?;
        if let Some(number) = operation.refers {
            let Some(event) = self.broadcasts.get(&number) else {
                let message = format!("there is no broadcast operation {number}");
                return Ok(Some(message.into()));
            };
            out.columns.refers.push(out.columns.len() as u32 - 1, *event);
        }
        if word.starts_with(b"TRIGGER-BROADCAST") || word.starts_with(b"TRIGGER-RECEIVER") {
            self.broadcasts.insert(out.number, out.first + out.columns.len() as u64 - 1);
        }
        Ok(None)
    }

    fn join(&mut self, fields: &Fields<'_>, out: &mut Out<'_>) -> Translated {
        let joiner = fields.count(if fields.has("par-tid") { "par-tid" } else { "tid" })?;
        let joined = ["joined-tid", "join-tid", "joinedTid"]
            .into_iter()
            .find(|key| fields.has(key))
            .unwrap_or("child-tid");
        let joined = fields.count(joined)?;
        let task = self.current(joiner)?;
        let handler = self.threads.get(&mut self.interner, joined)?.handler;
        out.push(EventKind::Join, task, handler.0)
    }

    fn queue(&mut self, word: &[u8], fields: &Fields<'_>, out: &mut Out<'_>) -> Translated {
        let tid = fields.count("tid")?;
        let queue = fields.identity("queue")?;
        let thread = *self.threads.get(&mut self.interner, tid)?;
        self.threads.attach(queue, tid);
        let kind = if word == b"LOOP" { EventKind::Loop } else { EventKind::Attach };
        self.interner.tables.handlers[thread.handler.index()].mailbox = Mailbox::Delayed;
        out.push(kind, thread.current, thread.handler.0)
    }

    fn post(&mut self, fields: &Fields<'_>, out: &mut Out<'_>) -> Translated {
        let (source, message) = (fields.count("src")?, fields.count("msg")?);
        let delay = fields.signed("delay")?;
        let dest = if fields.has("dest") { fields.signed("dest")? } else { -1 };
        let handler = u32::try_from(dest).ok().and_then(|tid| self.threads.find(tid));
        let handler = handler.map_or(HandlerId::NONE, |thread| thread.handler);
        // The runtime writes a post to the front of the queue as a delay of -1.
        let position = if delay == -1 { Position::Front } else { Position::Back };
        let before = self.messages.get(&message).copied();
        let poster = self.current(source)?;
        let task = self.posted_task(message, handler, delay.max(0).cast_unsigned(), position)?;
        self.messages.insert(message, Message { task, stage: Stage::Posted });
        out.push(EventKind::Post, poster, task.0)?;
        Ok(match before {
            Some(before) if before.stage == Stage::Posted => {
                Some(format!("message {message} is posted again before it was called").into())
            }
            _ if delay < -1 => Some(format!("the delay {delay} counts as none").into()),
            _ => None,
        })
    }

    fn call(&mut self, fields: &Fields<'_>, out: &mut Out<'_>) -> Translated {
        let (tid, message) = (fields.count("tid")?, fields.count("msg")?);
        let thread = *self.threads.get(&mut self.interner, tid)?;
        let known = self.messages.get(&message).copied();
        let (task, odd) = match known {
            Some(known) if known.stage != Stage::Called => (known.task, None),
            _ => {
                let task = self.posted_task(message, thread.handler, 0, Position::Back)?;
                let odd = if known.is_some() {
                    format!("message {message} is called again, without another post")
                } else {
                    format!("message {message} was never posted")
                };
                (task, Some(odd.into()))
            }
        };
        self.messages.insert(message, Message { task, stage: Stage::Called });
        let thread = self.threads.get(&mut self.interner, tid)?;
        thread.current = task;
        thread.in_burst = false;
        out.push(EventKind::Get, task, thread.handler.0)?;
        Ok(odd)
    }

    fn ret(&mut self, fields: &Fields<'_>, out: &mut Out<'_>) -> Translated {
        let (tid, message) = (fields.count("tid")?, fields.count("msg")?);
        let known = self.messages.get(&message).copied();
        let thread = self.threads.get(&mut self.interner, tid)?;
        match known.filter(|known| known.stage == Stage::Called && known.task == thread.current) {
            Some(known) => {
                thread.current = thread.initial;
                out.push(EventKind::End, known.task, 0)
            }
            None => Warning::left_out(format!(
                "message {message} returns, but thread {tid} does not run it; the operation is left out"
            )),
        }
    }

    fn remove(&mut self, fields: &Fields<'_>, out: &mut Out<'_>) -> Translated {
        let tid = fields.count(if fields.has("src") { "src" } else { "tid" })?;
        let message = fields.count("msg")?;
        let task = self.current(tid)?;
        match self.messages.get_mut(&message) {
            Some(known) => {
                if known.stage == Stage::Posted {
                    known.stage = Stage::Removed;
                }
                out.push(EventKind::Cancel, task, known.task.0)
            }
            None => Warning::left_out(format!(
                "message {message} was never posted; the operation is left out"
            )),
        }
    }

    fn condition(
        &mut self,
        kind: EventKind,
        tid: u32,
        waiter: i64,
        out: &mut Out<'_>,
    ) -> Translated {
        let name = self.interner.name(&format!("thread {waiter}"))?;
        let condition = self.interner.condition(name)?;
        let task = self.current(tid)?;
        out.push(kind, task, condition.0)
    }

    /// Keeps an operation that this version does not know, if it knows the thread.
    fn unknown(&mut self, word: &[u8], fields: &Fields<'_>, out: &mut Out<'_>) -> Translated {
        let word = String::from_utf8_lossy(word);
        let Ok(tid) = fields.count("tid") else {
            let message = format!("unknown operation `{word}` without a thread is left out");
            return Warning::left_out(message);
        };
        let name = self.interner.name(&word)?;
        let task = self.current(tid)?;
        out.push(EventKind::Other, task, name.0)?;
        let message = format!("unknown operation `{word}` is kept, but has no meaning");
        Ok(Some(Warning { message, unknown: Some(Unknown::Kept) }))
    }

    fn current(&mut self, tid: u32) -> Result<TaskId, TableFull> {
        Ok(self.threads.get(&mut self.interner, tid)?.current)
    }

    fn posted_task(
        &mut self,
        message: u32,
        handler: HandlerId,
        delay: u64,
        position: Position,
    ) -> Result<TaskId, TableFull> {
        let name = self.interner.name(&format!("msg {message}"))?;
        let kind = TaskKind::Posted;
        self.interner.push_task(TaskDef { name, kind, handler, delay, position })
    }
}
