#![doc = include_str!("../README.md")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "test code fails by panicking"
)]

mod dice;
mod lag;

use std::{env, time::Duration};

pub use self::{
    dice::{Dice, SEED, seed},
    lag::{LAG, lag},
};

/// The variable with a factor for the results of [`patience`] and [`long_patience`].
pub const FACTOR: &str = "NEURON_TEST_PATIENCE";

/// Returns the most time that a test waits for anything: ten minutes, times the factor.
///
/// # Panics
///
/// If the factor is not a positive number.
#[must_use]
pub fn patience() -> Duration {
    minutes(10) // Ends what hangs and nothing else.
}

/// Returns the same for tests that move much data or perform thousands of steps: half an hour, times the factor.
///
/// # Panics
///
/// If the factor is not a positive number.
#[must_use]
pub fn long_patience() -> Duration {
    minutes(30) // Ends what hangs and nothing else.
}

fn minutes(minutes: u32) -> Duration {
    let said = env::var_os(FACTOR);
    let said = said.as_ref().map(|said| said.to_string_lossy());
    let minute = Duration::from_secs(60); // What both are counted in.
    (minute * minutes).mul_f64(factor(said.as_deref()))
}

/// Returns the value of the variable. A value above the limit counts as a mistake.
fn factor(said: Option<&str>) -> f64 {
    const MOST: f64 = 10_000.0;
    let Some(said) = said else { return 1.0 };
    let factor = said.trim().parse().unwrap_or(f64::NAN);
    assert!(
        factor > 0.0 && factor <= MOST,
        "{FACTOR} is {said:?}: it must be a positive number of at most {MOST}, such as 3 or 0.5"
    );
    factor
}

#[cfg(test)]
mod tests {
    use super::factor;

    #[test]
    fn the_factor_is_one_or_what_the_variable_says() {
        for (said, wanted) in [(None, 1.0), (Some("3"), 3.0), (Some(" 0.5 "), 0.5)] {
            assert!((factor(said) - wanted).abs() < f64::EPSILON, "{said:?}");
        }
    }

    #[test]
    fn what_is_no_positive_number_is_refused() {
        for said in ["", "many", "0", "-1", "nan", "inf"] {
            let refused = std::panic::catch_unwind(|| factor(Some(said)));
            let message = refused.expect_err(said).downcast::<String>();
            let message = message.expect("a message");
            assert!(message.contains("NEURON_TEST_PATIENCE is"), "{message}");
        }
    }
}
