//! Functions, methods, tasks, threads, `init`, and properties.

use super::body::Body;
use super::declare::{numbers, size16, start};
use super::events::family_of;
use super::lowerer::Lowerer;
use super::symbols::FieldStart;
use super::ty::Ty;
use crate::ast::{ClassMember, Expr, FnDecl, ItemKind, Param, SettingValue, VarDecl};
use anyorder_vm::program::{FuncId, Granularity, Op, Reg};

/// Lowers everything that has code, but events ([`super::events`]).
pub(crate) fn define(low: &mut Lowerer<'_>) {
    settings(low);
    init(low);
    for i in 0..low.symbols.funcs.len() {
        let info = &low.symbols.funcs[i];
        let (id, decl, params) = (info.id, info.decl, info.params.clone());
        let result = info.result.clone();
        function(low, id, decl, &params, result, None);
    }
    methods(low);
    for i in 0..low.symbols.tasks.len() {
        let info = &low.symbols.tasks[i];
        let (id, decl, types) = (info.body, info.decl, info.params.clone());
        let mut body = Body::new(low, &decl.name.name, size16(types.len()), 0);
        params(&mut body, &decl.params, &types, 0);
        body.function_block(&decl.body);
        body.define(id);
    }
    threads(low);
    super::events::components(low);
    properties(low);
}

fn settings(low: &mut Lowerer<'_>) {
    let mut settings = low.b.program().settings;
    for item in &low.model.items {
        let ItemKind::Setting(s) = &item.kind else { continue };
        match (s.name.name.as_str(), &s.value) {
            ("granularity", SettingValue::Word(word)) => {
                settings.granularity = match word.name.as_str() {
                    "access" => Granularity::Access,
                    _ => Granularity::Task,
                };
            }
            ("steps", SettingValue::Int(steps, _)) => {
                settings.steps = u64::try_from(*steps).unwrap_or(0);
            }
            _ => {}
        }
    }
    low.b.settings(settings);
}

/// Globals whose first value needs code, in order, and then the `init` blocks.
fn init(low: &mut Lowerer<'_>) {
    let model = low.model;
    let globals: Vec<&VarDecl> = model
        .items
        .iter()
        .filter_map(|i| if let ItemKind::Var(vars) = &i.kind { Some(vars) } else { None })
        .flatten()
        .collect();
    let late: Vec<(usize, &Expr)> = globals
        .iter()
        .enumerate()
        .filter(|(_, var)| start(low, var).is_none())
        .filter_map(|(i, var)| var.init.as_ref().map(|e| (i, e)))
        .collect();
    let blocks: Vec<_> = model
        .items
        .iter()
        .filter_map(|i| if let ItemKind::Init(b) = &i.kind { Some(b) } else { None })
        .collect();
    if late.is_empty() && blocks.is_empty() {
        return;
    }
    let id = low.b.declare_function();
    low.b.program_mut().init = Some(id);
    let mut body = Body::new(low, "init", 0, 0);
    for (i, e) in late {
        let Some(info) = body.low.symbols.globals.get(i) else { continue };
        let (global, ty) = (info.id, info.ty.clone());
        let mark = body.mark();
        let value = body.expr(e);
        body.at(e.span);
        body.check(value.reg, &value.ty, &ty);
        body.emit(Op::SetGlobal { global, src: value.reg });
        body.release(mark);
    }
    for block in blocks {
        body.block(block);
    }
    body.define(id);
}

fn params<'a>(body: &mut Body<'_, 'a>, decls: &'a [Param], types: &[Ty], first: u16) {
    for ((param, ty), i) in decls.iter().zip(types).zip(numbers(first)) {
        body.declare(&param.name.name, Reg(i), ty.clone());
    }
}

