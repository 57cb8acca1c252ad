//! Templates as decision trees over states: which value is read, and what follows from each.

use super::table::Table;
use super::template::{Outcome, Templates, Var};
use minijinja::Template;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most leaves of one tree.
const LEAVES_MAX: usize = 200;

/// The most evaluations of templates for one program.
pub(crate) const EVALUATIONS_MAX: usize = 3_000;

/// A template for all values of what it reads.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Tree {
    /// A text.
    Leaf(String),
    /// Nobody knows: the reason.
    Unknown(String),
    /// What follows from each value.
    Branch(Var, Vec<(String, Tree)>),
}

/// What trees are made with.
pub(crate) struct Trees<'t> {
    pub(crate) templates: &'t Templates,
    pub(crate) table: &'t Table,
    pub(crate) variables: &'t Arc<BTreeMap<String, String>>,
    /// The ids of the triggers of the automation.
    pub(crate) ids: &'t [String],
    /// The entities of the triggers of the automation.
    pub(crate) entities: &'t [String],
    /// The values that what a trigger brings is compared with, and another one.
    pub(crate) data: &'t [String],
    /// How many evaluations are left.
    pub(crate) left: &'t Cell<usize>,
}

impl Trees<'_> {
    /// Returns the tree of a template. It evaluates the template once for each node.
    pub(crate) fn tree(&self, text: &str) -> Tree {
        let whole = Templates::whole(text, self.variables);
        let template = match self.templates.read(&whole) {
            Ok(template) => template,
            Err(why) => return Tree::Unknown(why),
        };
        let mut leaves = 0;
        self.node(&template, &mut BTreeMap::new(), &mut leaves)
    }

    fn node(
        &self,
        template: &Template<'_, '_>,
        given: &mut BTreeMap<Var, String>,
        leaves: &mut usize,
    ) -> Tree {
        let Some(left) = self.left.get().checked_sub(1) else {
            return Tree::Unknown("templates that read too much together".to_owned());
        };
        self.left.set(left);
        match self.templates.evaluate(template, self.variables, given) {
            Outcome::Text(text) => {
                *leaves += 1;
                Tree::Leaf(text)
            }
            Outcome::Unknown(why) => {
                *leaves += 1;
                Tree::Unknown(why)
            }
            Outcome::Need(var) => {
                let values = self.values(&var);
                if values.is_empty() {
                    return Tree::Unknown("template: a state with unknown values".to_owned());
                }
                let mut branches = Vec::new();
                for value in values {
                    if *leaves > LEAVES_MAX {
                        return Tree::Unknown("template that reads too much".to_owned());
                    }
                    given.insert(var.clone(), value.clone());
                    let below = self.node(template, given, leaves);
                    branches.push((value, below));
                }
                given.remove(&var);
                Tree::Branch(var, branches)
            }
        }
    }

    fn values(&self, var: &Var) -> Vec<String> {
        match var {
            Var::State(key) => {
                self.table.get(key).map(|at| self.table.values[at].clone()).unwrap_or_default()
            }
            Var::TriggerId => self.ids.to_vec(),
            Var::TriggerEntity => self.entities.to_vec(),
            Var::To | Var::From => {
                let mut all: Vec<String> = Vec::new();
                for entity in self.entities {
                    let values = self.table.get(entity).map(|at| &self.table.values[at]);
                    for value in values.into_iter().flatten() {
                        if !all.contains(value) {
                            all.push(value.clone());
                        }
                    }
                }
                all
            }
            Var::WaitDone => vec!["true".to_owned(), "false".to_owned()],
            Var::Data(_) => self.data.to_vec(),
        }
    }
}

impl Tree {
    /// Returns the reasons why it is not exact.
    pub(crate) fn unknowns(&self, found: &mut Vec<String>) {
        match self {
            Tree::Leaf(_) => {}
            Tree::Unknown(why) => {
                if !found.contains(why) {
                    found.push(why.clone());
                }
            }
            Tree::Branch(_, branches) => branches.iter().for_each(|(_, tree)| tree.unknowns(found)),
        }
    }
}
