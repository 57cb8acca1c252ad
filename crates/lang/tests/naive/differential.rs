//! The machine and the naive interpreter, step by step on the same model.

use crate::naive::colours::{self, Verdict};
use crate::naive::interp::program::{Mutant, Program};
use crate::naive::interp::state::State;
use crate::naive::interp::{canon, ends, step};
use crate::naive::words;
use anyorder_lang::lower;
use anyorder_system::{Offers, StateSystem, Successor};
use anyorder_vm::{Action, Machine};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// No more states than this are coloured: `NAIVE_COLOURED` asks for more.
const COLOURED_MAX: usize = 1_000;

/// What a comparison went through.
#[derive(Default, Debug)]
pub struct Compared {
    pub states: usize,
    pub transitions: usize,
    pub kinds: BTreeSet<&'static str>,
    pub deadlocks: usize,
    /// Ends with transitions that need not come.
    pub rests: usize,
    pub broken: usize,
    /// Whether what looked alike was decided by colours of the whole graphs.
    pub coloured: bool,
    /// Whether what looked alike was left undecided: too many states.
    pub undecided: bool,
    /// Steps in which one side met a limit that the page leaves to the machine (A3).
    pub limits: usize,
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
    /// The naive state of each one of the machine, and the same with all threads begun.
    back: BTreeMap<Vec<u8>, (String, String)>,
    queue: VecDeque<Pair>,
    /// T11: classes of fairness by both names.
    classes: BTreeMap<String, usize>,
    /// Several results of one label looked alike, also two steps later.
    guessed: bool,
}

/// A transition of the naive interpreter, and one of the machine: label, class of fairness, result.
type Naive = (String, Option<String>, Result<State, crate::naive::interp::run::Failure>);
type Actual = (String, Option<usize>, Result<anyorder_vm::State, String>);

/// Failures by label and kind.
type Kinds = BTreeSet<(String, String)>;

/// One side's outcome of a transition, with its key in the pairing.
struct Left {
    key: String,
    sign: Vec<String>,
    ahead: Vec<String>,
    state: State,
}

struct Right {
    key: Vec<u8>,
    sign: Vec<String>,
    ahead: Vec<String>,
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
    let p = Program::new(compiled.model, compiled.tables.one_step, mutant);
    let machine = Machine::new(compiled.program)
        .map_err(|e| Difference::Refused(format!("the machine refuses: {e:?}")))?;
    let (forth, back, queue) = (BTreeMap::new(), BTreeMap::new(), VecDeque::new());
    let mut both =
        Both { p, machine, forth, back, queue, classes: BTreeMap::new(), guessed: false };
    let mut compared = Compared::default();
    let Err(found) = both.run(bound, &mut compared) else { return Ok(compared) };
    if !both.guessed {
        return Err(Difference::Found(found));
    }
    let max = std::env::var("NAIVE_COLOURED").ok().and_then(|n| n.parse().ok());
    match colours::compare(p, &both.machine, max.unwrap_or(COLOURED_MAX)) {
        Verdict::Same => compared.coloured = true,
        Verdict::Cut => compared.undecided = true,
        Verdict::Different(what) => return Err(Difference::Found(format!("{found}\n{what}"))),
    }
    Ok(compared)
}

