//! The search for counterexamples, on models that are not built in.

use anyorder_commute::{
    Call, CheckLimits, Difference, Document, Model, Slot, Spec, Value, built_in_type, check,
};

/// A bag from which any element may be taken; `push` may fail when there are two.
struct Bag;

impl Model for Bag {
    type State = Vec<i64>;

    fn initial(&self) -> Vec<Vec<i64>> {
        vec![vec![]]
    }

    fn calls(&self) -> Vec<Call> {
        let put = |v: i64| Call::new("put", vec![v.into()]);
        vec![put(1), put(2), Call::new("take", vec![]), Call::new("hint", vec![])]
    }

    fn apply(&self, state: &Vec<i64>, call: &Call) -> Vec<(Vec<i64>, Value)> {
        match (call.method.as_str(), call.arguments.as_slice()) {
            ("put", [Value::Int(v)]) => {
                let mut next = state.clone();
                next.push(*v);
                next.sort_unstable();
                vec![(next, Value::Null)]
            }
            // Any element, or the wrong guess that the bag is empty: a choice with two next states
            // for one result.
            ("hint", _) => vec![(state.clone(), Value::Null), (vec![9], Value::Null)],
            _ => (0..state.len())
                .map(|at| {
                    let mut next = state.clone();
                    let taken = next.remove(at);
                    (next, taken.into())
                })
                .collect(),
        }
    }
}

#[test]
fn choices_of_the_model_are_looked_at() {
    let limits = CheckLimits { depth_max: 3, states_max: 100 };
    let text = "spec bag { put(_) ~ put(_); take()/r ~ take()/s; put(v) ~ take()/r when v != r; }";
    let verdict = check(&Spec::parse(text).unwrap(), &Bag, limits);
    assert_eq!((verdict.counterexample, verdict.imprecise.len()), (None, 0));
    assert!(!verdict.complete);
    // Taking an element just put needs the put.
    let text = "spec bag { put(_) ~ take(); }";
    let found = check(&Spec::parse(text).unwrap(), &Bag, limits).counterexample.unwrap();
    assert_eq!((found.state.as_str(), found.difference), ("[]", Difference::Results));
    assert_eq!(found.first.arguments, [found.second.result]);
    // One result with two next states: all must be equal.
    let text = "spec bag { put(_) ~ hint(); }";
    let found = check(&Spec::parse(text).unwrap(), &Bag, limits).counterexample.unwrap();
    assert_eq!(found.difference, Difference::States);
    // Unlisted pairs that always commute are reported as missed.
    let text =
        "spec bag { put(_) ~ put(_); take() ~ take() when false; put(_) ~ take() when false; }";
    let verdict = check(&Spec::parse(text).unwrap(), &Bag, limits);
    // Two takes of 1 and 2, or of one of them and 9: five; a put and a take of another value: four.
    assert_eq!(verdict.imprecise.len(), 5 + 4);
}

#[test]
fn the_limits_are_kept() {
    let spec = Spec::parse("spec counter { get() ~ get(); }").unwrap();
    let counter = built_in_type("counter").unwrap();
    let all = check(&spec, &counter, CheckLimits::default());
    assert!(all.complete && all.states == 5);
    let few = check(&spec, &counter, CheckLimits { depth_max: 9, states_max: 2 });
    assert!(!few.complete && few.states == 2);
    let near = check(&spec, &counter, CheckLimits { depth_max: 0, states_max: 9 });
    assert!(!near.complete && near.states == 1);
}

#[test]
fn a_users_specification_comes_before_the_built_in_one() {
    let set = built_in_type("set").unwrap();
    let map = built_in_type("map").unwrap();
    let built_in = set.coarse().unwrap().or(map.fine().unwrap());
    let own = Document::parse("spec set { add(_) ~ add(_); }").unwrap();
    let both = own.or(built_in);
    assert_eq!(both.spec("set").unwrap().conditions().len(), 1);
    // The built-in communication has methods that this specification lacks.
    assert!(both.comm("set").is_none() && both.comm("map").is_some());
}

/// The coarse specification of a set ignores results; its communication uses them, so words of a
/// trace become truth values.
#[test]
fn communication_tells_kinds_as_well() {
    let document = built_in_type("set").unwrap().coarse().unwrap();
    let (spec, comm) = (document.spec("set").unwrap(), document.comm("set").unwrap());
    assert_eq!(spec.methods()[0].kind(Slot::Result), anyorder_commute::Kind::Bool);
    let add = spec.invocation_of_words("add", &[7], Some(1));
    let look = spec.invocation_of_words("contains", &[7], Some(1));
    assert!(comm.matches(anyorder_commute::Mode::Last, &add, &look));
}
