//! First values of globals and fields, as far as they are known before the model runs.

use super::checker::Checker;
use super::constant::ConstValue;
use super::evaluate::Evaluator;
use super::model::Meaning;
use crate::ast::{ItemKind, RecordField, TypeExpr, TypeKind, VarDecl};
use crate::diagnostic::{Code, has_errors};

/// Most values in a default: an array of arrays fits, an array of arrays of arrays does not.
const VALUES_MAX: u64 = 1 << 25;

impl<'a> Checker<'a> {
    /// Returns the first value of a variable; `None` if code computes it.
    pub(super) fn start(&mut self, var: &'a VarDecl) -> Option<ConstValue> {
        // A record that contains itself has no finite default.
        if has_errors(&self.diagnostics) {
            return None;
        }
        match (&var.init, &var.ty) {
            (Some(init), _) => Evaluator::new(&self.program).evaluate(init).ok(),
            (None, Some(ty)) if self.default_size(ty) > VALUES_MAX => {
                self.error(Code::CONSTANT, ty.span, "a value of this type is too large");
                None
            }
            (None, Some(ty)) => Some(self.default_value(ty)),
            (None, None) => Some(ConstValue::Null),
        }
    }

    /// Returns the default value of a written type (V7).
    fn default_value(&self, ty: &TypeExpr) -> ConstValue {
        match &ty.kind {
            TypeKind::List(_) => ConstValue::List(vec![]),
            TypeKind::Set(_) => ConstValue::Set(vec![]),
            TypeKind::Map(..) => ConstValue::Map(vec![]),
            TypeKind::Array(of, size) => {
                let items = vec![self.default_value(of); self.array_len(ty) as usize];
                match self.program.meaning(size.unwrapped().id) {
                    Some(Meaning::Index(id)) => ConstValue::Array(id, items),
                    _ => ConstValue::List(items),
                }
            }
            TypeKind::Nullable(_) | TypeKind::Fn(..) | TypeKind::Error => ConstValue::Null,
            TypeKind::Named(name) => match (name.name.as_str(), self.program.meaning(name.id)) {
                ("int", _) => ConstValue::Int(0),
                ("bool", _) => ConstValue::Bool(false),
                ("str", _) => ConstValue::Str(String::new()),
                (_, Some(Meaning::Enum(id))) => ConstValue::Variant(id, 0, vec![]),
                (_, Some(Meaning::Record(id))) => {
                    let fields = self.record_fields(self.program.records[id.index()].item);
                    let fields = fields.iter().map(|field| self.default_value(&field.ty));
                    ConstValue::Record(id, fields.collect())
                }
                _ => ConstValue::Null,
            },
        }
    }

    /// Returns the number of values in the default of a type. Records do not contain themselves, so
    /// the recursion ends.
    fn default_size(&self, ty: &TypeExpr) -> u64 {
        let inside = match &ty.kind {
            TypeKind::Array(of, _) => {
                self.default_size(of).saturating_mul(u64::from(self.array_len(ty)))
            }
            TypeKind::Named(name) => match self.program.meaning(name.id) {
                Some(Meaning::Record(id)) => {
                    let fields = self.record_fields(self.program.records[id.index()].item);
                    let sizes = fields.iter().map(|field| self.default_size(&field.ty));
                    sizes.fold(0, u64::saturating_add)
                }
                _ => 0,
            },
            _ => 0,
        };
        inside.saturating_add(1)
    }

    fn array_len(&self, ty: &TypeExpr) -> u32 {
        self.program.array_sizes.get(&ty.id).copied().unwrap_or(0)
    }

    fn record_fields(&self, item: usize) -> &'a [RecordField] {
        match &self.model.items[item].kind {
            ItemKind::Record(decl) => &decl.fields,
            _ => &[],
        }
    }
}