fn function<'a>(
    low: &mut Lowerer<'a>,
    id: FuncId,
    decl: &'a FnDecl,
    types: &[Ty],
    result: Ty,
    this: Option<Ty>,
) {
    let first = u16::from(this.is_some());
    let name = &decl.name.name;
    let mut body = Body::new(low, name, size16(types.len()).saturating_add(first), 0);
    body.result = result;
    body.this = this.map(|ty| (Reg(0), ty));
    params(&mut body, &decl.params, types, first);
    body.function_block(&decl.body);
    body.define(id);
}

fn methods(low: &mut Lowerer<'_>) {
    for i in 0..low.symbols.classes.len() {
        for m in 0..low.symbols.classes[i].methods.len() {
            let info = &low.symbols.classes[i].methods[m];
            let (id, decl, params) = (info.id, info.decl, info.params.clone());
            let result = info.result.clone();
            function(low, id, decl, &params, result, Some(Ty::Class(i)));
        }
        for at in 0..low.symbols.classes[i].fields.len() {
            let field = &low.symbols.classes[i].fields[at];
            let FieldStart::Code(id) = field.start else { continue };
            let ty = field.ty.clone();
            let decl = low.symbols.classes[i].decl;
            let mut vars = decl.members.iter().filter_map(|m| match m {
                ClassMember::Field(f) => Some(&f.var),
                ClassMember::Method(_) => None,
            });
            let Some(e) = vars.nth(at).and_then(|v| v.init.as_ref()) else { continue };
            expression(low, id, e, "field", ty);
        }
    }
}

/// A function without parameters that computes an expression.
fn expression<'a>(low: &mut Lowerer<'a>, id: FuncId, e: &'a Expr, name: &str, ty: Ty) {
    let mut body = Body::new(low, name, 0, 0);
    body.result = ty;
    body.return_value(e);
    body.define(id);
}

fn threads(low: &mut Lowerer<'_>) {
    for i in 0..low.symbols.threads.len() {
        let decl = low.symbols.threads[i].decl;
        let family = decl.family.as_ref().map(|f| family_of(low, &f.range));
        let id = low.b.declare_function();
        let thread = low.b.thread(&decl.name.name, family, id);
        if let Some(t) = low.b.program_mut().threads.get_mut(thread.index()) {
            t.fair = !decl.unfair;
        }
        if decl.daemon {
            low.b.program_mut().daemons.threads.push(thread);
        }
        let mut body = Body::new(low, &decl.name.name, u16::from(family.is_some()), 0);
        if let Some(f) = &decl.family {
            let index = family.and_then(|family| family.index);
            body.declare(&f.var.name, Reg(0), index.map_or(Ty::Int, Ty::Index));
        }
        body.function_block(&decl.body);
        body.define(id);
    }
}

fn properties(low: &mut Lowerer<'_>) {
    let model = low.model;
    let mut finals: Vec<&Expr> = Vec::new();
    for item in &model.items {
        match &item.kind {
            ItemKind::Invariant { name, expr } => {
                let id = low.b.declare_function();
                low.b.invariant(&name.name, id);
                expression(low, id, expr, &name.name, Ty::Bool);
            }
            ItemKind::Response(r) => {
                let (trigger, reaction) = (low.b.declare_function(), low.b.declare_function());
                low.b.response(&r.name.name, trigger, reaction);
                expression(low, trigger, &r.trigger, &r.name.name, Ty::Bool);
                expression(low, reaction, &r.reaction, &r.name.name, Ty::Bool);
            }
            ItemKind::Final(e) => finals.push(e),
            _ => {}
        }
    }
    if finals.is_empty() {
        return;
    }
    // Several of them: any will do.
    let id = low.b.declare_function();
    low.b.program_mut().final_ = Some(id);
    let mut body = Body::new(low, "final", 0, 0);
    body.result = Ty::Bool;
    let (last, rest) = (finals.len() - 1, &finals);
    for e in &rest[..last] {
        let next = body.fb.label();
        body.jump_when(e, false, next);
        let yes = body.temp();
        body.emit(Op::Bool { dst: yes, value: true });
        body.emit(Op::Return { src: yes });
        body.fb.bind(next);
    }
    body.return_value(rest[last]);
    body.define(id);
}
