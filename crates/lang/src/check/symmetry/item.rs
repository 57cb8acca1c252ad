//! Declarations: their variables, first values, and bodies.

use super::flow::{Body, Flow, Place, Range, Seed, Size};
use super::result::SymmetryRule as Rule;
use super::shape::{Leaf, Shape};
use crate::ast::{
    ClassMember, EventDecl, FnDecl, ItemKind, Param, SizedName, TypeExpr, TypeKind, VarDecl,
};
use crate::check::{ClassId, EventId, FnId, RecordId, TaskId, ThreadId};
use crate::source::Span;
use std::rc::Rc;

impl<'a> Flow<'a> {
    /// Gives everything declared its variables.
    pub(super) fn declare(&mut self) {
        let program = self.program;
        self.locals = program.locals.iter().map(|local| self.shape_of(&local.ty)).collect();
        for (i, local) in program.locals.iter().enumerate() {
            self.places.entry(local.span.start).or_default().push(i);
        }
        self.shapes.globals = program.globals.iter().map(|g| self.shape_of(&g.ty)).collect();
        for record in &program.records {
            let fields = record.fields.iter().map(|(_, ty)| self.shape_of(ty)).collect();
            self.shapes.records.push(fields);
        }
        for one in &program.enums {
            let variants = one.variants.iter();
            let variants = variants.map(|(_, p)| p.iter().map(|ty| self.shape_of(ty)).collect());
            let variants = variants.collect();
            self.shapes.enums.push(variants);
        }
        for class in &program.classes {
            let fields = class.fields.iter().map(|(_, ty)| self.shape_of(ty)).collect();
            self.shapes.classes.push(fields);
            let methods = class.methods.iter().map(|m| {
                let params = m.params.iter().map(|(_, ty)| self.shape_of(ty)).collect();
                (params, self.shape_of(&m.result))
            });
            let methods = methods.collect();
            self.shapes.methods.push(methods);
        }
        for function in &program.functions {
            let params = function.params.iter().map(|(_, ty)| self.shape_of(ty)).collect();
            let result = self.shape_of(&function.result);
            self.shapes.functions.push((params, result));
        }
        for task in &program.tasks {
            let params = task.params.iter().map(|(_, ty)| self.shape_of(ty)).collect();
            self.shapes.tasks.push(params);
        }
        self.handlers = program.handlers.iter().map(|_| self.fresh()).collect();
        self.locks = program.locks.iter().map(|_| self.fresh()).collect();
        self.conds = program.conds.iter().map(|_| self.fresh()).collect();
        self.events = program.events.iter().map(|_| self.fresh()).collect();
        self.threads = program.threads.iter().map(|_| self.fresh()).collect();
        self.seed();
    }

    /// Finds what is declared `symmetric`.
    fn seed(&mut self) {
        let (model, program) = (self.model, self.program);
        for (i, handler) in program.handlers.iter().enumerate() {
            let item = handler.item.and_then(|item| model.items.get(item)).map(|item| &item.kind);
            if let (Some(ItemKind::Handler(decl)), Some(size)) = (item, handler.size)
                && decl.symmetric
                && size > 1
            {
                let (leaf, span) = (self.handlers[i], decl.name.name.span);
                self.seeds.push(Seed { leaf, span, size });
            }
        }
        for (i, thread) in program.threads.iter().enumerate() {
            let item = model.items.get(thread.item).map(|item| &item.kind);
            if let (Some(ItemKind::Thread(decl)), Some((first, end))) = (item, thread.family)
                && decl.symmetric
                && let Ok(size) = u32::try_from(end.saturating_sub(first))
                && size > 1
            {
                let (leaf, span) = (self.threads[i], decl.name.span);
                self.seeds.push(Seed { leaf, span, size });
            }
        }
        self.seeds.sort_by_key(|seed| seed.span.start);
    }

