//! The rule sets, and a name for every rule, so that tests can count and drop each one.

/// Which rules apply.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RuleSet {
    /// Handlers, mailboxes, and the rules of Android's components.
    Android,
    /// Handlers and mailboxes; inputs are only enabled and triggered.
    Mailbox,
    /// Every handler is a plain thread.
    Threads,
}

impl RuleSet {
    /// All rule sets.
    pub const ALL: [RuleSet; 3] = [RuleSet::Android, RuleSet::Mailbox, RuleSet::Threads];
}

/// A rule set, possibly without some of its rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules<'r> {
    /// The rule set.
    pub set: RuleSet,
    /// The dropped rules: a mutation.
    pub disabled: &'r [RuleName],
}

impl Rules<'static> {
    /// Returns a whole rule set.
    #[must_use]
    pub const fn all(set: RuleSet) -> Rules<'static> {
        Rules { set, disabled: &[] }
    }
}

impl<'r> Rules<'r> {
    /// Returns a rule set without the given rules.
    #[must_use]
    pub const fn without(set: RuleSet, disabled: &'r [RuleName]) -> Rules<'r> {
        Rules { set, disabled }
    }

    /// Returns whether the rule applies.
    #[must_use]
    pub fn has(&self, rule: RuleName) -> bool {
        rule.is_in(self.set) && !self.disabled.contains(&rule)
    }
}

/// Declares the enum of rules together with the list of all of them and their words.
macro_rules! rule_names {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// One rule of `docs/happens-before.md` or `docs/android-components.md`.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum RuleName { $($(#[$doc])* $name,)* }

        impl RuleName {
            /// All rules, in the order of the documents.
            pub const ALL: &'static [RuleName] = &[$(RuleName::$name,)*];

            /// Returns the word for the rule, as in the documents.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(RuleName::$name => $word,)* }
            }
        }
    };
}

rule_names! {
    /// Program order, pieces of thread code included.
    ProgramOrder = "po",
    /// The loop point before the tasks.
    Loop = "loop",
    /// The attach before posts by others.
    Attach = "attach",
    /// A post before the get.
    Post = "post",
    /// A post before the cancel of its task.
    Cancel = "cancel",
    /// A fork before the first event.
    Fork = "fork",
    /// The last events before a join.
    Join = "join",
    /// A release before later acquires.
    Lock = "lock",
    /// The event that a wake refers to before the wake.
    WakeRefers = "wake (refers)",
    /// The matched signal or broadcast before the wake.
    WakeMatched = "wake (matched)",
    /// A barrier event before later ones.
    Barrier = "barrier",
    /// A release write before the acquire read of it.
    Atomic = "atomic",
    /// An enable before its trigger.
    Enable = "enable (trigger)",
    /// An enable before the get of the triggered task.
    EnableGet = "enable (get)",
    /// An enable before the post of the triggered task.
    EnablePost = "enable (post)",
    /// Tasks do not interrupt each other.
    NoPreemption = "no pre-emption",
    /// First posted, first run.
    Fifo = "fifo",
    /// A delayed task ends before the poster of another begins.
    DelayedPoster = "delayed poster",
    /// Task orders are transitive.
    Transitivity = "transitivity",
    /// The edge from the end of one task to the get of a later task.
    EndGet = "end before get",
    /// First in, first out read backwards: an edge between two posts.
    FifoBackwards = "fifo, read backwards",
    /// What a task began with, before the tasks after which it is cancelled.
    Cancelled = "cancelled",
    /// What an input triggered, before the tasks after which it is disabled.
    Disabled = "disabled",
    /// A task before the piece in which its handler exits.
    Exited = "exited",
    /// Lifecycle: a pending enable before its trigger.
    LifecycleEnable = "lifecycle (enable)",
    /// Lifecycle: the last enable for instance 0 before a resume without its own enable.
    LifecycleResume = "lifecycle (resume)",
    /// Lifecycle: what an intent had is moved to the instance that it became.
    LifecycleInstance = "lifecycle (instance)",
    /// Lifecycle: one callback of an activity before the next.
    LifecycleStep = "lifecycle (step)",
    /// Idle: the enable before the post.
    IdleEnable = "idle (enable)",
    /// Idle: the end of the task with the enable before the post.
    IdleEnableEnd = "idle (end of enabling task)",
    /// Idle: the end of the task that ran it before, before the post.
    IdleAgain = "idle (again)",
    /// Idle: the loop event before the post.
    IdleLoop = "idle (loop)",
    /// Service: the creator before the creation.
    ServiceCreate = "service (create)",
    /// Service: the start request before the arguments.
    ServiceArgs = "service (args)",
    /// Service: the first binder before the binding.
    ServiceBind = "service (bind)",
    /// Service: the binding before the connection.
    ServiceConnectBind = "service (connect, binding)",
    /// Service: the bind request before the connection.
    ServiceConnectRequest = "service (connect, request)",
    /// Service: the unbinders before the unbinding.
    ServiceUnbind = "service (unbind)",
    /// Service: the first stop request before the stop.
    ServiceStop = "service (stop)",
    /// Service: one callback before the next.
    ServiceStep = "service (step)",
    /// Broadcast: the binding post before the post.
    BroadcastBinding = "broadcast (binding)",
    /// Broadcast: the post of one tick before that of the next.
    BroadcastTick = "broadcast (tick)",
    /// Broadcast: the send before the receipt.
    BroadcastSender = "broadcast (sender)",
    /// Broadcast: the registration before the receipt.
    BroadcastRegistration = "broadcast (registration)",
    /// Broadcast: the sticky registration before the receipt.
    BroadcastSticky = "broadcast (sticky registration)",
    /// Broadcast: receipts in the order of their sends.
    BroadcastOrder = "broadcast (order of sends)",
    /// Broadcast: receipts in the order of their sticky registrations.
    BroadcastStickyOrder = "broadcast (order of sticky registrations)",
}

impl RuleName {
    /// Returns whether the rule belongs to a rule set.
    #[must_use]
    pub fn is_in(self, set: RuleSet) -> bool {
        use RuleName::*;
        match set {
            RuleSet::Android => true,
            RuleSet::Mailbox => self < LifecycleEnable,
            RuleSet::Threads => matches!(
                self,
                ProgramOrder
                    | Post
                    | Cancel
                    | Fork
                    | Join
                    | Lock
                    | WakeRefers
                    | WakeMatched
                    | Barrier
                    | Atomic
            ),
        }
    }

    /// Returns whether dropping the rule changes nothing because the others imply it.
    ///
    /// *Delayed poster*: the post of `m2` by `m` is a base edge into `get(m2)` with its source in
    /// `m`, so `m` ends before `m2` begins by no pre-emption, and the rest is transitivity.
    #[must_use]
    pub fn is_implied(self) -> bool {
        self == RuleName::DelayedPoster
    }
}
