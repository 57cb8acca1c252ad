//! Bodies of declarations.

use super::body::{Body, BodyKind};
use super::checker::{Checker, end_of};
use super::model::{ClassId, FnId, GlobalId, LocalKind, Meaning, TaskId};
use super::pure::Callee;
use super::types::Type;
use crate::ast::{
    Block, EventDecl, Expr, Family, FnDecl, ItemKind, Param, TaskDecl, TypeExpr, TypeKind, VarDecl,
};
use crate::diagnostic::{Code, Diagnostic};

impl<'a> Checker<'a> {
    /// Checks the first values of fields and globals. They give variables without a written type
    /// their types.
    pub(super) fn first_values(&mut self) {
        let classes = self.model.classes().enumerate();
        let fields = classes.flat_map(|(class, decl)| {
            decl.fields().enumerate().map(move |(at, var)| (class, at, var))
        });
        let fields: Vec<(usize, usize, &'a VarDecl)> = fields.collect();
        let globals: Vec<&'a VarDecl> = self.model.vars().flatten().collect();
        for (class, at, var) in &fields {
            let slot = self.program.classes[*class].fields[*at].1.clone();
            self.written_type(var, &slot);
        }
        for (at, var) in globals.iter().enumerate() {
            let slot = self.program.globals[at].ty.clone();
            self.written_type(var, &slot);
        }
        for (class, at, var) in &fields {
            let slot = self.program.classes[*class].fields[*at].1.clone();
            self.first_value(var, &slot);
            let start = self.start(var);
            self.program.classes[*class].starts.push(start);
        }
        for (at, var) in globals.iter().enumerate() {
            let slot = self.program.globals[at].ty.clone();
            self.globals_ready = Some(GlobalId(at as u32));
            self.first_value(var, &slot);
            self.globals_ready = None;
            self.program.globals[at].start = self.start(var);
        }
    }

    fn written_type(&mut self, var: &'a VarDecl, slot: &Type) {
        if let Some(written) = &var.ty {
            let ty = self.ty(written);
            // A variable of type `any` would stay unknown otherwise.
            self.unknowns.settle(slot, ty);
        }
    }

    fn first_value(&mut self, var: &'a VarDecl, slot: &Type) {
        match (&var.ty, &var.init) {
            (Some(written), Some(init)) => {
                self.in_body(Body::of(BodyKind::FirstValue), |c| {
                    c.expect_for(init, slot, (written.span, "because of this type"));
                });
            }
            (None, Some(init)) => {
                let ty = self.in_body(Body::of(BodyKind::FirstValue), |c| c.variable_type(init));
                self.unknowns.settle(slot, ty);
            }
            (Some(written), None) => {
                if !self.has_default(written, slot) {
                    let message = format!("`{}` needs a first value", var.name.name);
                    let ty = self.show(slot);
                    self.report(
                        Diagnostic::new(Code::NEED_TYPE, var.name.span, message)
                            .note(format!("the type `{ty}` has no default value")),
                    );
                }
            }
            (None, None) => {
                if !var.name.name.is_empty() {
                    let message = format!("`{}` needs a type or a first value", var.name.name);
                    self.error(Code::NEED_TYPE, var.name.span, message);
                }
                self.unknowns.settle(slot, Type::Any);
            }
        }
        self.file_effects(None);
    }

    /// Returns the type of a variable that starts with the value of an expression. `null` only
    /// shows that the variable can be null.
    pub(super) fn variable_type(&mut self, init: &'a Expr) -> Type {
        let ty = self.expr_action(init);
        match self.unknowns.shallow(&ty) {
            Type::Null => self.unknowns.fresh().nullable(),
            Type::Nothing => {
                self.error(Code::TYPE_MISMATCH, init.span, "expected a value, found no value");
                Type::Any
            }
            Type::Never => Type::Any,
            _ => ty,
        }
    }

    fn has_default(&self, written: &TypeExpr, ty: &Type) -> bool {
        if matches!(written.kind, TypeKind::Array(..)) {
            if let (TypeKind::Array(element, _), Type::List(inner) | Type::Array(_, inner)) =
                (&written.kind, self.unknowns.shallow(ty))
            {
                return self.has_default(element, &inner);
            }
            return true;
        }
        self.type_has_default(ty)
    }

    fn type_has_default(&self, ty: &Type) -> bool {
        match self.unknowns.shallow(ty) {
            Type::Index(_) | Type::Class(_) | Type::Task | Type::Thread => false,
            Type::Enum(id) => {
                let variants = &self.program.enums[id.index()].variants;
                variants.first().is_some_and(|(_, payload)| payload.is_empty())
            }
            Type::Record(id) => {
                // Records that hold themselves are an error of their own.
                let mut types = self.program.records[id.index()].fields.iter().map(|(_, ty)| ty);
                types.all(|ty| matches!(ty, Type::Record(_)) || self.type_has_default(ty))
            }
            _ => true,
        }
    }

    /// Checks all bodies.
    pub(super) fn bodies(&mut self) {
        let model = self.model;
        let (mut classes, mut fns, mut tasks) = (0, 0, 0);
        for item in &model.items {
            match &item.kind {
                ItemKind::Class(decl) => {
                    let id = ClassId(classes);
                    classes += 1;
                    for (at, method) in (0..).zip(decl.methods()) {
                        let info = self.program.classes[id.index()].methods[at as usize].clone();
                        self.function(method, info.params, info.result, Some(Type::Class(id)));
                        self.file_effects(Some(Callee::Method(id, at)));
                    }
                }
                ItemKind::Fn(decl) => {
                    let info = self.program.functions[fns as usize].clone();
                    self.function(decl, info.params, info.result, None);
                    self.file_effects(Some(Callee::Function(FnId(fns))));
                    fns += 1;
                }
                ItemKind::Task(decl) => {
                    self.task(decl, TaskId(tasks));
                    tasks += 1;
                }
                ItemKind::Event(decl) => self.event(decl),
                ItemKind::Thread(decl) => {
                    self.in_body(Body::of(BodyKind::Thread), |c| {
                        c.family_param(decl.family.as_ref());
                        c.block(&decl.body);
                    });
                    self.file_effects(None);
                }
                ItemKind::Init(body) => {
                    self.in_body(Body::of(BodyKind::Init), |c| c.block(body));
                    self.file_effects(None);
                }
                ItemKind::Invariant { expr, .. } | ItemKind::Final(expr) => self.property(expr),
                ItemKind::Response(response) => {
                    self.property(&response.trigger);
                    self.property(&response.reaction);
                }
                ItemKind::Spec(spec) => self.spec(spec),
                _ => {}
            }
        }
    }

    fn property(&mut self, expr: &'a Expr) {
        self.in_body(Body::of(BodyKind::Property), |c| c.expect(expr, &Type::Bool));
    }

    /// Declares the parameter of a family. The place, the causes, the guard and the body share this
    /// local.
    pub(super) fn family_param(&mut self, family: Option<&'a Family>) {
        let Some(Family { var, range }) = family else { return };
        match (self.program.meaning(var.id), self.body.scopes.last_mut()) {
            (Some(Meaning::Local(known)), Some(scope)) => {
                scope.names.insert(&var.name, known);
            }
            _ => {
                let ty = self.index_type(range).map_or(Type::Int, Type::Index);
                self.declare_local(var, ty, LocalKind::Family);
            }
        }
    }

    pub(super) fn params(&mut self, params: &'a [Param], types: Vec<(String, Type)>) {
        for (param, (_, ty)) in params.iter().zip(types) {
            self.declare_local(&param.name, ty, LocalKind::Param);
        }
    }

    fn function(
        &mut self,
        decl: &'a FnDecl,
        params: Vec<(String, Type)>,
        result: Type,
        object: Option<Type>,
    ) {
        let body = Body {
            kind: BodyKind::Function,
            result: (result != Type::Nothing).then(|| result.clone()),
            object,
            ..Body::default()
        };
        self.in_body(body, |c| {
            c.params(&decl.params, params);
            c.returning_block(&decl.body, &result, decl.result.as_ref());
        });
    }

    /// Checks a body whose end value or `return` gives the result.
    pub(super) fn returning_block(
        &mut self,
        block: &'a Block,
        result: &Type,
        written: Option<&TypeExpr>,
    ) {
        let falls = self.statements(&block.stmts);
        if let Some(value) = &block.value {
            if !falls {
                self.unreachable(value.span);
            }
            match written {
                Some(written) => {
                    self.expect_for(value, result, (written.span, "because of this type"))
                }
                None if *result == Type::Nothing => self.expr(value),
                None if *result == Type::Any => {
                    self.hidden(value);
                    Type::Any
                }
                None => self.expect(value, result),
            };
            return;
        }
        let promised = written.is_some_and(|t| !matches!(t.kind, TypeKind::Error));
        if falls && promised && !matches!(result, Type::Nothing | Type::Any) {
            let mut diagnostic = Diagnostic::new(
                Code::NO_RETURN_VALUE,
                end_of(block),
                "the function can end without a value",
            )
            .label("ends here without `return`");
            if let Some(written) = written {
                diagnostic = diagnostic.also(written.span, "a value is promised here");
            }
            self.report(diagnostic);
        }
    }

    fn task(&mut self, decl: &'a TaskDecl, id: TaskId) {
        let params = self.program.tasks[id.index()].params.clone();
        self.in_body(Body::of(BodyKind::Task), |c| {
            c.params(&decl.params, params);
            if let Some(handler) = &decl.on {
                c.handler_ref(handler);
            }
            c.in_scope(|c| c.block(&decl.body));
        });
        self.file_effects(Some(Callee::Task(id)));
    }

    fn event(&mut self, decl: &'a EventDecl) {
        if let Some(guard) = &decl.when {
            self.in_body(Body::of(BodyKind::Guard), |c| {
                c.family_param(decl.family.as_ref());
                c.expect(guard, &Type::Bool);
            });
        }
        self.in_body(Body::of(BodyKind::Event), |c| {
            c.family_param(decl.family.as_ref());
            if let Some(handler) = &decl.on {
                c.handler_ref(handler);
            }
            c.in_scope(|c| c.block(&decl.body));
        });
        self.file_effects(None);
    }
}
