//! Deadlocks of recorded runs as findings.

use super::events::site;
use anyorder_finding::{ExplanationStep, Finding, Kind, Severity, Site, assign_ids};
use anyorder_predict::{
    Deadlock, DeadlockCut, DeadlockEvidence, DeadlockRequest, GaveUp, Permits, WaitsFor,
};
use anyorder_trace::{ConditionId, Event, EventId, EventKind, HandlerId, LockId, NameId, Trace};
use std::collections::BTreeMap;
use std::mem;

/// The most threads and things that a phrase names.
const NAMED_MAX: usize = 4;

/// The filter of findings without a witness.
const UNCONFIRMED: &str = "unconfirmed";

/// A deadlock in words, with what it was made of.
pub(crate) struct DeadlockFinding {
    /// The finding without a witness.
    pub(crate) finding: Finding,
    pub(crate) deadlock: Deadlock,
}

/// Returns deadlocks as findings. Cycles whose requests have the same places in the source are one.
pub(crate) fn deadlocks(trace: &Trace, found: Vec<Deadlock>) -> Vec<DeadlockFinding> {
    let mut of_places: BTreeMap<(bool, Vec<String>), usize> = BTreeMap::new();
    let mut all: Vec<DeadlockFinding> = Vec::new();
    let mut counts: Vec<u64> = Vec::new();
    for deadlock in found {
        let places = deadlock.requests.iter().map(|request| {
            let event = trace.event(request.event);
            trace.tables().site_text(event.site)
        });
        let mut places: Vec<String> = places.collect();
        places.sort_unstable();
        let key = (deadlock.evidence.is_open(), places);
        let is_known = key.1.iter().all(|place| place != "?");
        if is_known && let Some(at) = of_places.get(&key) {
            counts[*at] += 1;
            continue;
        }
        of_places.insert(key, all.len());
        counts.push(1);
        all.push(DeadlockFinding { finding: finding(trace, &deadlock), deadlock });
    }
    for (one, count) in all.iter_mut().zip(counts).filter(|(_, count)| *count > 1) {
        let text =
            format!("{} more cycles of other locks or threads have the same places", count - 1);
        one.finding.explanation.push(step("same_places", text));
    }
    let take = |one: &mut DeadlockFinding| mem::replace(&mut one.finding, Finding::new(Kind::Race));
    let mut findings: Vec<Finding> = all.iter_mut().map(take).collect();
    assign_ids(&mut findings);
    all.iter_mut().zip(findings).for_each(|(one, with_id)| one.finding = with_id);
    all
}

fn finding(trace: &Trace, deadlock: &Deadlock) -> Finding {
    let cycle = Cycle { trace, requests: &deadlock.requests };
    let mut finding = Finding::new(Kind::Deadlock);
    let is_open = deadlock.evidence.is_open();
    let is_assumed = deadlock.permits.iter().any(|permits| !permits.is_known);
    finding.severity = match (is_open, is_assumed) {
        (true, _) => Severity::Note,
        (false, true) => Severity::Warning,
        (false, false) => Severity::Error,
    };
    finding.title = cycle.title();
    finding.sites = cycle.sites();
    finding.confirmed = Some(!is_open);
    if is_open {
        finding.filters = vec![UNCONFIRMED.to_owned()];
    } else {
        finding.form = Some("deadlock".to_owned());
    }
    finding.explanation.push(evidence(&deadlock.evidence));
    finding.explanation.extend(cycle.steps());
    finding.explanation.extend(deadlock.permits.iter().filter_map(|of| permits(trace, of)));
    if deadlock.choices > 1 {
        let text = format!(
            "{} choices of recorded events have this shape; this is one of them",
            deadlock.choices
        );
        finding.explanation.push(step("choices", text));
    }
    finding.explanation.push(step("hint", cycle.hint().to_owned()));
    if !is_open {
        super::add_free_reads(trace, &mut finding);
    }
    finding
}

/// Says which number of permits is assumed, if the trace does not say it.
fn permits(trace: &Trace, of: &Permits) -> Option<ExplanationStep> {
    let object = trace.tables().name(of.object);
    let (what, one) = match type_of(object) {
        "channel" => ("values", "1 value"),
        "semaphore" => ("permits", "1 permit"),
        _ => ("", "1"),
    };
    let many = match of.least {
        1 => one.to_owned(),
        more => format!("{more} {what}").trim_end().to_owned(),
    };
    let asked = match type_of(object) {
        "channel" => format!("how many values `{object}` has room for"),
        "semaphore" => format!("how many permits `{object}` has in the beginning"),
        kind => format!("the number that the type `{kind}` leaves open for `{object}`"),
    };
    let text = format!(
        "the trace does not say {asked}: this is with {many}, the least number with which the trace \
         is possible; with more there may be no deadlock"
    );
    (!of.is_known).then(|| step("permits", text))
}

