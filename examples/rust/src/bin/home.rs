//! A front end for the rules of a smart home, `home FILE...`: it reads files, lowers each to a
//! program of the machine, and runs three jobs on it. Without files it takes its own two.
//!
//! ```text
//! sensor motion: off, on, off    # an input: off at first, then on, then off, each at any time
//! mode house: day, night         # an input, too
//! device light: off, on          # off at first
//! rule evening: when house is night then light is on, after 5 min: light is off
//! never house is day and light is on    # in no state
//! finally never light is on             # not where nothing can happen any more
//! ```

#![forbid(unsafe_code)]

use anyorder_common::text::escape;
use anyorder_drive::explore::{ExploreOptions, explore};
use anyorder_drive::model::{Model, check_model, replay_model};
use anyorder_drive::states::CheckOptions;
use anyorder_drive::{CertificateVerdict::Holds, Collected, JobControl, RobustModelOptions};
use anyorder_drive::{certify_model, robust_model, robust_verdict, schedule_of};
use anyorder_finding::{Input, Policy};
use anyorder_report::terminal::{self, TextOptions};
use anyorder_system::{Control, Hash128, Limits, ProgramIdentity};
use anyorder_vm::program::{
    Component, EnumId, FuncId, FunctionBuilder, GlobalId, HandlerId, Label, Literal, MailboxKind,
    Op, Post, PostTarget, Program, ProgramBuilder, Reg, TaskId,
};
use std::{collections::HashSet, env, error::Error, fs, io, io::Write, iter, process::ExitCode};

/// A thing has a value: the number of the thing, and that of the value.
type Fact = (usize, u16);

/// The kinds of things: two of inputs, and what rules set.
const KINDS: [&str; 3] = ["sensor", "mode", "device"];

/// A sensor, a mode or a device, as it was read and as a variable of the program.
struct Thing {
    kind: String,
    name: String,
    values: Vec<String>,
    variable: (GlobalId, EnumId),
}

/// What was read, and the program of it. Inputs become events. Rules become tasks of the hub, which
/// takes them in any order. What they do later becomes tasks of the clock.
struct Home {
    builder: ProgramBuilder,
    hub: HandlerId,
    clock: HandlerId,
    names: HashSet<String>,
    things: Vec<Thing>,
    /// The fact that each event makes true, and its function, which posts the rules that wait.
    events: Vec<(Fact, FuncId, FunctionBuilder)>,
    /// What must not hold in the end, each with its line.
    finally: Vec<(u32, Vec<Fact>)>,
}

/// Returns an error. The caller adds the line.
fn expected<T>(what: &str, found: &str) -> Result<T, String> {
    Err(format!("expected {what}, found {:?}", found.trim()))
}

/// Cuts a text in two at a word.
fn cut<'a>(text: &'a str, at: &str) -> Result<(&'a str, &'a str), String> {
    text.split_once(at).map_or_else(|| expected(&format!("`{}`", at.trim()), text), Ok)
}

/// Reads a name.
fn word(text: &str) -> Result<String, String> {
    let name = text.trim();
    let is_word = !name.is_empty() && !name.contains([' ', '\t', ':', ',']);
    if is_word { Ok(name.to_owned()) } else { expected("a name of one word", name) }
}

impl Home {
    /// Reads a file.
    fn read(name: &str, text: &str) -> Result<Program, String> {
        let mut builder = ProgramBuilder::new(name);
        builder.file(name);
        let hub = builder.handler("hub", MailboxKind::Bag, None);
        let clock = builder.handler("clock", MailboxKind::Delayed, None);
        let (names, things, events, finally) = Default::default();
        let mut home = Home { builder, hub, clock, names, things, events, finally };
        for (line, text) in (1..).zip(text.lines()) {
            let text = format!("{} ", text.split('#').next().unwrap_or_default().trim());
            home.line(line, &text).map_err(|error| format!("line {line}: {error}"))?;
        }
        let holds = home.none_of(&home.finally.clone());
        home.builder.final_condition(holds);
        for (_, function, f) in home.events {
            home.builder.define(function, f);
        }
        home.builder.finish().map_err(|error| error.to_string())
    }

    /// Reads a line.
    fn line(&mut self, line: u32, text: &str) -> Result<(), String> {
        let (kind, rest) = text.split_once(' ').unwrap_or_default();
        match kind {
            "" => {}
            "sensor" | "mode" | "device" => self.thing(line, kind, rest)?,
            "rule" => self.rule(line, rest)?,
            "never" => {
                let holds = self.none_of(&[(line, self.facts(rest, &KINDS)?)]);
                self.builder.invariant(text.trim(), holds);
            }
            "finally" => self.finally.push((line, self.facts(cut(rest, "never ")?.1, &KINDS)?)),
            _ => expected("`sensor`, `mode`, `device`, `rule`, `never` or `finally`", kind)?,
        }
        Ok(())
    }

