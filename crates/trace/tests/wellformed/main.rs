//! Every rule of the well-formedness check: a trace that breaks it, and one that almost does.

use anyorder_trace::{
    EventKind, HandlerId, LabelScheme, Mailbox, Mode, Op, Place, Severity, TaskId, Trace,
    TraceBuilder, wellformed,
};

mod accesses;
mod handlers;
mod locks;
mod tasks;

/// Checks a trace and returns its problems, errors marked with `!`.
fn problems(trace: &Trace) -> Vec<String> {
    let problems = wellformed::check(trace);
    let list: Vec<String> = problems
        .list
        .iter()
        .map(|problem| {
            assert!(problem.place.event.is_some());
            let mark = if problem.severity == Severity::Error { "!" } else { "" };
            format!("{mark}{}", problem.message)
        })
        .collect();
    assert_eq!(list.len() as u64, problems.errors_total + problems.warnings_total);
    list
}

/// Two handlers with mailboxes, `ui` and `io`, and what `make` does with them.
fn trace(make: impl FnOnce(&mut TraceBuilder, HandlerId, HandlerId)) -> Trace {
    let mut b = TraceBuilder::new();
    let ui = b.handler("ui", Mailbox::Fifo).unwrap();
    let io = b.handler("io", Mailbox::Fifo).unwrap();
    make(&mut b, ui, io);
    b.finish()
}

fn check(make: impl FnOnce(&mut TraceBuilder, HandlerId, HandlerId), expected: &[&str]) {
    assert_eq!(problems(&trace(make)), expected);
}

/// Posts a task from the initial task of `from`, runs it, and returns it.
fn run(b: &mut TraceBuilder, from: HandlerId, on: HandlerId, name: &str) -> TaskId {
    let task = b.task(name, on).unwrap();
    b.post(b.initial(from), task).unwrap();
    b.get(task).unwrap();
    task
}

const X: Mode = Mode::EXCLUSIVE;
const S: Mode = Mode::SHARED;

#[test]
fn an_event_belongs_to_a_task_of_the_trace() {
    check(
        |b, ui, _| {
            b.push(TaskId::NONE, EventKind::Begin.into(), 0);
            b.push(TaskId(99), Op::new(EventKind::Acquire, X), 99);
            b.push(b.initial(ui), EventKind::Post.into(), 99);
        },
        &[
            "!event `1` belongs to no task of the trace",
            "!event `2` belongs to no task of the trace",
            "!event `3` posts no task of the trace",
        ],
    );
}

#[test]
fn partly_watched_programs_give_only_warnings() {
    let odd = trace(|b, ui, _| b.release(b.initial(ui), "l", X).map(drop).unwrap());
    let mut tables = odd.tables().clone();
    tables.meta.origin = "droidracer".to_owned();
    let odd = Trace::new(tables, odd.columns().clone());
    assert_eq!(problems(&odd), ["event `1` releases lock `l`, which handler `ui` does not hold"]);
}

#[test]
fn places_have_the_line_where_events_are_labelled_by_line() {
    let odd = trace(|b, ui, _| b.release(b.initial(ui), "l", X).map(drop).unwrap());
    let mut tables = odd.tables().clone();
    tables.meta.labels = LabelScheme::Line;
    let mut columns = odd.columns().clone();
    columns.numbers.push(41);
    let problems = wellformed::check(&Trace::new(tables, columns));
    let place = Place { line: Some(41), event: Some(0), ..Place::default() };
    assert_eq!(problems.list[0].place, place);
    assert!(problems.list[0].message.starts_with("event `41` releases"));
}

#[test]
fn operands_out_of_range_do_not_panic() {
    check_no_panic(u32::MAX);
    check_no_panic(7);
}

fn check_no_panic(operand: u32) {
    let trace = trace(|b, ui, _| {
        let task = b.task("t", ui).unwrap();
        for kind in EventKind::ALL {
            b.push(b.initial(ui), kind.into(), operand);
            b.push(task, kind.into(), operand);
            b.columns.refers.push(b.columns.len() as u32 - 1, u64::from(operand));
        }
    });
    assert!(wellformed::check(&trace).errors_total > 0);
}