fn step(rule: &str, text: String) -> ExplanationStep {
    ExplanationStep { rule: Some(rule.to_owned()), ..ExplanationStep::new(text) }
}

fn evidence(evidence: &DeadlockEvidence) -> ExplanationStep {
    match evidence {
        DeadlockEvidence::Confirmed { .. } => step("witness", DEADLOCK_WORDS.to_owned()),
        DeadlockEvidence::Rejected(why) => {
            step("unconfirmed", format!("the run found does not hold, which is a bug: {why}"))
        }
        DeadlockEvidence::Open(cut) => {
            let text = format!("it is undecided whether a run leads there: {}", cut_words(*cut));
            step("unconfirmed", text)
        }
    }
}

/// What a witness of a deadlock shows.
pub(crate) const DEADLOCK_WORDS: &str =
    "another run of the same events leads there, and every event in it sees what it saw";

fn cut_words(cut: DeadlockCut) -> &'static str {
    match cut {
        DeadlockCut::Trace => "the trace has too many edges",
        DeadlockCut::Cycles => "there are too many cycles",
        DeadlockCut::Tries => "there are too many ways to choose the events",
        DeadlockCut::Work => "the search visited as many events as it may",
        DeadlockCut::Stopped | DeadlockCut::GaveUp(GaveUp::Stopped) => "the search was stopped",
        DeadlockCut::GaveUp(GaveUp::Window) => "the events that may be reordered do not suffice",
        DeadlockCut::GaveUp(GaveUp::Conflicts) => "the solver met too many conflicts",
        DeadlockCut::GaveUp(GaveUp::Barrier) => {
            "it passes a barrier, and the trace does not say who had arrived"
        }
    }
}

/// A cycle of requests of a trace: each waits for the thread of the next one.
pub(crate) struct Cycle<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) requests: &'a [DeadlockRequest],
}

