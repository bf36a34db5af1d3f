//! Figures, one JSON line each.

use std::{io::Write as _, time::Duration};

use serde_json::{Value, json};

/// Returns the value in the middle; the lower of the two where there are two.
pub(crate) fn median(mut values: Vec<Duration>) -> Duration {
    values.sort_unstable();
    values
        .get(values.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or_default()
}

pub(crate) fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// Prints a line as [`line()`] does, for figures that meet their target or do not.
pub(crate) fn judged(bench: &str, mut figures: Value, target: &str, met: bool) {
    if let Some(figures) = figures.as_object_mut() {
        figures.insert("met".to_owned(), Value::Bool(met));
    }
    line(bench, figures, target);
}

/// Prints a line: what was measured, the figures, and the target that the project set for them.
pub(crate) fn line(bench: &str, figures: Value, target: &str) {
    let mut line = json!({"bench": bench, "target": target});
    if let (Some(line), Value::Object(figures)) = (line.as_object_mut(), figures) {
        line.extend(figures);
    }
    // The reader of the figures may have read enough.
    drop(writeln!(std::io::stdout(), "{line}"));
}
