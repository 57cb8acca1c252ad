//! Times the generation of large traces: `cargo run --release -p anyorder-generate --example
//! time_generate`.

use anyorder_generate::{Counts, Family, Request, generate};
use std::io::Write;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let requests = [
        Request::new(Family::Android, 1_000_000),
        Request::new(Family::Android, 10_000_000),
        Request::new(Family::Flat, 50_000),
        Request::new(Family::Shuffle, 200_000),
        Request::new(Family::Sat3, 12_000),
        Request::new(Family::Bi3Sat, 400),
        Request::new(Family::Knot, 100_000),
        Request::new(Family::Consensus, 180),
        Request::new(Family::Counting, 200),
        Request::new(Family::MessageLoop, 130),
        Request::new(Family::Buyers, 25_000),
        Request::new(Family::ChangRoberts, 10_000),
        Request::new(Family::SparseMat, 10_000),
    ];
    let mut out = std::io::stdout().lock();
    for request in requests {
        let start = Instant::now();
        let trace = generate(&request)?;
        let seconds = start.elapsed().as_secs_f64();
        let Counts { events, messages, handlers } = Counts::of(&trace);
        let name = request.family.name();
        writeln!(
            out,
            "{name}: {events} events, {messages} messages, {handlers} handlers: {seconds:.2} s"
        )?;
    }
    Ok(())
}
