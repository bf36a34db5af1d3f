use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

/// The longest wait that is believed: 24 hours. What asks for more is taken for nonsense.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// What an error answer says about a further attempt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetryAdvice {
    /// How long to wait first.
    pub after: Option<Duration>,
    /// Whether a further attempt can help, where the server itself states that (`x-should-retry`).
    pub should_retry: Option<bool>,
}

/// Reads what an error answer says about a further attempt.
///
/// The wait is taken from the first of these that makes sense: `retry-after-ms`, `retry-after` in seconds
/// (fractions too), `retry-after` as an HTTP date after `now`, and "try again in 1.5s" in `message`. Zero,
/// negative and unreadable values and those above [`MAX_RETRY_AFTER`] are ignored.
#[must_use]
pub fn retry_advice(headers: &HeaderMap, message: &str, now: SystemTime) -> RetryAdvice {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let after = text("retry-after-ms")
        .and_then(|value| wait(value.parse::<f64>().ok()? / 1000.0))
        .or_else(|| retry_after(text("retry-after")?, now))
        .or_else(|| hint(message));
    let should_retry = match text("x-should-retry") {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    };
    RetryAdvice {
        after,
        should_retry,
    }
}

fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    if let Ok(seconds) = value.parse::<f64>() {
        return wait(seconds);
    }
    let date = httpdate::parse_http_date(value).ok()?;
    wait(date.duration_since(now).ok()?.as_secs_f64())
}

fn wait(seconds: f64) -> Option<Duration> {
    let duration = Duration::try_from_secs_f64(seconds).ok()?;
    (!duration.is_zero() && duration <= MAX_RETRY_AFTER).then_some(duration)
}

/// Returns the Go-style duration after "try again in": `1.5s`, `20ms`, `6m0s`.
fn hint(message: &str) -> Option<Duration> {
    let lower = message.to_ascii_lowercase();
    let (_, mut rest) = lower.split_once("try again in ")?;
    let mut seconds = 0.0;
    loop {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, tail) = rest.split_at(end);
        let Ok(number) = number.parse::<f64>() else {
            break;
        };
        let (unit, tail) = ["ms", "h", "m", "s"]
            .into_iter()
            .find_map(|unit| Some((unit, tail.strip_prefix(unit)?)))?;
        seconds += match unit {
            "ms" => number / 1000.0,
            "h" => number * 3600.0,
            "m" => number * 60.0,
            _ => number,
        };
        rest = tail;
    }
    wait(seconds)
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    use super::*;

    /// 2026-11-21T12:00:00Z, after the epoch.
    const NOON: Duration = Duration::from_secs(1_795_262_400); // Only computed with.
    const SECOND: Duration = Duration::from_secs(1); // Only compared, never waited for.

    fn advice(headers: &[(&'static str, &'static str)], message: &str) -> RetryAdvice {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .collect();
        retry_advice(&headers, message, SystemTime::UNIX_EPOCH + NOON)
    }

    fn after(headers: &[(&'static str, &'static str)]) -> Option<Duration> {
        advice(headers, "").after
    }

    #[test]
    fn milliseconds_outrank_seconds() {
        let both = [("retry-after", "7"), ("retry-after-ms", "1500")];
        assert_eq!(after(&both), Some(SECOND * 3 / 2));
    }

    #[test]
    fn seconds_may_have_a_fraction() {
        assert_eq!(after(&[("retry-after", "0.25")]), Some(SECOND / 4));
    }

    #[test]
    fn a_date_counts_from_now() {
        let date = [("retry-after", "Sat, 21 Nov 2026 12:00:05 GMT")];
        assert_eq!(after(&date), Some(SECOND * 5));
    }

    #[test]
    fn nonsense_is_ignored() {
        for value in [
            "-1",
            "0",
            "NaN",
            "inf",
            "soon",
            "",
            "86401",
            "1e300",
            "Sat, 21 Nov 2026 11:59:00 GMT",
            "Sat, 28 Nov 2026 12:00:00 GMT",
        ] {
            assert_eq!(after(&[("retry-after", value)]), None, "{value}");
        }
    }

    #[test]
    fn nonsense_gives_way_to_the_next_form() {
        let headers = [("retry-after-ms", "-1"), ("retry-after", "3")];
        assert_eq!(after(&headers), Some(SECOND * 3));
    }

    #[test]
    fn the_message_is_the_last_resort() {
        let hint = |text| advice(&[], text).after;
        assert_eq!(
            hint("Limit reached. Please try again in 1.5s. Visit …"),
            Some(SECOND * 3 / 2)
        );
        assert_eq!(hint("try again in 20ms"), Some(SECOND / 50));
        assert_eq!(hint("try again in 6m1.5s."), Some(SECOND * 723 / 2));
        assert_eq!(hint("try again in a while"), None);
        assert_eq!(hint("try again in 5 days"), None);
        assert_eq!(
            advice(&[("retry-after", "2")], "try again in 9s").after,
            Some(SECOND * 2)
        );
    }

    #[test]
    fn should_retry_is_read_as_it_stands() {
        let said = |value| advice(&[("x-should-retry", value)], "").should_retry;
        assert_eq!(said("true"), Some(true));
        assert_eq!(said("false"), Some(false));
        assert_eq!(said("maybe"), None);
    }
}
