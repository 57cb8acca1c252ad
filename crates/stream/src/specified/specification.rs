//! The specification for all types that this crate knows: memory, conditions, locks, and the
//! objects whose methods a trace invokes.

use super::compile::{CONDITIONS, Place, lock_memory};
use super::internals::{Inside, Internals};
use super::lock_life::Lives;
use super::objects::{Described, Numbering, ObjectSummary};
use super::resolve::{Resolved, Resolver};
use super::types::Types;
use crate::analysis::StreamEvent;
use crate::class::{Class, ClassTable, Point, Specification};
use anyorder_trace::{EventKind, InvocationId, Op, Tables, Trace};

/// Memory accesses; waits against signals and broadcasts of a condition; uses of a lock against its
/// destruction; and invocations, by the specification of their object's type.
///
/// Memory: an entry for each invocation in the tables of the trace with the points that it touches,
/// one for each object, and one for each key ever used with it.
#[derive(Clone, Debug)]
pub struct Specified {
    resolver: Resolver,
    numbers: Numbering,
    lives: Lives,
    inside: Inside,
    /// By invocation, once it was seen.
    calls: Vec<Option<Touched>>,
    /// The points of all invocations, one after another.
    touched: Vec<Point>,
    /// For each object of the resolver, its type and its invocations.
    counts: Vec<(Resolved, u64)>,
    touch_buffer: Vec<anyorder_commute::Point>,
}

/// The object of an invocation of the tables, and the range of the points that it touches.
type Touched = (Resolved, usize, usize);

impl Specified {
    /// Creates a specification for a stream.
    #[must_use]
    pub fn new(types: Types, internals: Internals) -> Specified {
        Specified {
            resolver: Resolver::new(types),
            numbers: Numbering::default(),
            lives: Lives::default(),
            inside: Inside::new(internals),
            calls: Vec::new(),
            touched: Vec::new(),
            counts: Vec::new(),
            touch_buffer: Vec::new(),
        }
    }

    /// Creates a specification for a trace in memory, whose called methods and objects with returns
    /// are known.
    #[must_use]
    pub fn for_trace(types: Types, internals: Internals, trace: &Trace) -> Specified {
        let mut specified = Specified::new(types, internals);
        specified.resolver.complete(trace.tables());
        specified.inside.learn(&mut specified.resolver, trace);
        specified
    }

    /// Returns the object of a [`Violation`](crate::Violation) with this number: `Object::Own`.
    #[must_use]
    pub fn describe<'a>(&'a self, tables: &'a Tables, object: u32) -> Option<Described<'a>> {
        self.numbers.describe(&self.resolver, tables, object)
    }

    /// Returns the objects invoked so far, in the order of their first invocation.
    #[must_use]
    pub fn objects(&self) -> Vec<ObjectSummary> {
        let of = |(known, invocations): &(Resolved, u64)| {
            let of_type = known.of_type.filter(|_| !known.is_unspecified);
            ObjectSummary {
                name: self.resolver.names[known.object as usize],
                type_name: of_type.map(|at| self.resolver.types.list[at].spec.name().to_owned()),
                invocations: *invocations,
            }
        };
        self.counts.iter().filter(|(_, invocations)| *invocations > 0).map(of).collect()
    }

    /// Returns the points that an invocation of the tables touches; `None` if the tables do not
    /// have the invocation.
    fn touched(&mut self, tables: &Tables, call: u32) -> Option<Touched> {
        let at = InvocationId(call).index();
        if let Some(Some(touched)) = self.calls.get(at) {
            return Some(*touched);
        }
        let known = self.resolver.object_of(tables, call)?;
        if self.calls.len() < tables.invocations.len() {
            self.calls.resize(tables.invocations.len(), None);
        }
        let from = self.touched.len();
        if let Some(of_type) = known.of_type {
            self.touch(tables, call, known, of_type);
        }
        let touched = (known, from, self.touched.len());
        self.calls[at] = Some(touched);
        Some(touched)
    }

    /// Adds the points of an invocation to the list.
    fn touch(&mut self, tables: &Tables, call: u32, known: Resolved, of_type: usize) {
        let Some(invocation) = self.resolver.call(tables, call, of_type) else { return };
        let object = self.numbers.invoked(known.object, of_type);
        let types = &self.resolver.types.list[of_type];
        let compiled = if known.has_strangers { &types.strangers } else { &types.exact };
        self.touch_buffer.clear();
        compiled.points.touch(&invocation, None, &mut self.touch_buffer);
        for point in &self.touch_buffer {
            for place in &compiled.places[point.class.index()] {
                let key = if place.keyless { Vec::new() } else { point.key.clone() };
                let cell = self.numbers.cell(object, place.table, key);
                let Place { table, class, .. } = *place;
                let touched = Point { object, cell, table, class };
                self.touched.push(touched);
            }
        }
    }

