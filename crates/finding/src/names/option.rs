//! The options that decide results, and what limits or bounds a job: mostly options.

use super::names;
use std::fmt;

/// The declared name of an option, or of what limits a job: the long name of the option without
/// dashes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OptionName {
    word: &'static str,
    what: &'static str,
}

impl OptionName {
    const fn new(word: &'static str, what: &'static str) -> OptionName {
        OptionName { word, what }
    }

    /// Returns the name in results.
    #[must_use]
    pub const fn word(self) -> &'static str {
        self.word
    }

    /// Returns what it decides, as a sentence.
    #[must_use]
    pub const fn what(self) -> &'static str {
        self.what
    }

    /// Returns the declared name with this word.
    #[must_use]
    pub fn declared(word: &str) -> Option<OptionName> {
        ALL.iter().copied().find(|name| name.word == word)
    }

    /// Returns the option as a user types it, in backticks.
    #[must_use]
    pub fn typed(self) -> String {
        format!("`--{}`", self.word)
    }

    /// Returns the option with a value as a user types it, in backticks.
    #[must_use]
    pub fn typed_as(self, value: &str) -> String {
        format!("`--{} {value}`", self.word)
    }
}

impl PartialEq<str> for OptionName {
    fn eq(&self, word: &str) -> bool {
        self.word == word
    }
}

impl PartialEq<&str> for OptionName {
    fn eq(&self, word: &&str) -> bool {
        self.word == *word
    }
}

impl From<OptionName> for String {
    fn from(name: OptionName) -> String {
        name.word.to_owned()
    }
}

impl fmt::Display for OptionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word)
    }
}

names! { OptionName:
    /// The rules of happens-before.
    RULES "rules";
    /// Which covered races are reported.
    COVERAGE "coverage";
    /// What makes one finding of several races.
    GROUP_BY "group-by";
    /// The most pairs of a finding.
    MAX_PAIRS "max-pairs";
    /// Whether findings that usually do no harm are shown.
    NO_FILTERS "no-filters";
    /// The filters that hide findings.
    FILTER "filter";
    /// The analysis of a prediction.
    ANALYSIS "analysis";
    /// What may be reordered.
    REORDERS "reorders";
    /// Which pairs are tried.
    PAIRS "pairs";
    /// Whether candidates stay unconfirmed.
    NO_CONFIRM "no-confirm";
    /// The events around a pair that are reordered.
    WINDOW "window";
    /// The most conflicts of the solver.
    MAX_CONFLICTS "max-conflicts";
    /// The most tries for a pair.
    MAX_TRIES "max-tries";
    /// The most work for a pair.
    MAX_WORK "max-work";
    /// The most candidates.
    MAX_CANDIDATES "max-candidates";
    /// The most events that are held in memory.
    MAX_EVENTS "max-events";
    /// The file with specifications.
    SPEC "spec";
    /// The types of objects.
    OBJECT "object";
    /// The mailbox rule.
    MAILBOX "mailbox";
    /// The procedure that decides consistency.
    PROCEDURE "procedure";
    /// Whether missing coherence orders are looked for.
    INFER_CO "infer-co";
    /// The most reasons of an inconsistency.
    MAX_REASONS "max-reasons";
    /// The file for a certificate.
    CERTIFICATE "certificate";
    /// The most second runs of a program.
    MAX_RERUNS "max-reruns";
    /// The number of runs of a program in random orders.
    STRESS "stress";
    /// The seed of the first of these runs.
    STRESS_SEED "stress-seed";
    /// How the order of these runs is chosen.
    STRESS_STRATEGY "stress-strategy";
    /// One more than priorities of threads change in such a run.
    STRESS_DEPTH "stress-depth";
    /// The number of steps that the first of these runs is expected to have.
    STRESS_STEPS "stress-steps";
    /// Whether what these runs did is checked, too.
    STRESS_CHECK "stress-check";
    /// Whether `begin` and `end` of threads mark atomic blocks.
    TRANSACTIONS "transactions";
    /// Locations that are left out.
    IGNORE "ignore";
    /// Whether conflicts that the program orders are left out.
    IGNORE_FORCED "ignore-forced";
    /// The most cycles that are examined.
    MAX_CYCLES "max-cycles";
    /// The most tasks that get a class.
    MAX_CLASSED_TASKS "max-classed-tasks";
    /// The stops of the instrumented search.
    STOPS "stops";
    /// How often an event happens in a run of a model.
    REPEAT "repeat";
    /// The most states.
    MAX_STATES "max-states";
    /// The longest runs.
    MAX_DEPTH "max-depth";
    /// The algorithm of a search.
    ALGORITHM "algorithm";
    /// The order of a search.
    ORDER "order";
    /// The storage of states.
    STORAGE "storage";
    /// The size of the storage.
    STORAGE_SIZE "storage-size";
    /// Whether the search ends at the first violation.
    FIRST "first";
    /// Whether every state is searched.
    NO_REDUCTION "no-reduction";
    /// Whether symmetric states count as one.
    SYMMETRY "symmetry";
    /// The most reversals in a run.
    BOUND "bound";
    /// How often an event of the user happens.
    REPEATS "repeats";
    /// The order of events of the user.
    USER_EVENTS "user-events";
    /// Whether plans are made in the order of the publication.
    PAPER_ORDER "paper-order";
    /// Whether sleep sets are left out.
    NO_SLEEP "no-sleep";
    /// The time for varying a run.
    BUDGET "budget";
    /// The number of exchanged inputs.
    SWAPS "swaps";
    /// The seed of what is random.
    SEED "seed";
    /// The attempts at a run.
    ATTEMPTS "attempts";
    /// The most steps of a run.
    MAX_STEPS "max-steps";
    /// The most alternatives of a task.
    ALTERNATIVES "alternatives";
    /// Whether values decide which runs differ.
    VALUES "values";
    /// The most runs or executed steps.
    MAX_EXECUTIONS "max-executions";
    /// The number of random runs.
    RUNS "runs";
    /// Whether notes count.
    STRICT "strict";
    /// Whether damaged inputs are read up to the damage.
    SALVAGE "salvage";
    /// The most transitions of a search; no option.
    MAX_TRANSITIONS "max-transitions";
    /// The most deadlocks that are listed; no option.
    MAX_DEADLOCKS "max-deadlocks";
    /// The most livelocks that are listed; no option.
    MAX_LIVELOCKS "max-livelocks";
    /// Ends of runs that a program may or may not take; no option.
    OPTIONAL_ENDS "optional-ends";
    /// The program does not tell what its tasks wait for; no option.
    WAITING "waiting";
    /// No run ends, so that there is nothing to compare; no option.
    NO_END "no-end";
    /// The input was not understood as a whole: the warnings of kind `ignored` say what was not; no
    /// option.
    NOT_UNDERSTOOD "not-understood";
    /// The time after which a program that is run is ended.
    RUN_TIME_LIMIT "run-time-limit";
    /// The most bytes of a recording of a program.
    MAX_RECORDING "max-recording";
    /// The most events that are made of a recording of a program.
    MAX_TRACE "max-trace";
    /// The maximum number of events of a recording that are checked together.
    MAX_PART "max-part";
    /// A signal ended the program that was run, Ctrl-C or another one to the command; no option.
    RUN_INTERRUPT "run-interrupt";
    /// The user ended the job; no option.
    INTERRUPT "interrupt";
    /// The system had no more memory; no option.
    OUT_OF_MEMORY "out-of-memory";
    /// The most time.
    TIME_LIMIT "time-limit";
    /// The most memory.
    MEMORY_LIMIT "memory-limit";
}
