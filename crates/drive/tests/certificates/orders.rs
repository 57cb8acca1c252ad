//! Proofs of orders with one lemma more, by a rule whose conditions hold or fail by little.

use super::one_of;
use anyorder_certify::{
    ClaimedOrder, LemmaId, Path, Proof, ProofStep, Rule, RuleSet, read_order, write_order,
};
use anyorder_common::random::{Random, Rng};
use anyorder_drive::{TraceInput, why};
use anyorder_system::Control;
use anyorder_trace::{Action, EventId, EventKind, TaskKind, Trace};

/// The lemmas tried for each trace: by base edges, and by orders of whole tasks.
const TRIED: (usize, usize) = (16, 24);

/// A posted task that began.
struct Begun {
    handler: Option<u32>,
    post: Option<EventId>,
    /// From `get` to the last one.
    events: Vec<EventId>,
}

/// Returns texts of proofs about a trace.
pub(crate) fn doubtful(input: &TraceInput, rng: &mut Rng) -> Vec<String> {
    let maker = Maker { input, tasks: begun(&input.trace), control: Control::default() };
    let mut texts = Vec::new();
    for _ in 0..TRIED.0 {
        let step = maker.base_step(rng);
        texts.extend(step.and_then(|step| maker.with(Proof::default(), step, rng)));
    }
    for _ in 0..TRIED.1 {
        texts.extend(match rng.below(5) {
            0 => maker.joined(rng),
            _ => maker.task_step(rng),
        });
    }
    texts
}

struct Maker<'t> {
    input: &'t TraceInput,
    tasks: Vec<Begun>,
    control: Control<'static>,
}

fn begun(trace: &Trace) -> Vec<Begun> {
    let defs = &trace.tables().tasks;
    let mut tasks: Vec<Begun> =
        defs.iter().map(|_| Begun { handler: None, post: None, events: Vec::new() }).collect();
    for event in trace.events() {
        let own = &mut tasks[event.task.index()];
        match event.action() {
            Action::Get(handler) => (own.handler, own.events) = (Some(handler.0), vec![event.id]),
            Action::Post(task) => {
                tasks[task.index()].post.get_or_insert(event.id);
            }
            _ if !own.events.is_empty() => own.events.push(event.id),
            _ => {}
        }
    }
    let posted = |at: usize| defs[at].kind == TaskKind::Posted;
    let all = tasks.into_iter().enumerate();
    all.filter(|(at, task)| posted(*at) && !task.events.is_empty()).map(|(_, task)| task).collect()
}

