//! The output of the example equals the text in the docs.

#[path = "../../examples/film_day.rs"]
mod film_day;

#[test]
fn the_film_day_is_as_documented() {
    let Ok(docs) = std::fs::read_to_string("../../docs/order-solver.md") else {
        println!("skipped: docs/order-solver.md is absent");
        return;
    };
    let printed = film_day::day().unwrap();
    assert!(docs.contains(&format!("```text\n{printed}```\n")), "the docs do not show\n{printed}");
}
