//! Models over index types: the machine and the naive interpreter agree on them. That permuted
//! states behave alike is for `tests/symmetry` to check, on the same models.

use crate::symmetry::generate;

use crate::naive::differential::compare;
use crate::naive::interp::fired;
use crate::naive::interp::program::Mutant;

#[test]
fn random_models_over_index_types() {
    let (mut states, mut cut, mut undecided) = (0, 0, 0);
    for seed in 0..150 {
        let text = generate::model(seed);
        let compared = compare(&text, Mutant::None, 60)
            .unwrap_or_else(|difference| panic!("seed {seed}: {difference:?}\n{text}"));
        states += compared.states;
        cut += u32::from(compared.cut);
        undecided += u32::from(compared.undecided);
    }
    println!("150 models, {states} states, {cut} cut, {undecided} undecided");
    let fired = fired::counts();
    for rule in ["V8", "T13"] {
        assert!(fired.contains_key(rule), "rule {rule} was never followed");
    }
    assert!(states > 3_000 && undecided < 5, "{states} {undecided}");
}
