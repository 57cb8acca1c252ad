//! Lists, sets, maps, records, objects, values of enums.

use super::body::{Body, Val};
use super::declare::{numbers, size16};
use super::symbols::FieldStart;
use super::ty::Ty;
use crate::ast::{Expr, ExprKind, FieldInit, Ident};
use crate::diagnostic::Code;
use anyorder_vm::program::{Builtin, EnumId, Literal, Op, Reg, Type, TypeId};

impl<'a> Body<'_, 'a> {
    pub(crate) fn list(&mut self, items: &'a [Expr], want: Option<Reg>) -> Val {
        let dst = self.dst(want);
        let mark = self.mark();
        let (args, types) = self.operands(items, &[]);
        self.release(mark);
        self.emit(Op::List { dst, args, count: size16(items.len()) });
        Val::new(dst, Ty::list(join(types)))
    }

    pub(crate) fn set(&mut self, items: &'a [Expr], want: Option<Reg>) -> Val {
        let dst = self.dst(want);
        let mark = self.mark();
        let (args, types) = self.operands(items, &[]);
        self.release(mark);
        self.emit(Op::Set { dst, args, count: size16(items.len()) });
        Val::new(dst, Ty::Set(Box::new(join(types))))
    }

    pub(crate) fn map(&mut self, entries: &'a [(Expr, Expr)], want: Option<Reg>) -> Val {
        let dst = self.dst(want);
        let mark = self.mark();
        let count = size16(entries.len());
        let args = self.temps(count.saturating_mul(2));
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for ((key, value), i) in entries.iter().zip(numbers(0)) {
            let inner = self.mark();
            keys.push(self.expr_to(key, args.plus(i.saturating_mul(2))));
            values.push(self.expr_to(value, args.plus(i.saturating_mul(2).saturating_add(1))));
            self.release(inner);
        }
        self.release(mark);
        self.emit(Op::Map { dst, args, count });
        Val::new(dst, Ty::Map(Box::new(join(keys)), Box::new(join(values))))
    }

    /// `[value; count]`.
    pub(crate) fn repeat(
        &mut self,
        e: &'a Expr,
        value: &'a Expr,
        count: &'a Expr,
        want: Option<Reg>,
    ) -> Val {
        let dst = self.dst(want);
        let mark = self.mark();
        let value = self.stable(value, &[count]);
        let item = self.own(&value);
        let over = self.with_folder(|f| f.index(count));
        let count = match over {
            Some((_, size)) => self.load(&Literal::Int(i64::from(size)), None).reg,
            None => self.expr(count).reg,
        };
        // Built apart: the wanted register may be one of the operands.
        let (list, at, more) = (self.temp(), self.temp(), self.temp());
        let (next, end) = (self.fb.label(), self.fb.label());
        self.at(e.span);
        self.emit(Op::List { dst: list, args: item, count: 0 });
        self.emit(Op::Int { dst: at, value: 0 });
        // A negative count is a failure of index.
        self.emit(Op::Le { dst: more, a: at, b: count });
        self.fb.jump_if(more, next);
        self.emit(Op::Index { dst: more, src: list, index: count });
        self.fb.bind(next);
        self.emit(Op::Lt { dst: more, a: at, b: count });
        self.fb.jump_if_not(more, end);
        self.emit(Op::Method { dst: more, method: Builtin::Push, recv: list, args: item });
        self.emit(Op::AddInt { dst: at, a: at, value: 1 });
        self.fb.jump(next);
        self.fb.bind(end);
        match over {
            Some((index, _)) => self.emit(Op::Array { dst, src: list, index }),
            None => self.copy(dst, list),
        }
        self.release(mark);
        Val::new(dst, Ty::list(value.ty))
    }

    pub(crate) fn record(
        &mut self,
        name: &'a Ident,
        fields: &'a [FieldInit],
        base: Option<&'a Expr>,
        want: Option<Reg>,
    ) -> Val {
        let Some((index, info)) = self.low.symbols.record(&name.name) else {
            return self.unknown(Code::UNKNOWN_TYPE, name.span, "no such record");
        };
        let (id, decl, types) = (info.id, info.decl, info.types.clone());
        let dst = self.dst(want);
        let mark = self.mark();
        if let Some(base) = base {
            let mut given = Vec::new();
            for init in fields {
                let Some(at) = decl.fields.iter().position(|f| f.name.name == init.name.name)
                else {
                    continue;
                };
                let value = self.temp();
                self.field_value(init, value, &types[at]);
                given.push((size16(at), value));
            }
            let record = self.temp();
            let have = self.expr_to(base, record);
            self.at(base.span);
            self.check(record, &have, &Ty::Record(index));
            for (field, src) in given {
                self.emit(Op::RecordSet { record, ty: id, field, src });
            }
            self.copy(dst, record);
        } else {
            let args = self.temps(size16(types.len()));
            // In the order written, each into its place.
            for init in fields {
                if let Some(at) = decl.fields.iter().position(|f| f.name.name == init.name.name) {
                    self.field_value(init, args.plus(size16(at)), &types[at]);
                }
            }
            self.at(name.span);
            self.emit(Op::Record { dst, ty: id, args });
        }
        self.release(mark);
        Val::new(dst, Ty::Record(index))
    }

    fn field_value(&mut self, init: &'a FieldInit, dst: Reg, ty: &Ty) {
        let mark = self.mark();
        let have = self.expr_to(&init.value, dst);
        self.at(init.name.span);
        self.check(dst, &have, ty);
        self.release(mark);
    }

    /// `new C { .. }`: the fields written in their order, then the initialisers of the others in the order of the class.
    pub(crate) fn new_object(
        &mut self,
        e: &'a Expr,
        name: &'a Ident,
        fields: &'a [FieldInit],
        want: Option<Reg>,
    ) -> Val {
        let Some((index, info)) = self.low.symbols.class(&name.name) else {
            return self.unknown(Code::UNKNOWN_TYPE, name.span, "no such class");
        };
        let class = info.id;
        let shape: Vec<(&'a str, Ty, FieldStart)> =
            info.fields.iter().map(|f| (f.name, f.ty.clone(), f.start.clone())).collect();
        let dst = self.dst(want);
        let mark = self.mark();
        let args = self.temps(size16(shape.len()));
        for init in fields {
            if let Some(at) = shape.iter().position(|f| f.0 == init.name.name) {
                self.field_value(init, args.plus(size16(at)), &shape[at].1);
            }
        }
        self.at(e.span);
        for (at, (name, _, start)) in shape.iter().enumerate() {
            if fields.iter().any(|f| f.name.name == *name) {
                continue;
            }
            let dst = args.plus(size16(at));
            match start {
                FieldStart::Value(value) => {
                    self.load(value, Some(dst));
                }
                FieldStart::Code(func) => self.emit(Op::Call { dst, func: *func, args: dst }),
            }
        }
        self.emit(Op::New { dst, class, args });
        self.release(mark);
        Val::new(dst, Ty::Class(index))
    }

    /// Whether an expression names a variant of an enum: `Phase.Idle`.
    pub(crate) fn is_variant(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Field { base, name } => self.variant_of(base, &name.name).is_some(),
            _ => false,
        }
    }

    /// The variant that `base.name` names, if it does.
    pub(crate) fn variant_of(&self, base: &Expr, name: &str) -> Option<(usize, EnumId, u16)> {
        let ExprKind::Name(enum_name) = &base.kind else { return None };
        if self.local(enum_name).is_some() {
            return None;
        }
        let (index, info) = self.low.symbols.enumeration(enum_name)?;
        Some((index, info.id, info.variant(name)?))
    }

    /// `Phase.Idle` that was not folded.
    pub(crate) fn variant_value(&mut self, e: &'a Expr, want: Option<Reg>) -> Option<Val> {
        let ExprKind::Field { base, name } = &e.kind else { return None };
        let (index, ty, variant) = self.variant_of(base, &name.name)?;
        let dst = self.dst(want);
        self.emit(Op::Enum { dst, ty, variant, args: dst });
        Some(Val::new(dst, Ty::Enum(index)))
    }

    /// `Phase.Busy(3)`.
    pub(crate) fn variant_with(
        &mut self,
        (index, ty, variant): (usize, EnumId, u16),
        values: &'a [Expr],
        want: Option<Reg>,
    ) -> Val {
        let dst = self.dst(want);
        let mark = self.mark();
        let payload = self.payload_types(index, variant);
        let args = self.typed_operands(values, &payload, &[]);
        self.release(mark);
        self.emit(Op::Enum { dst, ty, variant, args });
        Val::new(dst, Ty::Enum(index))
    }

    /// Types of what a variant carries.
    pub(crate) fn payload_types(&self, index: usize, variant: u16) -> Vec<Ty> {
        let symbols = &self.low.symbols;
        let variants = symbols.enums.get(index).map(|e| &e.decl.variants);
        let variant = variants.and_then(|v| v.get(usize::from(variant)));
        variant.map_or(Vec::new(), |v| v.payload.iter().map(|t| Ty::of(symbols, t)).collect())
    }
}

