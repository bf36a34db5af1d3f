//! Waiting for something that another process does.

use std::{
    thread,
    time::{Duration, Instant},
};

use neuron_patience::patience;

/// How long a thread waits before it looks again.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5); // Between two looks.

/// How long a task waits before it asks again: to ask takes more than to look.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(20); // Between two looks.

/// Looks until there is something.
///
/// # Panics
///
/// After [`patience`], saying `what` did not come.
pub fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    patiently(look).unwrap_or_else(|| panic!("no {what} within {:?}", patience()))
}

/// Looks until there is something; `None` if there is nothing within [`patience`].
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
        // One that starts a program takes away from what it waits for: half of the time is for that.
        thread::sleep(begun.elapsed().max(BETWEEN_LOOKS)); // Between two looks.
    }
}

/// Asks until there is an answer.
///
/// # Panics
///
/// If there is none within [`patience`].
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
