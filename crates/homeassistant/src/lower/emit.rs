//! Small pieces of code.

use super::program::Lower;
use super::template::{Var, mentions, names};
use super::tree::Tree;
use anyorder_program::{Builtin, ConstId, FunctionBuilder, GlobalId, Label, Literal, Op, Reg};

/// Where a function finds what its templates read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// The id of the trigger.
    pub(super) id: Reg,
    /// Its entity.
    pub(super) entity: Reg,
    /// The state before.
    pub(super) from: Reg,
    /// The state after.
    pub(super) to: Reg,
    /// How the last wait ended.
    pub(super) wait: Option<GlobalId>,
}

impl Lower<'_> {
    pub(super) fn text(&mut self, text: &str) -> ConstId {
        if let Some(known) = self.texts.get(text) {
            return *known;
        }
        let made = self.b.constant(Literal::Str(text.to_owned()));
        self.texts.insert(text.to_owned(), made);
        made
    }

    pub(super) fn text_reg(&mut self, f: &mut FunctionBuilder, text: &str) -> Reg {
        let constant = self.text(text);
        f.value(|dst| Op::Const { dst, constant })
    }

    /// `dst =` whether a text is one of some.
    pub(super) fn is_one_of(&mut self, f: &mut FunctionBuilder, a: Reg, values: &[String]) -> Reg {
        let set = values.iter().map(|value| Literal::Str(value.clone())).collect();
        let constant = self.b.constant(Literal::Set(set));
        let b = f.value(|dst| Op::Const { dst, constant });
        f.value(|dst| Op::In { dst, a, b })
    }

    pub(super) fn get(f: &mut FunctionBuilder, global: GlobalId) -> Reg {
        f.value(|dst| Op::GetGlobal { dst, global })
    }

    pub(super) fn set_int(f: &mut FunctionBuilder, global: GlobalId, value: i32) {
        let src = f.value(|dst| Op::Int { dst, value });
        f.emit(Op::SetGlobal { global, src });
    }

    /// Adds to a global.
    pub(super) fn add(f: &mut FunctionBuilder, global: GlobalId, value: i32) {
        let a = Self::get(f, global);
        let src = f.value(|dst| Op::AddInt { dst, a, value });
        f.emit(Op::SetGlobal { global, src });
    }

    /// Goes on only if a global is this number.
    pub(super) fn unless_int(f: &mut FunctionBuilder, global: GlobalId, value: i32, other: Label) {
        let a = Self::get(f, global);
        let is = f.value(|dst| Op::EqInt { dst, a, value });
        f.jump_if_not(is, other);
    }

    /// Calls a method that changes a list, which is in a register.
    pub(super) fn method(f: &mut FunctionBuilder, method: Builtin, recv: Reg, args: &[Reg]) -> Reg {
        let count = args.len() as u16;
        let first = f.regs(count.max(1));
        for (at, arg) in args.iter().enumerate() {
            f.emit(Op::Move { dst: first.plus(at as u16), src: *arg });
        }
        f.value(|dst| Op::Method { dst, method, recv, args: first })
    }

    /// Calls a function.
    pub(super) fn call(
        f: &mut FunctionBuilder,
        func: anyorder_program::FuncId,
        args: &[Reg],
    ) -> Reg {
        let first = f.regs((args.len() as u16).max(1));
        for (at, arg) in args.iter().enumerate() {
            f.emit(Op::Move { dst: first.plus(at as u16), src: *arg });
        }
        f.value(|dst| Op::Call { dst, func, args: first })
    }

    /// Posts a message, and counts it.
    pub(super) fn post(
        &mut self,
        f: &mut FunctionBuilder,
        post: anyorder_program::PostId,
        args: &[Reg],
    ) {
        let first = f.regs((args.len() as u16).max(1));
        for (at, arg) in args.iter().enumerate() {
            f.emit(Op::Move { dst: first.plus(at as u16), src: *arg });
        }
        f.emit(Op::Post { dst: Reg::NONE, post, args: first });
        Self::add(f, self.pending, 1);
    }

    /// The register with what a template reads.
    fn read(&mut self, f: &mut FunctionBuilder, seen: &Seen, var: &Var) -> Option<Reg> {
        Some(match var {
            Var::State(key) => {
                let at = self.table.get(key)?;
                self.state(f, at)
            }
            Var::TriggerId => seen.id,
            Var::TriggerEntity => seen.entity,
            Var::To => seen.to,
            Var::From => seen.from,
            Var::Data(path) => {
                let question = format!("trigger.{path} of {}", self.alias);
                let values = self.data.iter().cloned().map(Literal::Str).collect();
                self.any(f, &question, values)
            }
            Var::WaitDone => {
                let wait = seen.wait?;
                Self::get(f, wait)
            }
        })
    }

    /// Emits a tree: the code of a leaf, then a jump to `done`.
    pub(super) fn tree(
        &mut self,
        f: &mut FunctionBuilder,
        seen: &Seen,
        tree: &Tree,
        leaf: &mut dyn FnMut(&mut Self, &mut FunctionBuilder, Option<&str>),
    ) {
        match tree {
            Tree::Leaf(text) => leaf(self, f, Some(text)),
            Tree::Unknown(_) => leaf(self, f, None),
            Tree::Branch(var, branches) => {
                if uniform(branches) {
                    return self.tree(f, seen, &branches[0].1, leaf);
                }
                let Some(value) = self.read(f, seen, var) else { return leaf(self, f, None) };
                for (text, below) in branches {
                    let b = self.text_reg(f, text);
                    let is = f.value(|dst| Op::Eq { dst, a: value, b });
                    let next = f.label();
                    f.jump_if_not(is, next);
                    self.tree(f, seen, below, leaf);
                    f.bind(next);
                }
                leaf(self, f, None);
            }
        }
    }

    /// Goes to `yes` if a template is true, and to `no` if not.
    pub(super) fn test(
        &mut self,
        f: &mut FunctionBuilder,
        seen: &Seen,
        (text, tree): (&str, &Tree),
        yes: Label,
        no: Label,
    ) {
        let about: Vec<String> = mentions(text).entities.into_iter().collect();
        let mut question = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let own = self.variables.keys().map(String::as_str);
        let own = own.chain(["trigger", "this", "wait", "repeat"]);
        if own.into_iter().any(|name| names(text, name)) {
            question += &format!(" of {}", self.alias);
        }
        self.tree(f, seen, tree, &mut |lower, f, text| match text {
            Some(text) if text.eq_ignore_ascii_case("true") => f.jump(yes),
            Some(_) => f.jump(no),
            None => lower.either(f, &question, &about, yes, no),
        });
    }
}

/// Whether all branches are the same leaf.
fn uniform(branches: &[(String, Tree)]) -> bool {
    matches!(branches[0].1, Tree::Leaf(_))
        && branches.iter().all(|(_, tree)| *tree == branches[0].1)
}
