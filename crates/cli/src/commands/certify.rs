//! `anyorder certify`: checks certificates against their trace or model, without any engine.

use super::predict::specifications;
use crate::args::{AnswerFormat, CertifyArgs, Global};
use crate::failure::{Failure, JobFailure, Usage, hint};
use crate::guard::LastWords;
use crate::input::{self, PeekedInput, SCHEDULE_BYTES_MAX};
use crate::load::{Read, read};
use crate::output::to_stdout;
use crate::watch::Watch;
use anyorder_common::numbers::{agree, plural};
use anyorder_common::text::{Harmless, escape, escape_json, shown};
use anyorder_drive::explore::pipe_program;
use anyorder_drive::model::Model;
use anyorder_drive::{
    CertificateFault, CertificateVerdict, Certified, CertifiedFile, CertifyOptions, TraceCertifier,
    certify_model, certify_program,
};
use anyorder_finding::exit;
use anyorder_system::{Schedule, StopReason};
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file and its certificates.
type Checked = (PathBuf, CertifiedFile);

/// The files that are checked so far, which the guard prints if the job does not end.
#[derive(Clone)]
struct SoFar(Arc<Mutex<(String, Vec<Checked>)>>);

/// Checks all certificates, prints the outcome of each, and returns the exit status.
pub(crate) fn run(args: &CertifyArgs, global: &Global, watch: &Watch) -> Result<ExitCode, Failure> {
    let of_program = args.program.as_ref().map(|command| args.of_program(command));
    let args = of_program.as_ref().unwrap_or(args);
    let standard = Path::new("-");
    let paths = std::iter::once(&args.input).chain(&args.certificates);
    if paths.filter(|path| *path == standard).count() > 1 {
        return Err(Usage::StandardInputTwice.into());
    }
    let so_far = SoFar::new(args, watch);
    let checked = match &args.program {
        Some(command) => of_program_behind(command, args, &so_far, watch),
        None => input::peek(&args.input).map_err(Failure::from).and_then(|peeked| {
            if peeked.is_model(global) {
                of_model(args, peeked, &so_far, watch)
            } else {
                of_trace(args, peeked, &so_far, global, watch)
            }
        }),
    };
    match (checked, watch.stopped()) {
        // A limit that comes while the input is read leaves each certificate undecided.
        (Err(failure), Some(_)) if failure.is_stop() => global.print(&failure.messages()),
        (checked, _) => checked?,
    }
    watch.done();
    let (kind, checked) = so_far.whole(args, watch.stopped());
    let counts = Counts::of(&checked);
    to_stdout(|out| write(args, &kind, &checked, out))?;
    Ok(ExitCode::from(counts.status()))
}

impl SoFar {
    /// Begins, and tells the guard what to print.
    fn new(args: &CertifyArgs, watch: &Watch) -> SoFar {
        let so_far = SoFar(Arc::new(Mutex::new(("unread".to_owned(), Vec::new()))));
        let (shared, args) = (so_far.clone(), args.clone());
        let make = move |reason, _: Option<&Schedule>| {
            let (kind, checked) = shared.whole(&args, Some(reason));
            let mut text = Vec::new();
            write(&args, &kind, &checked, &mut Harmless::new(&mut text)).ok()?;
            Some((text, Counts::of(&checked).status()))
        };
        watch.draft().say_at_last(LastWords { file: None, make: Box::new(make) });
        so_far
    }

    /// Sets what the input is.
    fn input(&self, kind: &str) {
        kind.clone_into(&mut self.locked().0);
    }

    fn add(&self, path: &Path, file: CertifiedFile) {
        self.locked().1.push((path.to_owned(), file));
    }

    /// Returns what the input is, and all files: those that are missing were not checked.
    fn whole(&self, args: &CertifyArgs, stopped: Option<StopReason>) -> (String, Vec<Checked>) {
        let (kind, mut checked) = self.locked().clone();
        if let Some(reason) = stopped {
            let rest = args.certificates.iter().skip(checked.len());
            let rest: Vec<_> =
                rest.map(|path| (path.clone(), CertifiedFile::stopped(reason))).collect();
            checked.extend(rest);
        }
        (kind, checked)
    }

