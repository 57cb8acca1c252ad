//! The text of a proof of an order: `docs/formats/order-proof.md`.

use crate::names::Names;
use crate::proof::{LemmaId, Path, Proof, ProofStep, Rule, RuleSet};
use crate::text::{Lines, Mistake, ReadProofError, Words, end, event, header, number, quoted};
use anyorder_trace::{EventId, InputFamily, Trace};
use std::io::{self, BufRead, Write};

/// The first line.
const HEADER: &str = "order-proof 1";

/// A proof, and what it claims: by these rules, the first event happens before the second.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimedOrder {
    /// The rules.
    pub rules: RuleSet,
    /// The event that happens first.
    pub first: EventId,
    /// The other.
    pub second: EventId,
    /// The proof.
    pub proof: Proof,
}

/// The lines of a text, from 1.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OrderLines {
    /// By lemma, the lines of its steps.
    pub lemmas: Vec<Vec<u64>>,
    /// The lines of the steps of the path.
    pub path: Vec<u64>,
}

impl RuleSet {
    /// All rule sets.
    pub const ALL: [RuleSet; 3] = [RuleSet::Android, RuleSet::Mailbox, RuleSet::Threads];

    /// Returns its word, as in the option `--rules`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            RuleSet::Android => "android",
            RuleSet::Mailbox => "mailbox",
            RuleSet::Threads => "threads",
        }
    }
}

/// The rules that are one word in the text, each with that word.
const WORDS: [(Rule, &str); 20] = [
    (Rule::Po, "po"),
    (Rule::LoopPoint, "loop"),
    (Rule::Attach, "attach"),
    (Rule::Cancel, "cancel"),
    (Rule::Cancelled, "cancelled"),
    (Rule::Disabled, "disabled"),
    (Rule::Exited, "exited"),
    (Rule::Post, "post"),
    (Rule::Fork, "fork"),
    (Rule::Join, "join"),
    (Rule::Lock, "lock"),
    (Rule::Wake, "wake"),
    (Rule::Barrier, "barrier"),
    (Rule::Atomic, "atomic"),
    (Rule::Enable, "enable"),
    (Rule::NoPreemption, "no-pre-emption"),
    (Rule::Fifo, "fifo"),
    (Rule::DelayedPoster, "delayed-poster"),
    (Rule::FifoBackwards, "fifo-backwards"),
    (Rule::TaskOrder, "task-order"),
];

/// The families of inputs whose rules are steps.
const FAMILIES: [InputFamily; 4] =
    [InputFamily::Lifecycle, InputFamily::Idle, InputFamily::Service, InputFamily::Broadcast];

fn rule(word: Option<&str>) -> Result<Rule, Mistake> {
    let known = WORDS.iter().find(|(_, known)| Some(*known) == word).map(|(rule, _)| rule.clone());
    let family = || FAMILIES.iter().find(|family| Some(family.word()) == word);
    let component = || family().map(|family| Rule::Component(family.word().to_owned()));
    known
        .or_else(component)
        .ok_or_else(|| Mistake::Form(format!("expected a rule, found {}", quoted(word))))
}

fn word_of(rule: &Rule) -> &str {
    if let Rule::Component(name) = rule {
        return name.split(':').next().unwrap_or_default().trim();
    }
    WORDS.iter().find(|(known, _)| known == rule).map_or("", |(_, word)| word)
}

/// Writes a proof as text, with the names of events in its trace.
///
/// O(events + steps).
///
/// # Errors
///
/// Fails when the output fails.
pub fn write_order(
    claimed: &ClaimedOrder,
    trace: &Trace,
    mut output: impl Write,
) -> io::Result<()> {
    let names = Names::new(trace);
    let ends = [claimed.first, claimed.second].map(|event| names.event(event));
    writeln!(output, "{HEADER}\nrules {}\norder {} {}", claimed.rules.word(), ends[0], ends[1])?;
    let lemmas = claimed.proof.lemmas.iter().map(|lemma| ("lemma", lemma));
    for (word, path) in lemmas.chain([("path", &claimed.proof.path)]) {
        writeln!(output, "{word} {}", path.steps.len())?;
        for step in &path.steps {
            let (from, to) = (names.event(step.from), names.event(step.to));
            write!(output, "  {from} {to} {}", word_of(&step.rule))?;
            step.premises.iter().try_for_each(|LemmaId(lemma)| write!(output, " {lemma}"))?;
            writeln!(output)?;
        }
    }
    output.flush()
}

