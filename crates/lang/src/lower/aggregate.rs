//! Lists, sets, maps, records, objects, values of enums.

use super::body::Body;
use super::lowerer::{literal, number, numbers};
use crate::ast::{Expr, FieldInit, Ident};
use crate::check::{EnumId, Meaning, Type};
use anyorder_program::{Builtin, Literal, Op, Reg};

impl<'a> Body<'_, 'a> {
    pub(crate) fn map(&mut self, entries: &'a [(Expr, Expr)], dst: Reg) {
        let count = number(entries.len());
        let args = self.temps(count.saturating_mul(2));
        for ((key, value), i) in entries.iter().zip(numbers(0)) {
            let inner = self.mark();
            self.expr_to(key, args.plus(i.saturating_mul(2)));
            self.expr_to(value, args.plus(i.saturating_mul(2).saturating_add(1)));
            self.release(inner);
        }
        self.emit(Op::Map { dst, args, count });
    }

    /// `[value; count]`.
    pub(crate) fn repeat(&mut self, e: &Expr, value: &'a Expr, count: &'a Expr, dst: Reg) {
        let value = self.stable(value, &[count]);
        let item = self.own(value);
        let over = match self.meaning(count.unwrapped().id) {
            Some(Meaning::Index(id)) => Some(id),
            _ => None,
        };
        let count = match over {
            Some(id) => {
                let size = i64::from(self.low.tables.indices[id.index()].size);
                self.load(&Literal::Int(size), None)
            }
            None => self.expr(count),
        };
        // Build the list in another register: the wanted register may be one of the operands.
        let (list, at, more) = (self.temp(), self.temp(), self.temp());
        let (next, end) = (self.fb.label(), self.fb.label());
        self.at(e.span);
        self.emit(Op::List { dst: list, args: item, count: 0 });
        self.emit(Op::Int { dst: at, value: 0 });
        // A negative count is an index failure.
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
            Some(id) => self.emit(Op::Array { dst, src: list, index: number(id.0) }),
            None => self.copy(dst, list),
        }
    }

    /// Lowers `R { .. }` and `R { .., ..base }`: the fields in the order written, then the base.
    pub(crate) fn record(
        &mut self,
        e: &'a Expr,
        name: &Ident,
        fields: &'a [FieldInit],
        base: Option<&'a Expr>,
        dst: Reg,
    ) {
        let Type::Record(id) = self.ty(e) else { return };
        let ty = id.into();
        if let Some(base) = base {
            let mut given = Vec::new();
            for init in fields {
                let value = self.temp();
                self.field_init(init, value);
                given.push((self.field(init), value));
            }
            let record = self.temp();
            self.expr_to(base, record);
            self.at(base.span);
            self.check(base, record);
            for (field, src) in given {
                self.emit(Op::RecordSet { record, ty, field, src });
            }
            self.copy(dst, record);
        } else {
            let args = self.temps(number(self.low.tables.records[id.index()].fields.len()));
            for init in fields {
                self.field_init(init, args.plus(self.field(init)));
            }
            self.at(name.span);
            self.emit(Op::Record { dst, ty, args });
        }
    }

    /// The number of the field that an initialiser names.
    fn field(&self, init: &FieldInit) -> u16 {
        match self.meaning(init.name.id) {
            Some(Meaning::RecordField(_, at) | Meaning::ClassField(_, at)) => number(at),
            _ => 0,
        }
    }

    fn field_init(&mut self, init: &'a FieldInit, dst: Reg) {
        let mark = self.mark();
        self.expr_to(&init.value, dst);
        self.at(init.name.span);
        self.check(&init.value, dst);
        self.release(mark);
    }

    /// `new C { .. }`: the fields written in their order, then the initialisers of the others in
    /// the order of the class.
    pub(crate) fn new_object(&mut self, e: &Expr, fields: &'a [FieldInit], dst: Reg) {
        let Type::Class(id) = self.ty(e) else { return };
        let tables = self.low.tables;
        let starts = &tables.classes[id.index()].starts;
        let args = self.temps(number(starts.len()));
        for init in fields {
            self.field_init(init, args.plus(self.field(init)));
        }
        self.at(e.span);
        for ((at, start), i) in starts.iter().enumerate().zip(numbers(0)) {
            if fields.iter().any(|init| self.field(init) == i) {
                continue;
            }
            let dst = args.plus(i);
            match (start, self.low.starts[id.index()][at]) {
                (None, Some(func)) => self.emit(Op::Call { dst, func, args: dst }),
                (start, _) => {
                    self.load(&start.as_ref().map(literal).unwrap_or_default(), Some(dst));
                }
            }
        }
        self.emit(Op::New { dst, class: id.into(), args });
    }

    /// `Phase.Busy(x)`: a value of an enum that is not constant.
    pub(crate) fn variant(&mut self, (id, at): (EnumId, u32), values: &'a [Expr], dst: Reg) {
        let args = self.typed_operands(values);
        self.emit(Op::Enum { dst, ty: id.into(), variant: number(at), args });
    }
}
