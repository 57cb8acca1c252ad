//! The communication of specified objects, as the search for witnesses needs it.

use super::communication::{Communication, Observation};
use super::resolve::Resolver;
use super::types::{Type, Types};
use anyorder_commute::{Comm, Invocation, Mode, Observations, Spec, Waits};
use anyorder_trace::{EventKind, Op, Tables, Trace};

/// The observations between the invocations of a trace.
///
/// The `comm` rules of an object's type define them. Without such rules, it is unknown what an
/// invocation reveals to its caller. So it observes *all* earlier invocations that it does not
/// commute with. If the object has more than 4,096 invocations, each observes the *last* one,
/// whatever it is, so that all of them stay in their order.
///
/// Invocations inside others count here, too. [`without_internals`](super::without_internals)
/// removes them from a trace.
#[derive(Clone, Debug)]
pub struct SpecifiedCommunication {
    resolver: Resolver,
    /// The state of each object of the resolver.
    objects: Vec<Communicating>,
}

#[derive(Clone, Debug, Default)]
struct Communicating {
    observations: Observations,
    /// The number of invocations in the trace.
    count: u64,
    /// The invocations so far, if the type has no rules and they are not too many.
    earlier: Vec<(u64, Invocation)>,
    last: Option<u64>,
}

const PAIRWISE_MAX: u64 = 4096;

/// The events between two questions whether to go on.
const BETWEEN_POLLS: usize = 1 << 12;

impl SpecifiedCommunication {
    /// Prepares the communication of one trace. Linear time.
    #[must_use]
    pub fn new(types: Types, trace: &Trace) -> SpecifiedCommunication {
        SpecifiedCommunication::new_while(types, trace, &mut || true)
    }

    /// Works like [`new`](Self::new), and asks before each few thousand events whether to go on. If
    /// not, some objects lack a part of their invocations.
    #[must_use]
    pub fn new_while(
        types: Types,
        trace: &Trace,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> SpecifiedCommunication {
        let mut resolver = Resolver::new(types);
        resolver.complete(trace.tables());
        let mut made = SpecifiedCommunication { resolver, objects: Vec::new() };
        let columns = trace.columns();
        for (at, (op, operand)) in columns.ops.iter().zip(&columns.operands).enumerate() {
            if at.is_multiple_of(BETWEEN_POLLS) && !goes_on() {
                break;
            }
            if let Some(object) = made.object(trace.tables(), *op, *operand) {
                made.objects[object as usize].count += 1;
            }
        }
        made
    }

    /// Returns the invocation that an event is, and its object's number and type; `None` if it is
    /// none of a specified object.
    fn call(&self, tables: &Tables, op: Op, operand: u32) -> Option<(u32, &Type, Invocation)> {
        if op.kind() != EventKind::Invoke {
            return None;
        }
        let known = self.resolver.known(tables, operand)?;
        let of_type = known.of_type?;
        let call = self.resolver.call(tables, operand, of_type)?;
        Some((known.object, &self.resolver.types.list[of_type], call))
    }
}

/// An event as an invocation of a specified object, for independent checkers of witnesses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecifiedCall<'c> {
    /// The number of the object.
    pub object: u32,
    /// The specification of its type.
    pub spec: &'c Spec,
    /// The communication rules of its type; `None` if it has none.
    pub comm: Option<&'c Comm>,
    /// The waiting rules of its type; `None` if its invocations always return.
    pub waits: Option<&'c Waits>,
    /// Whether only the methods of the object tell its type: the fourth rule of [`Types`].
    pub is_guessed: bool,
    /// Without `comm`: whether the object has so many invocations that all of them stay in order.
    pub in_order: bool,
    /// The invocation.
    pub invocation: Invocation,
}

impl SpecifiedCommunication {
    /// Returns an event as an invocation; `None` if it is not an invocation of a specified object.
    #[must_use]
    pub fn invocation(&self, tables: &Tables, op: Op, operand: u32) -> Option<SpecifiedCall<'_>> {
        let (object, of_type, invocation) = self.call(tables, op, operand)?;
        Some(SpecifiedCall {
            object,
            is_guessed: self.resolver.known(tables, operand)?.is_guessed,
            spec: &of_type.spec,
            comm: of_type.comm.as_ref(),
            waits: of_type.waits.as_ref(),
            in_order: self.objects.get(object as usize)?.count > PAIRWISE_MAX,
            invocation,
        })
    }
}

impl Communication for SpecifiedCommunication {
    fn object(&mut self, tables: &Tables, op: Op, operand: u32) -> Option<u32> {
        if op.kind() != EventKind::Invoke {
            return None;
        }
        let known = self.resolver.object_of(tables, operand)?;
        if self.objects.len() <= known.object as usize {
            self.objects.resize_with(known.object as usize + 1, Communicating::default);
        }
        known.of_type.map(|_| known.object)
    }

    fn observe(&mut self, tables: &Tables, event: u64, op: Op, operand: u32) -> Vec<Observation> {
        if self.object(tables, op, operand).is_none() {
            return Vec::new();
        }
        let SpecifiedCommunication { resolver, objects } = self;
        let Some(known) = resolver.known(tables, operand) else { return Vec::new() };
        let Some(of_type) = known.of_type else { return Vec::new() };
        let Some(call) = resolver.call(tables, operand, of_type) else { return Vec::new() };
        let of_type = &resolver.types.list[of_type];
        let object = &mut objects[known.object as usize];
        if let Some(comm) = &of_type.comm {
            let observed = object.observations.invoke(comm, event as usize, &call);
            let as_events = observed.into_iter().map(|observed| Observation {
                mode: observed.mode,
                sources: observed.sources.into_iter().map(|source| source as u64).collect(),
            });
            return as_events.collect();
        }
        if object.count > PAIRWISE_MAX {
            let sources = object.last.replace(event).into_iter().collect();
            return vec![Observation { mode: Mode::Last, sources }];
        }
        let against =
            object.earlier.iter().filter(|(_, other)| !of_type.spec.commute(other, &call));
        let sources = against.map(|(source, _)| *source).collect();
        object.earlier.push((event, call));
        vec![Observation { mode: Mode::All, sources }]
    }

    fn matches(&self, tables: &Tables, mode: Mode, earlier: (Op, u32), later: (Op, u32)) -> bool {
        let [earlier, later] = [earlier, later].map(|(op, operand)| self.call(tables, op, operand));
        let (Some(earlier), Some(later)) = (earlier, later) else { return false };
        if earlier.0 != later.0 {
            return false;
        }
        match (&later.1.comm, mode) {
            (Some(comm), _) => comm.matches(mode, &earlier.2, &later.2),
            (None, Mode::Last) => true,
            (None, _) => !later.1.spec.commute(&earlier.2, &later.2),
        }
    }

    fn waits(&self, tables: &Tables, op: Op, operand: u32) -> Option<(&Waits, Invocation)> {
        let (_, of_type, invocation) = self.call(tables, op, operand)?;
        of_type.waits.as_ref().map(|waits| (waits, invocation))
    }
}
