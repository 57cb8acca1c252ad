//! The pass over the declarations: numbers for everything that has a name, before any code is lowered.

use super::lowerer::Lowerer;
use super::symbols::{
    ClassField, ClassInfo, EnumInfo, FieldStart, FuncInfo, GlobalInfo, RecordInfo, Sized, Symbol,
    TaskInfo, ThreadInfo,
};
use super::ty::Ty;
use crate::ast::{
    ClassDecl, ClassMember, ConstDecl, Expr, ExprKind, FnDecl, HandlerDecl, ItemKind, Mailbox,
    Param, SizedName, TaskDecl, VarDecl,
};
use crate::diagnostic::Code;
use anyorder_vm::program::{GlobalId, Literal, MailboxKind, TaskId};

/// Declares everything but events, which need the rest ([`super::events`]).
pub(crate) fn declare(low: &mut Lowerer<'_>) {
    types(low);
    constants(low);
    indices(low);
    field_types(low);
    for item in &low.model.items {
        match &item.kind {
            ItemKind::Lock(names) => names.iter().for_each(|n| lock(low, n)),
            ItemKind::Cond(names) => names.iter().for_each(|n| cond(low, n)),
            ItemKind::Handler(decl) => handler(low, decl),
            ItemKind::Fn(decl) => function(low, decl),
            _ => {}
        }
    }
    implied_main(low);
    for item in &low.model.items {
        match &item.kind {
            ItemKind::Task(decl) => task(low, decl),
            ItemKind::Thread(decl) => {
                low.symbols.declare(&decl.name.name, Symbol::Thread(low.symbols.threads.len()));
                low.symbols.threads.push(ThreadInfo { decl });
            }
            ItemKind::Var(vars) => vars.iter().for_each(|v| global(low, v)),
            _ => {}
        }
    }
    class_starts(low);
}

/// Enums, records, classes: names and shapes.
fn types(low: &mut Lowerer<'_>) {
    for item in &low.model.items {
        match &item.kind {
            ItemKind::Enum(decl) => {
                let variants: Vec<(&str, u16)> = decl
                    .variants
                    .iter()
                    .map(|v| (v.name.name.as_str(), size16(v.payload.len())))
                    .collect();
                let id = low.b.enumeration(&decl.name.name, &variants);
                low.symbols.declare(&decl.name.name, Symbol::Enum(low.symbols.enums.len()));
                low.symbols.enums.push(EnumInfo { decl, id });
            }
            ItemKind::Record(decl) => {
                let fields: Vec<&str> = decl.fields.iter().map(|f| f.name.name.as_str()).collect();
                let id = low.b.record(&decl.name.name, &fields);
                low.symbols.declare(&decl.name.name, Symbol::Record(low.symbols.records.len()));
                low.symbols.records.push(RecordInfo { decl, id, types: Vec::new() });
            }
            ItemKind::Class(decl) => {
                let fields: Vec<&str> = fields(decl).map(|f| f.name.name.as_str()).collect();
                let id = low.b.class(&decl.name.name, &fields);
                low.symbols.declare(&decl.name.name, Symbol::Class(low.symbols.classes.len()));
                let (fields, methods) = (Vec::new(), Vec::new());
                low.symbols.classes.push(ClassInfo { decl, id, fields, methods });
            }
            _ => {}
        }
    }
}

fn fields(decl: &ClassDecl) -> impl Iterator<Item = &VarDecl> {
    decl.members.iter().filter_map(|m| match m {
        ClassMember::Field(f) => Some(&f.var),
        ClassMember::Method(_) => None,
    })
}

/// Constants may use each other in any order: rounds until nothing more gets a value.
fn constants(low: &mut Lowerer<'_>) {
    let mut waiting: Vec<&ConstDecl> = low
        .model
        .items
        .iter()
        .filter_map(|i| if let ItemKind::Const(c) = &i.kind { Some(c) } else { None })
        .collect();
    loop {
        let before = waiting.len();
        waiting.retain(|c| match low.fold(&c.value) {
            Some(value) => {
                low.symbols.declare(&c.name.name, Symbol::Const(low.symbols.consts.len()));
                low.symbols.consts.push(value);
                false
            }
            None => true,
        });
        if waiting.len() == before {
            break;
        }
    }
    for c in waiting {
        let message = format!("`{}` has no constant value", c.name.name);
        low.error(Code::CONSTANT, c.value.span, message);
    }
}