    /// Reads a thing. The other values of an input come in turn, each with an event.
    fn thing(&mut self, line: u32, kind: &str, text: &str) -> Result<(), String> {
        let (name, list) = cut(text, ":")?;
        let name = self.new_name(name)?;
        let values: Vec<_> = list.split(',').map(word).collect::<Result<_, _>>()?;
        let variants: Vec<_> = values.iter().map(|value| (value.as_str(), 0)).collect();
        let ty = self.builder.enumeration(&name, &variants);
        let variable = (self.builder.global(&name, Literal::Enum(ty, 0, Vec::new())), ty);
        self.things.push(Thing { kind: kind.to_owned(), name: name.clone(), values, variable });
        let mut before = None;
        for value in list.split(',').map(str::trim).skip(1).filter(|_| kind != "device") {
            let fact = self.fact(&format!("{name} is {value}"), &KINDS)?;
            let mut f = self.builder.function(&name, 0);
            f.at(self.builder.site(0, line, 1));
            self.set(&mut f, fact);
            let function = self.builder.declare_function();
            self.events.push((fact, function, f));
            let event = self.builder.once_event(&format!("{name}_{value}"), function);
            let added = self.builder.event_mut(event).ok_or("expected fewer events")?;
            added.after.extend(before.replace(event));
        }
        Ok(())
    }

    /// Reads a rule. The event of its first fact posts its task, which tests all facts.
    fn rule(&mut self, line: u32, text: &str) -> Result<(), String> {
        let (name, rest) = cut(text, ": when ")?;
        let (when, actions) = cut(rest, " then ")?;
        let (name, when) = (self.new_name(name)?, self.facts(when, &KINDS[..2])?);
        let mut f = self.builder.function(&name, 0);
        let (no, mut functions) = (self.test(&mut f, line, &when), Vec::new());
        for action in actions.split(',') {
            let Some(later) = action.trim_start().strip_prefix("after ") else {
                self.set(&mut f, self.fact(action, &KINDS[2..])?);
                continue;
            };
            let (minutes, fact) = cut(later, " min: ")?;
            let minutes = minutes.parse().or_else(|_| expected("a number up to 65535", minutes))?;
            let mut body = self.builder.function(&name, 0);
            body.at(self.builder.site(0, line, 1));
            self.set(&mut body, self.fact(fact, &KINDS[2..])?);
            let body = self.builder.add(body);
            functions.push(body);
            let task = self.builder.task(&format!("{name}_later"), body, Some(self.clock));
            post(&mut self.builder, &mut f, task, minutes);
        }
        f.bind(no);
        let body = self.builder.add(f);
        functions.push(body);
        let task = self.builder.task(&name, body, Some(self.hub));
        for (_, _, event) in self.events.iter_mut().filter(|(fact, ..)| *fact == when[0]) {
            post(&mut self.builder, event, task, 0);
        }
        // What one rule sets, another one must not overwrite.
        self.builder.component(Component { name, functions });
        Ok(())
    }

    /// Reads the name of a new thing or rule.
    fn new_name(&mut self, text: &str) -> Result<String, String> {
        let name = word(text)?;
        if self.names.insert(name.clone()) { Ok(name) } else { expected("a new name", &name) }
    }

    /// Reads facts with `and` between them. The first one is about a thing of these kinds.
    fn facts(&self, text: &str, kinds: &[&str]) -> Result<Vec<Fact>, String> {
        let kinds = iter::once(kinds).chain(iter::repeat(&KINDS[..]));
        text.split(" and ").zip(kinds).map(|(fact, kinds)| self.fact(fact, kinds)).collect()
    }

    /// Reads a fact about a thing of these kinds.
    fn fact(&self, text: &str, kinds: &[&str]) -> Result<Fact, String> {
        let (name, value) = cut(text, " is ").map(|(name, value)| (name.trim(), value.trim()))?;
        let is_it = |thing: &Thing| thing.name == name && kinds.contains(&&*thing.kind);
        let Some(at) = self.things.iter().position(is_it) else {
            return expected(&format!("a known {}", kinds.join(" or ")), name);
        };
        let values = &self.things[at].values;
        match values.iter().position(|one| *one == value).map(u16::try_from) {
            Some(Ok(number)) => Ok((at, number)),
            _ => expected(&format!("`{}`", values.join("` or `")), value),
        }
    }

