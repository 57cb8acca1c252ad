//! First pass: collects the declarations and their names.

use super::checker::{Checker, ConstState};
use super::model::{
    ArrayInfo, ClassId, ClassInfo, CondId, ConstId, ConstInfo, EnumId, EnumInfo, EventId,
    EventInfo, FnId, FnInfo, GlobalId, GlobalInfo, HandlerId, HandlerInfo, IndexId, IndexInfo,
    LockId, Meaning, RecordId, RecordInfo, TaskId, TaskInfo, ThreadId, ThreadInfo,
};
use super::types::Type;
use crate::ast::{
    ClassDecl, ClassMember, ConstDecl, EnumDecl, EventDecl, FnDecl, HandlerDecl, Ident, IndexDecl,
    ItemKind, RecordDecl, SizedName, TaskDecl, ThreadDecl,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use std::collections::HashMap;

/// Names of built-in types, which no declaration may take.
pub(super) const BUILTIN_TYPES: &[&str] =
    &["int", "bool", "str", "any", "list", "set", "map", "task", "thread"];

impl<'a> Checker<'a> {
    /// Fills the tables with names. Types and sizes follow later.
    pub(super) fn collect(&mut self) {
        let mut properties: HashMap<&str, Span> = HashMap::new();
        let mut single: HashMap<&str, Span> = HashMap::new();
        let mut components: HashMap<&str, Span> = HashMap::new();
        for (item, decl) in self.model.items.iter().enumerate() {
            match &decl.kind {
                ItemKind::Invariant { name, .. } => self.once(&mut properties, name),
                ItemKind::Response(response) => self.once(&mut properties, &response.name),
                ItemKind::Component { name, .. } => self.once(&mut components, name),
                ItemKind::Init(_) => self.single(&mut single, "init", decl.span),
                ItemKind::Final(_) => self.single(&mut single, "final", decl.span),
                ItemKind::Lock(names) => {
                    for SizedName { name, .. } in names {
                        let id = add(&mut self.program.locks, array(name, item));
                        self.declare(name, Meaning::Lock(LockId(id)));
                    }
                }
                ItemKind::Cond(names) => {
                    for SizedName { name, .. } in names {
                        let id = add(&mut self.program.conds, array(name, item));
                        self.declare(name, Meaning::Cond(CondId(id)));
                    }
                }
                ItemKind::Var(vars) => {
                    for (position, var) in vars.iter().enumerate() {
                        let (name, ty) = (var.name.name.clone(), self.unknowns.fresh());
                        let info = GlobalInfo { name, item, position, ty, start: None };
                        let id = add(&mut self.program.globals, info);
                        self.declare(&var.name, Meaning::Global(GlobalId(id)));
                    }
                }
                kind => self.collect_named(item, kind),
            }
        }
    }

    fn collect_named(&mut self, item: usize, kind: &'a ItemKind) {
        let p = &mut self.program;
        let (ident, meaning) = match kind {
            ItemKind::Const(ConstDecl { name, .. }) => {
                let info = ConstInfo { name: name.name.clone(), item, ty: Type::Any, value: None };
                self.const_state.push(ConstState::Waiting);
                (name, Meaning::Const(ConstId(add(&mut p.consts, info))))
            }
            ItemKind::Index(IndexDecl { name, .. }) => {
                let info = IndexInfo { name: name.name.clone(), item, size: 1 };
                (name, Meaning::Index(IndexId(add(&mut p.indices, info))))
            }
            ItemKind::Enum(EnumDecl { name, .. }) => {
                let info = EnumInfo { name: name.name.clone(), item, variants: vec![] };
                (name, Meaning::Enum(EnumId(add(&mut p.enums, info))))
            }
            ItemKind::Record(RecordDecl { name, .. }) => {
                let info = RecordInfo { name: name.name.clone(), item, fields: vec![] };
                (name, Meaning::Record(RecordId(add(&mut p.records, info))))
            }
            ItemKind::Class(decl) => {
                let id = self.class(decl, item);
                (&decl.name, Meaning::Class(ClassId(id)))
            }
            ItemKind::Handler(HandlerDecl { name: SizedName { name, .. }, mailbox, .. }) => {
                let info = HandlerInfo {
                    name: name.name.clone(),
                    item: Some(item),
                    size: None,
                    index: None,
                    mailbox: *mailbox,
                };
                (name, Meaning::Handler(HandlerId(add(&mut p.handlers, info))))
            }
            ItemKind::Fn(decl) => {
                (&decl.name, Meaning::Function(FnId(add(&mut p.functions, empty_fn(decl, item)))))
            }
            ItemKind::Task(TaskDecl { name, procedure, .. }) => {
                let (text, procedure) = (name.name.clone(), *procedure);
                let info = TaskInfo { name: text, item, procedure, params: vec![] };
                (name, Meaning::Task(TaskId(add(&mut p.tasks, info))))
            }
            ItemKind::Event(EventDecl { name, once, .. }) => {
                let (text, once) = (name.name.clone(), *once);
                let info = EventInfo { name: text, item, once, ..EventInfo::default() };
                (name, Meaning::Event(EventId(add(&mut p.events, info))))
            }
            ItemKind::Thread(ThreadDecl { name, .. }) => {
                let info = ThreadInfo { name: name.name.clone(), item, ..ThreadInfo::default() };
                (name, Meaning::Thread(ThreadId(add(&mut p.threads, info))))
            }
            _ => return,
        };
        self.declare(ident, meaning);
    }

    fn declare(&mut self, ident: &'a Ident, meaning: Meaning) {
        self.set_meaning(ident.id, meaning);
        if ident.name.is_empty() {
            return;
        }
        if BUILTIN_TYPES.contains(&ident.name.as_str()) && is_type(meaning) {
            let message = format!("`{}` is the name of a built-in type", ident.name);
            self.error(Code::DUPLICATE, ident.span, message);
            return;
        }
        let (_, first) = *self.names.entry(&ident.name).or_insert((meaning, ident.span));
        if first != ident.span {
            self.declared_twice(ident, first);
        }
    }

    pub(super) fn declared_twice(&mut self, ident: &Ident, first: Span) {
        let message = format!("`{}` is declared twice", ident.name);
        self.report(
            Diagnostic::new(Code::DUPLICATE, ident.span, message)
                .label("declared again here")
                .also(first, "first declared here"),
        );
    }

    pub(super) fn once(&mut self, known: &mut HashMap<&'a str, Span>, ident: &'a Ident) {
        if ident.name.is_empty() {
            return;
        }
        let first = *known.entry(&ident.name).or_insert(ident.span);
        if first != ident.span {
            self.declared_twice(ident, first);
        }
    }

    fn single(&mut self, known: &mut HashMap<&'a str, Span>, word: &'static str, span: Span) {
        // Mark the word itself, not the whole declaration.
        let span = Span::new(span.start, span.start + word.len() as u32);
        let first = *known.entry(word).or_insert(span);
        if first != span {
            let message = format!("a model has one `{word}`");
            self.report(
                Diagnostic::new(Code::DUPLICATE, span, message).also(first, "the first one"),
            );
        }
    }

    fn class(&mut self, decl: &'a ClassDecl, item: usize) -> u32 {
        let mut known: HashMap<&str, Span> = HashMap::new();
        let name = decl.name.name.clone();
        let (mut fields, mut methods) = (vec![], vec![]);
        for member in &decl.members {
            match member {
                ClassMember::Field(field) => {
                    self.once(&mut known, &field.var.name);
                    fields.push((field.var.name.name.clone(), self.unknowns.fresh()));
                }
                ClassMember::Method(method) => {
                    self.once(&mut known, &method.name);
                    methods.push(empty_fn(method, item));
                }
            }
        }
        let info = ClassInfo { name, item, fields, starts: vec![], methods };
        add(&mut self.program.classes, info)
    }
}

/// Adds a row to a table. Returns its number.
fn add<T>(table: &mut Vec<T>, row: T) -> u32 {
    table.push(row);
    table.len() as u32 - 1
}

fn array(name: &Ident, item: usize) -> ArrayInfo {
    ArrayInfo { name: name.name.clone(), item, ..ArrayInfo::default() }
}

fn empty_fn(decl: &FnDecl, item: usize) -> FnInfo {
    FnInfo { name: decl.name.name.clone(), item, params: vec![], result: Type::Any }
}

pub(super) fn is_type(meaning: Meaning) -> bool {
    matches!(meaning, Meaning::Index(_) | Meaning::Enum(_) | Meaning::Record(_) | Meaning::Class(_))
}
