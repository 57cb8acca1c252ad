//! The machine and the naive interpreter, step by step on the same model.

use crate::interp::program::{Mutant, Program};
use crate::interp::state::State;
use crate::interp::value::Value;
use crate::interp::{canon, step};
use anyorder_lang::lower;
use anyorder_system::{StateSystem, Successor};
use anyorder_vm::{Action, Machine};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a comparison went through.
#[derive(Default, Debug)]
pub struct Compared {
    pub states: usize,
    pub transitions: usize,
    pub kinds: BTreeSet<&'static str>,
    pub deadlocks: usize,
    pub broken: usize,
    /// States with several forked threads or running `any` tasks, where the comparison stops.
    pub crowds: usize,
    /// The bound was met.
    pub cut: bool,
}

/// Why a comparison ended early.
#[derive(Debug)]
pub enum Difference {
    /// The model was refused.
    Refused(String),
    /// The two differ.
    Found(String),
}

type Pair = (State, anyorder_vm::State);

struct Both {
    p: &'static Program,
    machine: Machine,
    forth: BTreeMap<String, Vec<u8>>,
    back: BTreeMap<Vec<u8>, String>,
    queue: VecDeque<Pair>,
}

/// One side's outcome of a transition, with its key in the pairing.
struct Left {
    key: String,
    sign: String,
    state: State,
}

struct Right {
    key: Vec<u8>,
    sign: String,
    state: anyorder_vm::State,
}

/// Compares on all states up to `bound`.
pub fn compare(text: &str, mutant: Mutant, bound: usize) -> Result<Compared, Difference> {
    let compiled = lower::compile(text, "m.any").map_err(|all| {
        let all: Vec<String> = all
            .iter()
            .map(|d| {
                format!(
                    "{} {:?}: {}",
                    &text[d.primary.span.start as usize..d.primary.span.end as usize],
                    d.code,
                    d.message
                )
            })
            .collect();
        Difference::Refused(all.join("; "))
    })?;
    let p = Program::new(compiled.model, mutant);
    let machine = Machine::new(compiled.program)
        .map_err(|e| Difference::Refused(format!("the machine refuses: {e:?}")))?;
    let (forth, back, queue) = (BTreeMap::new(), BTreeMap::new(), VecDeque::new());
    let mut both = Both { p, machine, forth, back, queue };
    let mut compared = Compared::default();
    both.run(bound, &mut compared).map_err(Difference::Found)?;
    Ok(compared)
}

impl Both {
    fn run(&mut self, bound: usize, compared: &mut Compared) -> Result<(), String> {
        let left: Vec<_> = step::initial(self.p)
            .into_iter()
            .map(|(_, result)| ("init".to_string(), result))
            .collect();
        let start = self.machine.initial().remove(0);
        let shown = self.machine.show(&start);
        let right = if shown.first().is_some_and(|(name, _)| name == "init") {
            self.right(&start)
        } else {
            vec![("init".to_string(), Ok(start))]
        };
        self.pair_up(left, right, compared).map_err(|e| format!("at the start: {e}"))?;
        while let Some((state, other)) = self.queue.pop_front() {
            if compared.states >= bound {
                compared.cut = true;
                return Ok(());
            }
            compared.states += 1;
            self.one(&state, &other, compared).map_err(|e| {
                let mut shown = String::new();
                for (name, value) in self.machine.show(&other) {
                    shown.push_str(&format!("  {name} = {value}\n"));
                }
                format!("{e}\nin the state\n{shown}naive:\n{}", canon::canonical(self.p, &state))
            })?;
        }
        Ok(())
    }

