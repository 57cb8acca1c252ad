//! Which allocation an access or a lock belongs to, in traces as they are read.

use anyorder_formats::std::StdReader;
use anyorder_trace::{Allocated, Allocations, EventId, Trace};
use std::collections::BTreeMap;

#[test]
fn accesses_and_locks_are_of_the_last_allocation_of_their_address() {
    let text = "T|alloc(0x100+16)|a.c:1\nT|w(0x108+8)|a.c:2\nT|acq(0x10f)|a.c:3\nT|r(0x110+1)|a.c:4\n\
        T|free(0x100)|a.c:5\nT|r(0x100+1)|a.c:6\nT|alloc(0x108+64)|a.c:7\nT|w(0x110+4)|a.c:8\n\
        T|w(0x100+4)|a.c:9\nT|w(x)|a.c:10\nT|acq(m)|a.c:11\n";
    let trace = Trace::read(&mut StdReader::new(text.as_bytes())).unwrap();
    let all = (0..trace.len() as u32).map(EventId).collect();
    let places: Vec<String> = Allocations::at(&trace, all)
        .into_iter()
        .map(|(event, place)| format!("{} {}", trace.label(event), place.text(trace.tables())))
        .collect();
    let expected = ["1 a.c:1", "2 a.c:1", "3 a.c:1", "5 a.c:1", "6 a.c:1", "7 a.c:7", "8 a.c:7"];
    assert_eq!(places, expected);
}

#[test]
fn an_allocation_in_a_library_gets_the_next_site_of_its_thread() {
    let sites = "1\t?\toutside\n2\tinit\tq.c:5\n3\twork\tq.c:9\n";
    let text = "T|alloc(0x100+16)|1\nU|w(y)|3\nT|w(0x100+8)|2\nU|r(0x108+4)|3\n";
    let mut reader = StdReader::new(text.as_bytes()).with_sites(sites).unwrap();
    let trace = Trace::read(&mut reader).unwrap();
    let places = Allocations::at(&trace, vec![EventId(2), EventId(3)]);
    let place = Allocated { site: trace.event(EventId(2)).site, before: true };
    assert_eq!(places, BTreeMap::from([(EventId(2), place), (EventId(3), place)]));
    assert_eq!(place.text(trace.tables()), "just before q.c:5 in init");
    assert_eq!(place.phrase(trace.tables()), "just before q.c:5");
}