impl Maker<'_> {
    fn trace(&self) -> &Trace {
        &self.input.trace
    }

    fn any(&self, rng: &mut Rng) -> EventId {
        EventId(rng.below(self.trace().len() as u64) as u32)
    }

    /// A proof that one event happens before another, if it does.
    fn proof(&self, from: EventId, to: EventId, rules: RuleSet) -> Option<Proof> {
        let labels = [from, to].map(|event| self.trace().unique_label(event));
        let rules = match rules {
            RuleSet::Android => anyorder_drive::RuleSet::Android,
            RuleSet::Mailbox => anyorder_drive::RuleSet::Mailbox,
            RuleSet::Threads => anyorder_drive::RuleSet::Threads,
        };
        let labels = [labels[0].as_str(), labels[1].as_str()];
        let answer = why(self.input, labels, Some(rules), None, &self.control).ok()??;
        if from >= to || (answer.first, answer.second) != (from, to) || !answer.has_certificate() {
            return None;
        }
        let mut text = Vec::new();
        answer.write_certificate(self.trace(), &mut text).expect("memory takes all");
        Some(read_order(&text[..], self.trace()).expect("a proof").0.proof)
    }

    /// The text of a proof with a step as a lemma of its own, or as its path.
    fn with(&self, mut proof: Proof, step: ProofStep, rng: &mut Rng) -> Option<String> {
        let rules = match rng.below(6) {
            0 => RuleSet::Android,
            1 => RuleSet::Threads,
            _ => RuleSet::Mailbox,
        };
        if rng.below(3) == 0 {
            return Some(self.text(rules, proof.ending([step])));
        }
        // Some true claim of the rule set.
        proof.lemma([step]);
        for _ in 0..6 {
            let (from, to) = (self.any(rng), self.any(rng));
            if let Some(claim) = self.proof(from, to, rules) {
                let path = add(&mut proof, claim);
                proof.path = proof.lemmas.remove(path.0 as usize);
                return Some(self.text(rules, proof));
            }
        }
        None
    }

    fn text(&self, rules: RuleSet, proof: Proof) -> String {
        let ends = (proof.path.steps.first(), proof.path.steps.last());
        let (Some(first), Some(last)) = ends else { return String::new() };
        let claimed = ClaimedOrder { rules, first: first.from, second: last.to, proof };
        let mut text = Vec::new();
        write_order(&claimed, self.trace(), &mut text).expect("memory takes all");
        String::from_utf8(text).expect("proofs are text")
    }

    /// A step between events of the kinds that a base edge joins; most of them are no edges.
    fn base_step(&self, rng: &mut Rng) -> Option<ProofStep> {
        use EventKind as K;
        const ANY: &[EventKind] = &[];
        let (rule, sources, targets): (Rule, &[K], &[K]) = match rng.below(12) {
            0 => (Rule::Po, ANY, ANY),
            1 => (Rule::LoopPoint, &[K::Loop, K::Begin, K::Attach], &[K::Get]),
            2 => (Rule::Attach, &[K::Attach], &[K::Post]),
            3 => (Rule::Post, &[K::Post], &[K::Get]),
            4 => (Rule::Fork, &[K::Fork], ANY),
            5 => (Rule::Join, &[K::Fork, K::Exit, K::Write], &[K::Join]),
            6 => (Rule::Lock, &[K::Release], &[K::Acquire]),
            7 => (Rule::Wake, &[K::Signal, K::Broadcast], &[K::Wake]),
            8 => (Rule::Barrier, &[K::Barrier], &[K::Barrier]),
            9 => (Rule::Atomic, &[K::Write, K::Rmw, K::Free], &[K::Read, K::Rmw]),
            _ => (Rule::Enable, &[K::Enable], &[K::Trigger, K::Get, K::Post]),
        };
        let events: Vec<_> = self.trace().events().map(|event| (event.id, event.kind())).collect();
        let of = |kinds: &[K], after: Option<EventId>, rng: &mut Rng| -> Option<EventId> {
            let all = kinds.is_empty() || rng.below(10) == 0;
            let fits = events
                .iter()
                .filter(|(id, kind)| (all || kinds.contains(kind)) && after.is_none_or(|x| *id > x))
                .map(|(id, _)| *id);
            let fits: Vec<EventId> = fits.collect();
            let near = if rng.below(2) == 0 { 3 } else { fits.len() };
            match after {
                None if !fits.is_empty() => Some(*one_of(rng, &fits)),
                Some(_) if !fits.is_empty() => Some(*one_of(rng, &fits[..near.min(fits.len())])),
                _ => None,
            }
        };
        let from = of(sources, None, rng)?;
        let to = if rng.below(20) == 0 { self.any(rng) } else { of(targets, Some(from), rng)? };
        Some(ProofStep::new(from, to, rule))
    }

    /// Two paths that meet, between tasks of one handler: an order only if it is one of tasks.
    fn joined(&self, rng: &mut Rng) -> Option<String> {
        let (one, two) = self.pair(rng)?;
        let (from, to) = (*one_of(rng, &one.events), *one_of(rng, &two.events));
        let rules = if rng.below(6) == 0 { RuleSet::Threads } else { RuleSet::Mailbox };
        for _ in 0..4 {
            let middle = self.any(rng);
            let (Some(mut proof), Some(rest)) =
                (self.proof(from, middle, rules), self.proof(middle, to, rules))
            else {
                continue;
            };
            let rest = add(&mut proof, rest);
            let rest = proof.lemmas.remove(rest.0 as usize);
            proof.path.steps.extend(rest.steps);
            return Some(self.text(rules, proof));
        }
        None
    }

    /// Two tasks, mostly of one handler and in order.
    fn pair(&self, rng: &mut Rng) -> Option<(&Begun, &Begun)> {
        if self.tasks.is_empty() {
            return None;
        }
        let (mut one, mut two) = (one_of(rng, &self.tasks), one_of(rng, &self.tasks));
        for _ in 0..8 {
            if one.handler == two.handler && one.events[0] != two.events[0] {
                break;
            }
            two = one_of(rng, &self.tasks);
        }
        if one.events[0] > two.events[0] && rng.below(10) > 0 {
            std::mem::swap(&mut one, &mut two);
        }
        Some((one, two))
    }

    /// An order of two tasks, by a rule that may not fit, from premises that may be others.
    fn task_step(&self, rng: &mut Rng) -> Option<String> {
        let (one, two) = self.pair(rng)?;
        let (get, end) = (two.events[0], *one.events.last()?);
        let mut proof = Proof::default();
        let mut premises = Vec::new();
        let rule = one_of(
            rng,
            &[
                Rule::Fifo,
                Rule::DelayedPoster,
                Rule::FifoBackwards,
                Rule::TaskOrder,
                Rule::NoPreemption,
            ],
        )
        .clone();
        let of_posts = || Some((one.post?, two.post?));
        let wanted: Vec<Option<(EventId, EventId)>> = match rule {
            Rule::Fifo => vec![of_posts()],
            Rule::DelayedPoster => {
                let poster = two.post.map(|post| self.trace().event(post).task);
                let of_poster = poster.and_then(|poster| {
                    let is_get = |task: &&Begun| self.trace().event(task.events[0]).task == poster;
                    self.tasks.iter().find(is_get).map(|task| (end, task.events[0]))
                });
                vec![of_posts(), of_poster]
            }
            Rule::NoPreemption => vec![Some((*one_of(rng, &one.events), get))],
            _ => vec![Some((end, get))],
        };
        for ends in wanted {
            let other = rng.below(8) == 0;
            let ends = ends.filter(|_| !other);
            premises.push(self.lemma(&mut proof, ends, rng)?);
        }
        let (mut from, mut to) = match rule {
            Rule::FifoBackwards => of_posts()?,
            _ => (end, get),
        };
        let mut rule = rule;
        match rng.below(16) {
            0 => from = *one_of(rng, &one.events),
            1 => to = *one_of(rng, &two.events),
            2 => rule = one_of(rng, &[Rule::Fifo, Rule::FifoBackwards, Rule::TaskOrder]).clone(),
            3 => drop(premises.pop()),
            4 => premises.extend(premises.first().copied()),
            5 => premises.reverse(),
            6 => to = one_of(rng, &self.tasks).events[0],
            7 => from = *one_of(rng, &self.tasks).events.last()?,
            8 => (from, to) = (to, from),
            9 => rule = one_of(rng, &[Rule::Po, Rule::Post, Rule::NoPreemption]).clone(),
            _ => {}
        }
        let mut step = ProofStep::new(from, to, rule);
        step.premises = premises;
        self.with(proof, step, rng)
    }

    /// Adds a lemma about two events: proved if possible, else some other one.
    fn lemma(
        &self,
        proof: &mut Proof,
        ends: Option<(EventId, EventId)>,
        rng: &mut Rng,
    ) -> Option<LemmaId> {
        let proved = ends.and_then(|(from, to)| self.proof(from, to, RuleSet::Mailbox));
        // A path that leads there, and may not be an order.
        let linked = || ends.and_then(|ends| self.linked(ends));
        let other = |rng: &mut Rng| {
            let (one, two) = self.pair(rng)?;
            let ends = match rng.below(3) {
                0 => (*one.events.last()?, two.events[0]),
                1 => (one.post?, two.post?),
                _ => (*one_of(rng, &one.events), two.events[0]),
            };
            self.proof(ends.0, ends.1, RuleSet::Mailbox)
        };
        let found = proved.or_else(linked).or_else(|| other(rng))?;
        Some(add(proof, found))
    }

    /// Two orders that meet in an event between two others.
    fn linked(&self, (from, to): (EventId, EventId)) -> Option<Proof> {
        for middle in (from.0 + 1..to.0).map(EventId).take(6) {
            let Some(mut proof) = self.proof(from, middle, RuleSet::Mailbox) else { continue };
            if let Some(rest) = self.proof(middle, to, RuleSet::Mailbox) {
                let rest = add(&mut proof, rest);
                let rest = proof.lemmas.remove(rest.0 as usize);
                proof.path.steps.extend(rest.steps);
                return Some(proof);
            }
        }
        None
    }
}

