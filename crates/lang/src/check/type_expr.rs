//! Types as written, and the second pass: the types of declarations.

use super::checker::Checker;
use super::program::{Meaning, Program, RecordId};
use super::types::Type;
use crate::ast::{
    ArmBody, Block, Expr, ExprKind, FnDecl, Ident, IfElse, ItemKind, NodeId, Param, Stmt, StmtKind,
    TypeExpr, TypeKind,
};
use crate::diagnostic::{Code, Diagnostic};
use std::collections::HashMap;

impl<'a> Checker<'a> {
    /// Resolves a written type.
    pub(super) fn ty(&mut self, written: &'a TypeExpr) -> Type {
        match &written.kind {
            TypeKind::Named(name) => self.named_type(&name.name, name.span, name.id),
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

    fn named_type(&mut self, name: &'a str, span: crate::source::Span, id: NodeId) -> Type {
        match name {
            "int" => return Type::Int,
            "bool" => return Type::Bool,
            "str" => return Type::Str,
            "any" => return Type::Any,
            "task" => return Type::Task,
            "thread" => return Type::Thread,
            _ => {}
        }
        let found = self.global_name(name);
        if let Some((meaning, _)) = found {
            self.set_meaning(id, meaning);
        }
        match found {
            Some((Meaning::Index(id), _)) => Type::Index(id),
            Some((Meaning::Enum(id), _)) => Type::Enum(id),
            Some((Meaning::Record(id), _)) => Type::Record(id),
            Some((Meaning::Class(id), _)) => Type::Class(id),
            Some((meaning, declared)) => {
                let message = format!("`{name}` is {}, not a type", what_is(meaning));
                self.report(
                    Diagnostic::new(Code::UNKNOWN_TYPE, span, message)
                        .also(declared, "declared here"),
                );
                Type::Any
            }
            None => {
                self.unknown_type(name, span);
                Type::Any
            }
        }
    }

    fn unknown_type(&mut self, name: &str, span: crate::source::Span) {
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
        let types = self.names.iter().filter(|(_, (meaning, _))| {
            matches!(
                meaning,
                Meaning::Index(_) | Meaning::Enum(_) | Meaning::Record(_) | Meaning::Class(_)
            )
        });
        let mut known: Vec<&'a str> = types.map(|(name, _)| *name).collect();
        known.sort_unstable();
        known.extend(super::collect::BUILTIN_TYPES);
        self.unknown(Code::UNKNOWN_TYPE, "type", name, span, known);
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

fn holds(program: &Program, outer: RecordId, wanted: RecordId, seen: &mut [bool]) -> bool {
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
    let in_if = |node: &crate::ast::If| {
        let mut node = node;
        loop {
            if gives_value(&node.then) {
                return true;
            }
            match &node.otherwise {
                None => return false,
                Some(IfElse::Block(block)) => return gives_value(block),
                Some(IfElse::If(inner)) => node = inner,
            }
        }
    };
    match &stmt.kind {
        StmtKind::Return(value) => value.is_some(),
        StmtKind::If(node) => in_if(node),
        StmtKind::Match(node) => node.arms.iter().any(|arm| match &arm.body {
            ArmBody::Block(block) => gives_value(block),
            ArmBody::Expr(Expr { kind: ExprKind::If(node), .. }) => in_if(node),
            ArmBody::Expr(_) => false,
        }),
        StmtKind::While { body, .. } | StmtKind::For { body, .. } | StmtKind::With { body, .. } => {
            gives_value(body)
        }
        StmtKind::Loop(body) | StmtKind::Block(body) | StmtKind::Atomic(body) => gives_value(body),
        StmtKind::Choose(alternatives) => alternatives.iter().any(|a| gives_value(&a.body)),
        _ => false,
    }
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
