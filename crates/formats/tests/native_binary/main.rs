//! The native binary format: traces survive a round trip, and damage is refused with its place.

mod damage;
mod golden;
mod hostile;
mod random;
mod round_trip;
mod seek;
