//! A smart home as a front end: rules in a small text, lowered to the machine, and checked for runs
//! that end unsafe.
//!
//! A rule waits in the hub until it runs. Rules that wait at the same time run in any order.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example prints")]

use anyorder_drive::explore::{ExploreOptions, explore};
use anyorder_drive::model::{Model, check_model};
use anyorder_drive::states::CheckOptions;
use anyorder_drive::{CertificateVerdict, JobControl, JobResult, RobustModelOptions};
use anyorder_drive::{certify_model, robust_model, schedule_of};
use anyorder_finding::Harm;
use anyorder_system::{Hash128, ProgramIdentity};
use anyorder_vm::program::{
    EnumId, FuncId, FunctionBuilder, GlobalId, Literal, MailboxKind, Op, PostId, PostTarget,
    Program, ProgramBuilder, ProgramError, Reg,
};
use std::error::Error;

/// The name of the rules in messages and schedules.
const NAME: &str = "home.rules";

/// What the home has, what comes from outside, what it does, and what must not be at the end.
const HOME: &str = "\
device person: away home
device door: locked unlocked
device lamp: off on
input arrive: person home
input leave: person away
rule welcome: when person home then door unlocked
rule light: when door unlocked then lamp on
rule secure: when person away then door locked
never person away, door unlocked
";

/// The same home, which looks again before it opens the door.
const MENDED: (&str, &str) =
    ("when person home then door", "when person home if person home then door");

fn main() -> Result<(), Box<dyn Error>> {
    show("the home", HOME)?;
    show("the home with a condition", &HOME.replace(MENDED.0, MENDED.1))
}

/// Runs the jobs of a model on the rules, and prints their answers.
fn show(title: &str, rules: &str) -> Result<(), Box<dyn Error>> {
    println!("{title}");
    let hash = Some(Hash128::of(rules.as_bytes()));
    let identity = ProgramIdentity { hash, ..ProgramIdentity::new(NAME) };
    let model = Model::from_program(Home::read(rules)?.program()?, identity, Vec::new())?;
    let control = JobControl::default();
    let checked = check_model(&model, &CheckOptions::default(), &control)?.result;
    print("check", &checked);
    let runs = checked.findings.iter().filter_map(|one| one.run.as_ref());
    for step in runs.flat_map(|run| &run.steps) {
        let new: Vec<&str> = step.changes.iter().filter_map(|one| one.new.as_deref()).collect();
        println!("    {}: {}", step.what, if new.is_empty() { "-".into() } else { new.join(", ") });
    }
    print("robust", &robust_model(&model, &RobustModelOptions::default(), &control)?);
    print("explore", &explore(&model, &ExploreOptions::default(), &control)?);
    for schedule in checked.findings.iter().filter_map(|one| schedule_of(&one.finding)) {
        let certified = certify_model(&model, NAME, &schedule.to_json(), &control)?;
        for one in certified.certificates {
            match one.verdict {
                CertificateVerdict::Holds { claim, .. } => println!("  certify: {claim}"),
                other => println!("  certify: {other:?}"),
            }
        }
    }
    Ok(())
}

/// Prints the findings of a job that do harm.
fn print(job: &str, result: &JobResult) {
    assert!(result.limits.is_empty(), "nothing cuts the job");
    let harmful = result.findings.iter().filter(|one| one.finding.harm == Harm::Harmful);
    let titles: Vec<&str> = harmful.map(|one| one.finding.title.as_str()).collect();
    println!(
        "  {job}: {}",
        if titles.is_empty() { "no finding".into() } else { titles.join("; ") }
    );
}

/// A value of a device: the device, and the number of the value.
type Fact = (usize, u16);

/// Rules as they were read. Each has the number of its line.
#[derive(Default)]
struct Home {
    devices: Vec<(String, Vec<String>)>,
    inputs: Vec<(u32, String, Fact)>,
    rules: Vec<(u32, String, Rule)>,
    /// What must not be at the end, each as facts that are true together.
    never: Vec<Vec<Fact>>,
}

/// What a rule waits for, what it checks when it runs, and what it does.
struct Rule {
    when: Fact,
    only_if: Option<Fact>,
    then: Fact,
}

impl Home {
    /// Reads rules, one a line.
    fn read(text: &str) -> Result<Home, String> {
        let mut home = Home::default();
        for (line, words) in (1..).zip(text.lines()) {
            home.line(line, words).ok_or_else(|| format!("line {line}: `{words}`"))?;
        }
        Ok(home)
    }

    fn line(&mut self, line: u32, text: &str) -> Option<()> {
        if let Some(facts) = text.strip_prefix("never ") {
            let facts: Option<Vec<Fact>> = facts.split(", ").map(|fact| self.fact(fact)).collect();
            self.never.push(facts?);
            return Some(());
        }
        let (head, tail) = text.split_once(": ")?;
        match head.split_once(' ')? {
            ("device", name) => {
                let values = tail.split(' ').map(str::to_owned).collect();
                self.devices.push((name.to_owned(), values));
            }
            ("input", name) => self.inputs.push((line, name.to_owned(), self.fact(tail)?)),
            ("rule", name) => {
                let (when, then) = tail.strip_prefix("when ")?.split_once(" then ")?;
                let (when, only_if) = match when.split_once(" if ") {
                    Some((when, only_if)) => (when, Some(self.fact(only_if)?)),
                    None => (when, None),
                };
                let rule = Rule { when: self.fact(when)?, only_if, then: self.fact(then)? };
                self.rules.push((line, name.to_owned(), rule));
            }
            _ => return None,
        }
        Some(())
    }

