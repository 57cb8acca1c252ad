//! Models whose failures depend on the state of tasks behind handles. Reduced search, full search
//! and reversals find the failures.

use crate::common;

use common::{file, folder, run};

/// Name and text.
const MODELS: &[(&str, &str)] = &[
    (
        "ended",
        "var p: task? = null, q: task? = null, z = 0; handler h: bag; task t() on h { z += 1; } task u() on h { }\n\
         init { p = post t(); q = post u(); } once event x { p = null; }\n\
         once event j { if p != null { if p == q { fail \"both ended\"; } } } once event k { z += 1; }\n",
    ),
    (
        "early",
        "var p: task? = null, q: task? = null; handler h: bag; task t() on h { }\n\
         init { p = post t(); q = post t(); cancel q; } once event j { if p == q { fail \"both ended\"; } }\n",
    ),
    (
        "list",
        "var p: task? = null, q: task? = null; handler h: bag; task t() on h { }\n\
         init { p = post t(); q = post t(); cancel q; } once event j { if [p] == [q] { fail \"both ended\"; } }\n",
    ),
    (
        "contains",
        "var p: task? = null, q: task? = null; handler h: bag; task t() on h { }\n\
         init { p = post t(); q = post t(); cancel q; } once event j { if [p].contains(q) { fail \"both ended\"; } }\n",
    ),
    (
        "in_list",
        "var p: task? = null, q: task? = null; handler h: bag; task t() on h { }\n\
         init { p = post t(); q = post t(); cancel q; } once event j { if q in [p, null] { fail \"both ended\"; } }\n",
    ),
    (
        "records",
        "record R { p: task?, n: int } var p: task? = null, q: task? = null; handler h: bag; task t() on h { }\n\
         init { p = post t(); q = post t(); cancel q; }\n\
         once event j { let a = R { p: p, n: 1 }; let b = R { p: q, n: 1 }; if a == b { fail \"both ended\"; } }\n",
    ),
    (
        "guard",
        "var p: task? = null, q: task? = null; handler h: bag; task t() on h { }\n\
         init { p = post t(); q = post t(); cancel q; } once event j when p == q { fail \"both ended\"; }\n",
    ),
    (
        "watched",
        "var p: task? = null, q: task? = null; handler h: bag; task t() on h { }\n\
         init { p = post t(); q = post t(); cancel q; } invariant both_ended: p != q;\n",
    ),
];

#[test]
fn what_handles_tell_is_found_by_every_search() {
    let dir = folder();
    for (name, text) in MODELS {
        let path =
            file(&dir, &format!("{name}.any"), format!("model {name}\n{text}final: true;\n"));
        for options in [
            &["check", &path][..],
            &["check", &path, "--no-reduction"],
            &["explore", &path, "--algorithm", "r4", "--bound", "none"],
        ] {
            let ran = run(options);
            assert_eq!(ran.status, 1, "{name} {options:?}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stdout.contains("both"), "{name} {options:?}: {}", ran.stdout);
        }
    }
}
