//! Faults that a crate's own tests put into it, to see that they notice.
//!
//! A fault exists only where the crate is compiled with `cfg(test)`, that is, for its unit tests.
//! No feature and no dependency can switch it on, so no binary has it: neither the command that
//! users get, nor the one that the tests of the command run. Elsewhere the type has no size, and
//! each question whether a fault is there is constant.
//!
//! The tests that need faults are therefore modules of the crate (`#[cfg(test)]`), also where they
//! lie in `tests/`.

/// Declares the type `Sabotage` of a crate: no fault, or one of those that are listed.
///
/// ```
/// anyorder_common::sabotage! {
///     /// Two is taken for three.
///     TwoIsThree,
/// }
///
/// fn double(n: u32, sabotage: Sabotage) -> u32 {
///     n * if sabotage == Sabotage::TwoIsThree { 3 } else { 2 }
/// }
///
/// // Outside of the crate's own unit tests there is no fault, even where it is asked for.
/// assert_eq!(double(5, Sabotage::TwoIsThree), 10);
/// assert_eq!(size_of::<Sabotage>(), 0);
/// ```
#[macro_export]
macro_rules! sabotage {
    ($($(#[$doc:meta])* $fault:ident,)+) => {
        /// The fault that a test put in.
        #[cfg(test)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        #[allow(unreachable_pub, reason = "options of tests may hold one")]
        pub enum Sabotage {
            /// No fault.
            #[default]
            None,
            $($(#[$doc])* $fault,)+
        }

        /// The fault that a test put in: outside of tests, none.
        #[cfg(not(test))]
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct Sabotage;

        #[cfg(not(test))]
        #[allow(non_upper_case_globals, dead_code, reason = "named as in tests")]
        impl Sabotage {
            /// No fault.
            pub(crate) const None: Sabotage = Sabotage;
            $($(#[$doc])* pub(crate) const $fault: Sabotage = Sabotage;)+
        }

        /// No fault is there: all comparisons vanish.
        #[cfg(not(test))]
        impl PartialEq for Sabotage {
            #[inline(always)]
            fn eq(&self, _: &Sabotage) -> bool {
                false
            }
        }
    };
}

#[cfg(test)]
mod tests {
    mod declared {
        sabotage! {
            /// Two is taken for three.
            TwoIsThree,
            /// Two is taken for four.
            TwoIsFour,
        }
    }
    use declared::Sabotage;

    #[test]
    fn a_fault_is_itself_and_no_other() {
        assert_eq!(Sabotage::default(), Sabotage::None);
        assert_ne!(Sabotage::TwoIsThree, Sabotage::TwoIsFour);
        assert_eq!(Sabotage::TwoIsFour, Sabotage::TwoIsFour);
    }
}
