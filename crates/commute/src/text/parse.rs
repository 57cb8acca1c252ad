//! From a text to its tree. The grammar of `spec` items is that of the model language:
//!
//! ```text
//! item   = "spec" NAME "{" { call "~" call [ "when" expr ] ";" } "}"
//!        | "comm" NAME "{" { MODE call "->" call [ "when" expr ] ";" } "}"
//!        | "waits" NAME "{" { count "until" condition ";" | count "~" count ";" } "}"
//! call   = NAME "(" [ NAME { "," NAME } ] ")" [ "/" NAME ]
//! expr   = operators of the model language: || && == != < <= > >= + - * / % ! -
//!          over names, numbers, strings, true, false, null, ( expr ),
//!          and left.NAME( exprs ), right.NAME( exprs )
//! condition = "observed", or && || ( ) over  sum ( "<" | "<=" | ">" | ">=" ) sum
//! sum    = term { ( "+" | "-" ) term },
//!          where a term is a number, a count, or the NAME of the open number
//! count  = NAME "(" [ argument { "," argument } ] ")" [ "/" literal ],
//!          where an argument is NAME, `_` or a literal
//! literal = true, false, null or a number
//! ```

use super::error::{SpecError, SpecErrors};
use super::lex::{Token, tokens};
use super::tree::{
    Call, Clause, Item, ItemKind, Name, Node, NodeKind, PatternArgument, PatternCall, SumNode,
    TermNode, WaitNode, WaitsClause,
};
use crate::expr::Operator;
use crate::value::Value;
use std::ops::Range;

/// The longest text, in bytes.
pub(super) const BYTES_MAX: usize = 1 << 20;
/// The most operators of one condition, which bounds the depth of its tree.
const OPERATORS_MAX: usize = 256;

/// Parses the items of a text, or returns all mistakes of its clauses.
pub(crate) fn items(source: &str) -> Result<Vec<Item>, SpecErrors> {
    if source.len() > BYTES_MAX {
        let message = format!("the text has {} bytes; the most are {BYTES_MAX}", source.len());
        return Err(SpecErrors(vec![SpecError::new("", 0..0, message, None)]));
    }
    let tokens = tokens(source).map_err(|error| SpecErrors(vec![error]))?;
    let mut parser = Parser { source, tokens, at: 0, operators: 0, errors: Vec::new() };
    let mut items = Vec::new();
    while *parser.token() != Token::End && parser.errors.len() < 20 {
        match parser.item() {
            Ok(item) => items.push(item),
            Err(error) => {
                parser.errors.push(error);
                break;
            }
        }
    }
    if parser.errors.is_empty() { Ok(items) } else { Err(SpecErrors(parser.errors)) }
}

struct Parser<'a> {
    source: &'a str,
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
    /// Operators and brackets of the current condition.
    operators: usize,
    errors: Vec<SpecError>,
}

type Parsed<T> = Result<T, SpecError>;

