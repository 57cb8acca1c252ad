//! The `android` family: exact sizes, open pairs, and growth.

use crate::common;

use anyorder_common::union_find::UnionFind;
use anyorder_generate::{
    Counts, Family, Generated, PAPER_ROWS, Request, RunMailbox, generate_sized, generate_with_run,
};
use anyorder_trace::{EventId, EventKind, TaskId, Trace};
use common::{check_sound, replay};

#[test]
fn paper_rows_have_exactly_their_sizes() {
    for row in PAPER_ROWS {
        let Counts { events, messages, handlers } = row.counts;
        for seed in [1, 2] {
            let trace = generate_sized(events, messages, handlers, seed).unwrap();
            assert_eq!(Counts::of(&trace), row.counts, "{}", row.name);
            check_sound(&trace);
        }
    }
}

#[test]
fn any_size_that_is_possible_is_exact() {
    for (events, messages, handlers) in [
        (20, 1, 1),
        (20, 10, 1),
        (20, 10, 2),
        (20, 20, 20),
        (20, 20, 20),
        (500, 200, 100),
        (999, 7, 3),
    ] {
        for mailbox in RunMailbox::ALL {
            let (messages, handlers) = (Some(messages), Some(handlers));
            let request =
                Request { messages, handlers, mailbox, ..Request::new(Family::Android, events) };
            let made = generate_with_run(&request).unwrap();
            let expected = Counts::new(events, messages.unwrap(), handlers.unwrap());
            assert_eq!(Counts::of(&made.trace), expected);
            check_sound(&made.trace);
            let fifo = mailbox == RunMailbox::Fifo;
            assert_eq!(replay(&made.trace, &made.run.unwrap(), fifo), Ok(()), "{request:?}");
        }
    }
}