    fn one(
        &mut self,
        state: &State,
        other: &anyorder_vm::State,
        compared: &mut Compared,
    ) -> Result<(), String> {
        let transitions = step::successors(self.p, state);
        compared.transitions += transitions.len();
        let left = transitions.into_iter().map(|t| (t.label, t.result)).collect::<Vec<_>>();
        let right = self.right(other);
        let idle = left.is_empty();
        self.pair_up(left, right, compared)?;
        let finals = (step::is_final(self.p, state), self.machine.is_final(other));
        if finals.0 != finals.1 {
            return Err(format!("final: naive {}, machine {}", finals.0, finals.1));
        }
        compared.deadlocks += usize::from(idle && !finals.0);
        for (i, (name, e)) in self.p.invariants.iter().enumerate() {
            let holds = (step::holds(self.p, state, e), self.machine.holds(i, other));
            if holds.0 != holds.1 {
                return Err(format!("invariant {name}: naive {}, machine {}", holds.0, holds.1));
            }
            compared.broken += usize::from(!holds.0);
        }
        for (i, r) in self.p.responses.iter().enumerate() {
            let trigger = step::observe(self.p, state, &r.trigger, &Default::default());
            let trigger = !matches!(trigger, Ok(Value::Bool(false)));
            let naive = (trigger, step::holds(self.p, state, &r.reaction));
            let machine = self.machine.response(i, other);
            if naive != machine {
                return Err(format!(
                    "response {}: naive {naive:?}, machine {machine:?}",
                    r.name.name
                ));
            }
        }
        Ok(())
    }

    /// The machine's transitions under the names that the naive interpreter gives them.
    fn right(
        &self,
        state: &anyorder_vm::State,
    ) -> Vec<(String, Result<anyorder_vm::State, String>)> {
        let mut all: Vec<Successor<anyorder_vm::State, Action>> = vec![];
        self.machine.successors(state, &mut all);
        all.into_iter()
            .map(|s| {
                let words = self.machine.describe(state, &s.action);
                let result = match s.failure {
                    None => Ok(s.state),
                    Some(line) => Err(kind_of(&line)),
                };
                (label_of(&words), result)
            })
            .collect()
    }

    fn pair_up(
        &mut self,
        left: Vec<(String, Result<State, crate::interp::run::Failure>)>,
        right: Vec<(String, Result<anyorder_vm::State, String>)>,
        compared: &mut Compared,
    ) -> Result<(), String> {
        let mut groups: BTreeMap<String, (Vec<Left>, Vec<Right>)> = BTreeMap::new();
        let mut crowds: BTreeSet<String> = BTreeSet::new();
        type Kinds = BTreeSet<(String, String)>;
        let mut failures: (Kinds, Kinds) = Default::default();
        for (label, result) in left {
            let label = short(&label);
            match result {
                Err(failure) => {
                    compared.kinds.insert(failure.kind);
                    failures.0.insert((label, failure.kind.to_string()));
                }
                Ok(state) => {
                    if is_crowd(&state) {
                        compared.crowds += 1;
                        crowds.insert(label);
                        continue;
                    }
                    let key = canon::canonical(self.p, &state);
                    let sign = naive_sign(&state);
                    let group = &mut groups.entry(label).or_default().0;
                    if group.iter().all(|l| l.key != key) {
                        group.push(Left { key, sign, state });
                    }
                }
            }
        }
        for (label, result) in right {
            match result {
                Err(kind) => {
                    failures.1.insert((label, kind));
                }
                Ok(state) => {
                    let mut key = vec![];
                    self.machine.encode(&state, &mut key);
                    let sign = machine_sign(&self.machine.show(&state));
                    let group = &mut groups.entry(label).or_default().1;
                    if group.iter().all(|r| r.key != key) {
                        group.push(Right { key, sign, state });
                    }
                }
            }
        }
        if failures.0 != failures.1 {
            return Err(format!("failures: naive {:?}, machine {:?}", failures.0, failures.1));
        }
        groups.retain(|label, _| !crowds.contains(label));
        for (label, (left, right)) in groups {
            self.pair_group(left, right).map_err(|e| format!("{label}: {e}"))?;
        }
        Ok(())
    }