    /// The code that goes to a new label unless all facts hold.
    fn test(&mut self, f: &mut FunctionBuilder, line: u32, facts: &[Fact]) -> Label {
        f.at(self.builder.site(0, line, 1));
        let no = f.label();
        for &(thing, variant) in facts {
            let (global, ty) = self.things[thing].variable;
            let src = f.value(|dst| Op::GetGlobal { dst, global });
            let holds = f.value(|dst| Op::IsVariant { dst, src, ty, variant });
            f.jump_if_not(holds, no);
        }
        no
    }

    /// The code that makes a fact true.
    fn set(&self, f: &mut FunctionBuilder, (thing, variant): Fact) {
        let (global, ty) = self.things[thing].variable;
        let src = f.value(|dst| Op::Enum { dst, ty, variant, args: Reg(0) });
        f.emit(Op::SetGlobal { global, src });
    }

    /// Adds a function that returns whether no list of facts holds.
    fn none_of(&mut self, lists: &[(u32, Vec<Fact>)]) -> FuncId {
        let mut f = self.builder.function("never", 0);
        for (line, facts) in lists {
            let no = self.test(&mut f, *line, facts);
            let src = f.value(|dst| Op::Bool { dst, value: false });
            f.emit(Op::Return { src });
            f.bind(no);
        }
        let src = f.value(|dst| Op::Bool { dst, value: true });
        f.emit(Op::Return { src });
        self.builder.add(f)
    }
}

/// The code that posts a task. Only the clock keeps the delay.
fn post(builder: &mut ProgramBuilder, f: &mut FunctionBuilder, task: TaskId, minutes: u16) {
    let delay = f.value(|dst| Op::Int { dst, value: minutes.into() });
    let post = builder.post_with(Post { task, target: PostTarget::Own, delay, front: false });
    f.emit(Op::Post { dst: Reg::NONE, post, args: Reg(0) });
}

/// Runs the jobs on a file. Writes what they find, and whether a schedule shows it again.
fn show(name: &str, text: &str) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    let mut identity = ProgramIdentity::new(name);
    identity.hash = Some(Hash128::of(text.as_bytes()));
    let model = Model::from_program(Home::read(name, text)?, identity, Vec::new())?;
    // A time limit would be a thread that stops the token `cancel` of the control.
    let limits = Limits { executions: Some(100_000), memory_bytes: Some(1 << 28), steps: None };
    let control = JobControl::from(Control { limits, ..Control::default() });
    let policy = Policy::default();
    let jobs = [
        ("check", check_model(&model, &CheckOptions::default(), &control)?.result),
        ("robust", robust_model(&model, &RobustModelOptions::default(), &control)?),
        ("explore", explore(&model, &ExploreOptions::default(), &control)?),
    ];
    writeln!(out, "{}", escape(name))?;
    for (job, result) in jobs {
        let mut all = Collected::new(job, env!("CARGO_PKG_VERSION"));
        all.add(vec![Input::new(name.as_ref(), "home")], result);
        let (mut outcome, runs) = all.finish();
        outcome.judge(&policy);
        if job == "robust" {
            outcome.verdict = robust_verdict(&outcome, &policy);
        }
        writeln!(out, "  {job}: {}", outcome.verdict)?;
        for finding in &outcome.findings {
            write!(out, "    {}: {}", finding.severity, escape(&finding.title))?;
            if let Some(schedule) = schedule_of(finding) {
                let made = certify_model(&model, name, &schedule.to_json(), &control)?;
                let holds = made.certificates.iter().any(|one| matches!(one.verdict, Holds { .. }));
                let replayed = replay_model(&model, &schedule)?.verdict.words();
                write!(out, "; schedule holds: {holds}; replay: {replayed}")?;
            }
            writeln!(out)?;
        }
        if job == "check" && !outcome.findings.is_empty() {
            outcome.findings.truncate(1);
            terminal::write(&outcome, &policy, &runs, &TextOptions::default(), &mut out)?;
        }
    }
    Ok(())
}

/// Shows each file. Ends with status 2 after an error.
fn main() -> ExitCode {
    let paths = env::args_os().skip(1).map(|path| (path.to_string_lossy().into_owned(), path));
    let mut files: Vec<_> = paths.map(|(name, path)| (name, fs::read_to_string(path))).collect();
    if files.is_empty() {
        let own = |name: &str, text: &str| (name.to_owned(), Ok(text.to_owned()));
        files.push(own("conflict.home", include_str!("../../homes/conflict.home")));
        files.push(own("clean.home", include_str!("../../homes/clean.home")));
    }
    for (name, text) in files {
        if let Err(error) = text.map_err(Into::into).and_then(|text| show(&name, &text)) {
            _ = writeln!(io::stderr(), "{}", escape(&format!("{name}: {error}")));
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