impl Both {
    fn run(&mut self, bound: usize, compared: &mut Compared) -> Result<(), String> {
        let left = vec![("init".to_string(), None, Ok(step::initial(self.p)))];
        let right = vec![("init".to_string(), None, Ok(self.machine.initial().remove(0)))];
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
        let end = ends::is_end(&transitions);
        let mut all = vec![];
        self.machine.successors(other, &mut all);
        let offers = Offers::of(all.iter().map(|one| self.machine.is_optional(&one.action)));
        if end != offers.is_end() {
            return Err(format!("an end: naive {end}, machine {}", offers.is_end()));
        }
        if end && !transitions.is_empty() {
            let rests = (ends::may_rest(self.p, state), self.machine.may_rest(other));
            if rests.0 != rests.1 {
                return Err(format!("may rest: naive {}, machine {}", rests.0, rests.1));
            }
            compared.rests += 1;
        }
        let left =
            transitions.into_iter().map(|t| (t.label, t.class, t.result)).collect::<Vec<_>>();
        let right = self.right(other);
        let idle = left.is_empty();
        self.pair_up(left, right, compared)?;
        let finals = (step::is_final(self.p, state), self.machine.is_final(other));
        if finals.0 != finals.1 {
            return Err(format!("final: naive {}, machine {}", finals.0, finals.1));
        }
        let stuck = (step::is_stuck(self.p, state), self.machine.is_stuck(other));
        if stuck.0 != stuck.1 {
            return Err(format!("stuck: naive {}, machine {}", stuck.0, stuck.1));
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
            let naive = step::response(self.p, state, r);
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
    fn right(&self, state: &anyorder_vm::State) -> Vec<Actual> {
        let mut all: Vec<Successor<anyorder_vm::State, Action>> = vec![];
        self.machine.successors(state, &mut all);
        all.into_iter()
            .map(|s| {
                let said = self.machine.describe(state, &s.action);
                let result = match s.failure {
                    None => Ok(s.state),
                    Some(line) => Err(kind_of(&line.to_string())),
                };
                (label_of(&said), self.machine.fair_class(&s.action), result)
            })
            .collect()
    }

    /// T11: the classes that a label has on both sides.
    fn pair_classes(&mut self, left: &[Naive], right: &[Actual]) -> Result<(), String> {
        type Classes<'a> = (BTreeSet<Option<&'a str>>, BTreeSet<Option<usize>>);
        let mut by_label: BTreeMap<&str, Classes<'_>> = BTreeMap::new();
        for (label, class, _) in left {
            by_label.entry(label).or_default().0.insert(class.as_deref());
        }
        for (label, class, _) in right {
            by_label.entry(label).or_default().1.insert(*class);
        }
        for (label, (naive, machine)) in by_label {
            // Labels that one side lacks are told elsewhere.
            if naive.is_empty() || machine.is_empty() {
                continue;
            }
            let known = naive.iter().flatten().filter_map(|name| self.classes.get(*name));
            let missing = known.copied().any(|class| !machine.contains(&Some(class)));
            let none = naive.contains(&None) != machine.contains(&None);
            if naive.len() != machine.len() || missing || none {
                return Err(format!("fairness of {label}: naive {naive:?}, machine {machine:?}"));
            }
            if let (1, Some(Some(name)), Some(Some(class))) =
                (naive.len(), naive.first(), machine.first())
            {
                self.classes.insert((*name).to_string(), *class);
            }
        }
        let distinct: BTreeSet<usize> = self.classes.values().copied().collect();
        if distinct.len() == self.classes.len() {
            Ok(())
        } else {
            Err(format!("classes of fairness that are one for the machine: {:?}", self.classes))
        }
    }

    fn pair_up(
        &mut self,
        left: Vec<Naive>,
        right: Vec<Actual>,
        compared: &mut Compared,
    ) -> Result<(), String> {
        self.pair_classes(&left, &right)?;
        let mut groups: BTreeMap<String, (Vec<Left>, Vec<Right>)> = BTreeMap::new();
        // Transitions with each label; M3 and W3 say which are one.
        let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        left.iter().for_each(|(label, ..)| counts.entry(label.clone()).or_default().0 += 1);
        right.iter().for_each(|(label, ..)| counts.entry(label.clone()).or_default().1 += 1);
        let mut failures: (Kinds, Kinds) = Default::default();
        for (label, _, result) in left {
            match result {
                Err(failure) => {
                    compared.kinds.insert(failure.kind);
                    failures.0.insert((label, failure.kind.to_string()));
                }
                Ok(state) => {
                    let key = canon::canonical(self.p, &state);
                    let sign = words::sign(self.p, &state);
                    let group = &mut groups.entry(label).or_default().0;
                    if group.iter().all(|l| l.key != key) {
                        group.push(Left { key, sign, ahead: vec![], state });
                    }
                }
            }
        }
        for (label, _, result) in right {
            match result {
                Err(kind) => {
                    failures.1.insert((label, kind));
                }
                Ok(state) => {
                    let mut key = vec![];
                    self.machine.encode(&state, &mut key);
                    let sign = words::sign_of_machine(&self.machine.show(&state));
                    let group = &mut groups.entry(label).or_default().1;
                    if group.iter().all(|r| r.key != key) {
                        group.push(Right { key, sign, ahead: vec![], state });
                    }
                }
            }
        }
        for label in at_limits(&failures.0, &failures.1) {
            compared.limits += 1;
            failures.0.retain(|(other, _)| *other != label);
            failures.1.retain(|(other, _)| *other != label);
            counts.remove(&label);
            groups.remove(&label);
        }
        if failures.0 != failures.1 {
            return Err(format!("failures: naive {:?}, machine {:?}", failures.0, failures.1));
        }
        counts.retain(|_, (naive, machine)| naive != machine);
        if !counts.is_empty() {
            return Err(format!("numbers of transitions (naive, machine): {counts:?}"));
        }
        for (label, (left, right)) in groups {
            self.pair_group(left, right).map_err(|e| format!("{label}: {e}"))?;
        }
        Ok(())
    }

    /// What the next steps lead to, in words.
    fn ahead_of_naive(&self, state: &State, depth: usize) -> Vec<String> {
        let mut all: Vec<String> = vec![];
        for t in step::successors(self.p, state) {
            all.push(match t.result {
                Err(failure) => format!("{} fails: {}", t.label, failure.kind),
                Ok(next) if depth > 0 => {
                    let ahead = self.ahead_of_naive(&next, depth - 1);
                    format!("{}: {:?} {ahead:?}", t.label, words::sign(self.p, &next))
                }
                Ok(_) => t.label,
            });
        }
        all.sort();
        all
    }

    fn ahead_of_machine(&self, state: &anyorder_vm::State, depth: usize) -> Vec<String> {
        let mut all: Vec<String> = vec![];
        for (label, _, result) in self.right(state) {
            all.push(match result {
                Err(kind) => format!("{label} fails: {kind}"),
                Ok(next) if depth > 0 => {
                    let ahead = self.ahead_of_machine(&next, depth - 1);
                    let sign = words::sign_of_machine(&self.machine.show(&next));
                    format!("{label}: {sign:?} {ahead:?}")
                }
                Ok(_) => label,
            });
        }
        all.sort();
        all
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
                        ) + &format!(
                            "\nthe other one: {:?}\nbytes {key:?}\nand {:?}",
                            self.machine.decode(key).map(|state| self.machine.show(&state)),
                            right.iter().map(|r| &r.key).collect::<Vec<_>>()
                        ));
                    }
                },
            }
        }
        if new.len() > 1 {
            // What looks the same is told apart by where it leads to.
            let same = |sign: &Vec<String>| new.iter().filter(|l| l.sign == *sign).count() > 1;
            let unclear: BTreeSet<_> = new.iter().map(|l| l.sign.clone()).filter(same).collect();
            for l in new.iter_mut().filter(|l| unclear.contains(&l.sign)) {
                l.ahead = self.ahead_of_naive(&l.state, 2);
            }
            for r in right.iter_mut().filter(|r| unclear.contains(&r.sign)) {
                r.ahead = self.ahead_of_machine(&r.state, 2);
            }
        }
        let alike = |a: &Left, b: &Left| (&a.sign, &a.ahead) == (&b.sign, &b.ahead);
        new.sort_by(|a, b| (&a.sign, &a.ahead).cmp(&(&b.sign, &b.ahead)));
        right.sort_by(|a, b| (&a.sign, &a.ahead).cmp(&(&b.sign, &b.ahead)));
        self.guessed |= new.windows(2).any(|pair| alike(&pair[0], &pair[1]));
        for (l, r) in new.into_iter().zip(right) {
            if l.sign != r.sign {
                return Err(format!("globals: naive {:?}, machine {:?}", l.sign, r.sign));
            }
            let begun = canon::canonical(self.p, &step::begun(self.p, &l.state));
            if let Some((known, known_begun)) = self.back.get(&r.key) {
                if *known_begun == begun {
                    // C4 leaves it to the machine whether a thread that has not begun is another
                    // one.
                    self.forth.insert(l.key, r.key);
                    continue;
                }
                return Err(format!(
                    "the machine's state was met before with another naive one (the machine equates what is different, or the steps differ)\n{known}\n{}",
                    l.key
                ));
            }
            self.forth.insert(l.key.clone(), r.key.clone());
            self.back.insert(r.key, (l.key, begun));
            self.queue.push_back((l.state, r.state));
        }
        Ok(())
    }
}

/// A3: labels under which one side alone met a limit.
fn at_limits(naive: &Kinds, machine: &Kinds) -> BTreeSet<String> {
    let limit = |kind: &str| kind == "step_limit" || kind == "size";
    let one = naive.symmetric_difference(machine);
    one.filter(|(_, kind)| limit(kind)).map(|(label, _)| label.clone()).collect()
}

/// `begin NAME(ARGUMENTS)` or `go NAME`, of what the machine says of an action.
pub fn label_of(said: &str) -> String {
    let said = said.split(", alternative").next().unwrap_or(said);
    if let Some((before, _)) = said.split_once(" at ") {
        let name: String = before.chars().take_while(|c| *c != '#').collect();
        return format!("go {name}");
    }
    match said.rsplit_once(" on ") {
        Some((message, _)) => format!("begin {}", words::unnumbered(message)),
        None if said == "init" => "init".to_string(),
        None => format!("begin {said}"),
    }
}

pub fn kind_of(line: &str) -> String {
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
