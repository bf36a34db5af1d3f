//! The names that fields, attributes and instruments have.
//!
//! Those that begin with `gen_ai.` are OpenTelemetry's for generative AI, as the schema `gen-ai-dev/1.42.0-dev` has them
//! ([`SCHEMA_URL`]); of its metrics, those that tools emit now, which later versions rename. Those that begin with
//! `neuron.` are our own.
//!
//! Fields that are renamed ([`RENAMED`]); any other field is the attribute of its own name:
//!
//! | field | attribute |
//! | --- | --- |
//! | `agent` | `gen_ai.agent.name` |
//! | `attempt` | `neuron.attempt` |
//! | `owner` | `neuron.owner` |
//! | `position` | `neuron.position` |
//! | `root_id` | `neuron.root.id` |
//! | `run_id` | `neuron.run.id` |
//! | `tenant` | `neuron.tenant` |
//! | `turn` | `neuron.turn` |
//!
//! Instruments ([`INSTRUMENTS`]):
//!
//! | name | kind | unit |
//! | --- | --- | --- |
//! | `gen_ai.client.operation.duration` | histogram | `s` |
//! | `gen_ai.client.operation.time_to_first_chunk` | histogram | `s` |
//! | `gen_ai.client.token.usage` | histogram | `{token}` |
//! | `gen_ai.execute_tool.duration` | histogram | `s` |
//! | `gen_ai.invoke_agent.duration` | histogram | `s` |
//! | `neuron.child.ended` | counter | `{run}` |
//! | `neuron.context.compactions` | counter | `{compaction}` |
//! | `neuron.cost` | histogram | `{USD}` |
//! | `neuron.guard.verdicts` | counter | `{verdict}` |
//! | `neuron.limiter.wait` | histogram | `s` |
//! | `neuron.limiter.waiting` | gauge | `{request}` |
//! | `neuron.provider.outages` | counter | `{outage}` |
//! | `neuron.run.duration` | histogram | `s` |
//! | `neuron.run.ended` | counter | `{run}` |
//! | `neuron.run.started` | counter | `{run}` |
//! | `neuron.step.retries` | counter | `{retry}` |
//! | `neuron.ticket.closed` | counter | `{ticket}` |
//! | `neuron.ticket.opened` | counter | `{ticket}` |
//! | `neuron.ticket.wait` | histogram | `s` |

/// The version of the conventions that the names are of.
pub const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev";

/// What the targets of spans that are exported begin with.
pub const SPANS: &str = "neuron";

/// The target of events that are measurements.
pub const METRICS: &str = "neuron::metrics";

/// The attribute whose presence says that a span ended with an error.
pub const ERROR_TYPE: &str = "error.type";

/// Fields that say what a span is, and are no attributes.
pub mod field {
    /// The name of the span. A span without this field is not exported.
    pub const NAME: &str = "otel.name";
    /// `client`, `server`, `producer`, `consumer`, or `internal`, which is the default.
    pub const KIND: &str = "otel.kind";
    /// The trace, as 32 hex digits.
    pub const TRACE: &str = "trace.id";
    /// The span's own id, as 16 hex digits.
    pub const SPAN: &str = "trace.span";
    /// The id of the span that it is a part of, as 16 hex digits.
    pub const PARENT: &str = "trace.parent";
    /// Whether it is exported. Where it is not said, the sampler decides.
    pub const SAMPLED: &str = "trace.sampled";
    /// What came with the trace, as W3C's `tracestate` writes it.
    pub const STATE: &str = "trace.state";
    /// The id of the span of the same trace that it follows, as 16 hex digits.
    pub const LINK: &str = "trace.link";
    /// How many milliseconds before it was made it began.
    pub const TOOK_MS: &str = "trace.took_ms";

    /// Returns whether a field of this name is one of them.
    #[must_use]
    pub fn is_own(name: &str) -> bool {
        matches!(
            name,
            NAME | KIND | TRACE | SPAN | PARENT | SAMPLED | STATE | LINK | TOOK_MS
        )
    }
}

/// Fields that have another name as attributes.
pub const RENAMED: [(&str, &str); 8] = [
    ("agent", "gen_ai.agent.name"),
    ("attempt", "neuron.attempt"),
    ("owner", "neuron.owner"),
    ("position", "neuron.position"),
    ("root_id", "neuron.root.id"),
    ("run_id", "neuron.run.id"),
    ("tenant", "neuron.tenant"),
    ("turn", "neuron.turn"),
];

/// Returns the name that a field has as an attribute.
#[must_use]
pub fn attribute(field: &'static str) -> &'static str {
    let mut renamed = RENAMED.iter();
    let renamed = renamed.find(|(from, _)| *from == field);
    renamed.map_or(field, |(_, to)| to)
}

/// What an instrument does with what is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum InstrumentKind {
    /// Adds it up. Fields: `counter.NAME`.
    Counter,
    /// Counts how much of it is below each of these bounds. Fields: `histogram.NAME`.
    Histogram(&'static [f64]),
    /// Keeps the last of it. Fields: `gauge.NAME`.
    Gauge,
}

/// An instrument.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instrument {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub kind: InstrumentKind,
    /// What it counts or measures, as UCUM writes it.
    pub unit: &'static str,
    /// What it says.
    pub description: &'static str,
}

const fn counter(name: &'static str, unit: &'static str, description: &'static str) -> Instrument {
    Instrument {
        name,
        kind: InstrumentKind::Counter,
        unit,
        description,
    }
}