    fn locked(&self) -> MutexGuard<'_, (String, Vec<Checked>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the answer in the form that was asked for.
fn write(
    args: &CertifyArgs,
    kind: &str,
    checked: &[Checked],
    out: &mut dyn Write,
) -> io::Result<()> {
    let counts = Counts::of(checked);
    match args.format {
        AnswerFormat::Text => text(checked, &counts, out),
        AnswerFormat::Json => {
            let value = answer(args, kind, checked, &counts);
            writeln!(out, "{}", escape_json(&value.to_string()))
        }
    }
}

fn of_model(
    args: &CertifyArgs,
    peeked: PeekedInput,
    so_far: &SoFar,
    watch: &Watch,
) -> Result<(), Failure> {
    let text = peeked.model_text(&args.input)?;
    let name = args.input.to_string_lossy();
    let model = Model::compile(&name, &text)?;
    let control = watch.control();
    so_far.input("model");
    each(args, so_far, watch, &|text| certify_model(&model, &name, text, &control))
}

/// Runs the schedules on a program behind a pipe.
fn of_program_behind(
    command: &str,
    args: &CertifyArgs,
    so_far: &SoFar,
    watch: &Watch,
) -> Result<(), Failure> {
    let program = pipe_program(command)?;
    let control = watch.control();
    so_far.input("program");
    each(args, so_far, watch, &|text| certify_program(&program, command, text, &control))
}

fn of_trace(
    args: &CertifyArgs,
    peeked: PeekedInput,
    so_far: &SoFar,
    global: &Global,
    watch: &Watch,
) -> Result<(), Failure> {
    let specifications = Some(specifications(&args.types)?);
    let Read { trace, input } = read(&args.input, peeked, global, watch)?;
    let options = CertifyOptions { mailbox: args.mailbox, specifications };
    let certifier = TraceCertifier::new(&trace, options);
    let control = watch.control();
    control.progress.phase("checking certificates");
    let format = anyorder_formats::detect::Format::from_word(&input.format);
    so_far.input(format.map_or("trace", anyorder_formats::detect::Format::word));
    // A trace that was not read to its end says nothing about its certificates.
    let stopped = watch.stopped();
    let check = |text: &str| match stopped {
        None => certifier.check(text, &control),
        Some(reason) => Ok(CertifiedFile::stopped(reason)),
    };
    each(args, so_far, watch, &check)
}

/// Reads and checks each file. One that cannot be read does not hide the verdicts on the others.
fn each(
    args: &CertifyArgs,
    so_far: &SoFar,
    watch: &Watch,
    check: &dyn Fn(&str) -> Result<CertifiedFile, JobFailure>,
) -> Result<(), Failure> {
    for path in &args.certificates {
        let bytes = input::peek(path).and_then(|file| file.bytes(path, SCHEDULE_BYTES_MAX));
        let file = match bytes.map(String::from_utf8) {
            Ok(Ok(text)) => check(&text)?,
            Ok(Err(_)) => {
                CertifiedFile::unreadable("not UTF-8, expected the text of a certificate")
            }
            Err(failure) => match watch.stopped().filter(|_| failure.is_stop()) {
                Some(reason) => CertifiedFile::stopped(reason),
                None => CertifiedFile::unreadable(&Failure::from(failure).line()),
            },
        };
        so_far.add(path, file);
    }
    Ok(())
}

/// How many certificates hold, do not hold, are none, and were not checked to the end.
#[derive(Default)]
struct Counts {
    holds: u64,
    fails: u64,
    unreadable: u64,
    stopped: u64,
    limits: Vec<&'static str>,
}

impl Counts {
    fn of(checked: &[Checked]) -> Counts {
        let mut counts = Counts::default();
        for certified in checked.iter().flat_map(|(_, file)| &file.certificates) {
            match &certified.verdict {
                CertificateVerdict::Holds { .. } => counts.holds += 1,
                CertificateVerdict::Fails(_) => counts.fails += 1,
                CertificateVerdict::Unreadable(_) => counts.unreadable += 1,
                CertificateVerdict::Stopped(reason) => {
                    counts.stopped += 1;
                    if !counts.limits.contains(&reason.word()) {
                        counts.limits.push(reason.word());
                    }
                }
            }
        }
        counts
    }

