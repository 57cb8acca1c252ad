//! Types as written, and the second pass: the types of declarations.

use super::checker::{Checker, unknown, wrong_kind};
use super::collect::{BUILTIN_TYPES, is_type};
use super::model::{CheckedModel, Meaning, RecordId};
use super::types::Type;
use crate::ast::{
    ArmBody, Block, Expr, ExprKind, FnDecl, Ident, ItemKind, NodeId, Param, Part, Stmt, StmtKind,
    TypeExpr, TypeKind,
};
use crate::diagnostic::{Code, Diagnostic};
use std::collections::HashMap;

impl<'a> Checker<'a> {
    /// Resolves a written type.
    pub(super) fn ty(&mut self, written: &'a TypeExpr) -> Type {
        match &written.kind {
            TypeKind::Named(name) => self.named_type(name),
            TypeKind::List(t) => Type::list(self.ty(t)),
            TypeKind::Set(t) => Type::Set(Box::new(self.ty(t))),
            TypeKind::Map(k, v) => {
                let key = self.ty(k);
                Type::Map(Box::new(key), Box::new(self.ty(v)))
            }
            TypeKind::Nullable(t) => self.ty(t).nullable(),
            TypeKind::Array(t, size) => {
                match &mut self.sizes_later {
                    Some(later) => later.push((written.id, size)),
                    None => self.type_size(written.id, size),
                }
                let over = self.index_type(size);
                let element = self.ty(t);
                match over {
                    Some(over) => Type::Array(over, Box::new(element)),
                    None => Type::list(element),
                }
            }
            TypeKind::Fn(params, result) => {
                let params = params.iter().map(|t| self.ty(t)).collect();
                let result = result.as_ref().map_or(Type::Nothing, |t| self.ty(t));
                Type::Fn(params, Box::new(result))
            }
            TypeKind::Error => Type::Any,
        }
    }

    /// Evaluates the size in a type `[T; N]`.
    pub(super) fn type_size(&mut self, id: NodeId, size: &'a Expr) {
        if let Some(size) = self.array_size(size) {
            self.program.array_sizes.insert(id, size);
        }
    }

    fn named_type(&mut self, name: &'a Ident) -> Type {
        match name.name.as_str() {
            "int" => return Type::Int,
            "bool" => return Type::Bool,
            "str" => return Type::Str,
            "any" => return Type::Any,
            "task" => return Type::Task,
            "thread" => return Type::Thread,
            _ => {}
        }
        let Some(found) = self.global_name(&name.name) else {
            self.unknown_type(name);
            return Type::Any;
        };
        self.set_meaning(name.id, found.0);
        match found.0 {
            Meaning::Index(id) => Type::Index(id),
            Meaning::Enum(id) => Type::Enum(id),
            Meaning::Record(id) => Type::Record(id),
            Meaning::Class(id) => Type::Class(id),
            _ => {
                let code = Code::UNKNOWN_TYPE;
                self.report(Diagnostic { code, ..wrong_kind(name, found, "a type") });
                Type::Any
            }
        }
    }

    fn unknown_type(&mut self, name: &Ident) {
        let (name, span) = (name.name.as_str(), name.span);
        let other = match name {
            "string" | "String" | "text" => Some("str"),
            "integer" | "number" | "i32" | "i64" | "u32" | "u64" | "usize" | "Int" => Some("int"),
            "boolean" | "Bool" => Some("bool"),
            _ => None,
        };
        if let Some(other) = other {
            self.report(
                Diagnostic::new(Code::UNKNOWN_TYPE, span, format!("unknown type `{name}`"))
                    .suggest("this type is called", span, other),
            );
            return;
        }
        let types = self.names.iter().filter(|(_, (meaning, _))| is_type(*meaning));
        let known = types.map(|(name, _)| *name).chain(BUILTIN_TYPES.iter().copied());
        self.report(unknown(Code::UNKNOWN_TYPE, "type", (name, span), known));
    }

    /// Resolves the types of all declarations that write them.
    pub(super) fn signatures(&mut self) {
        self.sizes_later = Some(vec![]);
        let model = self.model;
        for (at, decl) in model.enums().enumerate() {
            self.no_twins(decl.variants.iter().map(|variant| &variant.name));
            for variant in &decl.variants {
                let payload = variant.payload.iter().map(|t| self.ty(t)).collect();
                self.program.enums[at].variants.push((variant.name.name.clone(), payload));
            }
        }
        for (at, decl) in model.records().enumerate() {
            self.no_twins(decl.fields.iter().map(|field| &field.name));
            for field in &decl.fields {
                let ty = self.ty(&field.ty);
                self.program.records[at].fields.push((field.name.name.clone(), ty));
            }
        }
        for (at, decl) in model.classes().enumerate() {
            for (method, decl) in decl.methods().enumerate() {
                let (params, result) = self.fn_types(decl);
                let info = &mut self.program.classes[at].methods[method];
                (info.params, info.result) = (params, result);
            }
        }
        for (at, decl) in model.functions().enumerate() {
            let (params, result) = self.fn_types(decl);
            let info = &mut self.program.functions[at];
            (info.params, info.result) = (params, result);
        }
        for (at, decl) in model.tasks().enumerate() {
            self.program.tasks[at].params = self.param_types(&decl.params);
        }
        self.recursive_records();
    }

