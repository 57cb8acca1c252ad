//! Traces of worked examples.

use crate::script::{Script, script};

/// The image slide-show of R4 (Jensen, Møller, Raychev, Dimitrov, Vechev: "Stateless Model Checking
/// of Event-Driven Applications", OOPSLA 2015, section 2): its first sequence of six events, `e0`
/// to `e5`, as tasks of one handler that takes its tasks in any order.
///
/// `e0` and `e3` append a loaded image to `queue`. The clicks `e1` and `e2` and the timer `e4` take
/// the first image out of it. `e5` has effects that the others do not see. The first click enables
/// the second. The second finds the queue empty and sets the timer. Nothing else is ordered. The
/// accesses to `queue` are labelled by task and kind, such as `e1r` and `e1w`. `shown` is omitted,
/// because only tasks that access `queue` access it too.
#[must_use]
pub fn r4_slides() -> Script {
    script(
        "handler page bag
         handler network none untracked
         handler user none untracked
         task e0 page
         task e1 page
         task e2 page
         task e3 page
         task e4 page
         task e5 page
         burst image2 network
         burst image3 network
         burst statistics network
         burst click1 user
         burst click2 user
         image2 begin
         image2 post e0
         image2 exit
         click1 begin
         click1 post e1
         click1 exit
         click2 begin
         click2 post e2
         click2 exit
         image3 begin
         image3 post e3
         image3 exit
         statistics begin
         statistics post e5
         statistics exit
         e0 get
         e0w: e0 write queue
         e0 end
         e1 get
         e1r: e1 read queue
         e1w: e1 write queue
         e1 enable click2
         e1 end
         e2 get
         e2 trigger click2
         e2r: e2 read queue
         e2 post e4
         e2 end
         e3 get
         e3w: e3 write queue
         e3 end
         e4 get
         e4r: e4 read queue
         e4w: e4 write queue
         e4 end
         e5 get
         e5 write stats
         e5 end",
    )
}

/// The tasks of [`r4_slides`] whose race is uncovered at task level: its relevant conflicts.
pub const R4_UNCOVERED: [(&str, &str); 3] = [("e0", "e1"), ("e2", "e3"), ("e3", "e4")];

/// All pairs of tasks of [`r4_slides`] that race.
pub const R4_RACING: [(&str, &str); 7] = [
    ("e0", "e1"),
    ("e0", "e2"),
    ("e0", "e3"),
    ("e0", "e4"),
    ("e1", "e3"),
    ("e2", "e3"),
    ("e3", "e4"),
];
