//! Words in a wrong place: those of other languages, and statements of this one.

/// Returns how the statement or expression of a contextual word is written.
pub fn word_form(word: &str) -> Option<&'static str> {
    Some(match word {
        "acquire" => "acquire m;",
        "async" => "async[main] t(1);",
        "atomic" => "atomic { .. }",
        "call" => "call f(1);",
        "cancel" => "cancel p;",
        "disable" => "disable e;",
        "enable" => "enable e;",
        "enabled" => "enabled(e)",
        "fail" => "fail \"message\";",
        "fork" => "fork f(1);",
        "join" => "join h;",
        "loop" => "loop { .. }",
        "new" => "new Node()",
        "notify" => "notify c;",
        "notify_all" => "notify_all c;",
        "post" => "post t(1);",
        "release" => "release m;",
        "wait" => "wait c with m;",
        "with" => "with m { .. }",
        "yield" => "yield;",
        _ => return None,
    })
}

/// Returns what to write instead of a word of another language; `None` for words without an entry.
pub fn foreign_word_hint(word: &str) -> Option<&'static str> {
    Some(match word {
        "await" => {
            "a thread waits for a condition with `wait c with m;` and for another thread with `join t;`; what may happen once something holds is an event: `event e when x > 0 { .. }`"
        }
        "always" | "globally" => {
            "what holds in every state is an invariant: `invariant small: n <= 1;`"
        }
        "eventually" | "finally" => {
            "what must come is a response, `response served: asked leads_to answered;`, and what holds at the end is `final: done;`"
        }
        "function" | "func" | "def" | "proc" | "method" => {
            "a function is `fn f(x) { .. }`, what a handler runs is `task t(x) on h { .. }`"
        }
        "throw" | "raise" | "panic" | "error" => "a failure is `fail \"message\";`",
        "sleep" | "setTimeout" | "delay" => {
            "time passes in mailboxes: `post t() after 5` to a handler declared `handler h: delayed;`"
        }
        "spawn" | "go" | "start" => {
            "a new thread is `fork f();`, one that is there from the start `thread t { .. }`"
        }
        "mutex" | "Mutex" => "a lock is `lock m;`, and held in `with m { .. }`",
        "process" | "proctype" | "actor" => {
            "what runs by itself is `thread t { .. }`, what takes messages `handler h: fifo;`"
        }
        "elif" | "elsif" | "elseif" => "another case is `else if c { .. }`",
        _ => return None,
    })
}
