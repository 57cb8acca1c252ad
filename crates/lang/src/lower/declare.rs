//! The pass over the declarations. It numbers everything that has a name before any code is
//! lowered.

use super::lowerer::{Lowerer, literal, number};
use crate::ast::{FnDecl, ItemKind, Mailbox, TaskDecl};
use crate::check::{Evaluator, HandlerInfo, Meaning};
use anyorder_program::{ClassId, MailboxKind};

/// Declares everything but events, which need the other declarations ([`super::events`]).
pub(crate) fn declare(low: &mut Lowerer<'_>) {
    types(low);
    let tables = low.tables;
    for lock in &tables.locks {
        low.b.lock(&lock.name, lock.size.map(number));
    }
    for cond in &tables.conds {
        low.b.cond(&cond.name, cond.size.map(number));
    }
    tables.handlers.iter().for_each(|info| handler(low, info));
    low.model.functions().for_each(|decl| function(low, decl));
    low.model.tasks().for_each(|decl| task(low, decl));
    for info in &tables.globals {
        low.b.global(&info.name, info.start.as_ref().map(literal).unwrap_or_default());
    }
    for class in &tables.classes {
        let starts = class.starts.iter();
        let code = starts.map(|start| start.is_none().then(|| low.b.declare_function()));
        low.starts.push(code.collect());
    }
}

/// Declares enums, records and classes, and numbers the methods.
fn types(low: &mut Lowerer<'_>) {
    let tables = low.tables;
    for info in &tables.enums {
        let variants = info.variants.iter().map(|(name, of)| (name.as_str(), number(of.len())));
        low.b.enumeration(&info.name, &variants.collect::<Vec<_>>());
    }
    for info in &tables.records {
        let fields = info.fields.iter().map(|(name, _)| name.as_str());
        low.b.record(&info.name, &fields.collect::<Vec<_>>());
    }
    for info in &tables.classes {
        let fields = info.fields.iter().map(|(name, _)| name.as_str());
        low.b.class(&info.name, &fields.collect::<Vec<_>>());
    }
    for (class, decl) in (0..).zip(low.model.classes()) {
        for decl in decl.methods() {
            let id = low.b.declare_function();
            low.b.method(ClassId(number(class)), &decl.name.name, id);
        }
    }
}

fn handler(low: &mut Lowerer<'_>, info: &HandlerInfo) {
    let mailbox = match info.mailbox {
        Mailbox::Fifo => MailboxKind::Fifo,
        Mailbox::Bag => MailboxKind::Bag,
        Mailbox::Delayed => MailboxKind::Delayed,
    };
    let decl = info.item.and_then(|item| match &low.model.items[item].kind {
        ItemKind::Handler(decl) => Some(decl),
        _ => None,
    });
    let id = low.b.handler(&info.name, mailbox, info.size.map(number));
    let program = low.b.program_mut();
    if let (Some(handler), Some(decl)) = (program.handlers.last_mut(), decl) {
        handler.fair = !decl.unfair;
        program.daemons.handlers.extend(decl.daemon.then_some(id));
    }
}

fn function(low: &mut Lowerer<'_>, decl: &FnDecl) {
    let id = low.b.declare_function();
    low.b.program_mut().daemons.functions.extend(decl.daemon.then_some(id));
    low.functions.push(id);
}

fn task(low: &mut Lowerer<'_>, decl: &TaskDecl) {
    let body = low.b.declare_function();
    let own = decl.on.as_ref().and_then(|on| match low.tables.meaning(on.name.id)? {
        Meaning::Handler(h) => {
            let known = Evaluator::new(low.tables);
            let index = on.index.as_ref().map_or(Some(0), |i| known.int(i))?;
            Some((h.into(), u16::try_from(index).ok()?))
        }
        _ => None,
    });
    let id = low.b.task(&decl.name.name, body, None);
    let program = low.b.program_mut();
    program.tasks.last_mut().into_iter().for_each(|task| task.handler = own);
    program.daemons.tasks.extend(decl.daemon.then_some(id));
}
