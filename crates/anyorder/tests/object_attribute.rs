//! `#[anyorder::object]`: calls of impl blocks are those of objects written by hand.

use anyorder::object::{self, Callable, Commutes, Object, ready};
use anyorder::sync::{Arc, Condvar, Mutex, atomic::AtomicUsize, atomic::Ordering::SeqCst};
use anyorder::{Builder, Summary, thread};
use anyorder_common::random::{Random, Rng};
use anyorder_testkit::effort;
use std::path::PathBuf;
use std::process::Command;

/// What both objects are: a set, and how many elements it has.
#[derive(Default)]
struct Elements {
    elements: Mutex<Vec<u8>>,
    count: AtomicUsize,
}

impl Elements {
    fn insert(&self, element: u8) -> bool {
        let mut elements = self.elements.lock().unwrap();
        if elements.contains(&element) {
            return false;
        }
        elements.push(element);
        self.count.fetch_add(1, SeqCst);
        true
    }

    fn remove(&self, element: u8) -> bool {
        let mut elements = self.elements.lock().unwrap();
        let found = elements.iter().position(|other| *other == element);
        let Some(at) = found else { return false };
        elements.swap_remove(at);
        self.count.fetch_sub(1, SeqCst);
        true
    }

    fn contains(&self, element: u8) -> bool {
        self.elements.lock().unwrap().contains(&element)
    }
}

trait Set: Send + Sync + 'static {
    fn new() -> Self;
    fn insert(&self, element: u8) -> bool;
    fn remove(&self, element: u8) -> bool;
    fn contains(&self, element: &u8) -> bool;
    fn count(&self) -> usize;
}

/// By hand.
struct ByHand {
    object: Object<Hand>,
    elements: Elements,
}

struct Hand;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum HandCall {
    Insert(u8),
    Remove(u8),
    Contains(u8),
    Count,
}

impl Commutes for Hand {
    type Call = HandCall;

    fn commute(call: &HandCall, other: &HandCall) -> bool {
        use HandCall::{Contains, Count, Insert, Remove};
        match (call, other) {
            (Contains(_) | Count, Contains(_) | Count) => true,
            (Count, _) | (_, Count) => false,
            (Insert(a) | Remove(a) | Contains(a), Insert(b) | Remove(b) | Contains(b)) => a != b,
        }
    }
}

impl Set for ByHand {
    fn new() -> ByHand {
        ByHand { object: Object::new(), elements: Elements::default() }
    }

    fn insert(&self, element: u8) -> bool {
        self.object.invoke(HandCall::Insert(element), || self.elements.insert(element))
    }

    fn remove(&self, element: u8) -> bool {
        self.object.invoke(HandCall::Remove(element), || self.elements.remove(element))
    }

    fn contains(&self, element: &u8) -> bool {
        self.object.invoke(HandCall::Contains(*element), || self.elements.contains(*element))
    }

    fn count(&self) -> usize {
        self.object.invoke(HandCall::Count, || self.elements.count.load(SeqCst))
    }
}

struct Written {
    object: Object<Self>,
    elements: Elements,
}

#[anyorder::object]
impl Set for Written {
    fn new() -> Written {
        Written { object: Object::new(), elements: Elements::default() }
    }

    #[commutes(insert(other) if element != other, contains(other) if element != other)]
    fn insert(&self, element: u8) -> bool {
        self.elements.insert(element)
    }

    #[commutes(insert(other) if element != other)]
    #[commutes(remove(other) if element != other)]
    fn remove(&self, element: u8) -> bool {
        self.elements.remove(element)
    }

    #[commutes(contains, remove(other) if element != other)]
    fn contains(&self, element: &u8) -> bool {
        self.elements.contains(*element)
    }

    #[commutes(count, contains(_))]
    fn count(&self) -> usize {
        self.elements.count.load(SeqCst)
    }
}

/// By the specification of all sets.
struct ByName {
    calls: Object<ready::Set>,
    elements: Elements,
}

#[anyorder::object(spec = ready::Set, field = calls)]
impl Set for ByName {
    fn new() -> ByName {
        ByName { calls: Object::new(), elements: Elements::default() }
    }

    #[call(add)]
    fn insert(&self, element: u8) -> bool {
        self.elements.insert(element)
    }

    fn remove(&self, element: u8) -> bool {
        self.elements.remove(element)
    }

    fn contains(&self, element: &u8) -> bool {
        self.elements.contains(*element)
    }

    #[call(size)]
    fn count(&self) -> usize {
        self.elements.count.load(SeqCst)
    }
}

/// What a thread does: calls, and a refusal of what the last one returned.
#[derive(Clone, Debug)]
enum Do {
    Insert(u8),
    Remove(u8),
    Contains(u8),
    Count,
    Refuse(usize),
}

