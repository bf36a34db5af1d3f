//! What is measured, and with what.

use neuron_telemetry::Telemetry;
use opentelemetry::KeyValue;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, Metric, MetricData};
use tracing::Level;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::A_DAY;

/// Returns the metrics that come of what this emits to tracing, one description for each point, in the order of their
/// names.
fn measured(tell: impl FnOnce()) -> Vec<String> {
    let (telemetry, _, metrics) = Telemetry::in_memory();
    let subscriber = tracing_subscriber::registry().with(telemetry.layer());
    tracing::subscriber::with_default(subscriber, tell);
    assert!(telemetry.flush(A_DAY));
    let mut points = Vec::new();
    for resource in metrics.get_finished_metrics().unwrap() {
        for scope in resource.scope_metrics() {
            points.extend(scope.metrics().flat_map(points_of));
        }
    }
    points.sort();
    points
}

fn points_of(metric: &Metric) -> Vec<String> {
    let head = format!("{} [{}]", metric.name(), metric.unit());
    match metric.data() {
        AggregatedMetrics::U64(MetricData::Sum(sum)) => sum
            .data_points()
            .map(|point| format!("{head} {} {}", point.value(), listed(point.attributes())))
            .collect(),
        AggregatedMetrics::F64(MetricData::Gauge(gauge)) => gauge
            .data_points()
            .map(|point| format!("{head} ={} {}", point.value(), listed(point.attributes())))
            .collect(),
        AggregatedMetrics::F64(MetricData::Histogram(histogram)) => histogram
            .data_points()
            .map(|point| {
                let below = point.bounds().zip(point.bucket_counts());
                let below = below.filter(|(_, many)| *many > 0);
                let below: Vec<String> = below
                    .map(|(bound, many)| format!("{many}<={bound}"))
                    .collect();
                let (sum, below) = (point.sum(), below.join(" "));
                format!("{head} sum {sum} {below} {}", listed(point.attributes()))
            })
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn listed<'a>(attributes: impl Iterator<Item = &'a KeyValue>) -> String {
    let mut listed: Vec<String> = attributes
        .map(|attribute| format!("{}={:?}", attribute.key, attribute.value))
        .collect();
    listed.sort();
    listed.join(" ")
}

#[test]
fn counters_add_up_histograms_count_and_gauges_keep_the_last() {
    let points = measured(|| {
        for waiting in [4_i64, 2] {
            tracing::event!(target: "neuron::metrics", Level::INFO,
                counter.neuron.run.started = 2_u64,
                histogram.gen_ai.client.token.usage = 100_u64,
                histogram.gen_ai.client.operation.duration = 0.05,
                gauge.neuron.limiter.waiting = waiting,
                agent = "helper",
            );
        }
    });

    let agent = "gen_ai.agent.name=String(Owned(\"helper\"))";
    let expected = [
        format!("gen_ai.client.operation.duration [s] sum 0.1 2<=0.08 {agent}"),
        format!("gen_ai.client.token.usage [{{token}}] sum 200 2<=256 {agent}"),
        format!("neuron.limiter.waiting [{{request}}] =2 {agent}"),
        format!("neuron.run.started [{{run}}] 4 {agent}"),
    ];
    assert_eq!(points, expected);
}

#[test]
fn attributes_keep_measurements_apart() {
    let points = measured(|| {
        for (kind, tokens) in [("input", 12_u64), ("output", 5), ("input", 1)] {
            tracing::event!(target: "neuron::metrics", Level::INFO,
                histogram.gen_ai.client.token.usage = tokens,
                gen_ai.token.type = kind,
            );
        }
    });

    assert_eq!(points.len(), 2, "{points:?}");
    assert!(points[0].contains("sum 13") && points[0].contains("input"));
    assert!(points[1].contains("sum 5") && points[1].contains("output"));
}

#[test]
fn what_no_instrument_is_for_is_ignored() {
    let points = measured(|| {
        tracing::event!(target: "neuron::metrics", Level::INFO, counter.neuron.unheard.of = 1_u64);
        // Each of these is of another kind than the instrument.
        tracing::event!(target: "neuron::metrics", Level::INFO, counter.neuron.run.duration = 1_u64);
        tracing::event!(target: "neuron::metrics", Level::INFO, gauge.neuron.run.started = 1_i64);
        tracing::event!(target: "neuron::metrics", Level::INFO, counter.neuron.run.started = -1_i64);
        tracing::event!(target: "neuron::metrics", Level::INFO, counter.neuron.run.started = 1.5);
        tracing::event!(target: "neuron::metrics", Level::INFO, counter.neuron.run.started = "1");
        tracing::event!(target: "neuron::metrics", Level::INFO, histogram.neuron.cost = f64::NAN);
        tracing::event!(target: "neuron::metrics", Level::INFO, histogram.neuron.cost = f64::INFINITY);
        tracing::event!(target: "neuron::other", Level::INFO, counter.neuron.run.started = 1_u64);
    });
    assert_eq!(points, [""; 0]);
}

#[test]
fn messages_are_no_attributes() {
    let points = measured(|| {
        tracing::event!(target: "neuron::metrics", Level::INFO, counter.neuron.run.started = 1, "content");
    });
    assert_eq!(points, ["neuron.run.started [{run}] 1 "]);
}
