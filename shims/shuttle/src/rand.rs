//! Random numbers: the same ones in all executions. So only one of each is tried.

pub use rand::{Rng, RngCore};

pub mod rngs {
    //! Generators.

    use rand::{CryptoRng, RngCore};
    use std::cell::Cell;
    use std::sync::Once;

    anyorder::thread_local! {
        /// How many numbers the thread had.
        static COUNT: Cell<u64> = Cell::new(0);
    }

    /// The generator of a thread.
    #[derive(Clone, Debug, Default)]
    pub struct ThreadRng {
        _private: (),
    }

    impl RngCore for ThreadRng {
        fn next_u32(&mut self) -> u32 {
            self.next_u64() as u32
        }

        fn next_u64(&mut self) -> u64 {
            static REPORTED: Once = Once::new();
            REPORTED.call_once(|| {
                crate::environment::say("random numbers are the same in all executions");
            });
            let count = COUNT.get();
            COUNT.set(count + 1);
            let thread = usize::from(anyorder::thread::current().id()) as u64;
            // SplitMix64 of the thread and the count.
            let mut number = (thread << 40 | count).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            number ^ (number >> 31)
        }

        fn fill_bytes(&mut self, bytes: &mut [u8]) {
            for chunk in bytes.chunks_mut(8) {
                let number = self.next_u64().to_le_bytes();
                chunk.copy_from_slice(&number[..chunk.len()]);
            }
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rand::Error> {
            self.fill_bytes(bytes);
            Ok(())
        }
    }

    impl CryptoRng for ThreadRng {}
}

/// Returns the generator of the thread.
#[must_use]
pub fn thread_rng() -> rngs::ThreadRng {
    rngs::ThreadRng::default()
}