const fn seconds(
    name: &'static str,
    bounds: &'static [f64],
    description: &'static str,
) -> Instrument {
    Instrument {
        name,
        kind: InstrumentKind::Histogram(bounds),
        unit: "s",
        description,
    }
}

/// Seconds of calls.
const CALLS: &[f64] = &[
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

/// Seconds of what consists of calls.
const TURNS: &[f64] = &[
    0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6,
];

/// Seconds of what waits for people, to a month.
const DAYS: &[f64] = &[
    1.0,
    5.0,
    15.0,
    60.0,
    300.0,
    900.0,
    3_600.0,
    14_400.0,
    43_200.0,
    86_400.0,
    259_200.0,
    604_800.0,
    2_592_000.0,
];

const TOKENS: &[f64] = &[
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

const DOLLARS: &[f64] = &[
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0,
];

/// All instruments. What is measured with others is ignored.
pub const INSTRUMENTS: [Instrument; 19] = [
    seconds(
        "gen_ai.client.operation.duration",
        CALLS,
        "How long a call of a model takes.",
    ),
    seconds(
        "gen_ai.client.operation.time_to_first_chunk",
        CALLS,
        "How long it takes until a model begins to answer.",
    ),
    Instrument {
        name: "gen_ai.client.token.usage",
        kind: InstrumentKind::Histogram(TOKENS),
        unit: "{token}",
        description: "How many tokens a call of a model takes in or gives out.",
    },
    seconds(
        "gen_ai.execute_tool.duration",
        CALLS,
        "How long a call of a tool takes.",
    ),
    seconds(
        "gen_ai.invoke_agent.duration",
        TURNS,
        "How long a turn of a run takes, with all that it waits for.",
    ),
    counter(
        "neuron.child.ended",
        "{run}",
        "Runs that other runs started, and that ended.",
    ),
    counter(
        "neuron.context.compactions",
        "{compaction}",
        "Conversations that were made smaller.",
    ),
    Instrument {
        name: "neuron.cost",
        kind: InstrumentKind::Histogram(DOLLARS),
        unit: "{USD}",
        description: "What a call of a model costs, where its price is known.",
    },
    counter("neuron.guard.verdicts", "{verdict}", "What guards decide."),
    seconds(
        "neuron.limiter.wait",
        CALLS,
        "How long requests wait for their turn where a rate is set.",
    ),
    Instrument {
        name: "neuron.limiter.waiting",
        kind: InstrumentKind::Gauge,
        unit: "{request}",
        description: "How many requests wait for their turn.",
    },
    counter(
        "neuron.provider.outages",
        "{outage}",
        "Attempts at calls of models that failed for a reason of the server, or on the way to it.",
    ),
    seconds(
        "neuron.run.duration",
        DAYS,
        "How long a run takes, with all that it waits for.",
    ),
    counter("neuron.run.ended", "{run}", "Runs that ended."),
    counter("neuron.run.started", "{run}", "Runs that were started."),
    counter(
        "neuron.step.retries",
        "{retry}",
        "Attempts at steps that followed one that failed.",
    ),
    counter(
        "neuron.ticket.closed",
        "{ticket}",
        "Tickets that were decided, or lapsed.",
    ),
    counter(
        "neuron.ticket.opened",
        "{ticket}",
        "Tickets that were opened.",
    ),
    seconds(
        "neuron.ticket.wait",
        DAYS,
        "How long a ticket was open when it was decided, or lapsed.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The comments of this file.
    fn documentation() -> String {
        let lines = include_str!("names.rs").lines();
        let lines = lines.filter_map(|line| line.strip_prefix("//! "));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_documentation_lists_every_name() {
        let documentation = documentation();
        for (from, to) in RENAMED {
            let row = format!("| `{from}` | `{to}` |");
            assert!(documentation.contains(&row), "{row}");
        }
        for Instrument {
            name, kind, unit, ..
        } in INSTRUMENTS
        {
            let kind = match kind {
                InstrumentKind::Counter => "counter",
                InstrumentKind::Histogram(_) => "histogram",
                InstrumentKind::Gauge => "gauge",
            };
            let row = format!("| `{name}` | {kind} | `{unit}` |");
            assert!(documentation.contains(&row), "{row}");
        }
    }

    #[test]
    fn names_are_in_order_and_bounds_ascend() {
        assert!(INSTRUMENTS.is_sorted_by(|a, b| a.name < b.name));
        assert!(RENAMED.is_sorted_by(|a, b| a.0 < b.0));
        for instrument in INSTRUMENTS {
            if let InstrumentKind::Histogram(bounds) = instrument.kind {
                assert!(bounds.is_sorted_by(|a, b| a < b), "{}", instrument.name);
            }
        }
    }

    #[test]
    fn bounds_are_those_of_the_conventions() {
        let times = |first: f64, factor: f64, many: i32| {
            (0..many)
                .map(|step| first * factor.powi(step))
                .collect::<Vec<_>>()
        };
        let near = |bounds: &[f64], expected: &[f64]| {
            bounds.len() == expected.len()
                && bounds
                    .iter()
                    .zip(expected)
                    .all(|(a, b)| (a - b).abs() < b * 1e-9)
        };
        assert!(near(CALLS, &times(0.01, 2.0, 14)));
        assert!(near(TURNS, &times(0.1, 2.0, 13)));
        assert!(near(TOKENS, &times(1.0, 4.0, 14)));
    }
}
