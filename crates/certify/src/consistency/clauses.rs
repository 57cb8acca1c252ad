//! Clauses over facts, and reverse unit propagation with two watched literals.

use anyorder_system::{Cancel, Stopped};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

/// A fact or its complement: twice the number of the pair, plus one for the complement.
pub(super) type Literal = u32;

/// The value of a literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    Open,
    True,
    False,
}

/// The position of a clause: its head, followed by its literals.
type ClauseId = u32;

/// A clause that watches a literal; when `blocker` is true the clause is skipped.
#[derive(Clone, Copy)]
struct Watch {
    clause: ClauseId,
    blocker: Literal,
}

/// The most literals of a short clause. Short clauses are propagated to the end before long ones:
/// most cycles are short, and most clauses derived from many of them are long.
const SHORT: usize = 3;

/// A set of clauses, with the literals they force.
///
/// Invariant between calls: every clause that is not forgotten has a true literal among those
/// forced, or watches its first two, which are not false; or `refuted` holds.
#[derive(Default)]
pub(super) struct Clauses {
    /// The clauses, one after another: twice the number of literals, plus one when the clause is
    /// forgotten; then the literals.
    arena: Vec<u32>,
    /// By literal: the clauses that watch it, visited when it becomes false; short and long ones
    /// separately.
    watches: [Vec<Vec<Watch>>; 2],
    values: Vec<Value>,
    /// The true literals in the order of assignment; those before `next` are propagated through
    /// short and long clauses.
    trail: Vec<Literal>,
    next: [usize; 2],
    refuted: bool,
    /// By the hash of its sorted literals: all clauses that a [`forget`](Clauses::forget) may mean.
    by_hash: HashMap<u64, Vec<ClauseId>>,
}

impl Clauses {
    /// Adds a pair of a fact and its complement, and returns the literal of the fact.
    pub(super) fn pair(&mut self) -> Literal {
        let literal = self.values.len() as Literal;
        self.values.extend([Value::Open; 2]);
        for watches in &mut self.watches {
            watches.extend([Vec::new(), Vec::new()]);
        }
        literal
    }

    /// The number of pairs.
    pub(super) fn pairs(&self) -> usize {
        self.values.len() / 2
    }

    /// Whether a clause of these literals follows by reverse unit propagation.
    pub(super) fn follows(&mut self, clause: &[Literal], cancel: &Cancel) -> Result<bool, Stopped> {
        if self.refuted {
            return Ok(true);
        }
        let forced = self.trail.len();
        let mut conflict = false;
        for &literal in clause {
            match self.values[literal as usize] {
                Value::False => {}
                Value::True => {
                    conflict = true;
                    break;
                }
                Value::Open => self.make_true(literal ^ 1),
            }
        }
        let conflict = conflict || !self.propagate(cancel)?;
        for literal in self.trail.drain(forced..) {
            self.values[literal as usize] = Value::Open;
            self.values[literal as usize ^ 1] = Value::Open;
        }
        self.next = [forced; 2];
        Ok(conflict)
    }

    /// Adds a clause of sorted, different literals, and propagates it. Returns false, and adds
    /// nothing, when the literals of all clauses would reach 2^32.
    pub(super) fn add(&mut self, clause: &[Literal], cancel: &Cancel) -> Result<bool, Stopped> {
        let full = self.arena.len() + clause.len() >= u32::MAX as usize;
        let (Ok(id), Ok(head)) = (u32::try_from(self.arena.len()), u32::try_from(2 * clause.len()))
        else {
            return Ok(false);
        };
        if full {
            return Ok(false);
        }
        self.arena.push(head);
        let start = self.arena.len();
        self.arena.extend_from_slice(clause);
        let hash = self.hash(clause);
        self.by_hash.entry(hash).or_default().push(id);
        if self.refuted {
            return Ok(true);
        }
        let values = &self.values;
        let is_false = |literal: Literal| values[literal as usize] == Value::False;
        // Literals that are not false come first: they are watched.
        let own = &mut self.arena[start..];
        own.sort_by_key(|&literal| is_false(literal));
        let left = own.iter().take_while(|&&literal| !is_false(literal)).count();
        match *own {
            [first, second, ..] if left >= 2 => {
                let watches = &mut self.watches[usize::from(clause.len() > SHORT)];
                watches[first as usize].push(Watch { clause: id, blocker: second });
                watches[second as usize].push(Watch { clause: id, blocker: first });
            }
            [only, ..] if left == 1 => {
                if self.values[only as usize] == Value::Open {
                    self.make_true(only);
                    self.refuted = !self.propagate(cancel)?;
                }
            }
            _ => self.refuted = true,
        }
        Ok(true)
    }

    /// Forgets one clause with exactly these literals, sorted and different. Returns whether there
    /// was one.
    pub(super) fn forget(&mut self, clause: &[Literal]) -> bool {
        let hash = self.hash(clause);
        let Some(ids) = self.by_hash.get_mut(&hash) else { return false };
        let is_it = |&id: &ClauseId| {
            let start = id as usize + 1;
            let len = self.arena[id as usize] as usize / 2;
            let mut own = self.arena[start..start + len].to_vec();
            own.sort_unstable();
            own == clause
        };
        let Some(index) = ids.iter().position(is_it) else { return false };
        let id = ids.swap_remove(index);
        self.arena[id as usize] |= 1;
        true
    }

    fn hash(&self, clause: &[Literal]) -> u64 {
        let mut hasher = self.by_hash.hasher().build_hasher();
        for &literal in clause {
            hasher.write_u32(literal);
        }
        hasher.finish()
    }

    fn make_true(&mut self, literal: Literal) {
        self.values[literal as usize] = Value::True;
        self.values[literal as usize ^ 1] = Value::False;
        self.trail.push(literal);
    }