#[test]
fn impossible_sizes_are_refused() {
    for (events, messages, handlers, expected) in [
        (100, 3, 4, "the number of handlers must be from 1 to 3, not 4"),
        (100, 0, 1, "the number of messages must be from 1 to 100, not 0"),
        (100, 60, 2, "the size of family `android` must be at least 118, not 100"),
        (100, 5, 0, "the number of handlers must be from 1 to 5, not 0"),
        (u64::MAX, u64::MAX, u64::MAX, "may have 50000000"),
        (50, u64::MAX, 1, "the number of messages must be from 1 to 50"),
    ] {
        let error = generate_sized(events, messages, handlers, 1).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    for request in [
        Request { groups: Some(0), ..Request::new(Family::Android, 1_000) },
        Request { groups: Some(40), ..Request::new(Family::Android, 1_000) },
        Request { share: Some(1.5), ..Request::new(Family::Android, 1_000) },
        Request { share: Some(f64::NAN), ..Request::new(Family::Android, 1_000) },
    ] {
        assert!(generate_with_run(&request).is_err(), "{request:?}");
    }
}

/// One looper gets most of the messages, and few accesses are of shared variables.
#[test]
fn the_shape_is_that_of_an_application() {
    let request = Request { messages: Some(1_000), ..Request::new(Family::Android, 100_000) };
    let trace = generate_with_run(&request).unwrap().trace;
    let posted: Vec<TaskId> = trace.task_ids().filter(|t| trace.ran_from_mailbox(*t)).collect();
    let on_ui = posted.iter().filter(|task| trace.handler_name(trace.span(**task).handler) == "ui");
    let part = on_ui.count() as f64 / posted.len() as f64;
    assert!((0.70..0.80).contains(&part), "{part}");
    let mut users: Vec<Vec<TaskId>> = vec![Vec::new(); trace.tables().locations.len()];
    let accesses = || trace.events().filter(|event| event.kind().is_access());
    for event in accesses() {
        if !users[event.operand as usize].contains(&event.task) {
            users[event.operand as usize].push(event.task);
        }
    }
    let shared = accesses().filter(|event| users[event.operand as usize].len() > 1).count();
    let part = shared as f64 / accesses().count() as f64;
    assert!((0.015..0.025).contains(&part), "{part}");
    let nested = trace
        .events()
        .filter(|event| event.kind() == EventKind::Post && trace.ran_from_mailbox(event.task));
    assert!(nested.count() > 300);
}

/// Finds the parts of a trace that only the looper connects, by message. The looper's own first
/// messages are part 0; the others count from 1.
fn parts(trace: &Trace) -> (Vec<usize>, usize) {
    let mut sets = UnionFind::new(trace.tasks_count());
    let ui = trace.task_ids().find(|task| trace.task_name(*task) == "ui").unwrap();
    let mut initial_of = vec![0; trace.tables().handlers.len()];
    for task in trace.task_ids().filter(|task| !trace.ran_from_mailbox(*task)) {
        initial_of[trace.span(task).handler.index()] = task.index();
    }
    let mut join = |a: usize, b: usize| _ = sets.join(a as u32, b as u32);
    let mut first_user = vec![None; trace.tables().locations.len()];
    for event in trace.events() {
        let task = event.task.index();
        match event.kind() {
            EventKind::Post => join(task, event.operand as usize),
            EventKind::Get => {
                let initial = initial_of[event.operand as usize];
                // Messages of a worker belong together; those of the looper do not.
                if initial != ui.index() {
                    join(task, initial);
                }
            }
            _ => {
                let user = *first_user[event.operand as usize].get_or_insert(task);
                join(task, user);
            }
        }
    }
    let start = sets.find(ui.index() as u32);
    let mut numbers = vec![None; trace.tasks_count()];
    numbers[start as usize] = Some(0);
    let mut count = 1;
    let parts = (0..trace.tasks_count())
        .map(|task| {
            let root = sets.find(task as u32);
            *numbers[root as usize].get_or_insert_with(|| {
                count += 1;
                count - 1
            })
        })
        .collect();
    (parts, count)
}

/// Two runs of the trace that disagree on the order of all pairs of messages of the looper in
/// different parts.
fn open_pairs(made: &Generated) -> u64 {
    let trace = &made.trace;
    let (parts, count) = parts(trace);
    let recorded = made.run.as_ref().unwrap();
    let parts = &parts;
    let part_of = |event: EventId| parts[trace.event(event).task.index()];
    let run_of = |order: &[usize]| -> Vec<EventId> {
        let mut place = vec![0; count];
        order.iter().enumerate().for_each(|(number, part)| place[*part] = number);
        let mut run = recorded.clone();
        run.sort_by_key(|event| place[part_of(*event)]);
        run
    };
    let forwards: Vec<usize> = (0..count).collect();
    let backwards: Vec<usize> = std::iter::once(0).chain((1..count).rev()).collect();
    assert_eq!(replay(trace, &run_of(&forwards), true), Ok(()));
    assert_eq!(replay(trace, &run_of(&backwards), true), Ok(()));
    let mut on_ui = vec![0u64; count];
    for task in trace.task_ids().filter(|task| trace.ran_from_mailbox(*task)) {
        if trace.handler_name(trace.span(task).handler) == "ui" {
            on_ui[parts[task.index()]] += 1;
        }
    }
    let total: u64 = on_ui[1..].iter().sum();
    let squares: u64 = on_ui[1..].iter().map(|count| count * count).sum();
    (total * total - squares) / 2
}

#[test]
fn pairs_of_messages_stay_open() {
    let sized = |events, messages, handlers| Request {
        messages: Some(messages),
        handlers: Some(handlers),
        ..Request::new(Family::Android, events)
    };
    assert!(open_pairs(&generate_with_run(&sized(20_000, 500, 8)).unwrap()) > 20_000);
    let made = generate_with_run(&sized(1_000_000, 10_000, 16)).unwrap();
    assert_eq!(Counts::of(&made.trace), Counts::new(1_000_000, 10_000, 16));
    let open = open_pairs(&made);
    println!("{open} open pairs");
    assert!(open >= 10_000_000);
    // Parts beyond the groups are messages that share nothing with others; with one group there are
    // few.
    let one_group = Request { groups: Some(1), share: Some(0.2), ..sized(20_000, 500, 8) };
    assert_eq!(open_pairs(&generate_with_run(&one_group).unwrap()), 0);
}
