//! `anyorder-certify`, which knows no engine, accepts the proofs of `why` and refuses broken
//! proofs.

use anyorder_certify as certify;
use anyorder_common::random::{Random, Rng};
use anyorder_formats::droidracer::DroidRacerReader;
use anyorder_hb::{HappensBefore, Proof, ProofStep, Rule, RuleSet, why};
use anyorder_system::Cancel;
use anyorder_testkit::effort::{counts_all, seeds};
use anyorder_testkit::{Shape, random_trace};
use anyorder_trace::{EventId, Trace};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Ordered pairs tried per random trace and rule set.
const PAIRS: usize = 6;

/// Seeds per shape.
const SEEDS: u64 = 150;

/// The rules that some proof must have used. `component` stands for all component rules.
const RULES: [&str; 15] = [
    "po",
    "loop",
    "attach",
    "post",
    "fork",
    "join",
    "lock",
    "wake",
    "barrier",
    "atomic",
    "enable",
    "no pre-emption",
    "fifo",
    "fifo, read backwards",
    "component",
];

fn checker_set(rules: RuleSet) -> certify::RuleSet {
    match rules {
        RuleSet::Android => certify::RuleSet::Android,
        RuleSet::Mailbox => certify::RuleSet::Mailbox,
        RuleSet::Threads => certify::RuleSet::Threads,
    }
}

fn translated(proof: &Proof) -> certify::Proof {
    let path = |steps: &[ProofStep]| certify::Path { steps: steps.iter().map(step).collect() };
    certify::Proof {
        lemmas: proof.lemmas.iter().map(|lemma| path(lemma)).collect(),
        path: path(&proof.path),
    }
}

fn step(step: &ProofStep) -> certify::ProofStep {
    let rule = match step.rule {
        Rule::Cancel => certify::Rule::Cancel,
        Rule::Cancelled => certify::Rule::Cancelled,
        Rule::Disabled => certify::Rule::Disabled,
        Rule::Exited => certify::Rule::Exited,
        Rule::Po => certify::Rule::Po,
        Rule::Loop => certify::Rule::LoopPoint,
        Rule::Attach => certify::Rule::Attach,
        Rule::Post => certify::Rule::Post,
        Rule::Fork => certify::Rule::Fork,
        Rule::Join => certify::Rule::Join,
        Rule::Lock => certify::Rule::Lock,
        Rule::Wake => certify::Rule::Wake,
        Rule::Barrier => certify::Rule::Barrier,
        Rule::Atomic => certify::Rule::Atomic,
        Rule::Call => unreachable!("no proof rests on calls"),
        Rule::Enable => certify::Rule::Enable,
        Rule::NoPreemption => certify::Rule::NoPreemption,
        Rule::Fifo => certify::Rule::Fifo,
        Rule::FifoBackwards => certify::Rule::FifoBackwards,
        Rule::Component(word) => certify::Rule::Component(word.to_owned()),
    };
    let premises = step.premises.iter().map(|lemma| certify::LemmaId(*lemma)).collect();
    certify::ProofStep { from: step.from, to: step.to, rule, premises }
}

fn word(rule: Rule) -> &'static str {
    if let Rule::Component(_) = rule { "component" } else { rule.word() }
}

/// Up to `count` ordered pairs, at random.
fn ordered_pairs(
    hb: &HappensBefore<'_>,
    rng: &mut Rng,
    n: usize,
    count: usize,
) -> Vec<[EventId; 2]> {
    const TRIES_PER_PAIR: usize = 20;
    let mut found = Vec::new();
    let tries = if n == 0 { 0 } else { count * TRIES_PER_PAIR };
    for _ in 0..tries {
        let [a, b] = [rng.index(n), rng.index(n)];
        let pair = [EventId(a.min(b) as u32), EventId(a.max(b) as u32)];
        if found.len() < count && hb.happens_before(pair[0], pair[1]) {
            found.push(pair);
        }
    }
    found
}

/// Statistics of the proofs seen.
#[derive(Default)]
struct Seen {
    proofs: usize,
    without: BTreeMap<&'static str, usize>,
    rules: BTreeMap<&'static str, usize>,
    refused_shifted: usize,
    refused_swapped: usize,
    mutants: usize,
}

impl Seen {
    /// Runs `why` and checks the proof; returns what is wrong.
    fn check(&mut self, trace: &Trace, rules: RuleSet, [x, y]: [EventId; 2]) -> Result<(), String> {
        let why = why(trace, rules, x, y, &Cancel::new()).expect("nobody cancels");
        if !why.ordered {
            return Err(format!("{x:?}, {y:?}: `why` does not find the order"));
        }
        let Some(proof) = why.proof else {
            *self.without.entry(rules.word()).or_default() += 1;
            return Ok(());
        };
        self.proofs += 1;
        for step in proof.lemmas.iter().flatten().chain(&proof.path) {
            *self.rules.entry(word(step.rule)).or_default() += 1;
        }
        let proof = translated(&proof);
        let set = checker_set(rules);
        certify::check_proof(trace, set, &proof, x, y)
            .map_err(|error| format!("{x:?}, {y:?}: {error}\n{proof:#?}"))?;
        let refused =
            |mutant: &certify::Proof| certify::check_proof(trace, set, mutant, x, y).is_err();
        // Any one of these may be valid by chance; if all were, the checker would check nothing.
        for mutant in shifted(&proof, trace.len()) {
            self.mutants += 1;
            self.refused_shifted += usize::from(refused(&mutant));
        }
        for mutant in swapped(&proof) {
            self.mutants += 1;
            self.refused_swapped += usize::from(refused(&mutant));
        }
        Ok(())
    }

