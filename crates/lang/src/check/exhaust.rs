//! Decides whether patterns cover all values.
//!
//! **Problem.** Given rows of patterns P1..Pn for values of types T, and a row Q: is there a list
//! of values that Q matches and no Pi matches? With Q all wildcards, the question is whether all
//! values are covered. With Q an arm and P the arms before it, the question is whether the arm can
//! be reached.
//!
//! **Source.** L. Maranget, "Warnings for pattern matching", Journal of Functional Programming
//! 17(3), 2007, section 3 (the recursion over the first column: specialised and default matrices).
//!
//! **Guarantee.** Exact, up to a limit of steps; beyond the limit nothing is reported. A type with
//! null has `null` as one more constructor. `any`, `int` and `str` have infinitely many
//! constructors.
//!
//! **Cost.** Exponential in the worst case (the problem is NP-complete), hence the limit; in
//! practice the number of arms times the number of variants.

use super::model::{CheckedModel, EnumId};
use super::types::Type;

/// A constructor of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Ctor {
    Variant(EnumId, u32),
    Int(i64),
    Bool(bool),
    Str(String),
    Null,
}

/// A pattern without names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Pat {
    Any,
    Of(Ctor, Vec<Pat>),
}

/// Most calls of the recursion for one `match`.
const STEPS_MAX: u32 = 20_000;

/// Most columns: nested payloads add columns.
const COLUMNS_MAX: usize = 200;

pub(super) struct Usefulness<'p> {
    program: &'p CheckedModel,
    steps: u32,
}

impl<'p> Usefulness<'p> {
    pub(super) fn new(program: &'p CheckedModel) -> Self {
        Self { program, steps: 0 }
    }

    /// Returns whether the limit was reached. The answers mean nothing then.
    pub(super) fn gave_up(&self) -> bool {
        self.steps > STEPS_MAX
    }

    /// Returns an example, as text, of values that `row` matches and no row of `rows` matches.
    /// Returns `None` if there is no example, or beyond the limit.
    pub(super) fn witness(
        &mut self,
        rows: &[Vec<Pat>],
        row: &[Pat],
        types: &[Type],
    ) -> Option<Vec<String>> {
        self.steps += 1;
        if self.gave_up() || row.len() > COLUMNS_MAX {
            self.steps = STEPS_MAX + 1;
            return None;
        }
        let Some((first, rest)) = row.split_first() else {
            return rows.is_empty().then(Vec::new);
        };
        let ty = types.first().cloned().unwrap_or(Type::Any);
        match first {
            Pat::Of(ctor, args) => self.with_ctor(rows, ctor, args, rest, types),
            Pat::Any => match self.all_ctors(&ty) {
                Some(all) if all.iter().all(|ctor| heads(rows).any(|head| head == ctor)) => {
                    all.iter().find_map(|ctor| {
                        let args = vec![Pat::Any; self.payload(ctor).len()];
                        self.with_ctor(rows, ctor, &args, rest, types)
                    })
                }
                all => {
                    // Only the rows that begin with a wildcard match a constructor that no row
                    // names.
                    let example = all.and_then(|all| {
                        let unnamed = |ctor: &&Ctor| heads(rows).all(|head| head != *ctor);
                        all.iter().find(unnamed).map(|ctor| self.example(ctor))
                    });
                    let wild: Vec<Vec<Pat>> = rows
                        .iter()
                        .filter(|row| row.first() == Some(&Pat::Any))
                        .map(|row| row[1..].to_vec())
                        .collect();
                    let any_named = heads(rows).next().is_some();
                    let mut witness = self.witness(&wild, rest, types.get(1..).unwrap_or(&[]))?;
                    let example = example.filter(|_| any_named || rest.is_empty());
                    witness.insert(0, example.unwrap_or_else(|| "_".into()));
                    Some(witness)
                }
            },
        }
    }

    /// Returns the rows that begin with `ctor` or a wildcard. The patterns of the payload replace
    /// the first pattern of each row.
    fn with_ctor(
        &mut self,
        rows: &[Vec<Pat>],
        ctor: &Ctor,
        args: &[Pat],
        rest: &[Pat],
        types: &[Type],
    ) -> Option<Vec<String>> {
        let payload = self.payload(ctor);
        let arity = payload.len();
        let mut inner = Vec::new();
        for row in rows {
            let mut new = match row.first() {
                Some(Pat::Any) => vec![Pat::Any; arity],
                Some(Pat::Of(head, args)) if head == ctor => args.clone(),
                _ => continue,
            };
            new.extend_from_slice(&row[1..]);
            inner.push(new);
        }
        let row: Vec<Pat> = args.iter().chain(rest).cloned().collect();
        let types: Vec<Type> = payload.into_iter().chain(types.iter().skip(1).cloned()).collect();
        let mut witness = self.witness(&inner, &row, &types)?;
        let values: Vec<String> = witness.drain(..arity).collect();
        witness.insert(0, self.text(ctor, &values));
        Some(witness)
    }

    fn payload(&self, ctor: &Ctor) -> Vec<Type> {
        match ctor {
            Ctor::Variant(id, at) => {
                self.program.enums[id.index()].variants[*at as usize].1.clone()
            }
            _ => vec![],
        }
    }

    /// Returns all constructors of a type; `None` if there are infinitely many.
    fn all_ctors(&self, ty: &Type) -> Option<Vec<Ctor>> {
        match ty {
            Type::Bool => Some(vec![Ctor::Bool(true), Ctor::Bool(false)]),
            Type::Null => Some(vec![Ctor::Null]),
            Type::Enum(id) => {
                let count = self.program.enums[id.index()].variants.len() as u32;
                Some((0..count).map(|at| Ctor::Variant(*id, at)).collect())
            }
            Type::Nullable(inner) => {
                let mut all = self.all_ctors(inner)?;
                all.push(Ctor::Null);
                Some(all)
            }
            _ => None,
        }
    }

    /// Returns a value built with `ctor`, as text.
    fn example(&self, ctor: &Ctor) -> String {
        self.text(ctor, &vec!["_".to_string(); self.payload(ctor).len()])
    }

    fn text(&self, ctor: &Ctor, values: &[String]) -> String {
        match ctor {
            Ctor::Variant(id, at) => {
                let info = &self.program.enums[id.index()];
                let name = format!("{}.{}", info.name, info.variants[*at as usize].0);
                if values.is_empty() { name } else { format!("{name}({})", values.join(", ")) }
            }
            Ctor::Int(value) => value.to_string(),
            Ctor::Bool(value) => value.to_string(),
            Ctor::Str(value) => format!("{value:?}"),
            Ctor::Null => "null".into(),
        }
    }
}

/// Returns the constructors that the rows begin with.
fn heads(rows: &[Vec<Pat>]) -> impl Iterator<Item = &Ctor> {
    rows.iter().filter_map(|row| match row.first() {
        Some(Pat::Of(ctor, _)) => Some(ctor),
        _ => None,
    })
}
