//! A small trace and a result that refers to it, shared by the tests and the example.

use anyorder_finding::{
    Coverage, CoverageLevel, ExplanationStep, Finding, Harm, Input, Kind, Ordered, Outcome, Policy,
    RaceCategory, Severity, Site, Suppressed, assign_ids, option, stat,
};
use anyorder_trace::{EventId, Mailbox, TableFull, TaskId, Trace, TraceBuilder};

/// The trace, and the events that the findings of [`outcome`] name.
pub(crate) struct Sample {
    /// Three handlers and some thirty tasks.
    pub(crate) trace: Trace,
    /// Pairs of accesses, one a finding.
    pub(crate) races: Vec<[EventId; 2]>,
}

/// Makes the trace of a small music player: the user clicks, a loader loads, a player plays.
pub(crate) fn trace() -> Sample {
    build().expect("a small trace fits into its tables")
}

fn build() -> Result<Sample, TableFull> {
    let mut b = TraceBuilder::new();
    let ui = b.handler("main looper", Mailbox::Fifo)?;
    let loader = b.handler("loader", Mailbox::Delayed)?;
    let player = b.handler("player thread", Mailbox::Bag)?;
    let (init, idle) = (b.initial(ui), b.initial(player));
    b.write(init, "app.state")?;
    let mut races = Vec::new();
    for round in 0..6 {
        let click = b.task(&format!("onClick#{round}"), ui)?;
        let load = b.delayed_task(&format!("load/track#{round}"), loader, 50)?;
        let show = b.task(&format!("showTrack#{round}"), ui)?;
        let play = b.task(&format!("play#{round}"), player)?;
        let tick = b.task(&format!("progress tick#{round}"), ui)?;
        b.post(init, click)?;
        b.get(click)?;
        b.read(click, "app.state")?;
        let wrote = b.write(click, "Playlist.current")?;
        b.at("src/ui/Player.java", 84)?;
        b.post(click, load)?;
        b.post(click, play)?;
        b.end(click)?;
        b.get(load)?;
        work(&mut b, load, 4 + round * 3, "Cache.entries")?;
        let loaded = b.write(load, "Track.buffer")?;
        b.at("src/load/Loader.java", 131)?;
        b.post(load, show)?;
        b.end(load)?;
        b.get(play)?;
        let played = b.read(play, "Track.buffer")?;
        b.at("src/play/Engine.java", 57)?;
        work(&mut b, play, 3 + round, "Engine.position")?;
        b.post(play, tick)?;
        b.end(play)?;
        b.write(idle, "Engine.idle")?;
        b.get(show)?;
        let shown = b.read(show, "Playlist.current")?;
        b.at("src/ui/Player.java", 142)?;
        b.end(show)?;
        b.get(tick)?;
        let ticked = b.write(tick, "View.progress")?;
        b.end(tick)?;
        races.push([loaded, played]);
        races.push([wrote, shown]);
        races.push([shown, ticked]);
    }
    Ok(Sample { trace: b.finish(), races })
}

fn work(b: &mut TraceBuilder, task: TaskId, events: u32, variable: &str) -> Result<(), TableFull> {
    for _ in 0..events {
        b.read(task, variable)?;
        b.write(task, variable)?;
    }
    Ok(())
}

