//! Invocations of specified types in traces, and the points that they touch.

use anyorder_commute::Spec;
use anyorder_predict::{ClassTable, Point, Specification, Specified, StreamEvent, Types};
use anyorder_trace::{EventKind, Invocation, Mailbox, Trace, TraceBuilder};

pub(crate) fn built_in() -> Types {
    Types::built_in().expect("the built-in types are right")
}

/// Calls of a type as a trace records them: all methods with small arguments and results.
pub(crate) fn calls(b: &mut TraceBuilder, object: &str, spec: &Spec) -> Vec<Invocation> {
    let mut all = Vec::new();
    for method in spec.methods() {
        let arguments: Vec<Vec<u64>> = match method.arity() {
            0 => vec![vec![]],
            1 => (0..3).map(|v| vec![v]).collect(),
            2 => (0..9).map(|v| vec![v / 3, v % 3]).collect(),
            more => vec![vec![0; more]],
        };
        for arguments in arguments {
            for result in [None, Some(0), Some(1), Some(2)] {
                all.push(Invocation {
                    object: b.interner.name(object).expect("room"),
                    method: b.interner.name(method.name()).expect("room"),
                    arguments: arguments.clone(),
                    result,
                });
            }
        }
    }
    all
}

/// A trace of one task that invokes all of these.
pub(crate) fn run_of(mut b: TraceBuilder, calls: &[Invocation]) -> Trace {
    let handler = b.handler("T", Mailbox::None).expect("room");
    let task = b.initial(handler);
    for call in calls {
        let id = b.interner.push_invocation(call.clone()).expect("room");
        b.push(task, EventKind::Invoke.into(), id.0);
    }
    b.finish()
}

/// The points of each event.
pub(crate) fn points(trace: &Trace, specified: &mut Specified) -> Vec<Vec<Point>> {
    let of = |event: anyorder_trace::Event| {
        let mut points = Vec::new();
        let step = StreamEvent::of_event(trace, event.id);
        specified.points(trace.tables(), step, &mut points);
        points
    };
    trace.events().map(of).collect()
}

pub(crate) fn conflict(tables: &[ClassTable], a: &[Point], b: &[Point]) -> bool {
    a.iter().any(|x| {
        b.iter().any(|y| {
            x.cell == y.cell && {
                assert_eq!((x.table, x.object), (y.table, y.object), "a cell has one table");
                tables[usize::from(x.table)].conflicts(x.class, y.class)
            }
        })
    })
}
