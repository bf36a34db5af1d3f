//! Fake servers that are slow now and then, on request.

use std::{
    env,
    sync::{Mutex, OnceLock},
    time::Duration,
};

use crate::dice::{Dice, seed};

/// The variable that delays the answers of fake servers by up to this many milliseconds.
pub const LAG: &str = "NEURON_TEST_LAG";

/// Returns the delay of this answer of a fake server: zero unless [`LAG`] is set. Most delays are short, and a few are up to
/// the value of the variable. They are drawn from the seed of the tests.
///
/// # Panics
///
/// If the variable is not a whole number.
#[must_use]
pub fn lag() -> Duration {
    static LONGEST: OnceLock<u64> = OnceLock::new();
    static DICE: Mutex<Option<Dice>> = Mutex::new(None);

    let longest = *LONGEST.get_or_init(|| longest(env::var_os(LAG)));
    if longest == 0 {
        return Duration::ZERO;
    }
    let mut dice = DICE.lock().unwrap();
    let dice = dice.get_or_insert_with(|| Dice::named(seed(), "lag"));
    drawn(dice, longest)
}

fn longest(said: Option<std::ffi::OsString>) -> u64 {
    let Some(said) = said else { return 0 };
    let said = said.to_string_lossy();
    let number = said.trim().parse();
    number.unwrap_or_else(|_| panic!("{LAG} is {said:?}: it must be a number of milliseconds"))
}

fn drawn(dice: &mut Dice, longest: u64) -> Duration {
    /// One of this many delays may have any length.
    const ONE_OF: usize = 4;
    /// The other delays are at most the longest one divided by this.
    const PART: u64 = 20;
    let most = if dice.below(ONE_OF) == 0 {
        longest
    } else {
        longest / PART
    };
    dice.between(Duration::ZERO, Duration::from_millis(most)) // No test waits for it: it disturbs.
}

#[cfg(test)]
mod tests {
    use super::{Dice, Duration, drawn, longest};

    #[test]
    fn nothing_is_slow_unless_it_is_asked_for() {
        assert_eq!(longest(None), 0);
        assert_eq!(longest(Some(" 200 ".into())), 200);
    }

    #[test]
    fn delays_are_of_every_length_and_mostly_short() {
        let longest = Duration::from_millis(200); // Only compared, never waited for.
        let mut dice = Dice::new(1);
        let drawn: Vec<_> = (0..1_000).map(|_| drawn(&mut dice, 200)).collect();
        assert!(drawn.iter().all(|delay| *delay <= longest));
        assert!(drawn.iter().any(|delay| *delay > longest / 2));
        let short = drawn.iter().filter(|delay| **delay <= longest / 20).count();
        assert!(short > 700, "{short}");
    }
}