    fn pair_group(&mut self, left: Vec<Left>, mut right: Vec<Right>) -> Result<(), String> {
        if left.len() != right.len() {
            let signs = (
                left.iter().map(|l| l.sign.clone()).collect::<Vec<_>>(),
                right.iter().map(|r| r.sign.clone()).collect::<Vec<_>>(),
            );
            return Err(format!(
                "{} against {} states: naive {:?}, machine {:?}",
                left.len(),
                right.len(),
                signs.0,
                signs.1
            ));
        }
        let mut new = vec![];
        for l in left {
            match self.forth.get(&l.key) {
                None => new.push(l),
                Some(key) => match right.iter().position(|r| r.key == *key) {
                    Some(at) => {
                        right.remove(at);
                    }
                    None => {
                        return Err(format!(
                            "the naive state was met before with another one of the machine (the machine distinguishes what is equal, or the steps differ); naive {} machine {:?}",
                            l.key,
                            right.iter().map(|r| self.machine.show(&r.state)).collect::<Vec<_>>()
                        ));
                    }
                },
            }
        }
        new.sort_by(|a, b| a.sign.cmp(&b.sign));
        right.sort_by(|a, b| a.sign.cmp(&b.sign));
        for (l, r) in new.into_iter().zip(right) {
            if l.sign != r.sign {
                return Err(format!("globals: naive {}, machine {}", l.sign, r.sign));
            }
            if let Some(known) = self.back.get(&r.key) {
                return Err(format!(
                    "the machine's state was met before with another naive one (the machine equates what is different, or the steps differ)\n{known}\n{}",
                    l.key
                ));
            }
            self.forth.insert(l.key.clone(), r.key.clone());
            self.back.insert(r.key, l.key);
            self.queue.push_back((l.state, r.state));
        }
        Ok(())
    }
}

/// Whether several processes that have no place in an order are there: the machine keeps them in the order of their creation, which is
/// finer than C1.
fn is_crowd(state: &State) -> bool {
    use crate::interp::state::Pid;
    let refers = |m: &crate::interp::state::Message| {
        let mut any = false;
        m.args.iter().for_each(|arg| arg.each_reference(&mut |_| any = true));
        any
    };
    let mut bags = state.mailboxes.values().map(|m| &m.rest).chain([&state.pool]);
    if bags.any(|bag| bag.len() > 1 && bag.iter().any(refers)) {
        return true;
    }
    state.running.keys().filter(|pid| matches!(pid, Pid::Any(_) | Pid::Fork(_))).count() > 1
}

/// `begin NAME` or `go NAME`.
fn short(label: &str) -> String {
    let words: Vec<&str> = label.split(' ').collect();
    match words[..] {
        ["begin", _, name] => format!("begin {name}"),
        ["go", "on", "with", _, name] => format!("go {name}"),
        _ => label.to_string(),
    }
}

fn label_of(words: &str) -> String {
    let words = words.split(", alternative").next().unwrap_or(words);
    let name: String =
        words.chars().take_while(|c| c.is_alphanumeric() || "_[]-".contains(*c)).collect();
    if words == "init" {
        "init".to_string()
    } else if words.contains(" at m.any") || words.contains(" at ") {
        format!("go {name}")
    } else {
        format!("begin {name}")
    }
}

fn kind_of(line: &str) -> String {
    let table = [
        ("assertion", "assert"),
        ("failure", "fail"),
        ("division by zero", "division"),
        ("no match", "no_match"),
        ("lock not held", "unlock"),
        ("blocking in an atomic body", "blocking"),
        ("impure guard", "effect"),
    ];
    let word = line.split([':']).next().unwrap_or(line);
    let word = word.split(" at ").next().unwrap_or(word);
    table
        .iter()
        .find(|(from, _)| *from == word)
        .map_or(word.to_string(), |(_, to)| (*to).to_string())
}

/// Globals that are ints, bools or null, in words.
fn naive_sign(state: &State) -> String {
    let mut sign = String::new();
    for (name, value) in &state.globals {
        let value = match value {
            Value::Int(n) => n.to_string(),
            Value::Bool(b) => b.to_string(),
            Value::Null => "null".to_string(),
            _ => continue,
        };
        sign.push_str(&format!("{name}={value} "));
    }
    sign
}

fn machine_sign(shown: &[(String, String)]) -> String {
    let mut all: Vec<(&String, &String)> = shown
        .iter()
        .filter(|(name, _)| !name.contains([' ', '.', '(']))
        .filter(|(_, v)| {
            v.parse::<i64>().is_ok() || ["true", "false", "null"].contains(&v.as_str())
        })
        .map(|(n, v)| (n, v))
        .collect();
    all.sort();
    all.iter().map(|(n, v)| format!("{n}={v} ")).collect()
}
