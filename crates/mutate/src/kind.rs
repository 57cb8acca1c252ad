//! The kinds of files that commands take.

/// What a file holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Kind {
    /// A trace in the native text format.
    Text,
    /// A trace in the native binary format.
    Binary,
    /// A trace in the edtrace format.
    Edtrace,
    /// A trace in the STD format.
    Std,
    /// A log of DroidRacer's runtime.
    DroidRacer,
    /// A log of another tool, or a table of RAPID.
    Log,
    /// A binary trace of RAPID.
    RapidBinary,
    /// A model.
    Model,
    /// A table of the source positions of a STD trace.
    Sites,
    /// A schedule of a model.
    Schedule,
    /// A witness of a prediction.
    Witness,
    /// A run that shows that a trace is consistent.
    Order,
    /// A JSON result.
    Result,
    /// A proof that a trace is inconsistent.
    Proof,
    /// A commutativity specification.
    Specification,
    /// A baseline.
    Baseline,
    /// A configuration: suppressions.
    Config,
    /// A checkpoint of a search.
    Checkpoint,
    /// The replies of a program over the pipe protocol.
    Replies,
}

/// Words that the readers of several formats know.
const ANY: &[&str] = &["-1", "0", "4294967295", "18446744073709551615", "init", "none", "\"\""];

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 19] = [
        Kind::Text,
        Kind::Binary,
        Kind::Edtrace,
        Kind::Std,
        Kind::DroidRacer,
        Kind::Log,
        Kind::RapidBinary,
        Kind::Model,
        Kind::Sites,
        Kind::Schedule,
        Kind::Witness,
        Kind::Order,
        Kind::Result,
        Kind::Proof,
        Kind::Specification,
        Kind::Baseline,
        Kind::Config,
        Kind::Checkpoint,
        Kind::Replies,
    ];

    /// The kinds of traces.
    pub const TRACES: [Kind; 7] = [
        Kind::Text,
        Kind::Binary,
        Kind::Edtrace,
        Kind::Std,
        Kind::DroidRacer,
        Kind::Log,
        Kind::RapidBinary,
    ];

    /// Returns the name in tables, which is also the extension of a file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Text => "trace",
            Kind::Binary => "bin",
            Kind::Edtrace => "edt",
            Kind::Std => "std",
            Kind::DroidRacer => "log",
            Kind::Log => "lines",
            Kind::RapidBinary => "data",
            Kind::Model => "any",
            Kind::Sites => "tsv",
            Kind::Schedule => "schedule",
            Kind::Witness => "witness",
            Kind::Order => "order",
            Kind::Result => "json",
            Kind::Proof => "proof",
            Kind::Specification => "spec",
            Kind::Baseline => "baseline",
            Kind::Config => "toml",
            Kind::Checkpoint => "ckpt",
            Kind::Replies => "replies",
        }
    }

    /// Returns the kind of that name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns whether files of this kind are JSON, as a whole or by the line.
    #[must_use]
    pub const fn is_json(self) -> bool {
        matches!(
            self,
            Kind::Schedule | Kind::Witness | Kind::Result | Kind::Baseline | Kind::Replies
        )
    }

    /// Returns whether files of this kind are bytes and not text.
    #[must_use]
    pub const fn is_binary(self) -> bool {
        matches!(self, Kind::Binary | Kind::RapidBinary | Kind::Checkpoint)
    }

    /// Returns words of the format, for insertions.
    #[must_use]
    pub const fn words(self) -> &'static [&'static str] {
        match self {
            Kind::Text => &[
                "handler",
                "task",
                "location",
                "lock",
                "condition",
                "site",
                "stack",
                "fifo",
                "bag",
                "delayed",
                "initial",
                "posted",
                "post",
                "get",
                "end",
                "read",
                "write",
                "rmw",
                "acquire",
                "release",
                "fork",
                "join",
                "begin",
                "exit",
                "signal",
                "wake",
                "wait",
                "alloc",
                "free",
                "delay=",
                "refers=",
                "value=",
                "front",
                "call",
                "return",
            ],
            Kind::Edtrace => &["post", "get", "r", "w", "co", "init", "fork", "join", "-"],
            Kind::Std => &[
                "fork(T9)",
                "join(T1)",
                "acq(m)",
                "rel(m)",
                "w(x)",
                "r(x)",
                "begin",
                "end",
                "alloc(0x1000+8)",
                "free(0x1000)",
                "wait(c)",
                "wake(c)",
                "signal(c)",
                "broadcast(c)",
                "destroy(m)",
                "refused(m)",
                "req(m)",
                "notifyAll(m)",
                "wait(m)",
                "\n    a.c:3\n",
                "timeout(c)",
                "aload(x)",
                "astore(x)",
                "armw(x)",
                "w(0xffffffffffffffff+4294967295)",
                "|",
            ],
            Kind::Log => &[
                "LK",
                "SIG",
                "WT",
                "nil",
                "|ACQ |",
                "|Thread Create (Thread 1)|",
                "at line 0 in file",
                "@  Acquire(1,@03)",
                "Join(",
                "sync(z)",
                "fork(-unknown-thread-)",
                ",",
                ")",
            ],
            Kind::DroidRacer => &[
                "FORK",
                "JOIN",
                "THREADINIT",
                "THREADEXIT",
                "ATTACH-Q",
                "LOOP",
                "POST",
                "CALL",
                "RET",
                "REMOVE",
                "READ",
                "WRITE",
                "LOCK",
                "UNLOCK",
                "NOTIFY",
                "WAIT",
                "tid:1",
                "msg:1",
                "delay:-1",
                "delay:4294967295",
                "dest:-1",
                "ENABLE-LIFECYCLE",
                "TRIGGER-SERVICE",
                "ADD_IDLE_HANDLER",
                "queue:0x1",
                "state:BIND-APP",
            ],
            Kind::Model | Kind::Specification => &[
                "while true { }",
                "if true { } else { }",
                "async",
                "await",
                "post",
                "spawn",
                "xs.push(1);",
                "lock",
                "map",
                "list",
                "set",
                "choose",
                "assert",
                "invariant",
                "response",
                "final",
                "event",
                "fn",
                "class",
                "var",
                "let",
                "for",
                "return",
                "9223372036854775807",
                "-9223372036854775808",
                "null",
                "spec",
                "when",
                "~",
                "/",
                "%",
                "(((((",
                "!",
                "&&",
                "||",
                "repeat",
                "fair",
                "delay",
            ],
            Kind::Config => &[
                "[[suppress]]",
                "kind = \"race\"",
                "location = \"*\"",
                "id = \"0\"",
                "'''",
                "\"\"\"",
                "a.b.c.d = 1",
                "[a.b]",
                "= {",
                "x = [[[[[[",
            ],
            Kind::Proof | Kind::Order => &[
                "consistency-proof 1",
                "cycle 1",
                "cycle 18446744073709551615",
                "derived",
                "forget",
                "reads-open",
                "program",
                "reads-from",
                "coherence",
                "from-reads",
                "posted-by",
                "fork",
                "join",
                "runs",
                "before",
            ],
            _ => ANY,
        }
    }
}