    fn without(&self) -> usize {
        self.without.values().sum()
    }
}

/// The proof with the target of a step, and the source of the next, moved by one event, so that the
/// path stays connected.
fn shifted(proof: &certify::Proof, events: usize) -> Vec<certify::Proof> {
    let mut mutants = Vec::new();
    for at in 0..proof.path.steps.len().saturating_sub(1) {
        let mut mutant = proof.clone();
        let to = EventId(mutant.path.steps[at].to.0 + 1);
        if to.index() < events {
            mutant.path.steps[at].to = to;
            mutant.path.steps[at + 1].from = to;
            mutants.push(mutant);
        }
    }
    mutants
}

/// The proof with one premise of the path exchanged for another lemma.
fn swapped(proof: &certify::Proof) -> Vec<certify::Proof> {
    let lemmas = proof.lemmas.len() as u32;
    let mut mutants = Vec::new();
    for (at, step) in proof.path.steps.iter().enumerate() {
        for (number, premise) in step.premises.iter().enumerate().filter(|_| lemmas > 1) {
            let mut mutant = proof.clone();
            mutant.path.steps[at].premises[number] = certify::LemmaId((premise.0 + 1) % lemmas);
            mutants.push(mutant);
        }
    }
    mutants
}

#[test]
fn proofs_on_random_traces_hold_and_mutants_do_not() {
    let mut seen = Seen::default();
    let mut failures = BTreeMap::new();
    for (name, shape) in Shape::all() {
        for seed in seeds(SEEDS) {
            let trace = random_trace(seed, &shape);
            for rules in RuleSet::ALL {
                let hb = HappensBefore::new(&trace, rules, &Cancel::new()).expect("small");
                let mut rng = Rng::new(seed);
                for pair in ordered_pairs(&hb, &mut rng, trace.len(), PAIRS) {
                    let place = format!("shape {name}, seed {seed}, rules {}", rules.word());
                    if let Err(error) = seen.check(&trace, rules, pair) {
                        failures.insert(
                            trace.len(),
                            format!("{place}: {error}\n{}", anyorder_testkit::show(&trace)),
                        );
                    }
                }
            }
        }
    }
    println!(
        "{} proofs, {:?} orders without; {} mutants, refused {} shifted and {} swapped; steps by rule: {:#?}",
        seen.proofs,
        seen.without,
        seen.mutants,
        seen.refused_shifted,
        seen.refused_swapped,
        seen.rules
    );
    if let Some((_, first)) = failures.iter().next() {
        panic!("{first}");
    }
    let used: BTreeSet<&str> = seen.rules.keys().copied().collect();
    let never: Vec<&str> = RULES.into_iter().filter(|rule| !used.contains(rule)).collect();
    assert!(never.is_empty(), "no proof used {never:?}");
    assert_eq!(seen.without(), 0, "orders without proof");
    assert!(seen.refused_shifted > 0, "no proof with a shifted step was refused");
    assert!(seen.refused_swapped > 0, "no proof with a swapped premise was refused");
}

/// Reads a recorded log of DroidRacer.
fn recorded(path: &Path) -> Trace {
    let file = std::fs::File::open(path).expect("the trace can be opened");
    let mut reader = DroidRacerReader::new(std::io::BufReader::new(file));
    Trace::read(&mut reader).expect("the trace can be read")
}

#[test]
fn proofs_on_recorded_android_traces_hold() {
    let count = if counts_all() { 200 } else { 50 };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/droidracer");
    for name in ["RemindMe", "twitter"] {
        let path = folder.join(name).join("trace.txt");
        let trace = recorded(&path);
        let mut seen = Seen::default();
        let rules = RuleSet::Android;
        let hb = HappensBefore::new(&trace, rules, &Cancel::new()).expect("small");
        let pairs = ordered_pairs(&hb, &mut Rng::new(1), trace.len(), count);
        assert_eq!(pairs.len(), count, "{name}: too few ordered pairs");
        for pair in pairs {
            if let Err(error) = seen.check(&trace, rules, pair) {
                panic!("{name}: {error}");
            }
        }
        println!(
            "{name}: {} proofs, {} orders without: {:?}",
            seen.proofs,
            seen.without(),
            seen.rules
        );
        assert_eq!(seen.without(), 0, "{name}: orders without proof");
    }
}
