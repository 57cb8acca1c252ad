//! Code of conditions: jumps to one of two places.

use super::emit::Seen;
use super::facts::{key, zone_state};
use super::program::Lower;
use crate::place::{Place, Severity};
use crate::syntax::{At, Bound, Condition, ConditionKind};
use anyorder_program::{FunctionBuilder, Label, Literal, Op};

impl Lower<'_> {
    /// Goes to `no` unless all hold; falls through if they do.
    pub(super) fn require(
        &mut self,
        f: &mut FunctionBuilder,
        seen: &Seen,
        list: &[Condition],
        no: Label,
    ) {
        for condition in list {
            let yes = f.label();
            self.condition(f, seen, condition, yes, no);
            f.bind(yes);
        }
    }

    /// The name of what is not known at a place.
    pub(super) fn question(&self, words: &str, place: Place) -> String {
        let file = self.home.files.get(usize::from(place.file)).map_or("", String::as_str);
        let file = file.rsplit('/').next().unwrap_or(file);
        format!("{words} ({file}:{}:{})", place.line, place.column)
    }

    pub(super) fn condition(
        &mut self,
        f: &mut FunctionBuilder,
        seen: &Seen,
        condition: &Condition,
        yes: Label,
        no: Label,
    ) {
        self.at(f, condition.place);
        match &condition.kind {
            ConditionKind::And(list) => {
                self.require(f, seen, list, no);
                f.jump(yes);
            }
            ConditionKind::Or(list) => {
                for inner in list.iter().filter(|c| c.kind != ConditionKind::Disabled) {
                    let next = f.label();
                    self.condition(f, seen, inner, yes, next);
                    f.bind(next);
                }
                f.jump(no);
            }
            ConditionKind::Not(list) => {
                for inner in list.iter().filter(|c| c.kind != ConditionKind::Disabled) {
                    let next = f.label();
                    self.condition(f, seen, inner, no, next);
                    f.bind(next);
                }
                f.jump(yes);
            }
            ConditionKind::State { entities, any, attribute, states, lasts } => {
                self.states(
                    f,
                    entities,
                    *any,
                    attribute.as_deref(),
                    states,
                    yes,
                    no,
                    lasts.is_some(),
                    condition.place,
                );
            }
            ConditionKind::Numeric { entities, attribute, above, below, template } => {
                for entity in entities {
                    let next = f.label();
                    let key = key(entity, attribute.as_deref());
                    let exact = template.is_none();
                    self.in_range(
                        f,
                        &key,
                        (above.as_ref(), below.as_ref()),
                        exact,
                        condition.place,
                        next,
                        no,
                    );
                    f.bind(next);
                }
                f.jump(yes);
            }
            ConditionKind::Template(text) => {
                let tree = self.tree_of(text, condition.place);
                self.test(f, seen, (text, &tree), yes, no);
            }
            ConditionKind::Time { after, before, weekday } => {
                self.time(f, after.as_ref(), before.as_ref(), weekday, condition.place, yes, no);
            }
            ConditionKind::Zone { entities, zones } => {
                let states: Vec<String> = zones.iter().map(|zone| zone_state(zone)).collect();
                self.states(f, entities, false, None, &states, yes, no, false, condition.place);
            }
            ConditionKind::Trigger(ids) => {
                let is = self.is_one_of(f, seen.id, ids);
                f.jump_if(is, yes);
                f.jump(no);
            }
            ConditionKind::Sun { after, before } => {
                self.sun(f, after.as_deref(), before.as_deref(), yes, no);
            }
            ConditionKind::Unknown(words) => {
                let question = self.question(words, condition.place);
                self.either(f, &question, &[], yes, no);
            }
            ConditionKind::Disabled => f.jump(yes),
            ConditionKind::Constant(value) => f.jump(if *value { yes } else { no }),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one condition")]
    fn states(
        &mut self,
        f: &mut FunctionBuilder,
        entities: &[String],
        any: bool,
        attribute: Option<&str>,
        states: &[String],
        yes: Label,
        no: Label,
        lasts: bool,
        place: Place,
    ) {
        // Another entity may be named in the place of a state.
        if states.iter().any(|s| s.starts_with("input_")) {
            self.problem(
                place,
                Severity::Havoc,
                "state of a helper as a state",
                "any state is assumed",
            );
            let question = self.question("the state of a helper", place);
            return self.either(f, &question, entities, yes, no);
        }
        let held = f.label();
        for entity in entities {
            let next = f.label();
            let Some(at) = self.table.get(&key(entity, attribute)) else {
                let question = self.question(entity, place);
                self.either(f, &question, &[], yes, no);
                continue;
            };
            let value = self.state(f, at);
            let is = self.is_one_of(f, value, states);
            if any {
                f.jump_if(is, held);
            } else {
                f.jump_if(is, next);
                f.jump(no);
            }
            f.bind(next);
        }
        f.jump(if any { no } else { held });
        f.bind(held);
        if lasts {
            self.problem(
                place,
                Severity::Havoc,
                "`for` in a condition",
                "it may or may not have lasted",
            );
            let question = self.question("whether it has lasted", place);
            self.either(f, &question, entities, yes, no);
        } else {
            f.jump(yes);
        }
    }

    /// Goes to `yes` if a number is in a range.
    #[expect(clippy::too_many_arguments, reason = "the parts of one condition")]
    pub(super) fn in_range(
        &mut self,
        f: &mut FunctionBuilder,
        key: &str,
        (above, below): (Option<&Bound>, Option<&Bound>),
        exact: bool,
        place: Place,
        yes: Label,
        no: Label,
    ) {
        let Some((at, inside)) =
            self.table.get(key).zip(self.matching(key, above, below).filter(|_| exact))
        else {
            let by_entity =
                exact && [above, below].into_iter().flatten().all(|bound| self.is_free(key, bound));
            if by_entity {
                // Both come from outside, so both answers may be.
                for (word, bound) in [("above", above), ("below", below)] {
                    if let Some(bound) = bound {
                        let next = f.label();
                        let question = format!("whether {key} is {word} {}", bound_words(bound));
                        self.may(f, &question, next, no);
                        f.bind(next);
                    }
                }
                return f.jump(yes);
            }
            let text = "any result of the comparison is assumed";
            self.problem(place, Severity::Havoc, "comparison that is not of constants", text);
            let question = self.question("a comparison", place);
            return self.either(f, &question, &[key.to_owned()], yes, no);
        };
        let value = self.state(f, at);
        let is = self.is_one_of(f, value, &inside);
        f.jump_if(is, yes);
        f.jump(no);
    }

    /// Whether neither a number nor what it is compared with is set by a part.
    fn is_free(&self, key: &str, bound: &Bound) -> bool {
        let of = match bound {
            Bound::Number(_) => true,
            Bound::Entity(entity) => !entity.is_empty() && !self.written.contains(entity),
        };
        of && !self.written.contains(key)
    }

    /// The values of a key in a range; `None` if the range is not one of constants.
    pub(super) fn matching(
        &self,
        key: &str,
        above: Option<&Bound>,
        below: Option<&Bound>,
    ) -> Option<Vec<String>> {
        let bound = |bound: Option<&Bound>| match bound {
            None => Some(None),
            Some(Bound::Number(value)) => Some(Some(*value)),
            Some(Bound::Entity(_)) => None,
        };
        let (above, below) = (bound(above)?, bound(below)?);
        let values = &self.table.values[self.table.get(key)?];
        let inside = |value: &&String| {
            value.parse::<f64>().is_ok_and(|number| {
                above.is_none_or(|above| number > above) && below.is_none_or(|below| number < below)
            })
        };
        Some(values.iter().filter(inside).cloned().collect())
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one condition")]
    fn time(
        &mut self,
        f: &mut FunctionBuilder,
        after: Option<&At>,
        before: Option<&At>,
        weekday: &[String],
        place: Place,
        yes: Label,
        no: Label,
    ) {
        let known = |at: Option<&At>| match at {
            None => Some(None),
            Some(At::Clock(seconds)) => Some(Some(*seconds)),
            Some(_) => None,
        };
        let (Some(after), Some(before)) = (known(after), known(before)) else {
            self.problem(place, Severity::Note, "time of a helper", "any time is assumed");
            return self.may(f, &self.question("the time of a helper", place), yes, no);
        };
        let held = f.label();
        if after.is_none() && before.is_none() {
            f.jump(held);
        } else {
            let inside = |t: i64| match (after, before) {
                (Some(a), Some(b)) if a < b => a <= t && t < b,
                (Some(a), Some(b)) => a <= t || t < b,
                (Some(a), None) => a <= t,
                (None, Some(b)) => t < b,
                (None, None) => true,
            };
            let times = self.times.clone();
            let list = (0..times.len()).filter(|at| inside(times[*at]));
            let set = list.map(|at| Literal::Int(at as i64)).collect();
            let constant = self.b.constant(Literal::Set(set));
            let a = self.time_of_day(f);
            let b = f.value(|dst| Op::Const { dst, constant });
            let is = f.value(|dst| Op::In { dst, a, b });
            f.jump_if(is, held);
            f.jump(no);
        }
        f.bind(held);
        if weekday.is_empty() {
            return f.jump(yes);
        }
        let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
        let days = days.iter().map(|day| Literal::Str((*day).to_owned())).collect();
        let day = self.any(f, "day of the week", days);
        let is = self.is_one_of(f, day, weekday);
        f.jump_if(is, yes);
        f.jump(no);
    }

    /// Sunrise and sunset cut a day into three parts.
    fn sun(
        &mut self,
        f: &mut FunctionBuilder,
        after: Option<&str>,
        before: Option<&str>,
        yes: Label,
        no: Label,
    ) {
        let parts = ["before sunrise", "day", "after sunset"];
        let inside: &[&str] = match (after, before) {
            // The night of `after: sunset, before: sunrise` is both of its halves.
            (Some("sunset"), Some("sunrise")) => &[parts[0], parts[2]],
            (Some("sunrise"), Some("sunset")) => &[parts[1]],
            (Some("sunrise"), None) => &parts[1..],
            (Some("sunset"), None) => &parts[2..],
            (None, Some("sunrise")) => &parts[..1],
            (None, Some("sunset")) => &parts[..2],
            _ => &parts,
        };
        let owned = |list: &[&str]| list.iter().map(|&part| part.to_owned()).collect::<Vec<_>>();
        let (all, both) = (f.label(), f.label());
        let part = f.reg();
        if let Some(at) = self.table.get("sun.sun") {
            let sun = self.state(f, at);
            let up = self.is_one_of(f, sun, &owned(&["above_horizon"]));
            f.jump_if_not(up, all);
            let day = self.text_reg(f, parts[1]);
            f.emit(Op::Move { dst: part, src: day });
            f.jump(both);
            f.bind(all);
            let night = vec![Literal::Str(parts[0].into()), Literal::Str(parts[2].into())];
            let src = self.any(f, "part of the night", night);
            f.emit(Op::Move { dst: part, src });
        } else {
            f.bind(all);
            let values = parts.iter().map(|part| Literal::Str((*part).into())).collect();
            let src = self.any(f, "part of the day", values);
            f.emit(Op::Move { dst: part, src });
        }
        f.bind(both);
        let is = self.is_one_of(f, part, &owned(inside));
        f.jump_if(is, yes);
        f.jump(no);
    }
}

/// What a bound is, for people.
pub(super) fn bound_words(bound: &Bound) -> String {
    match bound {
        Bound::Number(value) => crate::syntax::shown_number(*value),
        Bound::Entity(entity) => entity.clone(),
    }
}
