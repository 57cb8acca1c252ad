//! The checker of happens-before proofs: sections 2 and 3 of `docs/happens-before.md`.

use crate::component;
use crate::edges::{self, condition, require};
use crate::ended::is_ended;
use crate::index::TraceIndex;
use crate::proof::{LemmaId, Path, Proof, ProofStep, Rule, RuleSet};
use crate::reason::{ProofError, Reason};
use crate::view::View;
use anyorder_system::Cancel;
use anyorder_trace::{EventId, Mailbox, Position, TaskDef, TaskId, Trace};

/// Checks that `proof` proves that `x` happens before `y` in the trace.
///
/// Near linear in the events and in the steps of the proof.
///
/// # Errors
///
/// Names the first step that does not hold, or the path with the wrong ends.
pub fn check_proof(
    trace: &Trace,
    rules: RuleSet,
    proof: &Proof,
    x: EventId,
    y: EventId,
) -> Result<(), ProofError> {
    check_proof_until(trace, rules, proof, (x, y), &Cancel::new())
}

/// The same, until it is stopped.
///
/// # Errors
///
/// As [`check_proof`]; the reason is [`Reason::Stopped`] if the check was stopped.
pub fn check_proof_until(
    trace: &Trace,
    rules: RuleSet,
    proof: &Proof,
    (x, y): (EventId, EventId),
    cancel: &Cancel,
) -> Result<(), ProofError> {
    let index = match rules {
        RuleSet::Android => TraceIndex::with_components(trace),
        RuleSet::Mailbox | RuleSet::Threads => TraceIndex::new(trace),
    };
    let checker = Checker { view: View { trace }, rules, index: &index, cancel };
    let mut shown: Vec<CheckedPath> = Vec::new();
    for (number, lemma) in proof.lemmas.iter().enumerate() {
        // Lemmas are numbered with 32 bits; those beyond cannot be referenced and are ignored.
        let Ok(number) = u32::try_from(number) else { break };
        shown.push(checker.path(Some(LemmaId(number)), lemma, &shown)?);
    }
    let first = proof.path.steps.first();
    if let Some(step) = first.filter(|step| is_ended(&step.rule)) {
        let named = |reason| {
            let shown = Some((step.rule.word().to_owned(), step.from, step.to));
            ProofError { lemma: None, step: Some(0), shown, reason }
        };
        checker.ended(step, &shown).map_err(named)?;
        let rest = Path { steps: proof.path.steps[1..].to_vec() };
        return checker.behind_ended((x, y), step, &rest, &shown);
    }
    let path = checker.path(None, &proof.path, &shown)?;
    let whole = |reason| ProofError { lemma: None, step: None, shown: None, reason };
    if (path.from, path.to) != (x, y) {
        let found = (path.from, path.to);
        return Err(whole(Reason::WrongEnds { found, expected: (x, y) }));
    }
    checker.require_happens_before(x, y, path.by_tasks).map_err(whole)
}

/// The result of checking a path: `from R to`, and more.
#[derive(Clone, Copy)]
pub(crate) struct CheckedPath {
    pub(crate) from: EventId,
    pub(crate) to: EventId,
    /// All steps are program order inside posted tasks, or orders of whole tasks. As steps are
    /// linked, all are then of one handler.
    pub(crate) by_tasks: bool,
    /// The same for all steps but the last.
    by_tasks_but_last: bool,
    /// Where the last step begins, if it is a base edge into a `get`, or leads from a post before
    /// the begin of a task to a `cancel` in it.
    last_base: Option<EventId>,
    /// Whether there is more than one step.
    longer: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct Checker<'t> {
    pub(crate) view: View<'t>,
    pub(crate) rules: RuleSet,
    pub(crate) index: &'t TraceIndex,
    cancel: &'t Cancel,
}

