//! The native binary format: what is written comes back, and what is damaged is refused at its
//! place.

mod damage;
mod golden;
mod hostile;
mod random;
mod round_trip;
mod seek;