    fn invoke(&mut self, tables: &Tables, step: StreamEvent, points: &mut Vec<Point>) {
        let Some((known, from, to)) = self.touched(tables, step.operand) else { return };
        let is_inside = match (known.of_type, self.resolver.method(tables, step.operand)) {
            (Some(_), Some(method)) => self.inside.invoke(tables, step.task, (known, method)),
            _ => self.inside.is_hidden(step.task),
        };
        if is_inside {
            return;
        }
        let at = known.object as usize;
        if at >= self.counts.len() {
            for object in self.counts.len()..=at {
                self.counts.push((Resolved { object: object as u32, ..known }, 0));
            }
        }
        self.counts[at] = (known, self.counts[at].1 + 1);
        points.extend_from_slice(&self.touched[from..to]);
    }

    fn condition(&mut self, tables: &Tables, step: StreamEvent, class: Class) -> Option<Point> {
        if step.operand as usize >= tables.conditions.len() {
            return None;
        }
        let (object, cell) = self.numbers.condition(step.operand);
        Some(Point { object, cell, table: CONDITIONS, class })
    }
}

/// Memory accesses, and the locks that lie in memory: a use of a lock does not commute with a
/// `free` of its memory or with a plain write over it. No other actions.
#[derive(Clone, Debug)]
pub struct LocksInMemory {
    numbers: Numbering,
    lives: Lives,
}

impl Default for LocksInMemory {
    fn default() -> LocksInMemory {
        LocksInMemory { numbers: Numbering::default(), lives: Lives::new(1) }
    }
}

impl Specification for LocksInMemory {
    const ACCESSES: bool = true;

    fn classes(&self) -> Vec<ClassTable> {
        vec![ClassTable::memory(), lock_memory()]
    }

    fn points(&mut self, tables: &Tables, step: StreamEvent, points: &mut Vec<Point>) {
        match step.op.kind() {
            EventKind::Alloc => self.lives.allocate(tables, step.operand),
            EventKind::Fork
            | EventKind::Post
            | EventKind::Signal
            | EventKind::Broadcast
            | EventKind::Barrier => self.lives.mark(tables, step),
            EventKind::Acquire | EventKind::Release | EventKind::Destroy => {
                points.extend(self.lives.point(&mut self.numbers, tables, step));
            }
            _ => {}
        }
    }

    fn access_points(&mut self, tables: &Tables, step: StreamEvent, points: &mut Vec<Point>) {
        self.lives.access(&mut self.numbers, tables, step, points);
    }
}

impl Specification for Specified {
    const HIDES: bool = true;
    const ACCESSES: bool = true;

    fn classes(&self) -> Vec<ClassTable> {
        self.resolver.types.tables.to_vec()
    }

    fn points(&mut self, tables: &Tables, step: StreamEvent, points: &mut Vec<Point>) {
        let kind = step.op.kind();
        match kind {
            EventKind::Invoke => return self.invoke(tables, step, points),
            EventKind::Return => {
                if let Some(call) = self.resolver.specified_call(tables, step.operand) {
                    self.inside.returns(tables, step.task, call);
                }
                return;
            }
            EventKind::Alloc => return self.lives.allocate(tables, step.operand),
            EventKind::End | EventKind::Exit => return self.inside.end(step.task),
            EventKind::Fork
            | EventKind::Post
            | EventKind::Signal
            | EventKind::Broadcast
            | EventKind::Barrier => self.lives.mark(tables, step),
            _ => {}
        }
        if self.inside.is_hidden(step.task) {
            return;
        }
        points.extend(match kind {
            EventKind::Wait => self.condition(tables, step, Class(0)),
            EventKind::Signal | EventKind::Broadcast => self.condition(tables, step, Class(1)),
            EventKind::Acquire | EventKind::Release | EventKind::Destroy => {
                self.lives.point(&mut self.numbers, tables, step)
            }
            _ => None,
        });
    }

    fn access_points(&mut self, tables: &Tables, step: StreamEvent, points: &mut Vec<Point>) {
        self.lives.access(&mut self.numbers, tables, step, points);
    }

    /// Applies the specification to two invocations of one object. Points are coarser if a
    /// condition compares the values of two calls by an operator other than `!=`
    /// (`anyorder_commute::Exactness`). If waiting decides the order of two calls, they commute
    /// wherever both orders can happen.
    fn commute(&mut self, tables: &Tables, first: (Op, u32), second: (Op, u32)) -> bool {
        if [first.0, second.0].iter().any(|op| op.kind() != EventKind::Invoke) {
            return false;
        }
        let known = [first.1, second.1].map(|call| self.resolver.object_of(tables, call));
        let [Some(one), Some(other)] = known else { return false };
        let Some(of_type) = one.of_type.filter(|_| one.object == other.object) else {
            return false;
        };
        let call = |call| self.resolver.call(tables, call, of_type);
        let (Some(one), Some(other)) = (call(first.1), call(second.1)) else { return false };
        let of_type = &self.resolver.types.list[of_type];
        let is_settled = |waits: &anyorder_commute::Waits| waits.settles(&one, &other);
        of_type.spec.commute(&one, &other) || of_type.waits.as_ref().is_some_and(is_settled)
    }

    #[inline]
    fn hides(&mut self, task: u32, kind: EventKind, operand: u32) -> bool {
        self.inside.hides(task, kind, operand)
    }
}
