//! The names that instruments and attributes have in Prometheus, and which of them an expression of PromQL uses.

use std::collections::BTreeSet;

use neuron_telemetry::names::{INSTRUMENTS, Instrument, InstrumentKind};

/// Returns the name of an instrument in Prometheus, as the strategy `UnderscoreEscapingWithSuffixes` makes it. A histogram has
/// three series, whose names begin with it.
pub(crate) fn metric_name(instrument: &Instrument) -> String {
    let mut name = label(instrument.name);
    match instrument.unit {
        "s" => name += "_seconds",
        unit => assert!(
            unit.starts_with('{') && unit.ends_with('}'),
            "{unit}: only annotations have no suffix"
        ),
    }
    if instrument.kind == InstrumentKind::Counter {
        name += "_total";
    }
    name
}

/// Returns the name of an attribute in Prometheus.
pub(crate) fn label(attribute: &str) -> String {
    attribute.replace('.', "_")
}

/// Returns the instrument that a series is of, and whether the series is that of its buckets.
pub(crate) fn instrument_of(series: &str) -> Option<(Instrument, bool)> {
    INSTRUMENTS.into_iter().find_map(|instrument| {
        let rest = series.strip_prefix(metric_name(&instrument).as_str())?;
        let is_buckets = rest == "_bucket";
        let is_known = match instrument.kind {
            InstrumentKind::Histogram(_) => is_buckets || rest == "_sum" || rest == "_count",
            _ => rest.is_empty(),
        };
        is_known.then_some((instrument, is_buckets))
    })
}

/// Returns the labels that a series can have, without those of its process.
fn labels_of(series: &str) -> Option<BTreeSet<String>> {
    let (instrument, is_buckets) = instrument_of(series)?;
    let le = is_buckets.then(|| "le".to_owned());
    let attributes = instrument.attributes.iter();
    Some(attributes.map(|it| label(it)).chain(le).collect())
}

/// What an expression names.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Named {
    /// Each selector: its series, and its matchers as a label and all that follows it.
    pub(crate) selectors: Vec<(String, Vec<(String, String)>)>,
    /// The labels that it groups or joins by.
    pub(crate) grouping: BTreeSet<String>,
}

impl Named {
    /// Reads an expression. Whatever is neither a word of PromQL nor a function is taken for a series.
    pub(crate) fn of(expression: &str) -> Self {
        let mut named = Self::default();
        let tokens = tokens(expression);
        let mut tokens = tokens.iter().map(String::as_str).peekable();
        while let Some(token) = tokens.next() {
            match token {
                "by" | "on" | "without" | "ignoring" | "group_left" | "group_right"
                    if tokens.next_if_eq(&"(").is_some() =>
                {
                    let list = tokens.by_ref().take_while(|token| *token != ")");
                    let list = list.filter(|token| *token != ",");
                    named.grouping.extend(list.map(str::to_owned));
                }
                "group_left" | "group_right" | "and" | "or" | "unless" | "offset" | "bool" => {}
                "[" => drop(tokens.by_ref().find(|token| *token == "]")),
                "{" => {
                    let inside = tokens.by_ref().take_while(|token| *token != "}");
                    let inside = inside.collect::<Vec<_>>();
                    let matchers = inside.split(|token| *token == ",");
                    let matchers = matchers.filter(|matcher| !matcher.is_empty());
                    let of = named.selectors.last_mut().expect("a series before {");
                    of.1.extend(
                        matchers.map(|matcher| (matcher[0].to_owned(), matcher[1..].concat())),
                    );
                }
                word if is_word(word) && tokens.peek() != Some(&"(") => {
                    let aggregates = ["by", "without"];
                    if tokens.peek().is_none_or(|next| !aggregates.contains(next)) {
                        named.selectors.push((word.to_owned(), Vec::new()));
                    }
                }
                _ => {}
            }
        }
        named
    }

