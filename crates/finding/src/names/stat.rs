//! The counts of results. Times are in milliseconds, sizes in the unit that the name ends in, and
//! everything else is a number of things.

use super::names;

/// The declared name of a count, and how the counts of several inputs become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatName {
    word: &'static str,
    what: &'static str,
    merge: Merge,
}

/// How the values of several inputs become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Merge {
    /// Numbers add up, place by place in maps and lists. Of words the last one stays.
    Sum,
    /// The largest number.
    Largest,
    /// Each word once, joined by `+`.
    Words,
    /// All phrases, joined by `; `.
    Phrases,
}

impl StatName {
    const fn new(word: &'static str, what: &'static str) -> StatName {
        StatName { word, what, merge: Merge::Sum }
    }

    const fn merged(self, merge: Merge) -> StatName {
        StatName { merge, ..self }
    }

    /// Returns the name in results.
    #[must_use]
    pub const fn word(self) -> &'static str {
        self.word
    }

    /// Returns what is counted, as a sentence.
    #[must_use]
    pub const fn what(self) -> &'static str {
        self.what
    }

    /// Returns how the values of several inputs become one.
    #[must_use]
    pub const fn merge(self) -> Merge {
        self.merge
    }

    /// Returns the declared name with this word.
    #[must_use]
    pub fn declared(word: &str) -> Option<StatName> {
        ALL.iter().copied().find(|name| name.word == word)
    }
}

impl From<StatName> for String {
    fn from(name: StatName) -> String {
        name.word.to_owned()
    }
}

