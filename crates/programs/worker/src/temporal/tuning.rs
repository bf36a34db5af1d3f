//! How much the worker does at once, and how often it reports.

use std::time::Duration;

use clap::{Args, ValueEnum, value_parser};
use neuron_temporal::{AgentWorkerBuilder, SearchAttributes};

use crate::duration;

/// The shortest time for which the reports of steps are retried.
const PATIENCE: Duration = Duration::from_secs(90);

/// What an operator sets of the worker, where the defaults do not fit.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tuning")]
pub(crate) struct Tuning {
    /// The most workflow tasks that are executed at once [default: 100]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    max_workflow_tasks: Option<u32>,
    /// The most activities, model calls and tool calls, that are made at once [default: 100]
    #[arg(long, value_name = "N", env = "NEURON_MAX_ACTIVITIES", value_parser = value_parser!(u32).range(1..))]
    max_activities: Option<u32>,
    /// The most local calls that are made at once [default: 100]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    max_local_activities: Option<u32>,
    /// How many requests for workflow tasks are open at once [default: 5, or as the server advises]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(2..))]
    workflow_pollers: Option<u32>,
    /// How many requests for activities are open at once [default: 5, or as the server advises]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    activity_pollers: Option<u32>,
    /// How many runs are kept in memory; others are replayed when something happens in them [default: 1000]
    #[arg(long, value_name = "N", env = "NEURON_CACHED_RUNS")]
    cached_runs: Option<u32>,
    /// How many bytes of conversations are remembered [default: 64 MiB]
    #[arg(long, value_name = "N", env = "NEURON_TRANSCRIPT_BYTES")]
    transcript_bytes: Option<usize>,
    /// The most activities that this worker starts a second [default: no limit]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    activities_per_second: Option<f64>,
    /// The most activities that the server hands out a second to all workers of the task queue; all of them should say
    /// the same [default: no limit]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    queue_activities_per_second: Option<f64>,
    /// How often a step has a heartbeat; cancelling a run reaches a step within this
    #[arg(long, value_name = "DURATION", value_parser = positive, default_value = "5s")]
    heartbeat_interval: Duration,
    /// How long a read or a model call may be silent until its worker counts as lost, where its agent says nothing
    #[arg(long, value_name = "DURATION", value_parser = positive, default_value = "90s")]
    heartbeat_timeout: Duration,
    /// The same of a write, whose outcome is unknown then
    #[arg(long, value_name = "DURATION", value_parser = positive, default_value = "90s")]
    write_heartbeat_timeout: Duration,
    /// Whether runs set search attributes: probe sets those that the namespace has
    #[arg(long, value_name = "WHEN", value_enum, env = "NEURON_SEARCH_ATTRIBUTES", default_value_t = WhichAttributes::Probe)]
    search_attributes: WhichAttributes,
}

/// Which search attributes runs set.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum WhichAttributes {
    /// All of them: the namespace has them
    On,
    /// None
    Off,
    /// Those that the namespace has
    Probe,
}

impl Tuning {
    /// Sets these options on the builder.
    pub(crate) fn apply(&self, mut builder: AgentWorkerBuilder) -> AgentWorkerBuilder {
        if let Some(tasks) = self.max_workflow_tasks {
            builder = builder.max_workflow_tasks(count(tasks));
        }
        if let Some(activities) = self.max_activities {
            builder = builder.max_activities(count(activities));
        }
        if let Some(activities) = self.max_local_activities {
            builder = builder.max_local_activities(count(activities));
        }
        if let Some(pollers) = self.workflow_pollers {
            builder = builder.workflow_pollers(count(pollers));
        }
        if let Some(pollers) = self.activity_pollers {
            builder = builder.activity_pollers(count(pollers));
        }
        if let Some(runs) = self.cached_runs {
            builder = builder.cached_runs(count(runs));
        }
        if let Some(bytes) = self.transcript_bytes {
            builder = builder.transcript_cache_bytes(bytes);
        }
        if let Some(rate) = self.activities_per_second {
            builder = builder.activities_per_second(rate);
        }
        if let Some(rate) = self.queue_activities_per_second {
            builder = builder.queue_activities_per_second(rate);
        }
        builder
            .heartbeat_interval(self.heartbeat_interval)
            .heartbeat_timeouts(self.write_heartbeat_timeout, self.heartbeat_timeout)
            .search_attributes(match self.search_attributes {
                WhichAttributes::On => SearchAttributes::On,
                WhichAttributes::Off => SearchAttributes::Off,
                WhichAttributes::Probe => SearchAttributes::Probe,
            })
    }

    /// Returns how long the reports of steps are retried: as long as a step may be silent.
    pub(crate) fn patience(&self) -> Duration {
        let longest = self.write_heartbeat_timeout.max(self.heartbeat_timeout);
        longest.max(PATIENCE)
    }
}

fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[derive(Debug, thiserror::Error)]
enum BadNumber {
    #[error("it must be a number above 0")]
    Rate,
    #[error("it must be longer than zero, such as `30s`")]
    Duration,
}

fn rate(text: &str) -> Result<f64, BadNumber> {
    let rate: f64 = text.parse().map_err(|_| BadNumber::Rate)?;
    let is_rate = rate.is_finite() && rate > 0.0;
    is_rate.then_some(rate).ok_or(BadNumber::Rate)
}

fn positive(text: &str) -> Result<Duration, BadNumber> {
    let read = duration(text).map_err(|_| BadNumber::Duration)?;
    (!read.is_zero()).then_some(read).ok_or(BadNumber::Duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_above_nothing() {
        assert!((rate("0.5").unwrap() - 0.5).abs() < f64::EPSILON);
        for text in ["0", "-1", "NaN", "inf", "many"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_timeout_is_longer_than_nothing() {
        assert_eq!(positive("30s").unwrap(), Duration::from_secs(30)); // Only read, never waited for.
        for text in ["0s", "", "30"] {
            assert!(positive(text).is_err(), "{text}");
        }
    }
}