/// How many values index types have.
fn indices(low: &mut Lowerer<'_>) {
    for item in &low.model.items {
        let ItemKind::Index(decl) = &item.kind else { continue };
        let size = low.folder().int(&decl.size).and_then(|size| u16::try_from(size).ok());
        low.symbols.declare(&decl.name.name, Symbol::Index(low.symbols.indices.len()));
        low.symbols.indices.push(size.unwrap_or(0));
    }
}

/// Types of fields, and numbers for methods.
fn field_types(low: &mut Lowerer<'_>) {
    for i in 0..low.symbols.records.len() {
        let decl = low.symbols.records[i].decl;
        low.symbols.records[i].types =
            decl.fields.iter().map(|f| Ty::of(&low.symbols, &f.ty)).collect();
    }
    for i in 0..low.symbols.classes.len() {
        let (decl, class) = (low.symbols.classes[i].decl, low.symbols.classes[i].id);
        for member in &decl.members {
            if let ClassMember::Method(m) = member {
                let info = function_info(low, m);
                low.b.method(class, &m.name.name, info.id);
                low.symbols.classes[i].methods.push(info);
            }
        }
        for var in fields(decl) {
            let start = FieldStart::Value(start(low, var).unwrap_or_default());
            let ty = variable_ty(low, var);
            low.symbols.classes[i].fields.push(ClassField { name: &var.name.name, ty, start });
        }
    }
}

/// First values of fields that need code.
fn class_starts(low: &mut Lowerer<'_>) {
    for i in 0..low.symbols.classes.len() {
        let decl = low.symbols.classes[i].decl;
        for (at, var) in fields(decl).enumerate() {
            if start(low, var).is_none() {
                let code = low.b.declare_function();
                low.symbols.classes[i].fields[at].start = FieldStart::Code(code);
            }
            let ty = variable_ty(low, var);
            low.symbols.classes[i].fields[at].ty = ty;
        }
    }
}

/// The first value of a variable, if it is known.
pub(crate) fn start(low: &Lowerer<'_>, var: &VarDecl) -> Option<Literal> {
    match (&var.init, &var.ty) {
        (Some(init), _) => low.fold(init),
        (None, Some(ty)) => Some(low.folder().default(ty)),
        (None, None) => Some(Literal::Null),
    }
}

fn variable_ty(low: &Lowerer<'_>, var: &VarDecl) -> Ty {
    match (&var.ty, &var.init) {
        (Some(ty), _) => Ty::of(&low.symbols, ty),
        (None, Some(init)) => match low.fold(init) {
            Some(value) => low.literal_ty(&value),
            None => plain_ty(low, init),
        },
        (None, None) => Ty::Any,
    }
}

/// The type of an expression outside of all functions, as far as one look tells.
fn plain_ty(low: &Lowerer<'_>, e: &Expr) -> Ty {
    let told = match &e.kind {
        ExprKind::Paren(inner) => plain_ty(low, inner),
        ExprKind::New { class, .. } => {
            low.symbols.class(&class.name).map_or(Ty::Any, |(i, _)| Ty::Class(i))
        }
        ExprKind::Record { name, .. } => {
            low.symbols.record(&name.name).map_or(Ty::Any, |(i, _)| Ty::Record(i))
        }
        ExprKind::List(items) => {
            let mut types = items.iter().map(|i| plain_ty(low, i));
            let first = types.next().unwrap_or(Ty::Any);
            Ty::list(types.fold(first, Ty::join))
        }
        ExprKind::Repeat(of, _) => Ty::list(plain_ty(low, of)),
        _ => low.fold(e).map_or(Ty::Any, |v| low.literal_ty(&v)),
    };
    if told == Ty::Any { (low.hints)(&low.symbols, e.id).unwrap_or(Ty::Any) } else { told }
}

/// The size of an array; `None` for a single thing.
fn array_size(low: &mut Lowerer<'_>, name: &SizedName) -> Option<u16> {
    let size = name.size.as_ref()?;
    let value = low.folder().int(size).and_then(|v| u16::try_from(v).ok());
    if value.is_none() {
        low.error(Code::CONSTANT, size.span, "the size must be a constant from 0 to 65,535");
    }
    Some(value.unwrap_or(0))
}

