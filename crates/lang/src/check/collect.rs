//! First pass: collects the declarations and their names.

use super::checker::{Checker, ConstState};
use super::program::{
    ArrayInfo, ClassId, ClassInfo, CondId, ConstId, ConstInfo, EnumId, EnumInfo, EventId,
    EventInfo, FnId, FnInfo, GlobalId, GlobalInfo, HandlerId, HandlerInfo, IndexId, IndexInfo,
    LockId, Meaning, RecordId, RecordInfo, TaskId, TaskInfo, ThreadId, ThreadInfo,
};
use super::types::Type;
use crate::ast::{ClassDecl, ClassMember, FnDecl, Ident, ItemKind};
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
                ItemKind::Lock(names) | ItemKind::Cond(names) => {
                    let lock = matches!(decl.kind, ItemKind::Lock(_));
                    for name in names {
                        let info = ArrayInfo {
                            name: name.name.name.clone(),
                            item,
                            size: None,
                            index: None,
                        };
                        let table =
                            if lock { &mut self.program.locks } else { &mut self.program.conds };
                        table.push(info);
                        let at = table.len() as u32 - 1;
                        let meaning = if lock {
                            Meaning::Lock(LockId(at))
                        } else {
                            Meaning::Cond(CondId(at))
                        };
                        self.declare(&name.name, meaning);
                    }
                }
                ItemKind::Var(vars) => {
                    for (position, var) in vars.iter().enumerate() {
                        let name = var.name.name.clone();
                        let ty = self.unknowns.fresh();
                        self.program.globals.push(GlobalInfo {
                            name,
                            item,
                            position,
                            ty,
                            start: None,
                        });
                        let id = GlobalId(self.program.globals.len() as u32 - 1);
                        self.declare(&var.name, Meaning::Global(id));
                    }
                }
                kind => self.collect_named(item, kind),
            }
        }
    }

    fn collect_named(&mut self, item: usize, kind: &'a ItemKind) {
        let p = &mut self.program;
        let last = |len: usize| len as u32 - 1;
        let (ident, meaning) = match kind {
            ItemKind::Const(decl) => {
                let name = decl.name.name.clone();
                p.consts.push(ConstInfo { name, item, ty: Type::Any, value: None });
                self.const_state.push(ConstState::Waiting);
                (&decl.name, Meaning::Const(ConstId(last(p.consts.len()))))
            }
            ItemKind::Index(decl) => {
                p.indices.push(IndexInfo { name: decl.name.name.clone(), item, size: 1 });
                (&decl.name, Meaning::Index(IndexId(last(p.indices.len()))))
            }
            ItemKind::Enum(decl) => {
                p.enums.push(EnumInfo { name: decl.name.name.clone(), item, variants: vec![] });
                (&decl.name, Meaning::Enum(EnumId(last(p.enums.len()))))
            }
            ItemKind::Record(decl) => {
                p.records.push(RecordInfo { name: decl.name.name.clone(), item, fields: vec![] });
                (&decl.name, Meaning::Record(RecordId(last(p.records.len()))))
            }
            ItemKind::Class(decl) => {
                let name = decl.name.name.clone();
                p.classes.push(ClassInfo {
                    name,
                    item,
                    fields: vec![],
                    starts: vec![],
                    methods: vec![],
                });
                let id = ClassId(last(p.classes.len()));
                self.members(decl);
                (&decl.name, Meaning::Class(id))
            }
            ItemKind::Handler(decl) => {
                p.handlers.push(HandlerInfo {
                    name: decl.name.name.name.clone(),
                    item: Some(item),
                    size: None,
                    index: None,
                    mailbox: decl.mailbox,
                });
                (&decl.name.name, Meaning::Handler(HandlerId(last(p.handlers.len()))))
            }
            ItemKind::Fn(decl) => {
                p.functions.push(empty_fn(decl, item));
                (&decl.name, Meaning::Function(FnId(last(p.functions.len()))))
            }
            ItemKind::Task(decl) => {
                let name = decl.name.name.clone();
                p.tasks.push(TaskInfo { name, item, procedure: decl.procedure, params: vec![] });
                (&decl.name, Meaning::Task(TaskId(last(p.tasks.len()))))
            }
            ItemKind::Event(decl) => {
                let name = decl.name.name.clone();
                p.events.push(EventInfo {
                    name,
                    item,
                    family: None,
                    index: None,
                    once: decl.once,
                    members: vec![],
                });
                (&decl.name, Meaning::Event(EventId(last(p.events.len()))))
            }
            ItemKind::Thread(decl) => {
                let name = decl.name.name.clone();
                p.threads.push(ThreadInfo { name, item, family: None, index: None });
                (&decl.name, Meaning::Thread(ThreadId(last(p.threads.len()))))
            }
            _ => return,
        };
        self.declare(ident, meaning);
    }

    fn declare(&mut self, ident: &'a Ident, meaning: Meaning) {
        self.ident_means(ident, meaning);
        if ident.name.is_empty() {
            return;
        }
        if BUILTIN_TYPES.contains(&ident.name.as_str()) && is_type(meaning) {
            let message = format!("`{}` is the name of a built-in type", ident.name);
            self.error(Code::DUPLICATE, ident.span, message);
            return;
        }
        match self.names.get(ident.name.as_str()) {
            Some(&(_, first)) => self.declared_twice(ident, first),
            None => {
                self.names.insert(&ident.name, (meaning, ident.span));
            }
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
        match known.get(ident.name.as_str()) {
            Some(&first) => self.declared_twice(ident, first),
            None => {
                known.insert(&ident.name, ident.span);
            }
        }
    }

    fn single(&mut self, known: &mut HashMap<&'a str, Span>, word: &'static str, span: Span) {
        // Mark the word itself, not the whole declaration.
        let span = Span::new(span.start, span.start + word.len() as u32);
        if let Some(&first) = known.get(word) {
            let message = format!("a model has one `{word}`");
            self.report(
                Diagnostic::new(Code::DUPLICATE, span, message).also(first, "the first one"),
            );
            return;
        }
        known.insert(word, span);
    }

    fn members(&mut self, decl: &'a ClassDecl) {
        let mut known: HashMap<&str, Span> = HashMap::new();
        let class = self.program.classes.len() - 1;
        let item = self.program.classes[class].item;
        for member in &decl.members {
            match member {
                ClassMember::Field(field) => {
                    self.once(&mut known, &field.var.name);
                    let ty = self.unknowns.fresh();
                    self.program.classes[class].fields.push((field.var.name.name.clone(), ty));
                }
                ClassMember::Method(method) => {
                    self.once(&mut known, &method.name);
                    self.program.classes[class].methods.push(empty_fn(method, item));
                }
            }
        }
    }
}

fn empty_fn(decl: &FnDecl, item: usize) -> FnInfo {
    FnInfo { name: decl.name.name.clone(), item, params: vec![], result: Type::Any }
}

fn is_type(meaning: Meaning) -> bool {
    matches!(meaning, Meaning::Index(_) | Meaning::Enum(_) | Meaning::Record(_) | Meaning::Class(_))
}
