//! Functions, methods, tasks, threads, `init`, and properties.

use super::body::Body;
use super::events::family;
use super::lowerer::{Lowerer, number, numbers};
use crate::ast::{Block, ClassDecl, Expr, ItemKind, Param, VarDecl};
use crate::check::{self, ClassId, TaskId};
use anyorder_program::{FuncId, GlobalId, Granularity, Op, Reg};

/// Lowers all code except that of events ([`super::events`]).
pub(crate) fn define(low: &mut Lowerer<'_>) {
    settings(low);
    init(low);
    for (at, decl) in low.model.functions().enumerate() {
        body(low, low.functions[at], &decl.name.name, (&decl.params, &decl.body), false);
    }
    for (at, decl) in (0..).zip(low.model.classes()) {
        class(low, ClassId(at), decl);
    }
    for (at, decl) in (0..).zip(low.model.tasks()) {
        body(low, low.task(TaskId(at)), &decl.name.name, (&decl.params, &decl.body), false);
    }
    threads(low);
    super::events::components(low);
    properties(low);
}

fn settings(low: &mut Lowerer<'_>) {
    let mut settings = low.b.program().settings;
    settings.granularity = match low.tables.granularity {
        check::Granularity::Access => Granularity::Access,
        check::Granularity::Task => Granularity::Task,
    };
    settings.steps = low.tables.steps_max;
    low.b.settings(settings);
}

/// Lowers the globals whose first values need code, in order, and then the `init` blocks.
fn init(low: &mut Lowerer<'_>) {
    let globals = numbers(0).zip(low.tables.globals.iter().zip(low.model.vars().flatten()));
    let late = globals.filter(|(_, (info, _))| info.start.is_none());
    let late = late.filter_map(|(i, (_, var))| Some((GlobalId(i), var.init.as_ref()?)));
    let late: Vec<(GlobalId, &Expr)> = late.collect();
    let blocks: Vec<&Block> = low.model.inits().collect();
    if late.is_empty() && blocks.is_empty() {
        return;
    }
    let id = low.b.declare_function();
    low.b.program_mut().init = Some(id);
    let mut body = Body::new(low, "init", 0, 0);
    for (global, e) in late {
        let mark = body.mark();
        let src = body.expr(e);
        body.at(e.span);
        body.check(e, src);
        body.emit(Op::SetGlobal { global, src });
        body.release(mark);
    }
    for block in blocks {
        body.block(block, None);
    }
    body.define(id);
}

/// The body of a function, task or method. The object of a method comes before the parameters.
fn body<'a>(
    low: &mut Lowerer<'a>,
    id: FuncId,
    name: &str,
    (params, block): (&'a [Param], &'a Block),
    is_method: bool,
) {
    let first = u16::from(is_method);
    let mut body = Body::new(low, name, number(params.len()).saturating_add(first), 0);
    body.this = is_method.then_some(Reg(0));
    for (param, i) in params.iter().zip(numbers(first)) {
        body.declare(&param.name, Reg(i));
    }
    body.function_block(block);
    body.define(id);
}

/// Methods, and first values of fields that need code.
fn class<'a>(low: &mut Lowerer<'a>, class: ClassId, decl: &'a ClassDecl) {
    for (at, decl) in (0..).zip(decl.methods()) {
        let id = low.method(class, at);
        body(low, id, &decl.name.name, (&decl.params, &decl.body), true);
    }
    for (at, VarDecl { init, .. }) in decl.fields().enumerate() {
        if let (Some(id), Some(e)) = (low.starts[class.index()][at], init) {
            expression(low, id, e, "field");
        }
    }
}

/// Lowers an expression to a function without parameters that computes it.
fn expression<'a>(low: &mut Lowerer<'a>, id: FuncId, e: &'a Expr, name: &str) {
    let mut body = Body::new(low, name, 0, 0);
    body.return_value(e);
    body.define(id);
}

fn threads(low: &mut Lowerer<'_>) {
    for (info, decl) in low.tables.threads.iter().zip(low.model.threads()) {
        let family = info.family.map(|bounds| family(bounds, info.index));
        let id = low.b.declare_function();
        let thread = low.b.thread(&decl.name.name, family, id);
        let program = low.b.program_mut();
        program.threads.last_mut().into_iter().for_each(|thread| thread.fair = !decl.unfair);
        program.daemons.threads.extend(decl.daemon.then_some(thread));
        let mut body = Body::new(low, &decl.name.name, u16::from(family.is_some()), 0);
        if let Some(f) = &decl.family {
            body.declare(&f.var, Reg(0));
        }
        body.function_block(&decl.body);
        body.define(id);
    }
}

fn properties(low: &mut Lowerer<'_>) {
    let model = low.model;
    for item in &model.items {
        match &item.kind {
            ItemKind::Invariant { name, expr } => {
                let id = low.b.declare_function();
                low.b.invariant(&name.name, id);
                expression(low, id, expr, &name.name);
            }
            ItemKind::Response(r) => {
                let (trigger, reaction) = (low.b.declare_function(), low.b.declare_function());
                low.b.response(&r.name.name, trigger, reaction);
                expression(low, trigger, &r.trigger, &r.name.name);
                expression(low, reaction, &r.reaction, &r.name.name);
            }
            _ => {}
        }
    }
    let finals: Vec<&Expr> = model.finals().collect();
    let Some((last, rest)) = finals.split_last() else { return };
    // With several `final` conditions, it is enough that one of them holds.
    let id = low.b.declare_function();
    low.b.program_mut().final_ = Some(id);
    let mut body = Body::new(low, "final", 0, 0);
    for e in rest {
        let next = body.fb.label();
        body.jump_when(e, false, next);
        let yes = body.temp();
        body.emit(Op::Bool { dst: yes, value: true });
        body.emit(Op::Return { src: yes });
        body.fb.bind(next);
    }
    body.return_value(last);
    body.define(id);
}