    /// Returns what is wrong with it: series that do not exist, and labels that they do not have.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        if self.selectors.is_empty() {
            complaints.push("it reads nothing".to_owned());
        }
        for (series, matchers) in &self.selectors {
            let Some(labels) = labels_of(series) else {
                complaints.push(format!("no instrument has the series {series}"));
                continue;
            };
            let matched = matchers.iter().map(|(label, _)| label);
            let unknown = matched.chain(&self.grouping);
            let unknown = unknown.filter(|label| !labels.contains(*label));
            complaints.extend(unknown.map(|label| format!("{series} has no label {label}")));
        }
        complaints
    }

    /// Returns the instruments that it reads.
    pub(crate) fn instruments(&self) -> BTreeSet<&'static str> {
        let series = self.selectors.iter();
        series
            .filter_map(|(series, _)| Some(instrument_of(series)?.0.name))
            .collect()
    }
}

/// Returns the words, numbers, strings and signs of an expression.
fn tokens(expression: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = expression.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = if first == '"' {
            let end = rest[1..].find('"').expect("a string ends");
            assert!(!rest[..end].contains('\\'), "escapes are not read: {rest}");
            end + 2
        } else if is_in_word(first) || first.is_ascii_digit() || first == '$' {
            let inside = |it: char| is_in_word(it) || it.is_ascii_digit() || "$.".contains(it);
            rest.find(|it| !inside(it)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(end);
        tokens.push(token.to_owned());
        rest = after.trim_start();
    }
    tokens
}

fn is_in_word(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_' || character == ':'
}

fn is_word(token: &str) -> bool {
    token.starts_with(is_in_word)
}

#[test]
fn names_are_those_that_prometheus_makes() {
    let name = |of: &str| {
        let mut instruments = INSTRUMENTS.iter();
        metric_name(instruments.find(|it| it.name == of).unwrap())
    };
    assert_eq!(name("neuron.run.started"), "neuron_run_started_total");
    assert_eq!(name("neuron.cost"), "neuron_cost");
    assert_eq!(name("neuron.limiter.waiting"), "neuron_limiter_waiting");
    assert_eq!(
        name("gen_ai.client.operation.duration"),
        "gen_ai_client_operation_duration_seconds"
    );
}

#[test]
fn no_two_instruments_have_the_same_name_in_prometheus() {
    let names: BTreeSet<String> = INSTRUMENTS.iter().map(metric_name).collect();
    assert_eq!(names.len(), INSTRUMENTS.len());
}

#[test]
fn series_and_labels_of_an_expression_are_found() {
    let named = Named::of(
        r#"sum by (le, b) (rate(m_bucket{a="x{y", c=~"$c"}[$__rate_interval] offset 1d)) / on (d) n > 0.5 or sum(o) without (e)"#,
    );
    let matchers = |matchers: &[(&str, &str)]| {
        let owned = matchers
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
        owned.collect::<Vec<_>>()
    };
    let expected = [
        (
            "m_bucket",
            matchers(&[("a", r#"="x{y""#), ("c", r#"=~"$c""#)]),
        ),
        ("n", matchers(&[])),
        ("o", matchers(&[])),
    ];
    let expected = expected.map(|(series, matchers)| (series.to_owned(), matchers));
    assert_eq!(named.selectors, expected);
    let grouping = ["b", "d", "e", "le"].map(str::to_owned);
    assert_eq!(named.grouping, BTreeSet::from(grouping));
}

#[test]
fn an_expression_with_a_wrong_name_is_complained_of() {
    let complaints = |expression| Named::of(expression).complaints();
    let right =
        r#"sum by (neuron_tenant) (rate(neuron_run_ended_total{neuron_exit_reason="failed"}[5m]))"#;
    assert_eq!(complaints(right), [""; 0]);
    for wrong in [
        "1 > 0",
        // Without what the kind and the unit add, and with what they do not.
        "neuron_run_ended",
        "neuron_run_duration_bucket",
        "neuron_run_duration_seconds",
        "neuron_run_duration_seconds_total",
        "neuron_cost_USD_sum",
        "neuron_limiter_waiting_requests",
        "neuron.run.ended",
        "go_goroutines",
        // Labels of others, and labels without an owner.
        r#"neuron_run_started_total{neuron_exit_reason="failed"}"#,
        "sum by (agent) (neuron_run_started_total)",
        "sum by (neuron_tenant) (neuron_guard_verdicts_total)",
        "sum by (le) (neuron_cost_sum)",
        "neuron_run_ended_total / on (neuron_exit_reason) neuron_run_started_total",
    ] {
        assert!(!complaints(wrong).is_empty(), "{wrong}");
    }
}