    /// Reads a device and one of its values.
    fn fact(&self, text: &str) -> Option<Fact> {
        let (device, value) = text.split_once(' ')?;
        let at = self.devices.iter().position(|(name, _)| name == device)?;
        let number = self.devices[at].1.iter().position(|name| name == value)?;
        Some((at, u16::try_from(number).ok()?))
    }

    /// Lowers the rules to a program of the machine.
    fn program(&self) -> Result<Program, ProgramError> {
        let mut lowering = Lowering::new(&self.devices);
        let hub = lowering.builder.handler("hub", MailboxKind::Bag, None);
        let mut posts = Vec::new();
        for (line, name, rule) in &self.rules {
            let body = lowering.body(*line, name, rule.only_if, rule.then);
            let task = lowering.builder.task(name, body, Some(hub));
            posts.push((rule.when, lowering.builder.post(task, PostTarget::Own)));
        }
        for (line, name, fact) in &self.inputs {
            let body = lowering.body(*line, name, None, *fact);
            lowering.builder.once_event(name, body);
        }
        for device in 0..self.devices.len() {
            lowering.define_setter(device, &posts);
        }
        lowering.end_condition(&self.never);
        lowering.builder.finish()
    }
}

/// A device in the program: the type of its values, the variable with its value, and the function
/// that gives it another one.
#[derive(Clone, Copy)]
struct Device {
    values: EnumId,
    value: GlobalId,
    set: FuncId,
}

/// The program while it is built.
struct Lowering {
    builder: ProgramBuilder,
    file: u16,
    devices: Vec<Device>,
}

impl Lowering {
    fn new(devices: &[(String, Vec<String>)]) -> Lowering {
        let mut builder = ProgramBuilder::new("home");
        let file = builder.file(NAME);
        let mut lowered = Vec::new();
        for (name, values) in devices {
            let values: Vec<(&str, u16)> = values.iter().map(|value| (value.as_str(), 0)).collect();
            let values = builder.enumeration(name, &values);
            let value = builder.global(name, Literal::Enum(values, 0, Vec::new()));
            lowered.push(Device { values, value, set: builder.declare_function() });
        }
        Lowering { builder, file, devices: lowered }
    }

    /// The code of a rule or an input: if a fact is true, makes another one true.
    fn body(&mut self, line: u32, name: &str, only_if: Option<Fact>, then: Fact) -> FuncId {
        let mut f = self.builder.function(name, 0);
        f.at(self.builder.site(self.file, line, 1));
        let end = f.label();
        if let Some(fact) = only_if {
            let holds = self.holds(&mut f, fact);
            f.jump_if_not(holds, end);
        }
        let (Device { values: ty, set, .. }, variant) = (self.devices[then.0], then.1);
        let new = f.value(|dst| Op::Enum { dst, ty, variant, args: Reg(0) });
        f.value(|dst| Op::Call { dst, func: set, args: new });
        f.bind(end);
        self.builder.add(f)
    }

    /// Reads a device, and compares its value.
    fn holds(&self, f: &mut FunctionBuilder, (device, variant): Fact) -> Reg {
        let Device { values: ty, value: global, .. } = self.devices[device];
        let src = f.value(|dst| Op::GetGlobal { dst, global });
        f.value(|dst| Op::IsVariant { dst, src, ty, variant })
    }

    /// The code that gives a device a value. If that is another one, it posts the rules that wait
    /// for it.
    fn define_setter(&mut self, at: usize, posts: &[(Fact, PostId)]) {
        let Device { values: ty, value: global, set } = self.devices[at];
        let mut f = self.builder.function("set", 1);
        let (new, end) = (f.param(0), f.label());
        let old = f.value(|dst| Op::GetGlobal { dst, global });
        let same = f.value(|dst| Op::Eq { dst, a: old, b: new });
        f.jump_if(same, end);
        f.emit(Op::SetGlobal { global, src: new });
        for ((_, variant), post) in posts.iter().filter(|((device, _), _)| *device == at) {
            let (variant, other) = (*variant, f.label());
            let waited = f.value(|dst| Op::IsVariant { dst, src: new, ty, variant });
            f.jump_if_not(waited, other);
            f.emit(Op::Post { dst: Reg::NONE, post: *post, args: Reg(0) });
            f.bind(other);
        }
        f.bind(end);
        self.builder.define(set, f);
    }

    /// The program may end where of each list some fact is false.
    fn end_condition(&mut self, never: &[Vec<Fact>]) {
        let mut f = self.builder.function("safe", 0);
        for facts in never {
            let safe = f.label();
            for fact in facts {
                let holds = self.holds(&mut f, *fact);
                f.jump_if_not(holds, safe);
            }
            let no = f.value(|dst| Op::Bool { dst, value: false });
            f.emit(Op::Return { src: no });
            f.bind(safe);
        }
        let yes = f.value(|dst| Op::Bool { dst, value: true });
        f.emit(Op::Return { src: yes });
        let safe = self.builder.add(f);
        self.builder.final_condition(safe);
    }
}