    /// Propagates to the end. Returns false when all literals of a clause are false.
    fn propagate(&mut self, cancel: &Cancel) -> Result<bool, Stopped> {
        loop {
            cancel.check()?;
            let Some(size) = (0..2).find(|&size| self.next[size] < self.trail.len()) else {
                return Ok(true);
            };
            let wrong = self.trail[self.next[size]] ^ 1;
            self.next[size] += 1;
            let mut watching = std::mem::take(&mut self.watches[size][wrong as usize]);
            let holds = self.visit(size, wrong, &mut watching);
            self.watches[size][wrong as usize] = watching;
            if !holds {
                return Ok(false);
            }
        }
    }

    /// Visits the clauses that watch a literal which became false; clauses that watch another
    /// literal instead leave the list.
    fn visit(&mut self, size: usize, wrong: Literal, watching: &mut Vec<Watch>) -> bool {
        let (mut read, mut kept) = (0, 0);
        let mut holds = true;
        while read < watching.len() {
            let watch = watching[read];
            read += 1;
            if self.values[watch.blocker as usize] == Value::True {
                watching[kept] = watch;
                kept += 1;
                continue;
            }
            let head = self.arena[watch.clause as usize];
            if head % 2 == 1 {
                continue;
            }
            let start = watch.clause as usize + 1;
            let own = &mut self.arena[start..start + head as usize / 2];
            if own[0] == wrong {
                own.swap(0, 1);
            }
            let other = own[0];
            let renewed = Watch { clause: watch.clause, blocker: other };
            let left = |literal: &Literal| self.values[*literal as usize] != Value::False;
            if self.values[other as usize] != Value::True
                && let Some(index) = own[2..].iter().position(left)
            {
                own.swap(1, index + 2);
                self.watches[size][own[1] as usize].push(renewed);
                continue;
            }
            watching[kept] = renewed;
            kept += 1;
            match self.values[other as usize] {
                Value::True => {}
                Value::Open => self.make_true(other),
                Value::False => {
                    holds = false;
                    break;
                }
            }
        }
        watching.copy_within(read.., kept);
        watching.truncate(kept + watching.len() - read);
        holds
    }
}

#[cfg(test)]
mod tests {
    use super::{Cancel, Clauses, Literal};
    use anyorder_common::random::{Random, Rng};

    const PAIRS: u32 = 7;

    /// The definition: scan all clauses until nothing changes.
    #[derive(Default)]
    struct Naive {
        clauses: Vec<Vec<Literal>>,
        forced: Vec<Literal>,
        refuted: bool,
    }

    impl Naive {
        /// Propagates from some literals; `None` when all literals of a clause are false.
        fn closure(&self, mut forced: Vec<Literal>) -> Option<Vec<Literal>> {
            loop {
                let before = forced.len();
                for clause in &self.clauses {
                    if clause.iter().any(|literal| forced.contains(literal)) {
                        continue;
                    }
                    let left: Vec<Literal> =
                        clause.iter().copied().filter(|l| !forced.contains(&(l ^ 1))).collect();
                    match left[..] {
                        [] => return None,
                        [only] => forced.push(only),
                        _ => {}
                    }
                }
                if forced.len() == before {
                    return Some(forced);
                }
            }
        }

        fn add(&mut self, clause: &[Literal]) {
            self.clauses.push(clause.to_vec());
            match self.closure(self.forced.clone()) {
                Some(forced) => self.forced = forced,
                None => self.refuted = true,
            }
        }

        fn follows(&self, clause: &[Literal]) -> bool {
            let tautology = clause.iter().any(|l| clause.contains(&(l ^ 1)));
            let known = clause.iter().any(|l| self.forced.contains(l));
            let mut assumed = self.forced.clone();
            assumed.extend(clause.iter().map(|literal| literal ^ 1));
            self.refuted || tautology || known || self.closure(assumed).is_none()
        }

        fn forget(&mut self, clause: &[Literal]) -> bool {
            let index = self.clauses.iter().position(|own| own == clause);
            index.map(|index| self.clauses.swap_remove(index)).is_some()
        }
    }

    #[test]
    fn propagation_is_that_of_the_definition() {
        let mut random = Rng::new(1);
        let mut below = move |bound: u32| random.below(bound.into()) as u32;
        let mut yes = [0, 0];
        for _ in 0..600 {
            let (mut clauses, mut naive) = (Clauses::default(), Naive::default());
            for number in 0..PAIRS {
                assert_eq!(clauses.pair(), 2 * number);
            }
            for _ in 0..40 {
                let mut clause: Vec<Literal> =
                    (0..1 + below(6)).map(|_| below(2 * PAIRS)).collect();
                clause.sort_unstable();
                clause.dedup();
                match below(8) {
                    0..3 if clause.len() > 1 => {
                        assert!(clauses.add(&clause, &Cancel::new()).unwrap());
                        naive.add(&clause);
                    }
                    3 => {
                        let some = below(naive.clauses.len() as u32 + 1) as usize;
                        let clause = naive.clauses.get(some).unwrap_or(&clause).clone();
                        assert_eq!(clauses.forget(&clause), naive.forget(&clause));
                    }
                    _ => {
                        let follows = naive.follows(&clause);
                        assert_eq!(
                            clauses.follows(&clause, &Cancel::new()).unwrap(),
                            follows,
                            "{clause:?}"
                        );
                        yes[usize::from(follows && !naive.refuted)] += 1;
                        if follows {
                            assert!(clauses.add(&clause, &Cancel::new()).unwrap());
                            naive.add(&clause);
                        }
                    }
                }
            }
        }
        assert!(yes.iter().all(|count| *count > 1_000), "{yes:?}");
    }
}
