//! A page about the failures of a check: one file, without scripts, that loads nothing.

use super::failure::Failure;
use super::passing::Passing;
use super::picture::picture;
use super::source::{Sources, short};
use super::summary::Summary;
use super::table::{failing, passing};
use super::title::at;
use super::trace::TraceObject;
use anyorder_common::files::AtomicFile;
use anyorder_common::text::escape_xml as escape;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::panic::Location;
use std::path::{Path, PathBuf};

const STYLE: &str = include_str!("html.css");

/// Nothing is loaded, and no script runs.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The most failures on a page.
const FAILURES_MAX: usize = 50;

/// With more threads than this, one run is above the other.
const BESIDE_MAX: usize = 2;

/// Writes the page of a check into a folder. Returns what to say about it.
pub(super) fn write(folder: &Path, summary: &Summary, check: &Location<'_>) -> String {
    let test = summary.test.clone();
    let stem = Path::new(check.file()).file_stem().and_then(|stem| stem.to_str());
    let name = test.clone().unwrap_or_else(|| stem.unwrap_or("check").to_owned());
    let path = folder.join(format!("{}-{}.html", file_name(&name), check.line()));
    match save(&path, &page(summary, &name)) {
        Ok(path) => format!("report: {}", path.display()),
        Err(error) => format!("report: {} was not written: {error}", path.display()),
    }
}

fn save(path: &Path, page: &str) -> io::Result<PathBuf> {
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).create(folder)?;
    }
    let mut file = AtomicFile::create(path)?;
    file.write_all(page.as_bytes())?;
    file.commit()?;
    Ok(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// Makes a name that leads to no other folder.
fn file_name(test: &str) -> String {
    let text = test.replace("::", ".");
    let safe = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
    text.chars().take(150).map(safe).collect()
}

fn page(summary: &Summary, name: &str) -> String {
    let name = escape(name);
    let of = |failures: &'_ [Failure]| failures.iter().filter(|one| !one.is_consequence).count();
    let all = summary.failures.len() + summary.failures_weak.len();
    let count = of(&summary.failures) + of(&summary.failures_weak);
    let plural = if count == 1 { "" } else { "s" };
    let executions = summary.executions;
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"/>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
         <meta name=\"color-scheme\" content=\"light dark\"/>\
         <title>{name}: {count} failure{plural}</title>\n<style>{STYLE}</style></head>\n<body>\
         <header class=\"top\"><div class=\"brand\"><b>anyorder</b> <code>{name}</code></div>\
         <span class=\"verdict\">{count} failure{plural}</span>\
         <span class=\"dim\">executions: {executions}</span></header>\n<main>"
    );
    let mut sources = Sources::default();
    let own = summary.failures.iter().map(|failure| (failure, false));
    let weak = summary.failures_weak.iter().map(|failure| (failure, true));
    for shown in own.chain(weak).take(FAILURES_MAX) {
        card(&mut out, shown, summary.test.as_deref(), &mut sources);
    }
    if all > FAILURES_MAX {
        let _ = write!(out, "<p class=\"dim\">… and {} more</p>", all - FAILURES_MAX);
    }
    out.push_str(
        "</main>\n<footer>Time runs from top to bottom. An arrow leads from what was left to who \
         found it: the store that a load returns, the unlock before a lock, the message sent.\
         </footer></body></html>\n",
    );
    out
}

/// The part about a failure, and whether it is one of weak memory, which cannot be replayed.
fn card(
    out: &mut String,
    (failure, is_weak): (&Failure, bool),
    test: Option<&str>,
    sources: &mut Sources,
) {
    let title = failure.title();
    let title = title.strip_prefix(&format!("{}: ", failure.class())).unwrap_or(&title);
    let _ = write!(
        out,
        "<section class=\"card\"><div class=\"title\"><span class=\"chip\">{}</span><h2>{}</h2>",
        escape(failure.class()),
        escape(title)
    );
    let chips = [
        (is_weak, "under weak memory, where a load may return an older store"),
        (failure.is_consequence, "after another panic"),
        (!failure.is_confirmed, "run again, it did not fail"),
    ];
    for (_, chip) in chips.iter().filter(|chip| chip.0) {
        let _ = write!(out, "<span class=\"chip plain\">{chip}</span>");
    }
    out.push_str("</div>");
    let details = failure.details().join("\n");
    if !details.is_empty() {
        let details: Vec<String> = details.lines().map(escape).collect();
        let _ = write!(out, "<pre class=\"details\">{}</pre>", details.join("\n"));
    }
    let is_beside = failure.passing.is_some() && failure.trace.threads.len() <= BESIDE_MAX;
    let _ = write!(out, "<div class=\"runs{}\">", if is_beside { " beside" } else { "" });
    run(out, "The execution that fails", &picture(&failure.trace, &failing(failure), sources));
    if let Some(other) = &failure.passing {
        beside(out, other, sources);
    }
    out.push_str("</div>");
    tables(out, failure);
    if !is_weak {
        let test = test.map(|test| format!(" {test}")).unwrap_or_default();
        let command = format!("ANYORDER_REPLAY='{}' cargo test{test}", failure.replay());
        let command = escape(&command);
        let _ = write!(out, "<h3>Replay</h3><pre class=\"command\">{command}</pre>");
    }
    out.push_str("</section>\n");
}

fn run(out: &mut String, title: &str, picture: &str) {
    let _ = write!(
        out,
        "<div class=\"run\"><h3>{title}</h3><div class=\"scroll\" tabindex=\"0\">{picture}</div></div>"
    );
}

fn beside(out: &mut String, other: &Passing, sources: &mut Sources) {
    let title = "With <span class=\"sign b\">B</span> before <span class=\"sign a\">A</span> it does \
                 not fail";
    run(out, title, &picture(&other.trace, &passing(other, true), sources));
}

/// What the names mean.
fn tables(out: &mut String, failure: &Failure) {
    let trace = &failure.trace;
    let row = |cells: &[&str]| {
        let cell = |cell: &&str| format!("<td class=\"code\">{}</td>", escape(cell));
        format!("<tr>{}</tr>", cells.iter().map(cell).collect::<String>())
    };
    // The data of a lock has the name of the lock.
    let is_inner = |object: &TraceObject| {
        let is_same = |other: &TraceObject| other.made == object.made && other.kind != "cell";
        object.kind == "cell" && trace.objects.iter().any(is_same)
    };
    out.push_str("<div class=\"tables\">");
    let objects: Vec<String> = trace
        .objects
        .iter()
        .filter(|object| object.made.is_some() && !is_inner(object))
        .map(|object| {
            let made = at(object.made.as_ref());
            let type_name = object.type_name.as_deref().unwrap_or("");
            row(&[&object.name, object.kind, type_name, &made])
        })
        .collect();
    if !objects.is_empty() {
        let _ = write!(
            out,
            "<div><h3>Shared</h3><table><tr><th>name</th><th>is</th><th>type</th><th>made at</th></tr>{}\
             </table></div>",
            objects.concat()
        );
    }
    let threads: Vec<String> = trace
        .threads
        .iter()
        .map(|thread| {
            let spawned = thread.spawned.as_ref();
            let spawned = spawned.map(|place| format!("{}:{}", short(&place.file), place.line));
            row(&[&thread.name, spawned.as_deref().unwrap_or("")])
        })
        .collect();
    let _ = write!(
        out,
        "<div><h3>Threads</h3><table><tr><th>name</th><th>spawned at</th></tr>{}</table>\
         </div></div>",
        threads.concat()
    );
}