    /// Goes through all declarations.
    pub(super) fn items(&mut self) {
        let model = self.model;
        let (mut globals, mut locks, mut conds, mut handlers) = (0, 0, 0, 0);
        let (mut functions, mut tasks, mut events, mut threads) = (0, 0, 0, 0);
        let (mut classes, once) = (0, Place { body: Body::Once, atomic: true });
        for item in &model.items {
            match &item.kind {
                ItemKind::Var(vars) => {
                    for var in vars {
                        if let Some(shape) = self.shapes.globals.get(globals).cloned() {
                            self.variable(var, &shape);
                        }
                        globals += 1;
                    }
                }
                ItemKind::Lock(names) => {
                    locks = self.arrays(names, locks, |flow| &flow.locks);
                }
                ItemKind::Cond(names) => conds = self.arrays(names, conds, |flow| &flow.conds),
                ItemKind::Handler(decl) => {
                    let leaf = self.handlers.get(handlers).copied();
                    self.array(&decl.name, leaf);
                    handlers += 1;
                }
                ItemKind::Class(decl) => {
                    let mut fields =
                        self.shapes.classes.get(classes).cloned().unwrap_or_default().into_iter();
                    let mut method = 0;
                    for member in &decl.members {
                        match member {
                            ClassMember::Field(field) => {
                                let shape = fields.next().unwrap_or(Shape::Hole);
                                self.variable(&field.var, &shape);
                            }
                            ClassMember::Method(m) => {
                                let id = ClassId(classes as u32);
                                let known = self.shapes.methods.get(classes);
                                let known = known.and_then(|all| all.get(method as usize)).cloned();
                                self.function(m, known, Body::Method(id, method));
                                method += 1;
                            }
                        }
                    }
                    classes += 1;
                }
                ItemKind::Fn(decl) => {
                    let known = self.shapes.functions.get(functions as usize).cloned();
                    self.function(decl, known, Body::Function(FnId(functions)));
                    functions += 1;
                }
                ItemKind::Task(decl) => {
                    let shapes = self.shapes.tasks.get(tasks as usize).cloned();
                    self.params(&decl.params, &shapes.unwrap_or_default());
                    let place = Place { body: Body::Task(TaskId(tasks)), atomic: false };
                    self.within(place, Shape::Hole, |flow| {
                        if let Some(on) = &decl.on {
                            flow.reference(on);
                        }
                        flow.block(&decl.body);
                    });
                    tasks += 1;
                }
                ItemKind::Event(decl) => {
                    self.event(decl, EventId(events));
                    events += 1;
                }
                ItemKind::Thread(decl) => {
                    let id = ThreadId(threads);
                    let leaf = self.threads.get(id.index()).copied();
                    let bounds = self.program.threads.get(id.index()).and_then(|t| t.family);
                    if let (Some(family), Some(leaf)) = (&decl.family, leaf) {
                        self.family(&family.var, leaf);
                        self.ranges.push(Range { leaf, span: family.range.span, bounds });
                    }
                    let place = Place { body: Body::Thread(id), atomic: false };
                    self.within(place, Shape::Hole, |flow| drop(flow.block(&decl.body)));
                    threads += 1;
                }
                ItemKind::Init(block) => {
                    self.within(once, Shape::Hole, |flow| drop(flow.block(block)));
                }
                ItemKind::Driver(refs) => {
                    self.within(once, Shape::Hole, |flow| {
                        refs.iter().for_each(|r| flow.reference(r));
                    });
                }
                ItemKind::Invariant { expr, .. } | ItemKind::Final(expr) => {
                    self.within(once, Shape::Hole, |flow| drop(flow.expr(expr)));
                }
                ItemKind::Response(decl) => {
                    self.within(once, Shape::Hole, |flow| {
                        flow.expr(&decl.trigger);
                        flow.expr(&decl.reaction);
                    });
                }
                // Nothing in the others is done with indices.
                _ => {}
            }
        }
    }

    fn arrays(
        &mut self,
        names: &'a [SizedName],
        first: usize,
        of: impl Fn(&Self) -> &Vec<Leaf>,
    ) -> usize {
        for (i, name) in names.iter().enumerate() {
            let leaf = of(self).get(first + i).copied();
            self.array(name, leaf);
        }
        first + names.len()
    }

    fn array(&mut self, name: &'a SizedName, leaf: Option<Leaf>) {
        if let (Some(size), Some(leaf)) = (&name.size, leaf) {
            let value = self.constant(size);
            self.sizes.push(Size { leaf, size: value, span: size.span });
        }
    }