/// Adds the lemmas of a proof, and its path as a lemma, the last one.
fn add(proof: &mut Proof, other: Proof) -> LemmaId {
    let moved = proof.lemmas.len() as u32;
    for mut path in other.lemmas.into_iter().chain([other.path]) {
        for step in &mut path.steps {
            step.premises.iter_mut().for_each(|LemmaId(lemma)| *lemma += moved);
        }
        proof.lemmas.push(Path { steps: path.steps });
    }
    LemmaId(proof.lemmas.len() as u32 - 1)
}

/// Returns texts of a proof whose step by what has ended is changed in one place.
pub(crate) fn doubtful_ends(trace: &Trace, valid: &str, rng: &mut Rng) -> Vec<String> {
    const ENDED: [&str; 3] = ["cancelled", "disabled", "exited"];
    let lines: Vec<&str> = valid.lines().collect();
    let is_ended = |line: &&str| line.split(' ').any(|word| ENDED.contains(&word));
    let Some(at) = lines.iter().position(is_ended) else { return Vec::new() };
    let begins: Vec<EventId> = trace
        .task_ids()
        .filter_map(|task| trace.span(task).first.some())
        .filter(|first| trace.event(*first).kind() == EventKind::Get)
        .collect();
    let Some(order) = lines.iter().position(|line| line.starts_with("order ")) else {
        return Vec::new();
    };
    let changed = (0..12).filter_map(|_| {
        let words = |at: usize| lines[at].split_whitespace().map(str::to_owned);
        let mut step: Vec<String> = words(at).collect();
        let mut claim: Vec<String> = words(order).collect();
        let any = format!("@{}", rng.below(trace.len() as u64));
        let begin = begins.get(rng.below(begins.len().max(1) as u64) as usize);
        let begin = begin.map(|begin| format!("@{}", begin.0));
        match rng.below(7) {
            0 => step[2] = (*one_of(rng, &ENDED)).to_owned(),
            1 => step[0] = any,
            2 => step[1] = begin?,
            3 => step.truncate(3),
            4 => step.push("0".to_owned()),
            // The claim changes with the step.
            5 => (step[0], claim[1]) = (any.clone(), any),
            _ => {
                let begin = begin?;
                if step[1] == claim[2] {
                    claim[2] = begin.clone();
                }
                step[1] = begin;
            }
        }
        let (step, claim) = (step.join(" "), claim.join(" "));
        let mut all: Vec<&str> = lines.clone();
        (all[at], all[order]) = (&step, &claim);
        Some(all.join("\n") + "\n")
    });
    changed.collect()
}