impl Cycle<'_> {
    fn lane(&self, at: usize) -> &str {
        let request = &self.requests[at % self.requests.len()];
        self.trace.handler_name(self.trace.handler_of(request.event))
    }

    fn lock(&self, lock: LockId) -> &str {
        let tables = self.trace.tables();
        tables.locks.get(lock.index()).map_or("?", |name| tables.name(*name))
    }

    /// Returns what a request waits for: a lock, or the end of a thread.
    fn thing(&self, request: &DeadlockRequest) -> String {
        match request.waits_for {
            WaitsFor::Lock(lock) => format!("`{}`", self.lock(lock)),
            WaitsFor::End(handler) => format!("the end of `{}`", self.trace.handler_name(handler)),
            WaitsFor::Signal(condition) => format!("a signal of `{}`", self.condition(condition)),
            WaitsFor::Call { object, method } => {
                let tables = self.trace.tables();
                lack(tables.name(object), tables.name(method))
            }
            WaitsFor::Barrier(barrier) => format!("the others at `{}`", self.condition(barrier)),
        }
    }

    fn condition(&self, condition: ConditionId) -> &str {
        let tables = self.trace.tables();
        tables.conditions.get(condition.index()).map_or("?", |name| tables.name(*name))
    }

    /// Returns the event at which a thread begins to wait: for a signal, its wait, else the
    /// request itself. Linear in the trace.
    pub(crate) fn place(&self, request: &DeadlockRequest) -> EventId {
        let WaitsFor::Signal(condition) = request.waits_for else { return request.event };
        let task = self.trace.event(request.event).task;
        let before = self.trace.events().take(request.event.index());
        let mut waits = before.filter(|event| {
            event.task == task && event.kind() == EventKind::Wait && event.operand == condition.0
        });
        waits.next_back().map_or(request.event, |wait| wait.id)
    }

    /// Says what a thread meets that waits for a signal: its next event is no part of that.
    pub(crate) fn no_signal(&self, request: &DeadlockRequest) -> Option<String> {
        let WaitsFor::Signal(condition) = request.waits_for else { return None };
        Some(format!("no signal of {}", self.condition(condition)))
    }

    /// Returns the next signal or permit that the thread of the next request would give.
    fn gift(&self, at: usize) -> Option<EventId> {
        let condition = match self.requests[at].waits_for {
            WaitsFor::Signal(condition) => condition,
            WaitsFor::Call { object, method } => return self.given(at, object, method),
            WaitsFor::Barrier(barrier) => return self.arrival(at, barrier),
            WaitsFor::Lock(_) | WaitsFor::End(_) => return None,
        };
        let next = self.requests[(at + 1) % self.requests.len()].event;
        let lane = self.trace.handler_of(next);
        let gives = |event: &Event| {
            matches!(event.kind(), EventKind::Signal | EventKind::Broadcast)
                && event.operand == condition.0
                && self.trace.handler_of(event.id) == lane
        };
        self.trace.events().skip(next.index()).find(gives).map(|event| event.id)
    }

    /// Returns the call by which the thread of the next request first gives more than it takes of
    /// what a call waits for, or gives it for good. `None` for types that are not built in.
    fn given(&self, at: usize, object: NameId, method: NameId) -> Option<EventId> {
        let next = self.requests[(at + 1) % self.requests.len()].event;
        let (lane, tables) = (self.trace.handler_of(next), self.trace.tables());
        let kind = (type_of(tables.name(object)), tables.name(method));
        let mut sum = 0;
        let gives = |event: &Event| {
            let call = tables.invocations.get(event.operand as usize);
            let call =
                call.filter(|call| event.kind() == EventKind::Invoke && call.object == object);
            let Some(call) = call else { return false };
            let change = change(kind, (tables.name(call.method), call.result));
            sum += change.unwrap_or(0);
            sum > 0 || change.is_none()
        };
        let events = self.trace.events().skip(next.index());
        let mut events = events.filter(|event| self.trace.handler_of(event.id) == lane);
        events.find(gives).map(|event| event.id)
    }

    /// Returns the event by which the thread of the next request passes a barrier.
    fn arrival(&self, at: usize, barrier: ConditionId) -> Option<EventId> {
        let next = self.requests[(at + 1) % self.requests.len()].event;
        let lane = self.trace.handler_of(next);
        let passes = |event: &Event| {
            event.kind() == EventKind::Barrier
                && event.operand == barrier.0
                && self.trace.handler_of(event.id) == lane
        };
        self.trace.events().skip(next.index()).find(passes).map(|event| event.id)
    }

    fn threads(&self) -> String {
        let names = (0..self.requests.len()).map(|at| format!("`{}`", self.lane(at)));
        listed(names.collect())
    }

    /// Returns the problem in one phrase.
    pub(crate) fn title(&self) -> String {
        let circle = if self.requests.len() > 2 { " in a circle" } else { "" };
        let is_signal =
            |one: &DeadlockRequest| !matches!(one.waits_for, WaitsFor::Lock(_) | WaitsFor::End(_));
        // `for a signal of c and A` would be one thing.
        let (first, each) = match self.requests.iter().any(is_signal) {
            true => ("", "for "),
            false => ("for ", ""),
        };
        let things = self.requests.iter().map(|one| format!("{each}{}", self.thing(one)));
        let things = listed(things.collect());
        format!("{} can wait for each other{circle}: {first}{things}", self.threads())
    }

    fn sites(&self) -> Vec<Site> {
        let site = |request: &DeadlockRequest| {
            let location = match request.waits_for {
                WaitsFor::Lock(lock) => Some(self.lock(lock).to_owned()),
                WaitsFor::End(handler) => Some(self.trace.handler_name(handler).to_owned()),
                WaitsFor::Signal(condition) => Some(self.condition(condition).to_owned()),
                WaitsFor::Barrier(of) => Some(self.condition(of).to_owned()),
                WaitsFor::Call { object, .. } => Some(self.trace.tables().name(object).to_owned()),
            };
            let place = self.place(request);
            let event = self.trace.event(place);
            let shared = if event.mode().is_shared() { " shared" } else { "" };
            let access = Some(format!("{}{shared}", event.kind().word()));
            Site { location, access, ..site(self.trace, place) }
        };
        self.requests.iter().map(site).collect()
    }

    /// Returns an event with its place: `event 5`, `main.c:12 (event 5)`.
    fn at(&self, event: EventId) -> String {
        let label = self.trace.label(event);
        match self.trace.tables().site_text(self.trace.event(event).site).as_str() {
            "?" => format!("event {label}"),
            place => format!("{place} (event {label})"),
        }
    }

    /// Returns the acquire by which the thread of the next request has what a request waits for.
    fn since(&self, at: usize) -> Option<EventId> {
        let WaitsFor::Lock(lock) = self.requests[at].waits_for else { return None };
        let next = &self.requests[(at + 1) % self.requests.len()];
        next.held.iter().find(|(held, _)| *held == lock).map(|(_, acquire)| *acquire)
    }

    fn steps(&self) -> impl Iterator<Item = ExplanationStep> + '_ {
        self.requests.iter().enumerate().map(|(at, request)| {
            let held = request.held.iter();
            let held = held
                .map(|(lock, since)| format!("`{}` since {}", self.lock(*lock), self.at(*since)));
            let held: Vec<String> = held.collect();
            let holds = match held.is_empty() {
                true => "holds no lock".to_owned(),
                false => format!("holds {}", listed(held)),
            };
            let place = self.place(request);
            let mut events = vec![self.trace.event_name(place)];
            events.extend(request.held.iter().map(|(_, since)| self.trace.event_name(*since)));
            ExplanationStep {
                events,
                ..step(
                    "waits",
                    format!(
                        "`{}` {holds}, and wants {} at {}, {}",
                        self.lane(at),
                        self.thing(request),
                        self.at(place),
                        self.keeps(at)
                    ),
                )
            }
        })
    }

    /// Says what keeps a request from being granted.
    fn keeps(&self, at: usize) -> String {
        let next = self.lane(at + 1);
        if let WaitsFor::Barrier(_) = self.requests[at].waits_for {
            return match self.gift(at) {
                Some(pass) => {
                    format!("where `{next}` has yet to arrive: it passes at {}", self.at(pass))
                }
                None => format!("where `{next}` has yet to arrive"),
            };
        }
        if let WaitsFor::Signal(_) | WaitsFor::Call { .. } = self.requests[at].waits_for {
            return match self.gift(at) {
                Some(signal) => format!("which `{next}` has yet to give at {}", self.at(signal)),
                None => format!("which `{next}` has yet to give"),
            };
        }
        match self.since(at) {
            Some(since) => format!("which `{}` holds since {}", self.lane(at + 1), self.at(since)),
            None => format!("and `{}` has not ended", self.lane(at + 1)),
        }
    }

    /// Returns why a request is not granted at the end of a run, in a phrase.
    pub(crate) fn blocked(&self, at: usize) -> String {
        let thing = self.thing(&self.requests[at]).replace('`', "");
        let next = self.lane(at + 1);
        match (self.since(at), self.gift(at)) {
            (Some(since), _) => {
                format!("waits for {thing}, held by {next} since {}", self.at(since))
            }
            (None, Some(_)) if matches!(self.requests[at].waits_for, WaitsFor::Barrier(_)) => {
                format!("waits for {thing}, where {next} has yet to arrive")
            }
            (None, Some(signal)) => {
                format!("waits for {thing}, which {next} has yet to give at {}", self.at(signal))
            }
            (None, None) => format!("waits for {thing}"),
        }
    }

    /// Returns the end of the run in a phrase.
    pub(crate) fn end(&self) -> String {
        let all = 0..self.requests.len().min(NAMED_MAX);
        let waits: Vec<String> =
            all.map(|at| format!("{} {}", self.lane(at), self.blocked(at))).collect();
        let more = self.requests.len().saturating_sub(NAMED_MAX);
        let more = if more > 0 { format!("; {more} more wait") } else { String::new() };
        format!("deadlock: {}{more}", waits.join("; "))
    }

    fn hint(&self) -> &'static str {
        let joins = |request: &DeadlockRequest| matches!(request.waits_for, WaitsFor::End(_));
        let signals = |request: &DeadlockRequest| matches!(request.waits_for, WaitsFor::Signal(_));
        let calls = |request: &DeadlockRequest| matches!(request.waits_for, WaitsFor::Call { .. });
        let meets = |request: &DeadlockRequest| matches!(request.waits_for, WaitsFor::Barrier(_));
        if self.requests.iter().any(meets) {
            return "do not wait at a barrier while you hold what another thread takes before it arrives";
        }
        if self.requests.iter().any(calls) {
            return "do not wait while you hold what the thread that ends the wait has to take first";
        }
        if self.requests.iter().any(signals) {
            return "wait for a signal without holding a lock that the thread which gives it takes";
        }
        match self.requests.iter().any(joins) {
            true => "wait for the end of a thread without holding a lock that it takes",
            false => {
                "take these locks in one order everywhere, or take one more lock around all of them"
            }
        }
    }
}

