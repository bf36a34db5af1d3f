//! The table of instruments.

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
    /// The attributes that the executor gives it, in order. Not every measurement has all of them.
    pub attributes: &'static [&'static str],
}

const fn counter(
    name: &'static str,
    unit: &'static str,
    description: &'static str,
    attributes: &'static [&'static str],
) -> Instrument {
    Instrument {
        name,
        kind: InstrumentKind::Counter,
        unit,
        description,
        attributes,
    }
}

const fn seconds(
    name: &'static str,
    bounds: &'static [f64],
    description: &'static str,
    attributes: &'static [&'static str],
) -> Instrument {
    Instrument {
        name,
        kind: InstrumentKind::Histogram(bounds),
        unit: "s",
        description,
        attributes,
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
        &[
            "error.type",
            "gen_ai.agent.name",
            "gen_ai.operation.name",
            "gen_ai.provider.name",
            "gen_ai.request.model",
            "gen_ai.response.model",
            "neuron.tenant",
        ],
    ),
    seconds(
        "gen_ai.client.operation.time_to_first_chunk",
        CALLS,
        "How long it takes until a model begins to answer.",
        &[
            "gen_ai.agent.name",
            "gen_ai.operation.name",
            "gen_ai.provider.name",
            "gen_ai.request.model",
        ],
    ),
    Instrument {
        name: "gen_ai.client.token.usage",
        kind: InstrumentKind::Histogram(TOKENS),
        unit: "{token}",
        description: "How many tokens a call of a model takes in or gives out.",
        attributes: &[
            "gen_ai.agent.name",
            "gen_ai.operation.name",
            "gen_ai.provider.name",
            "gen_ai.request.model",
            "gen_ai.token.type",
            "neuron.tenant",
        ],
    },
    seconds(
        "gen_ai.execute_tool.duration",
        CALLS,
        "How long a call of a tool takes.",
        &[
            "error.type",
            "gen_ai.agent.name",
            "gen_ai.operation.name",
            "gen_ai.tool.name",
            "neuron.tenant",
        ],
    ),
    seconds(
        "gen_ai.invoke_agent.duration",
        TURNS,
        "How long a turn of a run takes, with all that it waits for.",
        &[
            "gen_ai.agent.name",
            "gen_ai.operation.name",
            "neuron.tenant",
        ],
    ),
    counter(
        "neuron.child.ended",
        "{run}",
        "Runs that other runs started, and that ended.",
        &["gen_ai.agent.name", "neuron.exit_reason", "neuron.tenant"],
    ),
    counter(
        "neuron.context.compactions",
        "{compaction}",
        "Conversations that were made smaller.",
        &["gen_ai.agent.name", "neuron.tenant"],
    ),
    Instrument {
        name: "neuron.cost",
        kind: InstrumentKind::Histogram(DOLLARS),
        unit: "{USD}",
        description: "What a call of a model costs, where its price is known.",
        attributes: &[
            "gen_ai.agent.name",
            "gen_ai.provider.name",
            "gen_ai.request.model",
            "neuron.tenant",
        ],
    },
    counter(
        "neuron.guard.verdicts",
        "{verdict}",
        "What guards decide.",
        &[
            "neuron.guard.name",
            "neuron.guard.point",
            "neuron.guard.verdict",
        ],
    ),
    seconds(
        "neuron.limiter.wait",
        CALLS,
        "How long requests wait for their turn where a rate is set.",
        &["gen_ai.provider.name"],
    ),
    Instrument {
        name: "neuron.limiter.waiting",
        kind: InstrumentKind::Gauge,
        unit: "{request}",
        description: "How many requests wait for their turn.",
        attributes: &["gen_ai.provider.name"],
    },
    counter(
        "neuron.provider.outages",
        "{outage}",
        "Attempts at calls of models that failed for a reason of the server, or on the way to it.",
        &["error.type", "gen_ai.provider.name", "gen_ai.request.model"],
    ),
    seconds(
        "neuron.run.duration",
        DAYS,
        "How long a run takes, with all that it waits for.",
        &["gen_ai.agent.name", "neuron.exit_reason", "neuron.tenant"],
    ),
    counter(
        "neuron.run.ended",
        "{run}",
        "Runs that ended.",
        &["gen_ai.agent.name", "neuron.exit_reason", "neuron.tenant"],
    ),
    counter(
        "neuron.run.started",
        "{run}",
        "Runs that were started.",
        &["gen_ai.agent.name", "neuron.tenant"],
    ),
    counter(
        "neuron.step.retries",
        "{retry}",
        "Attempts at steps that followed one that failed.",
        &[
            "gen_ai.agent.name",
            "gen_ai.operation.name",
            "neuron.tenant",
        ],
    ),
    counter(
        "neuron.ticket.closed",
        "{ticket}",
        "Tickets that were decided, or lapsed.",
        &[
            "gen_ai.agent.name",
            "neuron.tenant",
            "neuron.ticket.kind",
            "neuron.ticket.verdict",
        ],
    ),
    counter(
        "neuron.ticket.opened",
        "{ticket}",
        "Tickets that were opened.",
        &["gen_ai.agent.name", "neuron.tenant", "neuron.ticket.kind"],
    ),
    seconds(
        "neuron.ticket.wait",
        DAYS,
        "How long a ticket was open when it was decided, or lapsed.",
        &[
            "gen_ai.agent.name",
            "neuron.tenant",
            "neuron.ticket.kind",
            "neuron.ticket.verdict",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

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
