//! Constants: their values, and the places that need one.

use super::body::{Body, BodyKind};
use super::checker::{Checker, ConstState, unknown};
use super::evaluate::Evaluator;
use super::model::{ConstId, EnumId, IndexId, Meaning, RecordId};
use super::types::Type;
use crate::ast::{Expr, ExprKind, Family, ItemKind, SettingDecl, SettingValue, SizedName};
use crate::diagnostic::{Code, Diagnostic};

/// A value known before the model runs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ConstValue {
    /// `null`.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A value of an index type: its number.
    Index(IndexId, u32),
    /// A string.
    Str(String),
    /// A list.
    List(Vec<ConstValue>),
    /// An array over an index type: one element for each value of the index type.
    Array(IndexId, Vec<ConstValue>),
    /// A set: sorted, without repetitions.
    Set(Vec<ConstValue>),
    /// A map: sorted by key, each key once.
    Map(Vec<(ConstValue, ConstValue)>),
    /// A value of an enum: the number of its variant, and the values that the variant carries.
    Variant(EnumId, u32, Vec<ConstValue>),
    /// A record: its fields in the order of the declaration.
    Record(RecordId, Vec<ConstValue>),
}

impl ConstValue {
    /// Calls `f` for each value directly inside.
    pub(super) fn parts(&self, f: impl FnMut(&ConstValue)) {
        match self {
            ConstValue::List(parts)
            | ConstValue::Array(_, parts)
            | ConstValue::Set(parts)
            | ConstValue::Variant(_, _, parts)
            | ConstValue::Record(_, parts) => parts.iter().for_each(f),
            ConstValue::Map(entries) => entries.iter().flat_map(|(k, v)| [k, v]).for_each(f),
            _ => {}
        }
    }

    /// The value of a family's parameter for the member of a number.
    pub(crate) fn member(over: Option<IndexId>, number: i64) -> Self {
        match (over, u32::try_from(number)) {
            (Some(id), Ok(number)) => ConstValue::Index(id, number),
            _ => ConstValue::Int(number),
        }
    }
}

/// Most elements of an array of handlers, locks, conditions, events or threads.
pub(super) const ARRAY_MAX: i64 = 4096;

/// Longest chain of constants that each need a later one.
const FORWARD_MAX: usize = 64;

impl<'a> Checker<'a> {
    /// Checks and evaluates all constants.
    pub(super) fn constants(&mut self) {
        let sizes = self.sizes_later.take();
        for at in 0..self.program.indices.len() {
            self.index_size(at);
        }
        for at in 0..self.program.consts.len() {
            self.ensure_const(ConstId(at as u32));
        }
        for (id, size) in sizes.into_iter().flatten() {
            self.type_size(id, size);
        }
        let model = self.model;
        for item in &model.items {
            if let ItemKind::Setting(setting) = &item.kind {
                self.setting(setting);
            }
        }
    }

    /// Checks and evaluates a constant, once.
    pub(super) fn ensure_const(&mut self, id: ConstId) {
        let ItemKind::Const(decl) = &self.model.items[self.program.consts[id.index()].item].kind
        else {
            return;
        };
        match self.const_state[id.index()] {
            ConstState::Done => return,
            ConstState::Running => {
                let message = format!("the value of `{}` needs itself", decl.name.name);
                if !self.diagnostics.iter().any(|d| d.primary.span == decl.name.span) {
                    self.error(Code::RECURSIVE_RECORD, decl.name.span, message);
                }
                return;
            }
            ConstState::Waiting => self.const_state[id.index()] = ConstState::Running,
        }
        // The recursion only follows references to constants further down.
        let running =
            self.const_state.iter().filter(|state| **state == ConstState::Running).count();
        if running > FORWARD_MAX {
            let message = "too many constants that need later ones: declare them in order";
            self.error(Code::CONSTANT, decl.name.span, message);
            return;
        }
        let before = self.diagnostics.len();
        let ty = self.in_body(Body::of(BodyKind::Constant), |c| match &decl.ty {
            Some(written) => {
                let ty = c.ty(written);
                c.expect_for(&decl.value, &ty, (written.span, "because of this type"));
                ty
            }
            None => c.expr(&decl.value),
        });
        self.program.consts[id.index()].ty = ty;
        if self.diagnostics.len() == before {
            let value = self.evaluate(&decl.value);
            self.program.consts[id.index()].value = value;
        }
        self.const_state[id.index()] = ConstState::Done;
    }

    /// Evaluates a constant expression whose types are correct. Reports why it has no value.
    fn evaluate(&mut self, expr: &'a Expr) -> Option<ConstValue> {
        match Evaluator::new(&self.program).declared().evaluate(expr) {
            Ok(value) => Some(value),
            Err(error) => {
                self.error(Code::CONSTANT, error.span, error.message);
                None
            }
        }
    }