fn random(rng: &mut Rng) -> Vec<Vec<Do>> {
    let one = |rng: &mut Rng| match rng.index(9) {
        0..=2 => Do::Insert(rng.index(2) as u8),
        3 | 4 => Do::Remove(rng.index(2) as u8),
        5 => Do::Contains(rng.index(2) as u8),
        6 => Do::Count,
        _ => Do::Refuse(rng.index(2)),
    };
    let thread = |rng: &mut Rng| (0..1 + rng.index(3)).map(|_| one(rng)).collect();
    (0..2 + rng.index(2)).map(|_| thread(rng)).collect()
}

fn run<S: Set>(threads: &[Vec<Do>]) -> Summary {
    let threads = threads.to_vec();
    Builder::new().explore(move || {
        let set = Arc::new(S::new());
        let start = |script: &Vec<Do>| {
            let (set, script) = (Arc::clone(&set), script.clone());
            thread::spawn(move || {
                let mut last = 2;
                for one in script {
                    last = match one {
                        Do::Insert(element) => usize::from(set.insert(element)),
                        Do::Remove(element) => usize::from(set.remove(element)),
                        Do::Contains(element) => usize::from(set.contains(&element)),
                        Do::Count => set.count(),
                        Do::Refuse(result) => {
                            assert_ne!(last, result, "the last result");
                            last
                        }
                    };
                }
            })
        };
        let all: Vec<_> = threads.iter().map(start).collect();
        all.into_iter().for_each(|thread| thread.join().unwrap());
    })
}

/// What was found, without places and names of calls.
fn found(summary: &Summary) -> (u64, Vec<String>) {
    let mut kinds: Vec<String> = summary
        .failures
        .iter()
        .map(|failure| match &failure.kind {
            anyorder::FailureKind::Panic(panic) => panic.message.clone(),
            other => format!("{other:?}"),
        })
        .collect();
    kinds.sort_unstable();
    (summary.executions, kinds)
}

#[test]
fn blocks_do_what_is_written_by_hand() {
    let (mut several, mut failing) = (0, 0);
    for seed in effort::seeds(60) {
        let threads = random(&mut Rng::new(seed));
        let by_hand = run::<ByHand>(&threads);
        let written = run::<Written>(&threads);
        assert_eq!(found(&by_hand), found(&written), "seed {seed}: {threads:?}");
        let by_name = run::<ByName>(&threads);
        assert_eq!(found(&by_hand).1, found(&by_name).1, "seed {seed}: {threads:?}");
        several += u32::from(by_hand.executions > 1);
        failing += u32::from(!by_hand.failures.is_empty());
    }
    assert!(several > 5 && failing > 5, "{several} {failing}");
}

/// What is checked when a program is compiled is what the specifications say.
#[test]
fn ready_specifications_have_the_calls_that_they_name() {
    fn compare<S: ready::Ready>(name: &str) {
        let document = anyorder_commute::built_in_type(name).unwrap().coarse().unwrap();
        let methods = document.spec(name).unwrap().methods().iter();
        let mut all: Vec<_> =
            methods.map(|method| (method.name().to_owned(), method.arity())).collect();
        all.sort_unstable();
        let mut named: Vec<_> =
            S::CALLS.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        named.sort_unstable();
        assert_eq!(named, all, "{name}");
    }
    compare::<ready::Register>("register");
    compare::<ready::Counter>("counter");
    compare::<ready::Set>("set");
    compare::<ready::Map>("map");
    compare::<ready::Multiset>("multiset");
    compare::<ready::Queue>("queue");
    compare::<ready::Stack>("stack");
    compare::<ready::UnionFind>("union_find");
}

#[test]
fn a_block_is_compared_with_its_type() {
    use WrittenCall::{Contains, Count, Insert, Remove};
    let calls = [Insert(0), Insert(1), Remove(0), Contains(0), Contains(1), Count];
    let validated = object::validate_type(Written::new, &calls, 1).unwrap();
    assert_eq!(validated.states, 7);
    assert!(validated.pairs > 40, "{validated:?}");
    let set = |calls: &[WrittenCall]| {
        let (calls, found) =
            (calls.to_vec(), std::sync::Arc::new(std::sync::Mutex::new(Vec::new())));
        let noted = std::sync::Arc::clone(&found);
        anyorder::check(move || {
            let set = Written::new();
            *noted.lock().unwrap() = calls.iter().map(|call| set.make(call).unwrap()).collect();
        });
        std::sync::Arc::into_inner(found).unwrap().into_inner().unwrap()
    };
    assert_eq!(set(&[Insert(1), Insert(1), Count]), ["true", "false", "1"]);
}

/// One wrong rule each, and the calls by which it shows.
mod wrong {
    use super::{Mutex, Object};

