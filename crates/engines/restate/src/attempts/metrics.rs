//! The metrics of a worker.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use neuron_types::{Effect, EffectKind};

/// The attempts that a worker made, and those in flight. Its text is in the format of Prometheus.
#[derive(Debug, Default)]
pub struct Metrics {
    model: Attempts,
    tool: Attempts,
    other: Attempts,
}

#[derive(Debug, Default)]
pub(crate) struct Attempts {
    succeeded: AtomicU64,
    failed: AtomicU64,
    in_flight: AtomicU64,
}

/// A kind of attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Model,
    Tool,
    Other,
}

impl Kind {
    /// Returns the kind of the attempts of this effect.
    pub(crate) const fn of(effect: &Effect) -> Self {
        match effect.kind() {
            EffectKind::Model | EffectKind::Summary => Self::Model,
            EffectKind::Tool => Self::Tool,
            _ => Self::Other,
        }
    }
}

impl Metrics {
    /// Counts an attempt while it is in flight, and then its result.
    pub(crate) async fn count<T, E>(
        &self,
        kind: Kind,
        attempt: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let attempts = match kind {
            Kind::Model => &self.model,
            Kind::Tool => &self.tool,
            Kind::Other => &self.other,
        };
        let _under_way = UnderWay::start(&attempts.in_flight);
        let result = attempt.await;
        let counter = match &result {
            Ok(_) => &attempts.succeeded,
            Err(_) => &attempts.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        result
    }
}

/// Counts down when the attempt is over, also when it is dropped.
struct UnderWay<'a>(&'a AtomicU64);

impl<'a> UnderWay<'a> {
    fn start(in_flight: &'a AtomicU64) -> Self {
        in_flight.fetch_add(1, Ordering::Relaxed);
        Self(in_flight)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            ("model", &self.model),
            ("tool", &self.tool),
            ("other", &self.other),
        ];
        writeln!(
            f,
            "# HELP neuron_attempts_total Attempts of steps that are over."
        )?;
        writeln!(f, "# TYPE neuron_attempts_total counter")?;
        for (kind, attempts) in kinds {
            for (outcome, count) in [
                ("succeeded", &attempts.succeeded),
                ("failed", &attempts.failed),
            ] {
                let count = count.load(Ordering::Relaxed);
                writeln!(
                    f,
                    "neuron_attempts_total{{kind=\"{kind}\",outcome=\"{outcome}\"}} {count}"
                )?;
            }
        }
        writeln!(
            f,
            "# HELP neuron_attempts_in_flight Attempts of steps under way."
        )?;
        writeln!(f, "# TYPE neuron_attempts_in_flight gauge")?;
        for (kind, attempts) in kinds {
            let count = attempts.in_flight.load(Ordering::Relaxed);
            writeln!(f, "neuron_attempts_in_flight{{kind=\"{kind}\"}} {count}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn counts_attempts_by_what_they_came_to() {
        let metrics = Metrics::default();
        let done = metrics.count(Kind::Tool, async { Ok::<_, ()>(()) }).await;
        let failed = metrics.count(Kind::Model, async { Err::<(), _>(()) }).await;
        assert_eq!((done, failed), (Ok(()), Err(())));
        let text = metrics.to_string();
        for line in [
            "neuron_attempts_total{kind=\"tool\",outcome=\"succeeded\"} 1",
            "neuron_attempts_total{kind=\"model\",outcome=\"failed\"} 1",
            "neuron_attempts_in_flight{kind=\"model\"} 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
    }
}