impl Parser<'_> {
    fn token(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Range<usize> {
        self.tokens[self.at].1.clone()
    }

    /// The end of the last token.
    fn end(&self) -> usize {
        self.at.checked_sub(1).map_or(0, |at| self.tokens[at].1.end)
    }

    fn bump(&mut self) {
        // The last token stays current.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    /// Skips a sign or a word, if it is next.
    fn eat(&mut self, text: &str) -> bool {
        let found = match self.token() {
            Token::Sign(sign) => *sign == text,
            Token::Word(word) => word == text,
            Token::Int(_) | Token::Text(_) | Token::End => false,
        };
        if found {
            self.bump();
        }
        found
    }

    fn error(&self, message: String) -> SpecError {
        SpecError::new(self.source, self.span(), message, None)
    }

    fn wanted(&self, what: &str) -> SpecError {
        let found = match self.token() {
            Token::Word(word) => format!("`{word}`"),
            Token::Int(value) => format!("`{value}`"),
            Token::Text(_) => "a string".to_owned(),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end of the text".to_owned(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.wanted(&format!("`{sign}`"))) }
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        let Token::Word(word) = self.token() else { return Err(self.wanted(what)) };
        let name = Name { text: word.clone(), span: self.span() };
        self.bump();
        Ok(name)
    }

    fn item(&mut self) -> Parsed<Item> {
        let kinds =
            [("spec", ItemKind::Spec), ("comm", ItemKind::Comm), ("waits", ItemKind::Waits)];
        let Some((_, kind)) = kinds.into_iter().find(|(word, _)| self.eat(word)) else {
            return Err(self.wanted("`spec`, `comm` or `waits`"));
        };
        let name = self.name("the name of a type")?;
        self.expect("{")?;
        let (mut clauses, mut waits) = (Vec::new(), Vec::new());
        while !self.eat("}") {
            if *self.token() == Token::End {
                return Err(self.wanted("a clause or `}`"));
            }
            let read = match kind {
                ItemKind::Waits => self.waits_clause().map(|clause| waits.push(clause)),
                _ => self.clause(kind == ItemKind::Comm).map(|clause| clauses.push(clause)),
            };
            if let Err(error) = read {
                self.errors.push(error);
                self.skip_clause();
            }
        }
        Ok(Item { name, kind, clauses, waits })
    }

    /// Continues after the next `;`, or at the end of the item.
    fn skip_clause(&mut self) {
        while !matches!(self.token(), Token::End | Token::Sign("}")) {
            if self.eat(";") {
                return;
            }
            self.bump();
        }
    }

    fn clause(&mut self, is_comm: bool) -> Parsed<Clause> {
        let start = self.span().start;
        let mode = if is_comm { Some(self.name("how it is observed")?) } else { None };
        let left = self.call()?;
        self.expect(if is_comm { "->" } else { "~" })?;
        let right = self.call()?;
        self.operators = 0;
        let when = if self.eat("when") { Some(self.expr(0)?) } else { None };
        if !self.eat(";") {
            let what = if when.is_some() { "an operator or `;`" } else { "`when` or `;`" };
            return Err(self.wanted(what));
        }
        Ok(Clause { mode, left, right, when, span: start..self.end() })
    }

    fn call(&mut self) -> Parsed<Call> {
        let method = self.name("the name of a method")?;
        let arguments = self.arguments(|parser| parser.name("a name for an argument"))?;
        let result = if self.eat("/") { Some(self.name("a name for the result")?) } else { None };
        Ok(Call { method, arguments, result })
    }

    fn waits_clause(&mut self) -> Parsed<WaitsClause> {
        let call = self.pattern_call()?;
        self.operators = 0;
        let clause = if self.eat("until") {
            WaitsClause::Until(call, self.any_of()?)
        } else if self.eat("~") {
            WaitsClause::Settled(call, self.pattern_call()?)
        } else {
            return Err(self.wanted("`until` or `~`"));
        };
        if self.eat(";") { Ok(clause) } else { Err(self.wanted("an operator or `;`")) }
    }

    fn pattern_call(&mut self) -> Parsed<PatternCall> {
        let method = self.name("the name of a method")?;
        let arguments = self.arguments(|parser| {
            let start = parser.span().start;
            Ok(match parser.literal() {
                Some(value) => PatternArgument::Value(value, start..parser.end()),
                None if parser.eat("_") => PatternArgument::Any,
                None => PatternArgument::Name(parser.name("a name for an argument")?),
            })
        })?;
        let mut result = None;
        if self.eat("/") {
            let start = self.span().start;
            let Some(value) = self.literal() else {
                return Err(self.wanted("`true`, `false`, `null` or a number"));
            };
            result = Some((value, start..self.end()));
        }
        Ok(PatternCall { method, arguments, result })
    }

    /// Parses arguments in parentheses, separated by commas, with an optional comma at the end.
    fn arguments<T>(&mut self, one: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.eat(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
                if self.eat(")") {
                    break;
                }
            }
            arguments.push(one(self)?);
        }
        Ok(arguments)
    }

    /// Parses `true`, `false`, `null` or a number, if it is next.
    fn literal(&mut self) -> Option<Value> {
        let is_minus = matches!(self.token(), Token::Sign("-"));
        let value = match self.tokens.get(self.at + usize::from(is_minus)).map(|token| &token.0) {
            Some(Token::Int(value)) => Value::Int(if is_minus { -*value } else { *value }),
            Some(Token::Word(word)) if !is_minus => constant(word)?,
            _ => return None,
        };
        self.at += usize::from(is_minus);
        self.bump();
        Some(value)
    }

    fn any_of(&mut self) -> Parsed<WaitNode> {
        let all_of = |parser: &mut Self| parser.joined("&&", Self::comparison, WaitNode::All);
        self.joined("||", all_of, WaitNode::Any)
    }

    /// Parses one or more parts with a sign between them.
    fn joined(
        &mut self,
        sign: &str,
        part: impl Fn(&mut Self) -> Parsed<WaitNode>,
        join: fn(Vec<WaitNode>) -> WaitNode,
    ) -> Parsed<WaitNode> {
        let first = part(self)?;
        if !self.eat(sign) {
            return Ok(first);
        }
        let mut parts = vec![first, part(self)?];
        while self.eat(sign) {
            parts.push(part(self)?);
        }
        Ok(join(parts))
    }

    fn comparison(&mut self) -> Parsed<WaitNode> {
        self.count()?;
        let start = self.span().start;
        if self.eat("(") {
            let inner = self.any_of()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.eat("observed") {
            return Ok(WaitNode::Observed(start..self.end()));
        }
        let left = self.sum()?;
        let Some(op) = self.operator().filter(|op| matches!(op.level(), 3 | 4)) else {
            return Err(self.wanted("a comparison"));
        };
        self.bump();
        let right = self.sum()?;
        Ok(WaitNode::Compare(op, left, right, start..self.end()))
    }

    fn sum(&mut self) -> Parsed<SumNode> {
        let mut terms = Vec::new();
        let mut sign = 1;
        loop {
            self.count()?;
            let is_call = matches!(self.tokens.get(self.at + 1), Some((Token::Sign("("), _)));
            let term = match self.token() {
                Token::Int(value) => TermNode::Int(*value),
                Token::Word(_) if is_call => TermNode::Count(self.pattern_call()?),
                Token::Word(word) => TermNode::Open(Name { text: word.clone(), span: self.span() }),
                _ => return Err(self.wanted("a number, or calls to count as in `send(_)`")),
            };
            if !matches!(term, TermNode::Count(_)) {
                self.bump();
            }
            terms.push((sign, term));
            if self.eat("+") {
                sign = 1;
            } else if self.eat("-") {
                sign = -1;
            } else {
                return Ok(terms);
            }
        }
    }

    fn count(&mut self) -> Parsed<()> {
        self.operators += 1;
        if self.operators > OPERATORS_MAX {
            let message = format!("the condition has more than {OPERATORS_MAX} operators");
            return Err(self.error(message));
        }
        Ok(())
    }

    /// Parses operators that bind more tightly than a level.
    fn expr(&mut self, level: u8) -> Parsed<Node> {
        let mut left = self.operand()?;
        let mut compared = false;
        while let Some(op) = self.operator().filter(|op| op.level() > level) {
            let is_comparison = matches!(op.level(), 3 | 4);
            if is_comparison && compared {
                return Err(self.error("comparisons do not chain".to_owned()));
            }
            compared = is_comparison;
            self.count()?;
            self.bump();
            let right = self.expr(op.level())?;
            let span = left.span.start..right.span.end;
            left = Node { kind: NodeKind::Binary(op, Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    fn operator(&self) -> Option<Operator> {
        let Token::Sign(sign) = self.token() else { return None };
        Operator::of_sign(sign)
    }

    fn operand(&mut self) -> Parsed<Node> {
        self.count()?;
        let start = self.span().start;
        let kind = if self.eat("!") {
            NodeKind::Not(Box::new(self.operand()?))
        } else if self.eat("-") {
            NodeKind::Minus(Box::new(self.operand()?))
        } else if self.eat("(") {
            let inner = self.expr(0)?;
            self.expect(")")?;
            inner.kind
        } else {
            self.atom()?
        };
        Ok(Node { kind, span: start..self.end() })
    }

    fn atom(&mut self) -> Parsed<NodeKind> {
        let kind = match self.token() {
            Token::Int(value) => NodeKind::Value(Value::Int(*value)),
            Token::Text(text) => NodeKind::Value(Value::Text(text.as_str().into())),
            Token::Word(word) => {
                constant(word).map_or_else(|| NodeKind::Name(word.clone()), NodeKind::Value)
            }
            _ => return Err(self.wanted("a value")),
        };
        let span = self.span();
        self.bump();
        let NodeKind::Name(text) = kind else { return Ok(kind) };
        if !self.eat(".") {
            return Ok(NodeKind::Name(text));
        }
        let function = self.name("a function of the state")?;
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.eat(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(self.expr(0)?);
        }
        Ok(NodeKind::Method(Name { text, span }, function, arguments))
    }
}

fn constant(word: &str) -> Option<Value> {
    match word {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        "null" => Some(Value::Null),
        _ => None,
    }
}