/// Makes a result with findings of several categories and statuses, some of them in the trace.
pub(crate) fn outcome(sample: &Sample) -> Outcome {
    let mut outcome = Outcome::new("check", "0.1.0");
    outcome.inputs.push(Input::new("traces/player.trace".as_ref(), "native"));
    outcome
        .options
        .set(option::RULES, "mailbox")
        .set(option::COVERAGE, "task")
        .set(option::MAX_PAIRS, 1000_u64);
    let races = [
        (RaceCategory::MultiThreaded, "Track.buffer@0x41", true, 6),
        (RaceCategory::CoEnabled, "com.example.Playlist.current@0x2c", true, 15),
        (RaceCategory::CrossPosted, "com.example.View.progress@0x7", false, 4),
        (RaceCategory::Delayed, "com.example.View.visible", true, 1),
        (RaceCategory::CrossPosted, "com.example.View.visible", false, 2),
    ];
    for (number, (category, location, uncovered, pairs)) in races.into_iter().enumerate() {
        outcome.findings.push(race(sample, number, category, location, uncovered, pairs));
    }
    outcome.findings[3].filters = vec!["late_registration".into()];
    let mark =
        Suppressed { reason: Some("the view is gone by then".into()), line: Some(4), file: None };
    outcome.findings[4].suppressed = Some(mark);
    assign_ids(&mut outcome.findings);
    outcome.findings.sort_by(Finding::rank);
    outcome.judge(&Policy::default());
    let counts = [1, 2, 1, 1, 0];
    let categories: Ordered<u64> =
        RaceCategory::ALL.iter().zip(counts).map(|(category, n)| (category.word(), n)).collect();
    outcome
        .stats
        .set(stat::EVENTS, sample.trace.len() as u64)
        .set(stat::TASKS, 30_u64)
        .set(stat::HANDLERS, 3_u64);
    outcome
        .stats
        .set(stat::RACE_PAIRS, 28_u64)
        .set(stat::RACES, 5_u64)
        .set(stat::RACES_UNCOVERED, 3_u64);
    outcome.stats.set(stat::RACES_BY_CATEGORY, categories).set(stat::ELAPSED_MS, 42_u64);
    outcome
}

fn race(
    sample: &Sample,
    number: usize,
    category: RaceCategory,
    location: &str,
    uncovered: bool,
    pairs: u64,
) -> Finding {
    let [a, b] = sample.races[number];
    let pair = [sample.trace.label(a), sample.trace.label(b)];
    let severity = Severity::of_race(Harm::Undecided, uncovered);
    Finding {
        category: Some(category.word().into()),
        severity,
        title: format!("`{location}` is accessed by two tasks that can run in either order"),
        sites: [a, b].into_iter().map(|event| site(&sample.trace, event, location)).collect(),
        pairs: (0..pairs.min(8)).map(|_| pair.clone()).collect(),
        pairs_total: pairs,
        explanation: vec![
            ExplanationStep {
                text: format!("the nearest order: `{}` comes before both", "onClick#0"),
                rule: Some("fifo".into()),
                events: vec![pair[0].clone()],
            },
            ExplanationStep::new(
                "no chain of posts, locks or joins leads from the first access to the second",
            ),
        ],
        replay: Some(format!("anyorder why traces/player.trace {} {}", pair[0], pair[1])),
        coverage: Some(Coverage {
            level: CoverageLevel::Task,
            uncovered,
            uncovered_pairs: if uncovered { pairs.div_ceil(2) } else { 0 },
        }),
        ..Finding::new(Kind::Race)
    }
}

fn site(trace: &Trace, event: EventId, location: &str) -> Site {
    let it = trace.event(event);
    let position = trace.tables().sites[it.site.index()];
    let file = Some(trace.tables().name(position.file).to_owned()).filter(|file| !file.is_empty());
    let mut chain = Vec::new();
    let mut task = it.task;
    while let Some(post) = trace.span(task).post.some() {
        let poster = trace.event(post).task;
        let (name, number) = (trace.task_name(task), trace.label(post));
        chain.push(format!(
            "`{name}` was posted by `{}` at event {number}",
            trace.task_name(poster)
        ));
        task = poster;
    }
    chain.push(format!("code of the thread `{}`", trace.task_name(task)));
    Site {
        line: Some(position.line).filter(|_| file.is_some()),
        file,
        event: Some(trace.label(event)),
        task: Some(trace.task_name(it.task).to_owned()),
        handler: Some(trace.handler_name(trace.handler_of(event)).to_owned()),
        location: Some(location.to_owned()),
        access: Some(it.kind().word().to_owned()),
        chain,
        ..Site::default()
    }
}