/// Returns the type of an object, as its name says it.
fn type_of(object: &str) -> &str {
    object.split(':').next().unwrap_or(object)
}

/// Returns what a call of an object waits for, in words.
fn lack(object: &str, method: &str) -> String {
    let of = match (type_of(object), method) {
        ("semaphore", _) => "a permit of",
        ("channel", "recv") => "a value of",
        ("channel", "send") => "room in",
        ("waitgroup", _) => "the end of the work of",
        ("future", _) => "the value of",
        ("context", _) => "the end of",
        _ => return format!("what `{method}` of `{object}` needs"),
    };
    format!("{of} `{object}`")
}

/// Returns by how much a call changes what another call of its object waits for, by type and method
/// of that one; `None` if it gives it for good.
fn change((kind, waits): (&str, &str), call: (&str, Option<u64>)) -> Option<i64> {
    Some(match (kind, waits, call) {
        ("semaphore", _, ("release", _))
        | ("channel", "recv", ("send", _))
        | ("channel", "send", ("recv", _))
        | ("waitgroup", _, ("done", _))
        | ("future", _, ("set", _))
        | ("context", _, ("cancel", _)) => 1,
        ("semaphore", _, ("acquire", _) | ("try_acquire", Some(1)))
        | ("channel", "recv", ("recv", _))
        | ("channel", "send", ("send", _))
        | ("waitgroup", _, ("add", _)) => -1,
        ("channel", _, ("close", _)) => return None,
        _ => 0,
    })
}

