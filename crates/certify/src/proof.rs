//! Proofs that one event happens before another.

use anyorder_trace::EventId;

/// The rules of `docs/happens-before.md` that a proof may use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RuleSet {
    /// All of them, and those of `docs/android-components.md`.
    Android,
    /// All but the component rules.
    Mailbox,
    /// Only those marked T: program order is that of the whole handler, and tasks are unordered.
    Threads,
}

/// A proof that some event happens before another.
///
/// It is flat: paths that several steps need are stored once, in `lemmas`, and steps refer to them
/// by number. A step of lemma `i` may refer only to lemmas before `i`, a step of `path` to any. So
/// proofs cannot be circular. Building, checking and dropping them needs no recursion, however many
/// rounds of the fixpoint they go back.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Proof {
    /// The lemmas, in an order in which they can be checked.
    pub lemmas: Vec<Path>,
    /// The path from the earlier event to the later.
    pub path: Path,
}

/// A sequence of steps, each beginning where the one before it ended. Never empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Path {
    /// The steps.
    pub steps: Vec<ProofStep>,
}

/// The number of a lemma in its proof, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LemmaId(pub u32);

/// One step: `from` is before `to` by one application of `rule`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProofStep {
    /// The earlier event.
    pub from: EventId,
    /// The later event.
    pub to: EventId,
    /// The rule.
    pub rule: Rule,
    /// The premises, in the number and order that [`Rule`] gives.
    pub premises: Vec<LemmaId>,
}

/// The rules, with the required ends of a step and its premises (none unless stated).
///
/// `post(m)`, `get(m)`, `end(m)` are as in `docs/happens-before.md`. A *happens-before* premise is
/// a path between the two events by section 3: between different posted tasks of one handler it
/// must consist of [`Rule::Po`] inside tasks and of task orders. An *order* premise `m1 ≺ m2` is a
/// path from `end(m1)` to `get(m2)` of this kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Program order, over any distance: two events of one task, or of thread code as it is cut
    /// into pieces.
    Po,
    /// A handler's loop point, to the `get` of one of its tasks.
    LoopPoint,
    /// The first `attach` of a handler, to a `post` to it by another handler's task.
    Attach,
    /// `post(m)` to `get(m)`.
    Post,
    /// The `post` of a task, to a `cancel` of it.
    Cancel,
    /// A `fork`, to the first later event of the forked handler.
    Fork,
    /// Any event of a handler before a `join` of it, to the `join`.
    Join,
    /// A `release`, to a later `acquire` of the lock by another handler's task.
    Lock,
    /// The signal or broadcast matched with a `wake`, to the `wake`.
    Wake,
    /// A `barrier` event, to a later one of the same barrier by another task.
    Barrier,
    /// A releasing atomic write, to an acquiring atomic read, with no other writes between them
    /// than atomic rmws.
    Atomic,
    /// The `enable` of a `trigger`, to the `trigger`, or to `get` or `post` of its task.
    Enable,
    /// Task order `end(m1)` to `get(m2)`. One premise: a path from an event of `m1` to `get(m2)`,
    /// whose last step is a base edge ([`Post`](Rule::Post), [`LoopPoint`](Rule::LoopPoint),
    /// [`Enable`](Rule::Enable), [`Fork`](Rule::Fork), [`Component`](Rule::Component)) and which
    /// without that step is empty or a happens-before. Or the path leads to a `cancel` in `m2`, by
    /// [`Cancel`](Rule::Cancel) as its last step, from before `get(m2)`.
    NoPreemption,
    /// Task order `end(m1)` to `get(m2)`. One premise: `post(m1)` happens before `post(m2)`.
    Fifo,
    /// Task order `end(m1)` to `get(m2)`. Two premises: `post(m1)` happens before `post(m2)`, and
    /// the order `m1 ≺ m` where `m` is the task that posted `m2`.
    DelayedPoster,
    /// `post(m1)` to `post(m2)`. One premise: the order `m1 ≺ m2`.
    FifoBackwards,
    /// Task order `end(m1)` to `get(m2)`, by transitivity. One premise: the order `m1 ≺ m2`.
    TaskOrder,
    /// The rule *ended* of section 3, for a `cancel`: an event that could come only after a task
    /// was cancelled if it came after the target. Only as the first step of the path that proves
    /// the claim. The target is the first event of a task, or of a piece of thread code after the
    /// loop point, of the same handler. Premises: if the end is not in the unit of the target, it
    /// happens before the target; for [`Disabled`](Rule::Disabled), the enabling happens before
    /// the end.
    Cancelled,
    /// The same for a `disable`.
    Disabled,
    /// The same for the `exit` of a handler.
    Exited,
    /// A rule of `docs/android-components.md`: an edge, or a task order `end(a)` to `get(b)`. The
    /// name begins with the word of the family (`lifecycle`, `idle`, `service`, `broadcast`), up to
    /// a colon or the end; the rest is free.
    /// One premise, where the rule orders two received broadcasts or the posts of their tasks: the
    /// cause of the first (its send, or its sticky registration) happens before that of the second.
    Component(String),
}

impl Rule {
    /// Returns the word for the rule, as in `docs/happens-before.md`.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Rule::Po => "po",
            Rule::LoopPoint => "loop",
            Rule::Attach => "attach",
            Rule::Post => "post",
            Rule::Cancel => "cancel",
            Rule::Cancelled => "cancelled",
            Rule::Disabled => "disabled",
            Rule::Exited => "exited",
            Rule::Fork => "fork",
            Rule::Join => "join",
            Rule::Lock => "lock",
            Rule::Wake => "wake",
            Rule::Barrier => "barrier",
            Rule::Atomic => "atomic",
            Rule::Enable => "enable",
            Rule::NoPreemption => "no pre-emption",
            Rule::Fifo => "fifo",
            Rule::DelayedPoster => "delayed poster",
            Rule::FifoBackwards => "fifo, read backwards",
            Rule::TaskOrder => "task order",
            Rule::Component(name) => name,
        }
    }
}

impl ProofStep {
    /// Makes a step without premises.
    #[must_use]
    pub const fn new(from: EventId, to: EventId, rule: Rule) -> ProofStep {
        ProofStep { from, to, rule, premises: Vec::new() }
    }

    /// Adds a premise.
    #[must_use]
    pub fn with(mut self, premise: LemmaId) -> ProofStep {
        self.premises.push(premise);
        self
    }
}

impl Proof {
    /// Makes a proof without lemmas.
    #[must_use]
    pub fn of(steps: impl IntoIterator<Item = ProofStep>) -> Proof {
        Proof { lemmas: Vec::new(), path: Path { steps: steps.into_iter().collect() } }
    }

    /// Adds a lemma and returns its number.
    ///
    /// # Panics
    ///
    /// Panics after 2^32 lemmas.
    pub fn lemma(&mut self, steps: impl IntoIterator<Item = ProofStep>) -> LemmaId {
        let number = u32::try_from(self.lemmas.len()).expect("lemmas are numbered in 32 bits");
        self.lemmas.push(Path { steps: steps.into_iter().collect() });
        LemmaId(number)
    }

    /// Returns the proof with its path replaced.
    #[must_use]
    pub fn ending(mut self, steps: impl IntoIterator<Item = ProofStep>) -> Proof {
        self.path = Path { steps: steps.into_iter().collect() };
        self
    }
}
