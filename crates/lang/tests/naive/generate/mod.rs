//! Random models that cover the whole language, as text. Small: few globals, few statements, so
//! that the states can be walked through.
//!
//! What docs/language.md has, section by section, and where it comes from. Each is counted under
//! the names that `random.rs` lists; a name that no model has fails the test.
//!
//! | section | constructs | in |
//! | --- | --- | --- |
//! | declarations of values | `const` (int, list, record), `enum`, `record` (nested, with functions), `class` (fields with and without values, methods, built-in names), `var` of every type, with and without first value, arrays | `model` |
//! | of what runs | `handler` (each mailbox, arrays, `main`, `unfair`), `lock` and `cond` (arrays), `fn`, `task` (with `on h[i]`), `procedure`, `event` (`once`, `disabled`, `unfair`, families, `on`, `when`, `after` with and without member), `thread` (families, `unfair`), `init`, `driver` (members) | `model` |
//! | components | of events, threads, tasks, functions | `components` |
//! | properties | `invariant`, `response`, `final`, `spec`, both settings | `model` |
//! | statements on values | `let`, every assignment, near and far places, `if`, `match`, `while`, `loop`, `for`, `break`, `continue`, `return`, `assert`, `assume`, `fail`, `choose` in both forms | `stmt`, `extra` |
//! | on tasks | `post` (`to`, `any`, `after`, `front`, procedures, equal ones), `async[main]`, `async[any]`, `async[h]`, `cancel`, `call`, `enable`, `disable` | `stmt`, `extra` |
//! | on threads | `acquire`, `release`, `with`, `wait`, `notify`, `notify_all`, `fork`, `join`, `atomic`, `yield`, jumps out of blocks | `stmt`, `extra`, `model` |
//! | expressions | every operator, literals of every type, closures (of none, one, two; with captures; that write), calls of functions, values, methods, fields; `if` and `match` with values; `enabled` | `expr`, `extra` |
//! | handles | in variables, lists, records, arguments; compared, cancelled, joined, overwritten | `handles`, `stmt` |
//! | methods | every method of list, set, map, str, int | `expr`, `stmt`, `extra` |
//! | types | every type, `any` with values of every kind | all |
//!
//! Index types are in models of their own (`tests/symmetry/generate.rs`): the checker refuses what
//! tells their values apart.

mod components;
mod expr;
mod extra;
mod handles;
mod model;
mod names;
mod stmt;

pub use model::model;

use std::collections::BTreeMap;

/// The types that the generator knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ty {
    Int,
    Bool,
    Str,
    List,
    Set,
    Map,
    Phase,
    Rec,
    Obj,
    Task,
    Func,
    Any,
    /// A list of lists.
    Grid,
    /// A record with a record, a list and a function in it.
    Bx,
    Thread,
    /// A list of handles of posted tasks.
    Tasks,
    /// A record with such a handle in it.
    Hold,
}

pub const STORED: [Ty; 17] = [
    Ty::Int,
    Ty::Bool,
    Ty::Str,
    Ty::List,
    Ty::Set,
    Ty::Map,
    Ty::Phase,
    Ty::Rec,
    Ty::Obj,
    Ty::Task,
    Ty::Func,
    Ty::Any,
    Ty::Grid,
    Ty::Bx,
    Ty::Thread,
    Ty::Tasks,
    Ty::Hold,
];

/// Where code stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Guards, invariants.
    Pure,
    Thread,
    Task,
    /// Functions and methods.
    Fn,
    Init,
}

/// Counts of what was generated, by construct.
pub type Coverage = BTreeMap<&'static str, u64>;

/// A generator of one model.
pub struct Gen {
    seed: u64,
    pub cover: Coverage,
    pub globals: Vec<(String, Ty)>,
    pub locals: Vec<(String, Ty)>,
    pub place: Place,
    pub loops: u32,
    pub in_method: bool,
    pub in_atomic: bool,
    /// What `return` needs.
    pub result: Option<Ty>,
    pub names: u32,
    pub events: Vec<(String, bool)>,
    pub depth: u32,
    /// In the model, threads step at accesses: code is kept short.
    pub fine: bool,
    pub in_fine: bool,
    /// The model is about handles.
    pub handles: bool,
    pub out: String,
    pub indent: usize,
}

impl Gen {
    pub fn new(seed: u64) -> Gen {
        Gen {
            seed: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            cover: Coverage::new(),
            globals: vec![],
            locals: vec![],
            place: Place::Init,
            loops: 0,
            in_method: false,
            in_atomic: false,
            result: None,
            names: 0,
            events: vec![],
            depth: 0,
            fine: false,
            in_fine: false,
            handles: false,
            out: String::new(),
            indent: 0,
        }
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        ((self.seed.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize) % n
    }

    pub fn percent(&mut self, p: usize) -> bool {
        self.below(100) < p
    }

    /// Makes a choice with which the numbers that follow have nothing to do.
    pub fn apart<T>(&mut self, choose: impl FnOnce(&mut Gen) -> T) -> T {
        let kept = self.seed;
        self.seed ^= 0x00da_e300_0000_0000;
        let chosen = choose(self);
        self.seed = kept;
        chosen
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    pub fn hit(&mut self, what: &'static str) {
        *self.cover.entry(what).or_default() += 1;
    }

    pub fn name(&mut self, of: &str) -> String {
        self.names += 1;
        format!("{of}{}", self.names)
    }

    pub fn line(&mut self, text: &str) {
        self.out.push_str(&"    ".repeat(self.indent));
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Names of variables of a type that can be read here.
    pub fn variables(&self, ty: Ty) -> Vec<String> {
        let globals = self.globals.iter().filter(|(_, t)| *t == ty).map(|(n, _)| n.clone());
        let locals = self.locals.iter().filter(|(_, t)| *t == ty).map(|(n, _)| n.clone());
        globals.chain(locals).collect()
    }
}
