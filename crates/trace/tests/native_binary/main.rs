//! The native binary format: what is written comes back, and what is damaged is refused at its place.

mod random;

mod round_trip;

mod damage;

mod hostile;

mod seek;

mod golden;