/// Returns a list in words, cut after some members.
fn listed(mut names: Vec<String>) -> String {
    if names.len() > NAMED_MAX {
        let more = names.len() - NAMED_MAX;
        names.truncate(NAMED_MAX);
        return format!("{} and {more} more", names.join(", "));
    }
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) }
}

/// Returns the requests of a cycle with the locks that their threads hold there in the trace.
/// Linear in the trace.
pub(crate) fn requests(trace: &Trace, events: &[EventId]) -> Vec<DeadlockRequest> {
    let request = |(at, id): (usize, &EventId)| {
        let next = events[(at + 1) % events.len()];
        let event = trace.event(*id);
        let waits_for = match event.kind() {
            EventKind::Join => WaitsFor::End(HandlerId(event.operand)),
            EventKind::Barrier => WaitsFor::Barrier(ConditionId(event.operand)),
            EventKind::Invoke => {
                let call = trace.tables().invocations.get(event.operand as usize);
                let (object, method) =
                    call.map_or((NameId::EMPTY, NameId::EMPTY), |call| (call.object, call.method));
                WaitsFor::Call { object, method }
            }
            kind => match signal_of(trace, (*id, kind), next) {
                Some(condition) => WaitsFor::Signal(condition),
                None => WaitsFor::Lock(LockId(event.operand)),
            },
        };
        let lane = trace.handler_of(*id);
        let mut held: Vec<(LockId, EventId, u32)> = Vec::new();
        for before in trace.events().take(id.index()) {
            let lock = LockId(before.operand);
            if !matches!(before.kind(), EventKind::Acquire | EventKind::Release)
                || trace.handler_of(before.id) != lane
            {
                continue;
            }
            let known = held.iter().position(|(of, ..)| *of == lock);
            match (before.kind(), known) {
                (EventKind::Acquire, Some(at)) => held[at].2 += 1,
                (EventKind::Acquire, None) => held.push((lock, before.id, 1)),
                (_, Some(at)) => {
                    held[at].2 -= 1;
                    if held[at].2 == 0 {
                        held.remove(at);
                    }
                }
                (_, None) => {}
            }
        }
        let held = held.into_iter().map(|(lock, since, _)| (lock, since)).collect();
        DeadlockRequest { event: *id, waits_for, held }
    };
    events.iter().enumerate().map(request).collect()
}

/// Returns the condition of which a request waits for a signal: a wake, or an acquire after a wait
/// and its releases, if the thread of the next request does not hold the lock.
fn signal_of(
    trace: &Trace,
    (id, kind): (EventId, EventKind),
    next: EventId,
) -> Option<ConditionId> {
    let (event, other) = (trace.event(id), trace.handler_of(next));
    if kind == EventKind::Wake {
        return Some(ConditionId(event.operand));
    }
    let mut own = trace.events().take(id.index()).filter(|before| before.task == event.task);
    let wait = own.rfind(|before| before.kind() != EventKind::Release)?;
    let mut depth = 0_i64;
    for before in trace.events().take(next.index()) {
        if before.operand == event.operand && trace.handler_of(before.id) == other {
            depth += i64::from(before.kind() == EventKind::Acquire);
            depth -= i64::from(before.kind() == EventKind::Release);
        }
    }
    (wait.kind() == EventKind::Wait && depth <= 0).then_some(ConditionId(wait.operand))
}
