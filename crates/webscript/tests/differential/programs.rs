//! Programs written by hand, with the whole syntax.

use super::runner;

/// The programs: each begins with a line `//// name`.
const PROGRAMS: &str = include_str!("programs.js");

#[test]
fn programs_compute_the_same() {
    let programs: Vec<String> = PROGRAMS
        .split("//// ")
        .skip(1)
        .map(|text| {
            let (name, body) = text.split_once('\n').expect("a name");
            let strict = if name.contains("strict") { "'use strict';" } else { "" };
            let word = if name.contains("async") { "async " } else { "" };
            format!("({word}function(out){{{strict}{body}\n}})")
        })
        .collect();
    assert!(programs.len() >= 30, "{}", programs.len());
    if let Some(seen) = runner::compare(&programs) {
        assert!(seen.records > 200 && seen.lines > 150, "{} {}", seen.records, seen.lines);
    }
}

#[test]
fn a_broken_form_is_noticed() {
    let program = "(function(out){let c=0;const f=()=>c++;f();f();out(c,f())})".to_owned();
    let change = |text: String| text.replace(",c++)", ",++c)");
    if let Some((wrong, _)) = runner::differing(&[program], change) {
        assert_eq!(wrong.len(), 1);
    }
}