    fn fn_types(&mut self, decl: &'a FnDecl) -> (Vec<(String, Type)>, Type) {
        let params = self.param_types(&decl.params);
        let result = match &decl.result {
            Some(written) => self.ty(written),
            None if gives_value(&decl.body) => Type::Any,
            None => Type::Nothing,
        };
        (params, result)
    }

    fn param_types(&mut self, params: &'a [Param]) -> Vec<(String, Type)> {
        self.no_twins(params.iter().map(|param| &param.name));
        let ty = |param: &'a Param| {
            let ty = param.ty.as_ref().map_or(Type::Any, |t| self.ty(t));
            (param.name.name.clone(), ty)
        };
        params.iter().map(ty).collect()
    }

    /// Checks that the names in one list are different.
    fn no_twins(&mut self, names: impl Iterator<Item = &'a Ident>) {
        let mut known = HashMap::new();
        names.for_each(|name| self.once(&mut known, name));
    }

    /// Reports records that contain themselves. A record is a value, so it can only do so through a
    /// list, a nullable of a class, ...
    fn recursive_records(&mut self) {
        for at in 0..self.program.records.len() {
            let id = RecordId(at as u32);
            if holds(&self.program, id, id, &mut vec![false; self.program.records.len()]) {
                let item = self.program.records[at].item;
                if let ItemKind::Record(decl) = &self.model.items[item].kind {
                    let message = format!("the record `{}` contains itself", decl.name.name);
                    self.report(
                        Diagnostic::new(Code::RECURSIVE_RECORD, decl.name.span, message)
                            .note("a record is a value; use a class, or `list<..>` or `..?` for the inner one"),
                    );
                }
            }
        }
    }
}

fn holds(program: &CheckedModel, outer: RecordId, wanted: RecordId, seen: &mut [bool]) -> bool {
    if std::mem::replace(&mut seen[outer.index()], true) {
        return false;
    }
    program.records[outer.index()].fields.iter().any(|(_, ty)| match ty {
        Type::Record(inner) => *inner == wanted || holds(program, *inner, wanted, seen),
        _ => false,
    })
}

/// Returns whether a body without a written result type has a result: it ends in a value or returns
/// one.
pub(super) fn gives_value(block: &Block) -> bool {
    block.value.is_some() || block.stmts.iter().any(returns_value)
}

fn returns_value(stmt: &Stmt) -> bool {
    let mut found = false;
    match &stmt.kind {
        StmtKind::Return(value) => found = value.is_some(),
        StmtKind::Match(node) => {
            found = node.arms.iter().any(|arm| match &arm.body {
                ArmBody::Block(block) => gives_value(block),
                ArmBody::Expr(Expr { kind: ExprKind::If(node), .. }) => {
                    node.branches().any(|(_, block)| gives_value(block))
                }
                ArmBody::Expr(_) => false,
            });
        }
        kind => kind.parts(&mut |part| {
            found |= matches!(part, Part::Block(block) if gives_value(block));
        }),
    }
    found
}

/// Describes a meaning in words.
pub(super) fn what_is(meaning: Meaning) -> &'static str {
    match meaning {
        Meaning::Local(_) => "a local",
        Meaning::SelfObject => "an object",
        Meaning::Const(_) => "a constant",
        Meaning::Global(_) => "a variable",
        Meaning::Function(_) => "a function",
        Meaning::Task(_) => "a task",
        Meaning::Event(_) => "an event",
        Meaning::Thread(_) => "a thread",
        Meaning::Handler(_) => "a handler",
        Meaning::Lock(_) => "a lock",
        Meaning::Cond(_) => "a condition",
        Meaning::Index(_) => "an index type",
        Meaning::Enum(_) => "an enum",
        Meaning::Variant(..) => "a variant",
        Meaning::Record(_) => "a record",
        Meaning::RecordField(..) | Meaning::ClassField(..) => "a field",
        Meaning::Class(_) => "a class",
        Meaning::Method(..) | Meaning::Builtin(_) | Meaning::Dynamic => "a method",
    }
}