    /// Evaluates an integer that must be known before the model runs.
    pub(super) fn const_int(&mut self, expr: &'a Expr) -> Option<i64> {
        let before = self.diagnostics.len();
        self.in_body(Body::of(BodyKind::Constant), |c| c.expect(expr, &Type::Int));
        if self.diagnostics.len() > before {
            return None;
        }
        match self.evaluate(expr)? {
            ConstValue::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The value of an integer expression, if it is a constant. Reports nothing.
    pub(super) fn known_int(&self, expr: &Expr) -> Option<i64> {
        Evaluator::new(&self.program).int(expr)
    }

    /// Evaluates the number of values of an index type.
    fn index_size(&mut self, at: usize) {
        let item = self.program.indices[at].item;
        let ItemKind::Index(decl) = &self.model.items[item].kind else { return };
        match self.const_int(&decl.size) {
            Some(size) if (1..=ARRAY_MAX).contains(&size) => {
                self.program.indices[at].size = size as u32;
            }
            Some(size) => {
                let message = format!("an index type has from 1 to {ARRAY_MAX} values, not {size}");
                self.error(Code::CONSTANT, decl.size.span, message);
            }
            None => {}
        }
    }

    /// Returns the index type that an expression names.
    pub(super) fn index_type(&mut self, expr: &Expr) -> Option<IndexId> {
        match &expr.kind {
            ExprKind::Paren(inner) => self.index_type(inner),
            ExprKind::Name(name) if self.find_local(name).is_none() => {
                let &(Meaning::Index(id), _) = self.names.get(name.as_str())? else { return None };
                self.mark_used(Meaning::Index(id));
                self.set_meaning(expr.id, Meaning::Index(id));
                Some(id)
            }
            _ => None,
        }
    }

    /// Returns the size of an array.
    pub(super) fn array_size(&mut self, expr: &'a Expr) -> Option<u32> {
        if let Some(id) = self.index_type(expr) {
            return Some(self.program.indices[id.index()].size);
        }
        let value = self.const_int(expr)?;
        if (0..=ARRAY_MAX).contains(&value) {
            return Some(value as u32);
        }
        let message = format!("a size is from 0 to {ARRAY_MAX}, not {value}");
        self.error(Code::CONSTANT, expr.span, message);
        None
    }

    /// Evaluates the sizes of handlers, locks and conditions, and the parameters of families.
    pub(super) fn sizes(&mut self) {
        let model = self.model;
        for (at, name) in model.locks().flatten().enumerate() {
            let (size, index) = self.declared_size(name);
            (self.program.locks[at].size, self.program.locks[at].index) = (size, index);
        }
        for (at, name) in model.conds().flatten().enumerate() {
            let (size, index) = self.declared_size(name);
            (self.program.conds[at].size, self.program.conds[at].index) = (size, index);
        }
        for (at, decl) in model.handlers().enumerate() {
            let (size, index) = self.declared_size(&decl.name);
            (self.program.handlers[at].size, self.program.handlers[at].index) = (size, index);
        }
        for (at, decl) in model.events().enumerate() {
            let Some(family) = &decl.family else { continue };
            self.program.events[at].family = Some(self.family(family));
            self.program.events[at].index = self.index_type(&family.range);
        }
        for (at, decl) in model.threads().enumerate() {
            let Some(family) = &decl.family else { continue };
            self.program.threads[at].family = Some(self.family(family));
            self.program.threads[at].index = self.index_type(&family.range);
        }
    }

    fn declared_size(&mut self, name: &'a SizedName) -> (Option<u32>, Option<IndexId>) {
        let Some(size) = &name.size else { return (None, None) };
        (Some(self.array_size(size).unwrap_or(1)), self.index_type(size))
    }

    /// Returns the bounds of a family; empty bounds after an error.
    fn family(&mut self, family: &'a Family) -> (i64, i64) {
        if let Some(id) = self.index_type(&family.range) {
            return (0, i64::from(self.program.indices[id.index()].size));
        }
        let range = family.range.unwrapped();
        let Some((left, right)) = range.as_range() else {
            if !matches!(range.kind, ExprKind::Error) {
                let message = "expected a range, like `0..3`, or an index type";
                self.error(Code::CONSTANT, range.span, message);
            }
            return (0, 0);
        };
        let (Some(from), Some(to)) = (self.const_int(left), self.const_int(right)) else {
            return (0, 0);
        };
        let count = to.saturating_sub(from);
        if !(0..=ARRAY_MAX).contains(&count) {
            let message = format!("a family has from 0 to {ARRAY_MAX} members, not {count}");
            self.error(Code::CONSTANT, range.span, message);
            return (0, 0);
        }
        (from, to)
    }

    fn setting(&mut self, setting: &'a SettingDecl) {
        use super::model::Granularity;
        let (name, span) = (setting.name.name.as_str(), setting.name.span);
        match (name, &setting.value) {
            (_, SettingValue::Error) => {}
            ("granularity", SettingValue::Word(word)) if word.name == "task" => {
                self.program.granularity = Granularity::Task;
            }
            ("granularity", SettingValue::Word(word)) if word.name == "access" => {
                self.program.granularity = Granularity::Access;
            }
            ("granularity", SettingValue::Word(word)) => {
                let message = format!("unknown granularity `{}`", word.name);
                let diagnostic = Diagnostic::new(Code::SETTING, word.span, message)
                    .note("it is `task` (bodies of tasks and events are atomic) or `access` (each shared access is a step)");
                self.report(diagnostic.similar("word", word.span, &word.name, ["task", "access"]));
            }
            ("steps", SettingValue::Int(value @ 1.., _)) => self.program.steps_max = *value as u64,
            ("steps", SettingValue::Int(_, at)) => {
                self.error(Code::SETTING, *at, "a body needs at least one step");
            }
            ("granularity", SettingValue::Int(_, at)) => {
                self.error(Code::SETTING, *at, "expected `task` or `access`");
            }
            ("steps", SettingValue::Word(word)) => {
                self.error(Code::SETTING, word.span, "expected a number");
            }
            _ => {
                let known = ["granularity", "steps"];
                self.report(unknown(Code::SETTING, "setting", (name, span), known));
            }
        }
    }
}
