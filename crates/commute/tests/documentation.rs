//! The page `docs/commutativity.md` agrees with the crate. `ANYORDER_BLESS=1` rewrites its
//! generated part.

use anyorder_commute::{CheckLimits, built_in_types, check};
use std::fmt::Write as _;
use std::path::PathBuf;

const BEGIN: &str = "<!-- The rest is written by a test: ANYORDER_BLESS=1 cargo test -p anyorder-commute documentation:: -->\n";

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/commutativity.md")
}

fn generated() -> String {
    let mut text = String::new();
    let line = "| type | states | pairs | commute | missed by the coarse one |\n| --- | --- | --- | --- | --- |\n";
    text.push_str(line);
    let limits = CheckLimits { depth_max: 4, states_max: 2_000 };
    for of in built_in_types() {
        let found = |document: anyorder_commute::Document| {
            check(document.spec(of.name).unwrap(), &of, limits)
        };
        let (fine, coarse) = (found(of.fine().unwrap()), found(of.coarse().unwrap()));
        assert!(fine.counterexample.is_none() && fine.imprecise.is_empty());
        let (states, pairs, commuting) = (fine.states, fine.pairs, fine.commuting);
        // Pairs with a method that the coarse specification lacks are missed as well.
        let missed = commuting - (coarse.commuting - coarse.imprecise.len());
        writeln!(text, "| `{}` | {states} | {pairs} | {commuting} | {missed} |", of.name).unwrap();
    }
    for of in built_in_types() {
        let name = of.name;
        let fine = of.item("spec", of.fine);
        write!(text, "\n### `{name}`\n\nFine:\n\n```\n{fine}```\n").unwrap();
        write!(text, "\nCoarse:\n\n```\n{}```\n", of.item("spec", of.coarse)).unwrap();
        write!(text, "\nCommunication:\n\n```\n{}```\n", of.item("comm", of.comm)).unwrap();
        if !of.waits.is_empty() {
            write!(text, "\nWaiting:\n\n```\n{}```\n", of.item("waits", of.waits)).unwrap();
        }
    }
    text
}

#[test]
fn the_page_is_true() {
    let page = page();
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, after) = text.split_once(BEGIN).expect("the page has a generated part");
    let generated = generated();
    if std::env::var_os("ANYORDER_BLESS").is_some() {
        std::fs::write(&page, format!("{before}{BEGIN}{generated}")).unwrap();
        return;
    }
    assert!(after == generated, "docs/commutativity.md is not what ANYORDER_BLESS=1 would write");
}