fn join(types: Vec<Ty>) -> Ty {
    types.into_iter().reduce(Ty::join).unwrap_or(Ty::Any)
}

impl super::lowerer::Lowerer<'_> {
    /// The type to look for at run time; `None` where any value will do.
    pub(crate) fn runtime_type(&mut self, ty: &Ty) -> Option<TypeId> {
        let nullable = matches!(ty, Ty::Nullable(_));
        let wanted = match (ty.solid(), nullable) {
            (Ty::Any | Ty::Nullable(_) | Ty::Null, _) => return None,
            (Ty::Int, false) => Type::Int,
            (Ty::Int, true) => Type::NullOrInt,
            (Ty::Index(of), false) => Type::Index(*of),
            (Ty::Index(of), true) => Type::NullOrIndex(*of),
            (Ty::Bool, false) => Type::Bool,
            (Ty::Bool, true) => Type::NullOrBool,
            (Ty::Str, false) => Type::Str,
            (Ty::Str, true) => Type::NullOrStr,
            (Ty::Handle, false) => Type::Handle,
            (Ty::Handle, true) => Type::NullOrHandle,
            (Ty::List(_), false) => Type::List,
            (Ty::List(_), true) => Type::NullOrList,
            (Ty::Set(_), false) => Type::Set,
            (Ty::Set(_), true) => Type::NullOrSet,
            (Ty::Map(..), false) => Type::Map,
            (Ty::Map(..), true) => Type::NullOrMap,
            (Ty::Fn(_), false) => Type::Func,
            (Ty::Fn(_), true) => Type::NullOrFunc,
            (Ty::Enum(i), _) => {
                let id = self.symbols.enums.get(*i)?.id;
                if nullable { Type::NullOrEnum(id) } else { Type::Enum(id) }
            }
            (Ty::Record(i), _) => {
                let id = self.symbols.records.get(*i)?.id;
                if nullable { Type::NullOrRecord(id) } else { Type::Record(id) }
            }
            (Ty::Class(i), _) => {
                let id = self.symbols.classes.get(*i)?.id;
                if nullable { Type::NullOrObject(id) } else { Type::Object(id) }
            }
        };
        let known = self.b.program().types.iter().position(|t| *t == wanted);
        match known.and_then(|i| u16::try_from(i).ok()) {
            Some(i) => Some(TypeId(i)),
            None => Some(self.b.ty(wanted)),
        }
    }
}