names! { StatName:
    /// Events of a trace; of robustness, those that run a task or access memory.
    EVENTS "events";
    /// Tasks.
    TASKS "tasks";
    /// Handlers.
    HANDLERS "handlers";
    /// Threads.
    THREADS "threads";
    /// Locks.
    LOCKS "locks";
    /// Locations that are accessed.
    LOCATIONS "locations";
    /// Edges of happens-before that were added.
    HB_EDGES "hb_edges";
    /// Rounds until happens-before did not change.
    ROUNDS "rounds";
    /// Chains of the clocks.
    CHAINS "chains";
    /// Pairs of events that race.
    RACE_PAIRS "race_pairs";
    /// Reported races.
    RACES "races";
    /// Races that no other race covers.
    RACES_UNCOVERED "races_uncovered";
    /// Races by their category.
    RACES_BY_CATEGORY "races_by_category";
    /// Accesses.
    ACCESSES "accesses";
    /// Calls of methods with a specification.
    INVOCATIONS "invocations";
    /// Candidates of races; of consistency, pairs whose order was open.
    CANDIDATES "candidates";
    /// Candidates that race.
    RACY "racy";
    /// Candidates that do not race.
    NON_RACY "non_racy";
    /// Pairs that a witness shows.
    CONFIRMED "confirmed";
    /// Pairs that no run reverses.
    DROPPED "dropped";
    /// Pairs that were not decided.
    UNCONFIRMED "unconfirmed";
    /// Confirmed pairs that the order of the analysis excludes.
    MISSED_BY_ORDER "missed_by_order";
    /// Pairs that a limit left open and that could only give harmless notes: two accesses under one
    /// lock, two senders.
    NOTES_OPEN "notes_open";
    /// Cycles of threads that ask for what the next one holds, in some order of their events.
    LOCK_CYCLES "lock_cycles";
    /// Such cycles that a run of the recorded events ends in.
    DEADLOCKS "deadlocks";
    /// Such cycles of which it is undecided.
    LOCK_CYCLES_OPEN "lock_cycles_open";
    /// Witnesses that the independent check refused: a bug.
    REJECTED "rejected";
    /// Messages of a partial trace.
    MESSAGES "messages";
    /// Pairs of messages of one handler.
    PAIRS_TOTAL "pairs_total";
    /// Pairs of messages whose order is open.
    PAIRS "pairs";
    /// Variables of the solver.
    VARIABLES "variables";
    /// Decisions of the solver.
    DECISIONS "decisions";
    /// Conflicts: of the solver, or between tasks of a trace.
    CONFLICTS "conflicts";
    /// Propagations of the solver.
    PROPAGATIONS "propagations";
    /// The word of the procedure that decided.
    PROCEDURE "procedure";
    /// Time in the solver.
    SOLVE_MS "solve_ms";
    /// The word of the algorithm.
    ALGORITHM "algorithm" Words;
    /// States.
    STATES "states";
    /// Transitions.
    TRANSITIONS "transitions";
    /// Steps that a search executed; of a program, its runs.
    EXECUTIONS "executions";
    /// Transitions that are known without execution.
    INFERRED "inferred";
    /// Steps of the longest run from the start.
    MAX_DEPTH "max_depth" Largest;
    /// The most states that waited at once.
    FRONTIER_PEAK "frontier_peak" Largest;
    /// Bytes of storage by state.
    BYTES_PER_STATE "bytes_per_state" Largest;
    /// States that were expanded again when more facts were known.
    RE_EXPANSIONS "re_expansions";
    /// States in which not all tasks were tried.
    REDUCED_STATES "reduced_states";
    /// States of searches with reduction that left out too little: all states were searched.
    SAMPLED_STATES "sampled_states";
    /// States that were expanded again for runs with fewer switches.
    SWITCH_STATES "switch_states";
    /// Runs of the published algorithm, or sequences of a search by reversals.
    SEQUENCES "sequences";
    /// Places to which the published algorithm came back.
    BACKTRACKING_POINTS "backtracking_points";
    /// Steps back of the published algorithm.
    BACKWARD_STEPS "backward_steps";
    /// The parts of a program that never run.
    NEVER_RUN "never_run" Phrases;
    /// Tasks of the recorded run.
    RECORDED_TASKS "recorded_tasks";
    /// Races of the recorded run: pairs of tasks that conflict and that happens-before does not
    /// order.
    RECORDED_RACES "recorded_races";
    /// Races of the recorded run that no third task orders.
    UNCOVERED_RACES "uncovered_races";
    /// Races of the recorded run that other races order.
    COVERED_RACES "covered_races";
    /// Explorations, one by one deeper.
    EXPLORATIONS "explorations";
    /// Reversals by their class.
    REVERSALS "reversals";
    /// The most reversals in one run.
    MAX_REVERSALS "max_reversals";
    /// Planned runs.
    PLANS "plans";
    /// Planned runs that a sleep set made needless.
    SLEPT "slept";
    /// Planned runs that were made before.
    REPEATED "repeated";
    /// Runs that turned out to be equal to another one.
    DUPLICATES "duplicates";
    /// Runs that ended because all tasks slept.
    SLEEP_BLOCKED "sleep_blocked";
    /// Runs that were repeated to confirm a difference.
    CONFIRMATIONS "confirmations";
    /// Runs with two inputs exchanged.
    SWAPS "swaps";
    /// Runs that were made to be shown.
    SHOWN "shown";
    /// Attempts that failed and were repeated.
    RETRIES "retries";
    /// Planned runs that were given up.
    LOST "lost";
    /// Runs that were not the same again.
    UNSTABLE "unstable";
    /// Runs that were cut at the step limit.
    CUT "cut";
    /// Starts of the program.
    RESTARTS "restarts";
    /// Tasks that a program executed for the first time.
    EXECUTED_TASKS "executed_tasks";
    /// Tasks that a program executed again.
    REPEATED_TASKS "repeated_tasks";
    /// Second runs of a program.
    RERUNS "reruns";
    /// Runs of a program in random orders.
    STRESS_RUNS "stress_runs";
    /// Different orders of these runs.
    STRESS_SCHEDULES "stress_schedules";
    /// The order of a single such run: a hash of its steps.
    STRESS_ORDER "stress_order";
    /// Those of these runs that failed.
    STRESS_FAILED "stress_failed";
    /// The seeds of the runs that failed.
    STRESS_SEEDS "stress_seeds";
    /// Those of these runs that took too long, and were ended.
    STRESS_TIMED_OUT "stress_timed_out";
    /// The most steps of such a run: places where another thread could go on.
    STRESS_STEPS "stress_steps";
    /// How often such a run had to go on with another thread, since one waited in a call that is
    /// not known, or computed for long. Such a run need not be the same again.
    STRESS_TAKEN "stress_taken";
    /// Operations of a trace.
    OPERATIONS "operations";
    /// Strongly connected components of the conflicts.
    COMPONENTS "components";
    /// Input events that others interleave.
    EVENTS_INTERLEAVED "events_interleaved";
    /// Atomic blocks of a trace of threads.
    TRANSACTIONS "transactions";
    /// Atomic blocks that lie on a cycle of conflicts.
    TRANSACTIONS_ON_CYCLES "transactions_on_cycles";
    /// Violations, of whatever property.
    VIOLATIONS "violations";
    /// Procedures of a model.
    PROCEDURES "procedures";
    /// Serial runs of single events.
    RUNS "runs";
    /// Steps of those runs.
    STEPS "steps";
    /// Stops of the instrumented search.
    STOPS "stops";
    /// States of serial runs.
    SERIAL_STATES "serial_states";
    /// States of all runs.
    ALL_STATES "all_states";
    /// Input events that are deterministic.
    DETERMINISTIC "deterministic";
    /// Input events that are not.
    NOT_DETERMINISTIC "not_deterministic";
    /// Whether runs are serializable: a word.
    SERIALIZABLE "serializable";
    /// Whether events can be ordered as they start: a word.
    START_ORDER "start_order";
    /// Violations of determinism.
    VIOLATIONS_OF_DETERMINISM "violations_of_determinism";
    /// Violations of serializability.
    VIOLATIONS_OF_SERIALIZABILITY "violations_of_serializability";
    /// Violations of the order of starts.
    VIOLATIONS_OF_START_ORDER "violations_of_start_order";
    /// Events in the recordings of a program, calls and returns included.
    RECORDED "recorded";
    /// The parts of a recording, each checked by itself.
    PARTS "parts";
    /// Accesses that no other order changes, which are not in the trace.
    PRIVATE_ACCESSES "private_accesses";
    /// Accesses that their thread had just done, which are not in the trace.
    REPEATED_ACCESSES "repeated_accesses";
    /// Findings that suppressions match, by the line of the suppression; 0 for one without a match.
    SUPPRESSED_BY "suppressed_by";
    /// Exit status of the program that was run.
    PROGRAM_STATUS "program_status";
    /// Signal that ended the program that was run.
    PROGRAM_SIGNAL "program_signal";
    /// Time for which the program ran.
    PROGRAM_MS "program_ms";
    /// Time of the command.
    ELAPSED_MS "elapsed_ms";
    /// The most memory that was in use.
    PEAK_MEMORY_KB "peak_memory_kb";
}