impl Checker<'_> {
    pub(crate) fn path(
        self,
        lemma: Option<LemmaId>,
        path: &Path,
        lemmas: &[CheckedPath],
    ) -> Result<CheckedPath, ProofError> {
        let (Some(first), Some(last)) = (path.steps.first(), path.steps.last()) else {
            return Err(ProofError { lemma, step: None, shown: None, reason: Reason::Empty });
        };
        let mut previous = first.from;
        let mut by_tasks = true;
        let mut by_tasks_but_last = true;
        for (number, step) in path.steps.iter().enumerate() {
            let named = |reason| {
                let shown = Some((step.rule.word().to_owned(), step.from, step.to));
                ProofError { lemma, step: Some(number), shown, reason }
            };
            self.cancel.check().map_err(|stopped| named(stopped.into()))?;
            if step.from != previous {
                return Err(named(Reason::NotLinked { from: step.from, previous }));
            }
            self.step(step, lemmas).map_err(named)?;
            by_tasks_but_last = by_tasks;
            by_tasks &= self.is_by_tasks(step);
            previous = step.to;
        }
        // A component's order of whole tasks ends in a `get`, as an edge does, and serves as well,
        // by transitivity.
        let base = matches!(
            last.rule,
            Rule::Post | Rule::LoopPoint | Rule::Enable | Rule::Fork | Rule::Component(_)
        );
        let into_get = self.view.get(self.view.task_of(last.to)) == Some(last.to);
        let get = self.view.get(self.view.task_of(last.to));
        let cancels = last.rule == Rule::Cancel && get.is_some_and(|get| last.from < get);
        Ok(CheckedPath {
            from: first.from,
            to: last.to,
            by_tasks,
            by_tasks_but_last,
            last_base: ((base && into_get) || cancels).then_some(last.from),
            longer: path.steps.len() > 1,
        })
    }

    fn step(self, step: &ProofStep, lemmas: &[CheckedPath]) -> Result<(), Reason> {
        let ProofStep { from, to, rule, premises } = step;
        require(self.view.has(*from) && self.view.has(*to), Reason::Unknown("event"))?;
        require(from < to, Reason::NotForward)?;
        require(self.in_rule_set(rule), Reason::NotInRuleSet)?;
        let premises: Vec<CheckedPath> = premises
            .iter()
            .map(|&LemmaId(number)| lemmas.get(number as usize).copied())
            .collect::<Option<_>>()
            .ok_or(Reason::Unknown("lemma before this one"))?;
        match rule {
            Rule::NoPreemption => self.no_preemption(*from, *to, take(&premises)?),
            Rule::Fifo => self.fifo(*from, *to, take(&premises)?),
            Rule::DelayedPoster => self.delayed_poster(*from, *to, take(&premises)?),
            Rule::FifoBackwards => self.fifo_backwards(*from, *to, take(&premises)?),
            Rule::TaskOrder => self.task_order(*from, *to, take(&premises)?),
            Rule::Component(name) => component::check(self, name, *from, *to, &premises),
            Rule::Cancelled | Rule::Disabled | Rule::Exited => {
                Err(Reason::Kind("only the first step of a whole proof"))
            }
            _ => {
                let [] = take(&premises)?;
                edges::check(self, rule, *from, *to)
            }
        }
    }

    pub(crate) fn in_rule_set(self, rule: &Rule) -> bool {
        use Rule::{Atomic, Barrier, Cancel, Component, Fork, Join, Lock, Po, Post, Wake};
        match self.rules {
            RuleSet::Android => true,
            RuleSet::Mailbox => !matches!(rule, Component(_)),
            RuleSet::Threads => {
                matches!(rule, Po | Post | Cancel | Fork | Join | Lock | Wake | Barrier | Atomic)
            }
        }
    }

    /// Whether a checked step stays in a posted task or orders whole tasks.
    fn is_by_tasks(self, step: &ProofStep) -> bool {
        match step.rule {
            Rule::Po => self.view.posted_task_of(step.from).is_some(),
            Rule::NoPreemption | Rule::Fifo | Rule::DelayedPoster | Rule::TaskOrder => true,
            Rule::Component(_) => self.whole_tasks(step.from, step.to).is_ok(),
            _ => false,
        }
    }

    /// Section 3, for events connected by a checked path. Every step goes forward, so `x < y`.
    pub(crate) fn is_happens_before(self, x: EventId, y: EventId, by_tasks: bool) -> bool {
        debug_assert!(x < y);
        if self.rules == RuleSet::Threads || by_tasks {
            return true;
        }
        match (self.view.posted_task_of(x), self.view.posted_task_of(y)) {
            (Some(m1), Some(m2)) => m1 == m2 || self.view.handler(m1) != self.view.handler(m2),
            _ => true,
        }
    }

    pub(crate) fn require_happens_before(
        self,
        x: EventId,
        y: EventId,
        by_tasks: bool,
    ) -> Result<(), Reason> {
        require(self.is_happens_before(x, y, by_tasks), Reason::NotByTasks)
    }

    /// The tasks `m1`, `m2` of one handler whose `end(m1)` and `get(m2)` are the events.
    pub(crate) fn whole_tasks(
        self,
        from: EventId,
        to: EventId,
    ) -> Result<(TaskId, TaskId), Reason> {
        let (m1, m2) = (self.view.task_of(from), self.view.task_of(to));
        let (is_end, is_get) = (self.view.end(m1) == Some(from), self.view.get(m2) == Some(to));
        require(is_end, Reason::Kind("source is not the end of a posted task"))?;
        require(is_get, Reason::Kind("target is not the `get` of a posted task"))?;
        let handler = self.view.handler(m1);
        let of_one = m1 != m2 && handler.is_some() && handler == self.view.handler(m2);
        condition(of_one, "not two tasks of one handler")?;
        Ok((m1, m2))
    }

    /// The tasks of an order premise.
    fn order(self, number: usize, premise: CheckedPath) -> Result<(TaskId, TaskId), Reason> {
        require(premise.by_tasks, Reason::NotByTasks)?;
        self.whole_tasks(premise.from, premise.to).map_err(|_| Reason::PremiseElsewhere(number))
    }

    /// The premise that `post(m1)` happens before `post(m2)`.
    fn posts_in_order(self, m1: TaskId, m2: TaskId, premise: CheckedPath) -> Result<(), Reason> {
        let posts = (self.view.post(m1), self.view.post(m2));
        let fits = posts == (Some(premise.from), Some(premise.to));
        require(fits, Reason::PremiseElsewhere(0))?;
        self.require_happens_before(premise.from, premise.to, premise.by_tasks)
    }

    fn def(self, task: TaskId) -> Result<TaskDef, Reason> {
        self.view.def(task).copied().ok_or(Reason::Unknown("task"))
    }

    fn refuse_bag(self, task: TaskId) -> Result<(), Reason> {
        let handler = self.view.handler(task).ok_or(Reason::Unknown("handler"))?;
        let mailbox = self.view.mailbox(handler).ok_or(Reason::Unknown("handler"))?;
        condition(mailbox != Mailbox::Bag, "mailbox is a bag")
    }

    fn no_preemption(
        self,
        from: EventId,
        to: EventId,
        [path]: [CheckedPath; 1],
    ) -> Result<(), Reason> {
        let (m1, _) = self.whole_tasks(from, to)?;
        let (at, m2) = (self.view.task_of(path.to), self.view.task_of(to));
        let reaches = path.to == to || (at == m2 && path.to > to);
        let fits = self.view.task_of(path.from) == m1 && reaches;
        require(fits, Reason::PremiseElsewhere(0))?;
        let Some(source) = path.last_base else {
            return Err(Reason::Condition("premise does not end with a base edge into the `get`"));
        };
        if path.longer {
            self.require_happens_before(path.from, source, path.by_tasks_but_last)?;
        }
        Ok(())
    }

    fn fifo(self, from: EventId, to: EventId, [posts]: [CheckedPath; 1]) -> Result<(), Reason> {
        let (m1, m2) = self.whole_tasks(from, to)?;
        self.refuse_bag(m2)?;
        let (first, second) = (self.def(m1)?, self.def(m2)?);
        let is_back = second.position != Position::Front;
        condition(is_back, "second task was posted to the front")?;
        let in_time = first.delay == 0 || (second.delay != 0 && first.delay <= second.delay);
        condition(in_time, "first task has the greater delay")?;
        self.posts_in_order(m1, m2, posts)
    }

    fn delayed_poster(
        self,
        from: EventId,
        to: EventId,
        [posts, order]: [CheckedPath; 2],
    ) -> Result<(), Reason> {
        let (m1, m2) = self.whole_tasks(from, to)?;
        self.refuse_bag(m2)?;
        condition(self.def(m1)?.delay != 0, "first task has no delay")?;
        self.posts_in_order(m1, m2, posts)?;
        let (first, poster) = self.order(1, order)?;
        let of_m2 = self.view.post(m2).map(|post| self.view.task_of(post));
        require(first == m1 && of_m2 == Some(poster), Reason::PremiseElsewhere(1))
    }

    fn fifo_backwards(
        self,
        from: EventId,
        to: EventId,
        [order]: [CheckedPath; 1],
    ) -> Result<(), Reason> {
        let (m1, m2) = self.order(0, order)?;
        self.refuse_bag(m2)?;
        let (first, second) = (self.def(m1)?, self.def(m2)?);
        let are_back = [first, second].iter().all(|task| task.position != Position::Front);
        condition(are_back, "one of the tasks was posted to the front")?;
        condition(second.delay == 0, "second task has a delay")?;
        let posts = (self.view.post(m1), self.view.post(m2));
        require(posts == (Some(from), Some(to)), Reason::PremiseElsewhere(0))?;
        let posted = (self.view.posted_task_of(from), self.view.posted_task_of(to));
        let of_one = matches!(posted, (Some(p1), Some(p2))
            if p1 != p2 && self.view.handler(p1) == self.view.handler(p2));
        condition(!of_one, "posts of two tasks of one handler")
    }

    fn task_order(
        self,
        from: EventId,
        to: EventId,
        [order]: [CheckedPath; 1],
    ) -> Result<(), Reason> {
        let tasks = self.whole_tasks(from, to)?;
        require(self.order(0, order)? == tasks, Reason::PremiseElsewhere(0))
    }
}

/// The premises, as many as the rule needs.
pub(crate) fn take<const N: usize>(premises: &[CheckedPath]) -> Result<[CheckedPath; N], Reason> {
    premises.try_into().map_err(|_| Reason::Premises { expected: N, given: premises.len() })
}