    fn status(&self) -> u8 {
        match (self.fails, self.unreadable, self.stopped) {
            (0, 0, 0) => exit::CLEAN,
            (0, 0, _) => exit::LIMIT,
            (0, _, _) => exit::USAGE,
            _ => exit::FINDINGS,
        }
    }
}

fn text(checked: &[Checked], counts: &Counts, out: &mut dyn Write) -> io::Result<()> {
    for (path, file) in checked {
        for one in &file.certificates {
            let place = one.finding.map(|number| format!(", finding {number}"));
            let kind = one.kind.map(|kind| format!(" {}", kind.word())).unwrap_or_default();
            write!(out, "{}{}:{kind} ", shown(path), place.unwrap_or_default())?;
            verdict(&one.verdict, out)?;
        }
        for (number, what) in [
            (file.without, ["comes without a certificate", "come without a certificate"]),
            (
                file.elsewhere,
                [
                    "is about another input, and was not checked",
                    "are about other inputs, and were not checked",
                ],
            ),
        ] {
            if number > 0 {
                let what = agree(number, what);
                writeln!(out, "{}: {} {what}", shown(path), plural(number, "finding"))?;
            }
        }
    }
    writeln!(out, "{}", summary(counts))
}

/// The last line: how many certificates there are, and what became of them.
fn summary(counts: &Counts) -> String {
    let all = counts.holds + counts.fails + counts.unreadable + counts.stopped;
    let parts = [
        (counts.holds, "holds", "hold"),
        (counts.fails, "does not hold", "do not hold"),
        (
            counts.unreadable,
            "is no certificate about the input",
            "are no certificates about the input",
        ),
        (counts.stopped, "was not checked to the end", "were not checked to the end"),
    ];
    let parts = parts.iter().filter(|(number, ..)| *number > 0);
    let parts = parts.map(|(number, one, several)| {
        format!("{number} {}", if *number == 1 { one } else { several })
    });
    format!("{}: {}", plural(all, "certificate"), parts.collect::<Vec<String>>().join(", "))
}

fn verdict(verdict: &CertificateVerdict, out: &mut dyn Write) -> io::Result<()> {
    match verdict {
        CertificateVerdict::Holds { claim, needed } => {
            writeln!(out, "holds\n  {}", escape(claim))?;
            match needed {
                Some(needed) => writeln!(out, "  this holds only if {}", escape(needed)),
                None => Ok(()),
            }
        }
        CertificateVerdict::Fails(fault) => {
            writeln!(out, "does not hold")?;
            write_fault(fault, out)
        }
        CertificateVerdict::Unreadable(fault) => {
            writeln!(out, "is no certificate about this input")?;
            write_fault(fault, out)
        }
        CertificateVerdict::Stopped(reason) => writeln!(out, "was not checked: {reason}"),
    }
}

fn write_fault(fault: &CertificateFault, out: &mut dyn Write) -> io::Result<()> {
    let at = fault.at.as_ref().map(|at| format!("{}: ", escape(at))).unwrap_or_default();
    writeln!(out, "  {at}{}", escape(&fault.reason))?;
    match &fault.hint {
        Some(advice) => writeln!(out, "  hint: {}", escape(&hint(advice))),
        None => Ok(()),
    }
}

fn answer(args: &CertifyArgs, format: &str, checked: &[Checked], counts: &Counts) -> Value {
    let files = checked
        .iter()
        .flat_map(|(path, file)| file.certificates.iter().map(move |one| entry(path, one)));
    let sum = |of: &dyn Fn(&CertifiedFile) -> u64| checked.iter().map(|(_, file)| of(file)).sum();
    let (without, elsewhere): (u64, u64) = (sum(&|file| file.without), sum(&|file| file.elsewhere));
    let mut options = Map::new();
    if let Some(rule) = args.mailbox {
        options.insert("mailbox".to_owned(), rule.word().into());
    }
    json!({
        "schema": 1, "tool": "anyorder", "version": env!("CARGO_PKG_VERSION"), "command": "certify",
        "inputs": [{"path": args.input.to_string_lossy(), "format": format}],
        "options": options,
        "complete": counts.stopped == 0,
        "limits": counts.limits,
        "certificates": files.collect::<Vec<Value>>(),
        "stats": {
            "holds": counts.holds, "fails": counts.fails, "unreadable": counts.unreadable,
            "stopped": counts.stopped, "without": without, "elsewhere": elsewhere,
        },
    })
}

/// One certificate in the JSON.
fn entry(path: &Path, one: &Certified) -> Value {
    let mut entry = json!({ "path": path.to_string_lossy() });
    let mut set = |key: &str, value: Value| {
        entry[key] = value;
    };
    if let Some(number) = one.finding {
        set("finding", number.into());
    }
    if let Some(kind) = one.kind {
        set("kind", kind.word().into());
    }
    match &one.verdict {
        CertificateVerdict::Holds { claim, needed } => {
            set("verdict", "holds".into());
            set("claim", claim.as_str().into());
            if let Some(needed) = needed {
                set("only_if", needed.as_str().into());
            }
        }
        CertificateVerdict::Fails(fault) | CertificateVerdict::Unreadable(fault) => {
            let fails = matches!(one.verdict, CertificateVerdict::Fails(_));
            set("verdict", if fails { "fails" } else { "unreadable" }.into());
            if let Some(at) = &fault.at {
                set("at", at.as_str().into());
            }
            set("reason", fault.reason.as_str().into());
            if let Some(advice) = &fault.hint {
                set("hint", hint(advice).into());
            }
        }
        CertificateVerdict::Stopped(reason) => {
            set("verdict", "stopped".into());
            set("reason", reason.word().into());
        }
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_a_sentence_for_any_count() {
        let of = |holds, fails, unreadable| {
            summary(&Counts { holds, fails, unreadable, ..Counts::default() })
        };
        assert_eq!(of(0, 1, 0), "1 certificate: 1 does not hold");
        assert_eq!(of(2, 0, 0), "2 certificates: 2 hold");
        let several =
            "5 certificates: 1 holds, 2 do not hold, 2 are no certificates about the input";
        assert_eq!(of(1, 2, 2), several);
    }

    #[test]
    fn a_certificate_that_does_not_hold_outweighs_all_else() {
        let of = |fails, unreadable, stopped| {
            Counts { fails, unreadable, stopped, ..Counts::default() }.status()
        };
        assert_eq!([of(0, 0, 0), of(1, 1, 1), of(0, 1, 1), of(0, 0, 1)], [0, 1, 2, 3]);
    }
}
