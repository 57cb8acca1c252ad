//! The lowering, seen through the machine: small models, run to the end in all ways.

mod explore;

mod worked;

mod two_phase;

mod values;

mod constants;

mod places;

mod control;

mod events;

mod posts;

mod threads;

mod failures;

mod whole;