fn lock<'a>(low: &mut Lowerer<'a>, name: &'a SizedName) {
    let size = array_size(low, name);
    let id = low.b.lock(&name.name.name, size);
    low.symbols.declare(&name.name.name, Symbol::Lock(low.symbols.locks.len()));
    low.symbols.locks.push(Sized { id, size });
}

fn cond<'a>(low: &mut Lowerer<'a>, name: &'a SizedName) {
    let size = array_size(low, name);
    let id = low.b.cond(&name.name.name, size);
    low.symbols.declare(&name.name.name, Symbol::Cond(low.symbols.conds.len()));
    low.symbols.conds.push(Sized { id, size });
}

fn handler<'a>(low: &mut Lowerer<'a>, decl: &'a HandlerDecl) {
    let size = array_size(low, &decl.name);
    let mailbox = match decl.mailbox {
        Mailbox::Fifo => MailboxKind::Fifo,
        Mailbox::Bag => MailboxKind::Bag,
        Mailbox::Delayed => MailboxKind::Delayed,
    };
    let name = &decl.name.name.name;
    let id = low.b.handler(name, mailbox, size);
    if let Some(h) = low.b.program_mut().handlers.get_mut(id.index()) {
        h.fair = !decl.unfair;
    }
    if decl.daemon {
        low.b.program_mut().daemons.handlers.push(id);
    }
    low.symbols.declare(name, Symbol::Handler(low.symbols.handlers.len()));
    low.symbols.handlers.push(Sized { id, size });
}

/// `async[main]` without a declaration means a bag of that name.
fn implied_main(low: &mut Lowerer<'_>) {
    if low.symbols.get("main").is_none() && super::uses_main::uses_main(low.model) {
        let id = low.b.handler("main", MailboxKind::Bag, None);
        low.symbols.declare("main", Symbol::Handler(low.symbols.handlers.len()));
        low.symbols.handlers.push(Sized { id, size: None });
    }
}

fn params(low: &Lowerer<'_>, params: &[Param]) -> Vec<Ty> {
    params.iter().map(|p| Ty::of_option(&low.symbols, p.ty.as_ref())).collect()
}

fn function_info<'a>(low: &mut Lowerer<'a>, decl: &'a FnDecl) -> FuncInfo<'a> {
    let id = low.b.declare_function();
    let result = Ty::of_option(&low.symbols, decl.result.as_ref());
    FuncInfo { id, decl, params: params(low, &decl.params), result }
}

fn function<'a>(low: &mut Lowerer<'a>, decl: &'a FnDecl) {
    let info = function_info(low, decl);
    if decl.daemon {
        low.b.program_mut().daemons.functions.push(info.id);
    }
    low.symbols.declare(&decl.name.name, Symbol::Func(low.symbols.funcs.len()));
    low.symbols.funcs.push(info);
}

fn task<'a>(low: &mut Lowerer<'a>, decl: &'a TaskDecl) {
    let body = low.b.declare_function();
    let own = decl.on.as_ref().and_then(|on| match low.symbols.get(&on.name.name) {
        Some(Symbol::Handler(h)) => {
            let index = on.index.as_ref().map_or(Some(0), |i| low.folder().int(i))?;
            Some((low.symbols.handlers.get(h)?.id, u16::try_from(index).ok()?))
        }
        _ => None,
    });
    let id: TaskId = low.b.task(&decl.name.name, body, None);
    if let Some(task) = low.b.program_mut().tasks.get_mut(id.index()) {
        task.handler = own;
    }
    if decl.daemon {
        low.b.program_mut().daemons.tasks.push(id);
    }
    low.symbols.declare(&decl.name.name, Symbol::Task(low.symbols.tasks.len()));
    let params = params(low, &decl.params);
    low.symbols.tasks.push(TaskInfo { id, body, decl, params });
}

fn global<'a>(low: &mut Lowerer<'a>, var: &'a VarDecl) {
    let initial = start(low, var).unwrap_or_default();
    let ty = variable_ty(low, var);
    let id: GlobalId = low.b.global(&var.name.name, initial);
    low.symbols.declare(&var.name.name, Symbol::Global(low.symbols.globals.len()));
    low.symbols.globals.push(GlobalInfo { id, ty });
}

/// A number of things as the program tables count them; too many are found by the validator.
pub(crate) fn size16(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// Counts up from a number; too many stay at the last, and are found by the validator.
pub(crate) fn numbers(first: u16) -> impl Iterator<Item = u16> {
    (first..=u16::MAX).chain(std::iter::repeat(u16::MAX))
}
