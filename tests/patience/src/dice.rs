//! The random draws of tests: the moments at which they kill, cut and delay.

use std::{
    env,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    time::Duration,
};

/// The variable with the seed of every random draw of the tests. Without it, each process uses a seed of its own.
pub const SEED: &str = "NEURON_TEST_SEED";

/// Numbers that look random and are the same for the same seed.
///
/// SplitMix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    /// Returns dice of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the dice of the test to which `name` is unique: what it draws depends on the seed and the name, not on
    /// what other tests draw. It prints the seed, so that a reader of a failure can repeat the test.
    ///
    /// # Panics
    ///
    /// If [`SEED`] is not a number.
    #[must_use]
    pub fn of_test(name: &str) -> Self {
        let seed = seed();
        println!("{name} draws with {SEED}={seed}");
        Self::named(seed, name)
    }

    /// Returns dice of a seed and a name: different dice for each name.
    pub(crate) fn named(seed: u64, name: &str) -> Self {
        // FNV-1a, which is the same in every build.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(seed ^ hash)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below the limit.
    ///
    /// # Panics
    ///
    /// If the limit is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap();
        usize::try_from(self.roll() % limit).unwrap()
    }

    /// Returns whether a coin shows heads.
    pub fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    /// Returns a time between the shortest and the longest one, in whole milliseconds.
    ///
    /// # Panics
    ///
    /// If they differ by more milliseconds than a `u64` has.
    pub fn between(&mut self, shortest: Duration, longest: Duration) -> Duration {
        let range = longest.saturating_sub(shortest).as_millis();
        let millis = u128::from(self.roll()) % (range + 1);
        shortest + Duration::from_millis(u64::try_from(millis).unwrap()) // Drawn by the caller's bounds.
    }

    /// Returns the same things in another order.
    pub fn shuffled<T>(&mut self, mut things: Vec<T>) -> Vec<T> {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last + 1));
        }
        things
    }
}

/// Returns the seed of this process: the value of [`SEED`], or a seed of its own.
///
/// # Panics
///
/// If [`SEED`] is not a number.
pub fn seed() -> u64 {
    use std::sync::OnceLock;

    static SEED_OF_PROCESS: OnceLock<u64> = OnceLock::new();
    *SEED_OF_PROCESS.get_or_init(|| match env::var_os(SEED) {
        Some(said) => {
            let said = said.to_string_lossy();
            let number = said.trim().parse();
            number.unwrap_or_else(|_| panic!("{SEED} is {said:?}: it must be a whole number"))
        }
        // Keys of hash maps are the only randomness that the standard library has.
        None => RandomState::new().build_hasher().finish(),
    })
}

#[cfg(test)]
mod tests {
    use super::Dice;

    #[test]
    fn the_same_seed_gives_the_same_order() {
        let order = |seed| Dice::new(seed).shuffled((0..20).collect::<Vec<_>>());
        assert_eq!(order(7), order(7));
        assert_ne!(order(7), order(8));
        let mut sorted = order(7);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn tests_of_other_names_draw_others() {
        let draw = |name| Dice::named(7, name).below(1_000_000);
        assert_eq!(draw("one"), draw("one"));
        assert_ne!(draw("one"), draw("two"));
    }
}