    macro_rules! wrong {
        ($item:ident: $($name:ident $push:meta, $pop:meta, $len:meta;)*) => {$(wrong! {
            @ $item $name $push, $pop, $len
        })*};
        (@ $item:ident $name:ident $push:meta, $pop:meta, $len:meta) => {
            pub(crate) mod $name {
                use super::{Mutex, Object};

                pub(crate) struct Stack {
                    object: Object<Self>,
                    items: Mutex<Vec<u8>>,
                }

                #[anyorder::object]
                impl Stack {
                    pub(crate) fn new() -> Stack {
                        Stack { object: Object::new(), items: Mutex::default() }
                    }

                    #[$push]
                    pub(crate) fn push(&self, $item: u8) {
                        self.items.lock().unwrap().push($item);
                    }

                    #[$pop]
                    pub(crate) fn pop(&self) -> Option<u8> {
                        self.items.lock().unwrap().pop()
                    }

                    #[$len]
                    pub(crate) fn len(&self) -> usize {
                        self.items.lock().unwrap().len()
                    }
                }
            }
        };
    }

    wrong! {
        item:
        right commutes(push(b) if item == b), inline, commutes(len);
        pushes commutes(push), inline, commutes(len);
        pushes_of_others commutes(push(b) if item != b), inline, commutes(len);
        pops inline, commutes(pop), commutes(len);
        pop_and_push commutes(pop), inline, commutes(len);
        pop_and_len inline, commutes(len), commutes(len);
        push_and_len inline, inline, commutes(push(_));
    }
}

#[test]
fn wrong_rules_are_found() {
    macro_rules! validate {
        ($name:ident) => {{
            use wrong::$name::{Stack, StackCall};
            let calls = [StackCall::Push(1), StackCall::Push(2), StackCall::Pop, StackCall::Len];
            object::validate_type(Stack::new, &calls, 2).map_err(|why| why.to_string())
        }};
    }
    assert!(validate!(right).unwrap().pairs > 0);
    let told = validate!(pushes).unwrap_err();
    assert!(told.contains("Push(1) and Push(2) do not commute after []"), "{told}");
    assert!(told.contains("Pop -> Some(2)") && told.contains("Pop -> Some(1)"), "{told}");
    assert!(validate!(pushes_of_others).unwrap_err().contains("Push(1) and Push(2)"));
    assert!(validate!(pops).unwrap_err().contains("Pop and Pop do not commute after [Push(1)]"));
    assert!(validate!(pop_and_push).unwrap_err().contains("Push(1) and Pop"));
    assert!(validate!(pop_and_len).unwrap_err().contains("Pop and Len"));
    assert!(validate!(push_and_len).unwrap_err().contains("Push(1) and Len"));
}

/// All that a method may be.
struct Odd {
    object: Object<Odd>,
    words: Mutex<Vec<String>>,
    filled: Condvar,
}

#[anyorder::object(calls = Of)]
impl Odd {
    /// The most words.
    const MAX: usize = 4;

    fn new() -> Odd {
        Odd { object: Object::new(), words: Mutex::default(), filled: Condvar::new() }
    }

    /// References, an early return, a changed parameter, and one that is no part of the call.
    fn push<'a>(words: &'a mut Vec<String>, word: &str) -> &'a mut Vec<String> {
        words.push(word.to_owned());
        words
    }

    #[commutes(add(other, _) if word.len() > 3 && other < word)]
    #[allow(clippy::needless_pass_by_value)]
    fn add(
        &self,
        word: &'_ str,
        mut times: usize,
        #[skip] also: impl Fn(&str),
    ) -> Result<usize, ()> {
        if times > Odd::MAX {
            return Err(());
        }
        let mut words = self.words.lock().map_err(drop)?;
        while times > 0 {
            Odd::push(&mut words, word);
            times -= 1;
        }
        also(word);
        self.filled.notify_all();
        Ok(words.len())
    }

    /// A result that is not hashed.
    #[opaque]
    fn share(&self, of: (f32_bits::Bits, Option<&'static str>)) -> f32 {
        of.0.0 as f32 / self.words.lock().unwrap().len() as f32
    }

    /// Waits.
    fn take(&self) -> String {
        let mut words = self.words.lock().unwrap();
        loop {
            match words.pop() {
                Some(word) => return word,
                None => words = self.filled.wait(words).unwrap(),
            }
        }
    }

    fn into_words(self) -> Vec<String> {
        self.words.into_inner().unwrap()
    }
}

mod f32_bits {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub(crate) struct Bits(pub(crate) u32);
}

