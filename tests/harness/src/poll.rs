//! Waits for the actions of another process.

use std::{
    thread,
    time::{Duration, Instant},
};

use neuron_patience::patience;

/// How long a thread waits before it looks again.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5); // Between two looks.

/// How long a task waits before it asks again: asking takes more than looking.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(20); // Between two looks.

/// Looks until there is a value, and returns it.
///
/// # Panics
///
/// After [`patience`], naming `what` as missing.
pub fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    patiently(look).unwrap_or_else(|| panic!("no {what} within {:?}", patience()))
}

/// Looks until there is a value. Returns `None` after [`patience`] without one.
pub(crate) fn patiently<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let (start, time) = (Instant::now(), patience());
    loop {
        let begun = Instant::now();
        if let Some(found) = look() {
            return Some(found);
        }
        if start.elapsed() >= time {
            return None;
        }
        // A look that starts a program slows down what it waits for: it gets half of the time.
        thread::sleep(begun.elapsed().max(BETWEEN_LOOKS)); // Between two looks.
    }
}

/// Asks until there is an answer, and returns it.
///
/// # Panics
///
/// If there is no answer within [`patience`].
pub async fn until<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asking = async {
        loop {
            let begun = Instant::now();
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(begun.elapsed().max(BETWEEN_QUESTIONS)).await; // Between two looks.
        }
    };
    let answer = tokio::time::timeout(patience(), asking).await;
    answer.expect("it happens in time")
}
