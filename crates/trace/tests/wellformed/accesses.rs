//! Reads, memory, invocations, and inputs.

use crate::wellformed::{check, problems, trace};
use anyorder_trace::{
    Columns, EventKind, HandlerId, Input, InputFamily, Invocation, Location, Trace, TraceBuilder,
    TraceOrder,
};

#[test]
fn a_read_reads_from_an_earlier_write_of_its_location() {
    let reads = |to: u64| {
        move |b: &mut TraceBuilder, ui: HandlerId, io: HandlerId| {
            b.write(b.initial(io), "x").unwrap();
            b.write(b.initial(io), "y").unwrap();
            b.read(b.initial(ui), "x").unwrap();
            b.write(b.initial(io), "x").unwrap();
            b.read(b.initial(ui), "x").unwrap();
            b.columns.refers.push(4, to);
        }
    };
    check(reads(0), &[]);
    check(reads(3), &[]);
    check(reads(Columns::INITIAL), &[]);
    for (wrong, what) in [
        (1, "reads x from event `2`, which is a write of another location"),
        (2, "reads x from event `3`, which is no write"),
        (4, "reads x from event `5`, which is itself"),
        (5, "reads from an event that is not in the trace"),
    ] {
        check(reads(wrong), &[&format!("!event `5` {what}")]);
    }
    let later = trace(|b, ui, io| {
        b.read(b.initial(ui), "x").unwrap();
        b.columns.refers.push(0, 1);
        b.write(b.initial(io), "x").unwrap();
    });
    assert_eq!(problems(&later), ["!event `1` reads x from event `2`, which is a later write"]);
    // In a partial trace the order of the events has no meaning.
    let mut tables = later.tables().clone();
    tables.meta.order = TraceOrder::Partial;
    assert!(problems(&Trace::new(tables, later.columns().clone())).is_empty());
}

/// Adds a range and returns its operand.
fn range(b: &mut TraceBuilder, address: u64, size: u32) -> u32 {
    b.interner.location(Location::Range { address, size, generation: 0 }).unwrap().0
}

#[test]
fn ranges_that_overlap_are_one_memory() {
    let reads = |address: u64| {
        move |b: &mut TraceBuilder, ui: HandlerId, io: HandlerId| {
            let (written, read) = (range(b, 0x10, 8), range(b, address, 4));
            b.push(b.initial(io), EventKind::Write.into(), written);
            b.push(b.initial(ui), EventKind::Read.into(), read);
            b.columns.refers.push(1, 0);
        }
    };
    check(reads(0x14), &[]);
    check(
        reads(0x18),
        &["!event `2` reads 0x18+4 from event `1`, which is a write of another location"],
    );
}

#[test]
fn memory_is_freed_where_it_was_allocated() {
    let free = |address: u64| {
        move |b: &mut TraceBuilder, ui: HandlerId, io: HandlerId| {
            let (allocated, freed) = (range(b, 0x10, 8), range(b, address, 1));
            b.push(b.initial(io), EventKind::Alloc.into(), allocated);
            b.push(b.initial(ui), EventKind::Free.into(), freed);
        }
    };
    check(free(0x10), &[]);
    check(free(0x14), &["event `2` frees 0x14+1, which is not allocated"]);
    check(
        |b, ui, io| {
            free(0x10)(b, ui, io);
            b.push(b.initial(ui), EventKind::Free.into(), 0);
        },
        &["event `3` frees 0x10+8, which is not allocated"],
    );
}

#[test]
fn the_rest_of_a_run_frees_what_was_allocated_before() {
    let made = trace(|b, ui, _| {
        let freed = range(b, 0x14, 1);
        b.push(b.initial(ui), EventKind::Free.into(), freed);
    });
    assert_eq!(anyorder_trace::wellformed::check(&made).warnings_total, 1);
    assert_eq!(anyorder_trace::wellformed::check_rest(&made).warnings_total, 0);
}

#[test]
fn a_return_has_its_invocation() {
    let invocation = |b: &mut TraceBuilder| {
        let method = b.interner.name("put").unwrap();
        b.interner.push_invocation(Invocation { method, ..Invocation::default() }).unwrap().0
    };
    check(
        |b, ui, io| {
            let put = invocation(b);
            b.push(b.initial(ui), EventKind::Invoke.into(), put);
            b.push(b.initial(io), EventKind::Return.into(), put);
            b.push(b.initial(ui), EventKind::Return.into(), put);
            b.push(b.initial(ui), EventKind::Return.into(), put);
        },
        &[
            "!event `2` returns from `put`, which its task did not invoke",
            "!event `4` returns from `put`, which its task did not invoke",
        ],
    );
}

#[test]
fn an_input_is_enabled_before_it_is_triggered() {
    check(
        |b, ui, io| {
            let click = b.input("click").unwrap();
            b.push(b.initial(ui), EventKind::Trigger.into(), click.0);
            b.push(b.initial(io), EventKind::Enable.into(), click.0);
            b.push(b.initial(ui), EventKind::Trigger.into(), click.0);
        },
        &["event `1` triggers `click`, which was never enabled"],
    );
    // Callbacks of services have other states than the requests that lead to them.
    check(
        |b, ui, _| {
            let service = Input { family: InputFamily::Service, ..Input::default() };
            let service = b.interner.input(service).unwrap();
            b.push(b.initial(ui), EventKind::Trigger.into(), service.0);
        },
        &[],
    );
}