    fn family(&mut self, var: &crate::ast::Ident, leaf: Leaf) {
        // A parameter is a local of its own in the place, the guard and the body.
        for local in self.locals_at(var.span) {
            if let Some(Shape::Int(own)) = self.locals.get(local).cloned() {
                self.join(own, leaf);
            }
        }
    }

    fn event(&mut self, decl: &'a EventDecl, id: EventId) {
        let leaf = self.events.get(id.index()).copied();
        let bounds = self.program.events.get(id.index()).and_then(|e| e.family);
        if let (Some(family), Some(leaf)) = (&decl.family, leaf) {
            self.family(&family.var, leaf);
            self.ranges.push(Range { leaf, span: family.range.span, bounds });
        }
        let once = Place { body: Body::Once, atomic: true };
        self.within(once, Shape::Hole, |flow| {
            decl.on.iter().chain(&decl.after).for_each(|r| flow.reference(r));
            decl.when.iter().for_each(|e| drop(flow.expr(e)));
        });
        let place = Place { body: Body::Event(id), atomic: false };
        self.within(place, Shape::Hole, |flow| drop(flow.block(&decl.body)));
    }

    fn function(&mut self, decl: &'a FnDecl, known: Option<(Vec<Shape>, Shape)>, body: Body) {
        let (params, result) = known.unwrap_or((vec![], Shape::Hole));
        self.params(&decl.params, &params);
        let place = Place { body, atomic: false };
        self.within(place, result.clone(), |flow| {
            let value = flow.block(&decl.body);
            if let Some(e) = &decl.body.value {
                flow.unify(&result, &value, e.span);
            }
        });
    }

    pub(super) fn params(&mut self, params: &'a [Param], shapes: &[Shape]) {
        for (param, shape) in params.iter().zip(shapes) {
            for local in self.locals_at(param.name.span) {
                if let Some(own) = self.locals.get(local).cloned() {
                    self.unify(&own, shape, param.name.span);
                }
            }
        }
    }

    /// The locals that are declared at a place.
    fn locals_at(&self, span: Span) -> Vec<usize> {
        self.places.get(&span.start).cloned().unwrap_or_default()
    }

    /// A global or a field: its first value.
    fn variable(&mut self, var: &'a VarDecl, shape: &Shape) {
        match (&var.init, &var.ty) {
            (Some(init), _) => {
                let once = Place { body: Body::Once, atomic: true };
                let shape = shape.clone();
                self.within(once, Shape::Hole, |flow| {
                    let value = flow.expr(init);
                    flow.unify(&shape, &value, init.span);
                });
            }
            (None, Some(ty)) => self.default(ty, shape, ty, 0),
            (None, None) => {}
        }
    }

    /// The value that a variable has when none is given.
    fn default(&mut self, ty: &TypeExpr, shape: &Shape, at: &TypeExpr, depth: u32) {
        match (&ty.kind, shape) {
            (TypeKind::Named(_), Shape::Int(leaf)) => {
                self.demand(
                    *leaf,
                    at.span,
                    Rule::StartsAsZero,
                    "a variable that starts as 0, which is one of them",
                );
            }
            (TypeKind::Array(of, _), Shape::List(leaf, element)) => {
                let size = self.program.array_sizes.get(&ty.id).copied();
                let span = at.span;
                self.sizes.push(Size { leaf: *leaf, size: size.map(i64::from), span });
                let element = Rc::clone(element);
                self.default(of, &element, at, depth);
            }
            (TypeKind::List(_), Shape::List(leaf, _)) => {
                self.sizes.push(Size { leaf: *leaf, size: Some(0), span: at.span });
            }
            (TypeKind::Named(_), Shape::Record(id)) if depth < 64 => {
                self.default_record(*id, at, depth + 1);
            }
            _ => {}
        }
    }

    fn default_record(&mut self, id: RecordId, at: &TypeExpr, depth: u32) {
        let model = self.model;
        let item = self.program.records.get(id.index()).and_then(|r| model.items.get(r.item));
        let Some(ItemKind::Record(decl)) = item.map(|item| &item.kind) else { return };
        let shapes = self.shapes.records.get(id.index()).cloned().unwrap_or_default();
        for (field, shape) in decl.fields.iter().zip(&shapes) {
            self.default(&field.ty, shape, at, depth);
        }
    }
}