#[test]
fn calls_of_all_shapes() {
    assert!(Odd::commute(&Of::Add("later".into(), 1), &Of::Add("early".into(), 2)));
    assert!(Odd::commute(&Of::Add("early".into(), 1), &Of::Add("later".into(), 2)));
    assert!(!Odd::commute(&Of::Add("b".into(), 1), &Of::Add("a".into(), 1)));
    assert!(!Odd::commute(&Of::Take, &Of::Take));
    anyorder::check(|| {
        let odd = Arc::new(Odd::new());
        let theirs = Arc::clone(&odd);
        let other = thread::spawn(move || theirs.take());
        assert!(odd.add("word", 2, |_| ()).is_ok());
        assert_eq!(odd.add("word", 5, |_| panic!("too many")), Err(()));
        assert_eq!(other.join().unwrap(), "word");
        assert_eq!(odd.share((f32_bits::Bits(3), None)), 3.0);
        let odd = Arc::try_unwrap(odd).ok().unwrap();
        assert_eq!(odd.into_words(), ["word"]);
    });
}

/// Compiles what uses only the macros. Returns the errors.
fn errors_of(code: &str) -> String {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.contains("anyorder_macros-")
            && path
                .extension()
                .is_some_and(|end| ["so", "dylib", "dll"].iter().any(|known| end == *known))
    };
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let changed = |path: &PathBuf| path.metadata().unwrap().modified().unwrap();
    let newest = all.filter(library).max_by_key(changed).expect("the macros were built");
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("wrong.rs");
    std::fs::write(&source, format!("use anyorder_macros::object;\nfn main() {{}}\n{code}"))
        .unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--edition=2021", "--emit=metadata", "--out-dir"])
        .arg(folder.path())
        .arg("--extern")
        .arg(format!("anyorder_macros={}", newest.display()))
        .arg(source)
        .output()
        .unwrap();
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Errors say what is wrong where it is: at the words behind `^`.
#[test]
fn what_is_wrong_does_not_compile() {
    let in_block = |method: &str| format!("struct A;\n#[object]\nimpl A {{\n{method}\n}}");
    let cases = [
        ("#[object]\nstruct A;".to_owned(), "is for impl blocks", "struct A;"),
        ("#[object]\nfn f() {}".to_owned(), "is for impl blocks", "fn f() {}"),
        ("struct A<T>(T);\n#[object]\nimpl<T> A<T> {}".to_owned(), "no generic parameters", "<"),
        (in_block("fn new() -> A { A }"), "nothing is a call", "A"),
        (in_block("#[commutes(gett)] fn get(&self) {}"), "no call `gett` here, but `get`", "gett"),
        (in_block("#[commutes(new)] fn new() -> A { A }"), "so it is no call", "commutes"),
        (in_block("#[commutes] fn get(&self) {}"), "expected the calls", "commutes"),
        (in_block("#[commutes(3)] fn get(&self) {}"), "expected a method", "3"),
        (in_block("#[commutes(get if)] fn get(&self) {}"), "has no condition", "if"),
        (in_block("#[commutes(get when x)] fn get(&self) {}"), "expected `if`", "when"),
        (in_block("#[commutes(get(a))] fn get(&self) {}"), "has 0 arguments, not 1", "get"),
        (in_block("#[commutes(get(a))] fn get(&self, a: u8) {}"), "another name", "a"),
        (in_block("#[commutes(get(0))] fn get(&self, a: u8) {}"), "expected a name", "0"),
        (in_block("#[call(set)] fn get(&self) {}"), "give that as", "set"),
        (in_block("async fn get(&self) {}"), "no `async` function", "async"),
        (in_block("fn get<T>(&self, of: T) {}"), "no generic parameters", "<"),
        (in_block("fn get(self: &A) {}"), "takes `&self`", "self"),
        (in_block("fn get(&self, (a, b): (u8, u8)) {}"), "a name and a type", "(a, b): (u8, u8)"),
        (in_block("fn get(&self, a: &mut u8) {}"), "no argument of a call is `mut`", "a: &mut u8"),
        (in_block("fn get(&self, a: impl Fn()) {}"), "see `#[skip]`", "a: impl Fn()"),
        ("#[object(feild = a)]\nimpl u8 {}".to_owned(), "unknown option `feild`", "feild"),
        ("#[object(field = a, field = b)]\nimpl u8 {}".to_owned(), "given twice", "field"),
        ("#[object(calls)]\nimpl u8 {}".to_owned(), "expected `field = name`", "calls"),
        ("#[object(calls = A, spec = B)]\nimpl u8 {}".to_owned(), "have the type of that", "A"),
        (
            "struct A;\n#[object(spec = B)]\nimpl A { #[commutes(f)] fn f(&self) {} }".to_owned(),
            "the specification says",
            "commutes",
        ),
    ];
    for (code, message, place) in cases {
        let errors = errors_of(&code);
        assert!(errors.contains(message), "{code}\n{errors}");
        let marked = format!(" {}\n", "^".repeat(place.len()));
        assert!(errors.contains(&marked), "{code}: {place}\n{errors}");
    }
}
