//! Exceptions have the places and words that the browser gives them without rewriting.

use super::site::{Logged, SAY};
use crate::common::is_due;
use anyorder_common::random::{Random, Rng};
use anyorder_system::{Choice, Observation, TaskSystem};
use anyorder_testkit::effort::{cases, first_seed};
use anyorder_web::{
    Answer, PageOptions, PageRequest, PageSystem, Response, Rewriter, Store, Unchanged,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Statements that fail, each in its own way.
const FAILING: &[&str] = &[
    "z.x",
    "z.x = 1",
    "o.none()",
    "o.p.none(n, o.p)",
    "u()",
    "missing",
    "missing.x()",
    "new o.none(1)",
    "throw new Error('own')",
    "o.f(o.p.q).x.y",
    "for (const x of n);",
    "f(1)(2)",
    "l[0]()",
    "l[n].m()",
    "o['none']()",
    "null.x",
    "k = 1; const k = 2",
    "captured.x(); function g() { captured = 1 } var captured",
    "f(() => o.p.q, z.x)",
    "document.none()",
    "document.body.appendChild(n)",
    "decodeURIComponent('%')",
];

/// What comes before them in their lines.
const BEFORE: &[&str] =
    &["n = o.a + 1;", "o.a += l[n] ?? 0;", "w = 'ö😀' + o.p;", "f(o.p, (w, n));", ""];

/// What they are in; `#` is their place.
const AROUND: &[&str] = &[
    "#",
    "(() => { # })()",
    "function t() { w = o.p; # } t()",
    "if (o.a) { # }",
    "try { o.p.none() } finally { # }",
    "(async () => { await o.p; # })()",
    "setTimeout(() => { #\n }, 1)",
    "try { # } catch (e) { console.error(e); throw e }",
    "try { # } catch (e) { console.error('at ' + e.stack); throw e }",
];

const START: &str = "<script>var z = null, n = 1, w, u, l = [1, 2],
    o = { a: 1, p: {}, f() {} }, f = (x) => x;</script>";

fn choose<'t>(rng: &mut Rng, list: &[&'t str], counts: &mut BTreeMap<&'t str, u32>) -> &'t str {
    let one = list[rng.below(list.len() as u64) as usize];
    *counts.entry(one).or_default() += 1;
    one
}

/// Returns scripts, and how often each part occurs.
fn scripts(seed: u64, count: usize) -> (Vec<String>, BTreeMap<&'static str, u32>) {
    let mut rng = Rng::new(seed);
    let mut counts = BTreeMap::new();
    let script = |_| {
        let mut part = |list| choose(&mut rng, list, &mut counts);
        let failing = format!("{} {}", part(BEFORE), part(FAILING));
        let text = part(AROUND).replace('#', &failing);
        format!("{} {text}", part(BEFORE))
    };
    let scripts = (0..count).map(script).collect();
    (scripts, counts)
}

/// Runs a page; returns its exceptions with their places, and what its console says.
fn said(page: &str, files: &[String], rewriter: Arc<dyn Rewriter>) -> (Vec<String>, Observation) {
    let (page, files) = (page.to_owned(), files.to_vec());
    let source = move |request: &PageRequest| {
        let path = request.url.trim_start_matches("http://localhost/");
        let file = path.trim_end_matches(".js").parse::<usize>().ok();
        Answer::Response(match file.and_then(|file| files.get(file)) {
            Some(text) => Response::new(200, "text/javascript; charset=utf-8", text.as_bytes()),
            None => Response::new(200, "text/html; charset=utf-8", page.as_bytes()),
        })
    };
    let options = PageOptions { pixels: false, ..PageOptions::default() };
    let store = Store::new(Box::new(source));
    let mut page = PageSystem::start(options, store, rewriter).expect("the page opens");
    let mut failures = Vec::new();
    while let Some(next) = page.enabled().expect("events").into_iter().next() {
        let step = page.execute(&Choice::of(next.task)).expect("a step");
        failures
            .extend(step.failures.iter().map(|one| format!("{} at {:?}", one.message, one.site)));
    }
    // Scripts come in order, but not the reports of their promises.
    failures.sort();
    (failures, page.observe().expect("an outcome"))
}

#[test]
fn exceptions_have_the_columns_of_the_texts_as_they_were() {
    if !is_due(66) {
        return;
    }
    let (seed, count) = (first_seed(), cases(300) as usize);
    println!("seed {seed}, {count} scripts");
    let (scripts, counts) = scripts(seed, count);
    for part in FAILING.iter().chain(BEFORE).chain(AROUND) {
        assert!(counts.contains_key(part), "{part}");
    }
    let (inline, files) = scripts.split_at(count / 2);
    // Several to a line.
    let inline: Vec<String> = inline
        .chunks(3)
        .map(|some| format!("<script>{}</script>", some.join("</script><b id=x></b><script>")))
        .collect();
    let files_of: String =
        (0..files.len()).map(|file| format!("<script src=/{file}.js></script>")).collect();
    let page = format!("{SAY}{START}{}{files_of}", inline.join("\n"));
    let (expected, before) = said(&page, files, Arc::new(Unchanged));
    let (found, after) = said(&page, files, Arc::new(Logged::default()));
    assert!(expected.len() >= count / 2, "{}", expected.len());
    let wrong: Vec<(&String, &String)> =
        expected.iter().zip(&found).filter(|(one, other)| one != other).collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), expected.len());
    assert_eq!(expected.len(), found.len());
    let console = |outcome: &Observation| {
        let parts = outcome.parts().filter(|(path, _)| path.names()[0] == "console");
        parts.map(|(path, _)| path.to_string()).collect::<Vec<String>>()
    };
    let (before, after) = (console(&before), console(&after));
    let pairs = before.iter().zip(&after);
    let wrong: Vec<(&String, &String)> = pairs.filter(|(one, other)| one != other).collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), before.len());
    assert!(after.len() > 4, "{after:?}");
}
