//! Random cases: a command, the inputs that fit it, mutants of them, and options.

use crate::case::{Case, Input, Stated};
use crate::change;
use crate::grammar::CommandOf;
use crate::kind::Kind;
use crate::seeds::Seeds;
use anyorder_common::random::{Random as _, Rng};

mod options;

/// Names that a file may have besides plain ones.
const NAMES: [&str; 4] = ["a\u{202e}b", "-", "x y\u{1b}[31m", "\u{200b}"];

/// A case that is being put together.
pub(crate) struct Draft<'a> {
    pub(crate) rng: Rng,
    pub(crate) seeds: &'a Seeds,
    pub(crate) case: Case,
}

/// Returns the case of that number: the same one for equal seeds of inputs and an equal grammar.
#[must_use]
pub fn case(seed: u64, number: u64, seeds: &Seeds, commands: &[CommandOf]) -> Case {
    let rng = Rng::new(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let empty = Case {
        arguments: Vec::new(),
        inputs: Vec::new(),
        writes: Vec::new(),
        stdin: None,
        stated: Stated::default(),
    };
    let mut draft = Draft { rng, seeds, case: empty };
    let command = &commands[draft.command(commands)];
    draft.case.arguments.push(command.name.clone());
    draft.positions(command);
    draft.options(command);
    draft.beside();
    draft.case
}

impl Draft<'_> {
    /// Commands that read much are chosen more often than those that read nothing.
    fn command(&mut self, commands: &[CommandOf]) -> usize {
        let weight = |command: &CommandOf| match command.name.as_str() {
            "check" => 30,
            "predict" => 20,
            "consistency" | "explore" | "replay" | "certify" => 12,
            "schema" | "completions" | "man" | "explain" => 1,
            "generate" => 2,
            _ => 8,
        };
        let total = commands.iter().map(weight).sum();
        let mut at = self.rng.below(total);
        commands
            .iter()
            .position(|command| {
                let here = at < weight(command);
                at = at.saturating_sub(weight(command));
                here
            })
            .unwrap_or(0)
    }

    /// Adds the arguments without dashes.
    fn positions(&mut self, command: &CommandOf) {
        match command.name.as_str() {
            "check" if self.rng.percent(35) => self.model_and(20, &[Kind::Schedule]),
            "check" => {
                for _ in 0..1 + self.rng.below(3) * self.rng.below(2) {
                    self.any_trace();
                }
            }
            "consistency" if self.rng.percent(80) => drop(self.file(Kind::Edtrace)),
            "info" | "predict" | "consistency" => self.any_trace(),
            "convert" => {
                self.any_trace();
                self.written("converted");
            }
            "why" => {
                self.any_trace();
                for _ in 0..2 {
                    let event = self
                        .rng
                        .pick(&["1", "2", "5", "9", "14", "80", "access:2", "op:9", "e3", "e1"]);
                    self.case.arguments.push(event.to_owned());
                }
            }
            "explore" if self.rng.percent(20) => {}
            "explore" | "simulate" | "graph" => drop(self.file(Kind::Model)),
            "fmt" => {
                drop(self.file(Kind::Model));
                self.case.writes = self.case.arguments[1..].to_vec();
            }
            "shrink" => self.model_and(100, &[Kind::Schedule, Kind::Result]),
            "diff" => {
                self.model_and(100, &[Kind::Schedule, Kind::Result]);
                self.file(Kind::Schedule);
            }
            "replay" if self.rng.percent(50) => {
                self.model_and(100, &[Kind::Schedule, Kind::Result]);
            }
            "replay" => self.with_parent(&[Kind::Witness, Kind::Result]),
            "certify" => self.with_parent(&[
                Kind::Proof,
                Kind::Order,
                Kind::Witness,
                Kind::Schedule,
                Kind::Result,
            ]),
            "schema" | "man" => {}
            _ if !command.words.is_empty() => {
                let word = command.words[self.rng.index(command.words.len())].clone();
                self.case.arguments.push(word);
                if command.name == "generate" {
                    let size = if command.has("--time-limit") && self.rng.percent(10) {
                        1 << self.rng.below(40)
                    } else {
                        self.rng.below(6)
                    };
                    self.case.arguments.extend(["--size".to_owned(), size.to_string()]);
                }
            }
            "explain" => {
                let word = self.rng.pick(&["race", "covered", "\u{202e}x", "", "bag"]);
                self.case.arguments.push(word.to_owned());
            }
            _ => {
                let kind = self.rng.pick(&Kind::ALL);
                self.file(kind);
            }
        }
    }

    fn any_trace(&mut self) {
        let kind = self.rng.pick(&Kind::TRACES);
        self.file(kind);
    }

    /// A model, and in `percent` of the cases a file of one of `kinds` that belongs to it.
    fn model_and(&mut self, percent: u32, kinds: &[Kind]) {
        if !self.rng.percent(percent) {
            self.file(Kind::Model);
            return;
        }
        let kind = self.rng.pick(kinds);
        let of_model = |number: &usize| {
            let of = self.seeds.get(*number).of;
            of.is_some_and(|of| self.seeds.get(of).kind == Kind::Model)
        };
        let all: Vec<usize> = self.seeds.of_kind(kind).iter().copied().filter(of_model).collect();
        self.pair(&all);
    }

    /// A file of one of `kinds`, after the one that it belongs to.
    fn with_parent(&mut self, kinds: &[Kind]) {
        let kind = self.rng.pick(kinds);
        let all = self.seeds.of_kind(kind).to_vec();
        self.pair(&all);
    }

    fn pair(&mut self, all: &[usize]) {
        if all.is_empty() {
            return;
        }
        let child = self.rng.pick(all);
        // A pair in which one file is as it was gets further than one in which both are mutants.
        let changed = self.rng.below(3);
        if let Some(parent) = self.seeds.get(child).of {
            self.put(parent, changed == 0);
        }
        self.put(child, changed != 0);
    }

    /// Adds an input of a kind, mostly a mutant, and its name to the arguments.
    fn file(&mut self, kind: Kind) -> String {
        let name = self.loose(kind);
        self.case.arguments.push(name.clone());
        name
    }

    /// Adds an input that options will name, or that lies beside the others.
    pub(crate) fn loose(&mut self, kind: Kind) -> String {
        let kind = if self.rng.percent(3) { self.rng.pick(&Kind::ALL) } else { kind };
        let seed = self.rng.pick(self.seeds.of_kind(kind));
        let changed = self.rng.percent(85);
        self.put(seed, changed);
        self.case.arguments.pop().unwrap_or_default()
    }

    /// Adds a seed or a mutant of it as an input, and its name to the arguments.
    fn put(&mut self, seed: usize, changed: bool) {
        let seeds = self.seeds;
        let seed = seeds.get(seed);
        let bytes = if changed {
            let other = self.rng.pick(seeds.of_kind(seed.kind));
            change::mutant(&mut self.rng, seed.kind, &seed.bytes, &seeds.get(other).bytes)
        } else {
            seed.bytes.clone()
        };
        let number = self.case.inputs.len();
        let mut name = format!("in{number}.{}", seed.kind.name());
        if self.rng.percent(2) {
            name = format!("{number}{}", self.rng.pick(&NAMES));
        }
        self.case.inputs.push(Input { name: name.clone(), kind: seed.kind, bytes });
        if self.rng.percent(3) && self.case.stdin.is_none() {
            self.case.stdin = Some(name);
            name = "-".to_owned();
        }
        self.case.arguments.push(name);
    }

    /// Adds the name of a file that the run may write.
    fn written(&mut self, name: &str) {
        let name = if self.rng.percent(10) { "-" } else { name };
        self.case.arguments.push(name.to_owned());
        self.case.writes.push(name.to_owned());
    }

    /// Adds the files that commands find by themselves.
    fn beside(&mut self) {
        for (kind, name) in [(Kind::Config, "anyorder.toml"), (Kind::Sites, "sites.tsv")] {
            if self.rng.percent(8) {
                self.loose(kind);
                if let Some(input) = self.case.inputs.last_mut() {
                    let was = std::mem::replace(&mut input.name, name.to_owned());
                    if self.case.stdin.as_ref() == Some(&was) {
                        self.case.stdin = None;
                    }
                }
            }
        }
    }
}