/// Reads the text of a proof of an order. It does not check the proof.
///
/// O(events + bytes). Memory is allocated for the data read, not for announced sizes.
///
/// # Errors
///
/// Fails when the input fails, and at the first line that breaks the format or names something that
/// the trace does not have.
pub fn read_order(
    input: impl BufRead,
    trace: &Trace,
) -> Result<(ClaimedOrder, OrderLines), ReadProofError> {
    let mut reader = Reader {
        names: Names::new(trace),
        part: Part::Header,
        rules: RuleSet::Mailbox,
        ends: (EventId::NONE, EventId::NONE),
        proof: Proof::default(),
        lines: OrderLines::default(),
        steps_missing: 0,
    };
    let mut lines = Lines::new(input);
    while let Some(text) = lines.next()? {
        let result = reader.line(text);
        result.map_err(|mistake| lines.wrong(mistake))?;
        reader.number_steps(lines.number);
    }
    if reader.steps_missing > 0 {
        let message = format!("expected {} more steps, found the end", reader.steps_missing);
        return Err(lines.wrong(message.into()));
    }
    if reader.part != Part::End {
        let message = format!("expected {}, found the end", reader.part.wanted());
        return Err(lines.wrong(message.into()));
    }
    let ((first, second), rules) = (reader.ends, reader.rules);
    Ok((ClaimedOrder { rules, first, second, proof: reader.proof }, reader.lines))
}

/// What the next line begins, if no steps are missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Header,
    Rules,
    Order,
    Paths,
    End,
}

impl Part {
    const fn wanted(self) -> &'static str {
        match self {
            Part::Header => "`order-proof 1`",
            Part::Rules => "`rules RULES`",
            Part::Order => "`order EVENT EVENT`",
            Part::Paths => "`lemma N` or `path N`",
            Part::End => "the end",
        }
    }
}

struct Reader<'t> {
    names: Names<'t>,
    part: Part,
    rules: RuleSet,
    ends: (EventId, EventId),
    proof: Proof,
    lines: OrderLines,
    /// The steps that the last path still needs.
    steps_missing: u64,
}

impl Reader<'_> {
    fn line(&mut self, text: &str) -> Result<(), Mistake> {
        if self.part == Part::Header {
            header(text, HEADER)?;
            self.part = Part::Rules;
            return Ok(());
        }
        let mut parts = text.split_ascii_whitespace();
        if self.steps_missing > 0 {
            let step = self.step(&mut parts)?;
            let path = match self.part {
                Part::End => Some(&mut self.proof.path),
                _ => self.proof.lemmas.last_mut(),
            };
            if let Some(path) = path {
                path.steps.push(step);
            }
            self.steps_missing -= 1;
            return Ok(());
        }
        match (self.part, parts.next()) {
            (Part::Rules, Some("rules")) => {
                let word = parts.next();
                let rules = RuleSet::ALL.into_iter().find(|rules| Some(rules.word()) == word);
                let wanted = "`android`, `mailbox` or `threads`";
                self.rules =
                    rules.ok_or_else(|| format!("expected {wanted}, found {}", quoted(word)))?;
                self.part = Part::Order;
            }
            (Part::Order, Some("order")) => {
                let ends = [event(&self.names, &mut parts)?, event(&self.names, &mut parts)?];
                self.ends = (ends[0], ends[1]);
                self.part = Part::Paths;
            }
            (Part::Paths, Some("lemma")) => {
                self.steps_missing = number(parts.next(), "a number of steps")?;
                self.proof.lemmas.push(Path::default());
            }
            (Part::Paths, Some("path")) => {
                self.steps_missing = number(parts.next(), "a number of steps")?;
                self.part = Part::End;
            }
            (part, found) => {
                let found = quoted(found);
                return Err(format!("expected {}, found {found}", part.wanted()).into());
            }
        }
        Ok(end(&mut parts)?)
    }

    fn step(&self, parts: &mut Words<'_>) -> Result<ProofStep, Mistake> {
        let (from, to) = (event(&self.names, parts)?, event(&self.names, parts)?);
        let rule = rule(parts.next())?;
        let mut premises = Vec::new();
        for word in parts {
            let lemma = number(Some(word), "the number of a lemma")?;
            let lemma = u32::try_from(lemma).ok();
            let known = lemma.filter(|lemma| (*lemma as usize) < self.proof.lemmas.len());
            let wrong = || format!("expected a lemma above, found {}", quoted(Some(word)));
            premises.push(LemmaId(known.ok_or_else(wrong)?));
        }
        Ok(ProofStep { from, to, rule, premises })
    }

    /// Records the line of the step that was just read, if one was.
    fn number_steps(&mut self, line: u64) {
        let OrderLines { lemmas, path } = &mut self.lines;
        lemmas.resize(self.proof.lemmas.len(), Vec::new());
        if let (Some(lines), Some(lemma)) = (lemmas.last_mut(), self.proof.lemmas.last()) {
            lines.resize(lemma.steps.len(), line);
        }
        path.resize(self.proof.path.steps.len(), line);
    }
}
