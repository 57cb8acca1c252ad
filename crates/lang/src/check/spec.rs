//! Commutativity specifications of classes.

use super::body::{Body, BodyKind};
use super::checker::Checker;
use super::program::{ClassId, LocalKind, Meaning};
use super::type_expr::what_is;
use super::types::Type;
use crate::ast::{Ident, SpecCall, SpecDecl};
use crate::diagnostic::{Code, Diagnostic};
use std::collections::HashMap;

impl<'a> Checker<'a> {
    pub(super) fn spec(&mut self, spec: &'a SpecDecl) {
        let found = self.names.get(spec.class.name.as_str()).copied();
        let Some((Meaning::Class(id), _)) = found else {
            match found {
                Some((other, declared)) => {
                    let message =
                        format!("`{}` is {}, not a class", spec.class.name, what_is(other));
                    self.report(
                        Diagnostic::new(Code::WRONG_KIND, spec.class.span, message)
                            .also(declared, "declared here"),
                    );
                }
                None => {
                    let classes: Vec<String> =
                        self.program.classes.iter().map(|c| c.name.clone()).collect();
                    let known = classes.iter().map(String::as_str);
                    self.unknown(
                        Code::UNKNOWN_NAME,
                        "class",
                        &spec.class.name,
                        spec.class.span,
                        known,
                    );
                }
            }
            return;
        };
        self.ident_means(&spec.class, Meaning::Class(id));
        let mut pairs: HashMap<(String, String), crate::source::Span> = HashMap::new();
        for clause in &spec.clauses {
            self.in_body(Body::of(BodyKind::Spec), |c| {
                c.spec_call(id, &clause.left);
                c.spec_call(id, &clause.right);
                if let Some(when) = &clause.when {
                    c.expect(when, &Type::Bool);
                }
            });
            let (a, b) = (clause.left.method.name.clone(), clause.right.method.name.clone());
            // The relation is symmetric: one clause for each pair.
            let pair = if a <= b { (a, b) } else { (b, a) };
            let (a, b) = pair.clone();
            if a.is_empty() || b.is_empty() {
                continue;
            }
            match pairs.get(&pair) {
                Some(&first) => self.report(
                    Diagnostic::new(
                        Code::SPEC,
                        clause.left.method.span.to(clause.right.method.span),
                        format!("`{a}` and `{b}` are specified twice"),
                    )
                    .also(first, "first specified here"),
                ),
                None => {
                    pairs.insert(pair, clause.left.method.span.to(clause.right.method.span));
                }
            }
        }
    }

    fn spec_call(&mut self, id: ClassId, call: &'a SpecCall) {
        let info = &self.program.classes[id.index()];
        let Some(at) = info.methods.iter().position(|method| method.name == call.method.name)
        else {
            let what = format!("method of `{}`", info.name);
            let known: Vec<String> =
                info.methods.iter().map(|method| method.name.clone()).collect();
            let known = known.iter().map(String::as_str);
            self.unknown(Code::UNKNOWN_MEMBER, &what, &call.method.name, call.method.span, known);
            for name in call.args.iter().chain(&call.result) {
                self.spec_name(name, Type::Any);
            }
            return;
        };
        let method = info.methods[at].clone();
        self.ident_means(&call.method, Meaning::Method(id, at as u32));
        if method.params.len() != call.args.len() {
            let message = format!(
                "`{}` has {} parameters, found {} names",
                method.name,
                method.params.len(),
                call.args.len()
            );
            self.error(Code::SPEC, call.method.span, message);
        }
        for (at, name) in call.args.iter().enumerate() {
            let ty = method.params.get(at).map_or(Type::Any, |(_, ty)| ty.clone());
            self.spec_name(name, ty);
        }
        if let Some(name) = &call.result {
            if method.result == Type::Nothing {
                let message = format!("`{}` gives no result to name", method.name);
                self.error(Code::SPEC, name.span, message);
            }
            self.spec_name(name, method.result);
        }
    }

    fn spec_name(&mut self, name: &'a Ident, ty: Type) {
        self.declare_local(name, ty, LocalKind::Spec);
    }
}
