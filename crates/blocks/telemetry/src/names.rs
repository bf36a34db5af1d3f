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
//! | name | kind | unit | attributes that the executor gives |
//! | --- | --- | --- | --- |
//! | `gen_ai.client.operation.duration` | histogram | `s` | `error.type`, `gen_ai.agent.name`, `gen_ai.operation.name`, `gen_ai.provider.name`, `gen_ai.request.model`, `gen_ai.response.model`, `neuron.tenant` |
//! | `gen_ai.client.operation.time_to_first_chunk` | histogram | `s` | `gen_ai.agent.name`, `gen_ai.operation.name`, `gen_ai.provider.name`, `gen_ai.request.model` |
//! | `gen_ai.client.token.usage` | histogram | `{token}` | `gen_ai.agent.name`, `gen_ai.operation.name`, `gen_ai.provider.name`, `gen_ai.request.model`, `gen_ai.token.type`, `neuron.tenant` |
//! | `gen_ai.execute_tool.duration` | histogram | `s` | `error.type`, `gen_ai.agent.name`, `gen_ai.operation.name`, `gen_ai.tool.name`, `neuron.tenant` |
//! | `gen_ai.invoke_agent.duration` | histogram | `s` | `gen_ai.agent.name`, `gen_ai.operation.name`, `neuron.tenant` |
//! | `neuron.child.ended` | counter | `{run}` | `gen_ai.agent.name`, `neuron.exit_reason`, `neuron.tenant` |
//! | `neuron.context.compactions` | counter | `{compaction}` | `gen_ai.agent.name`, `neuron.tenant` |
//! | `neuron.cost` | histogram | `{USD}` | `gen_ai.agent.name`, `gen_ai.provider.name`, `gen_ai.request.model`, `neuron.tenant` |
//! | `neuron.guard.verdicts` | counter | `{verdict}` | `neuron.guard.name`, `neuron.guard.point`, `neuron.guard.verdict` |
//! | `neuron.limiter.wait` | histogram | `s` | `gen_ai.provider.name` |
//! | `neuron.limiter.waiting` | gauge | `{request}` | `gen_ai.provider.name` |
//! | `neuron.provider.outages` | counter | `{outage}` | `error.type`, `gen_ai.provider.name`, `gen_ai.request.model` |
//! | `neuron.run.duration` | histogram | `s` | `gen_ai.agent.name`, `neuron.exit_reason`, `neuron.tenant` |
//! | `neuron.run.ended` | counter | `{run}` | `gen_ai.agent.name`, `neuron.exit_reason`, `neuron.tenant` |
//! | `neuron.run.started` | counter | `{run}` | `gen_ai.agent.name`, `neuron.tenant` |
//! | `neuron.step.retries` | counter | `{retry}` | `gen_ai.agent.name`, `gen_ai.operation.name`, `neuron.tenant` |
//! | `neuron.ticket.closed` | counter | `{ticket}` | `gen_ai.agent.name`, `neuron.tenant`, `neuron.ticket.kind`, `neuron.ticket.verdict` |
//! | `neuron.ticket.opened` | counter | `{ticket}` | `gen_ai.agent.name`, `neuron.tenant`, `neuron.ticket.kind` |
//! | `neuron.ticket.wait` | histogram | `s` | `gen_ai.agent.name`, `neuron.tenant`, `neuron.ticket.kind`, `neuron.ticket.verdict` |

mod instruments;

pub use instruments::{INSTRUMENTS, Instrument, InstrumentKind};

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
            name,
            kind,
            unit,
            attributes,
            ..
        } in INSTRUMENTS
        {
            let kind = match kind {
                InstrumentKind::Counter => "counter",
                InstrumentKind::Histogram(_) => "histogram",
                InstrumentKind::Gauge => "gauge",
            };
            let attributes = attributes.join("`, `");
            let row = format!("| `{name}` | {kind} | `{unit}` | `{attributes}` |");
            assert!(documentation.contains(&row), "{row}");
        }
    }

    #[test]
    fn names_are_in_order_and_bounds_ascend() {
        assert!(INSTRUMENTS.is_sorted_by(|a, b| a.name < b.name));
        assert!(RENAMED.is_sorted_by(|a, b| a.0 < b.0));
        for instrument in INSTRUMENTS {
            let attributes = instrument.attributes;
            assert!(attributes.is_sorted_by(|a, b| a < b), "{}", instrument.name);
            if let InstrumentKind::Histogram(bounds) = instrument.kind {
                assert!(bounds.is_sorted_by(|a, b| a < b), "{}", instrument.name);
            }
        }
    }
}
