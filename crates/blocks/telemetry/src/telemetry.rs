//! All of it: what is read from the environment, emitted by tracing, and sent.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use opentelemetry::InstrumentationScope;
use opentelemetry_sdk::{
    Resource,
    metrics::{PeriodicReader, SdkMeterProvider, exporter::PushMetricExporter},
    trace::SpanExporter,
};
#[cfg(feature = "testing")]
use opentelemetry_sdk::{metrics::InMemoryMetricExporter, trace::InMemorySpanExporter};
use tracing::{Subscriber, warn};
use tracing_subscriber::{Layer, registry::LookupSpan};

use crate::{
    environment::Environment,
    error::TelemetryError,
    failures::Failures,
    http_thread::HttpThread,
    ids,
    instruments::Instruments,
    layer::TelemetryLayer,
    names,
    otlp::{OtlpMetrics, OtlpSpans},
    resource,
    sender::Sender,
    settings::Settings,
    spans::Spans,
    watched::Watched,
};

/// What the SDK may take to end. It is given up on earlier, without its complaints.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Traces and metrics on their way to a receiver. Clones are the same.
#[derive(Debug, Clone)]
pub struct Telemetry {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    traces: Option<Traces>,
    metrics: Option<Metrics>,
    thread: Option<HttpThread>,
    is_shut_down: AtomicBool,
}

#[derive(Debug)]
struct Traces {
    spans: Arc<Spans>,
    failures: Arc<Failures>,
}

#[derive(Debug)]
struct Metrics {
    instruments: Arc<Instruments>,
    provider: SdkMeterProvider,
    failures: Arc<Failures>,
}

impl Telemetry {
    /// Reads the variables `OTEL_*`. Returns `None` unless they ask for something to be exported.
    ///
    /// # Errors
    ///
    /// Returns an error that names the variable which is wrong, or one if nothing can be sent from here.
    pub fn from_env(service_name: &str) -> Result<Option<Self>, TelemetryError> {
        let environment = Environment::of_process();
        let Some(settings) = Settings::read(environment)? else {
            return Ok(None);
        };
        let resource = resource::resource(environment, service_name)?;
        let thread = HttpThread::start()?;
        let sender = |receiver| Sender::new(receiver, &thread);
        let spans = settings.traces.map(sender).transpose()?;
        let metrics = settings.metrics.map(sender).transpose()?;
        let metrics = metrics.map(|sender| OtlpMetrics::new(sender, settings.temporality));
        let spans = spans.map(OtlpSpans::new);
        Ok(Some(Self::over(&resource, spans, metrics, Some(thread))))
    }

    /// Returns one that exports to memory, and what it exports.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn in_memory() -> (Self, InMemorySpanExporter, InMemoryMetricExporter) {
        let spans = InMemorySpanExporter::default();
        let metrics = InMemoryMetricExporter::default();
        let resource = Resource::builder().build();
        let telemetry = Self::over(&resource, Some(spans.clone()), Some(metrics.clone()), None);
        (telemetry, spans, metrics)
    }

    fn over(
        resource: &Resource,
        spans: Option<impl SpanExporter + 'static>,
        metrics: Option<impl PushMetricExporter>,
        thread: Option<HttpThread>,
    ) -> Self {
        let scope = InstrumentationScope::builder("neuron")
            .with_version(env!("CARGO_PKG_VERSION"))
            .with_schema_url(names::SCHEMA_URL)
            .build();
        let traces = spans.map(|exporter| {
            let failures = Arc::new(Failures::of("traces"));
            let exporter = Watched::new(exporter, Arc::clone(&failures));
            let spans = Arc::new(Spans::to(exporter, resource, scope.clone()));
            Traces { spans, failures }
        });
        let metrics = metrics.map(|exporter| {
            let failures = Arc::new(Failures::of("metrics"));
            let exporter = Watched::new(exporter, Arc::clone(&failures));
            let provider = SdkMeterProvider::builder()
                .with_resource(resource.clone())
                .with_reader(PeriodicReader::builder(exporter).build())
                .build();
            let instruments = Arc::new(Instruments::new(&provider, scope));
            Metrics {
                instruments,
                provider,
                failures,
            }
        });
        let inner = Inner {
            traces,
            metrics,
            thread,
            is_shut_down: AtomicBool::new(false),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Returns the layer that receives spans and measurements. It filters by itself: a filter over all layers keeps
    /// from it what that filter does not let through.
    #[must_use]
    pub fn layer<S>(&self) -> impl Layer<S> + Send + Sync + 'static + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let traces = self.inner.traces.as_ref();
        let metrics = self.inner.metrics.as_ref();
        TelemetryLayer::filtered(
            traces.map(|traces| Arc::clone(&traces.spans)),
            metrics.map(|metrics| Arc::clone(&metrics.instruments)),
        )
    }

    /// Returns whether traces are exported.
    #[must_use]
    pub fn has_traces(&self) -> bool {
        self.inner.traces.is_some()
    }

    /// Returns whether metrics are exported.
    #[must_use]
    pub fn has_metrics(&self) -> bool {
        self.inner.metrics.is_some()
    }

    /// Returns whether the spans of this trace are exported where `trace.sampled` is not set: 32 hex digits in, and the
    /// same answer in each process with the same sampler.
    #[must_use]
    pub fn samples(&self, trace_id: &str) -> bool {
        let traces = self.inner.traces.as_ref();
        traces.is_some_and(|traces| {
            ids::trace_id(trace_id).is_some_and(|trace| traces.spans.samples(trace))
        })
    }

    /// Sends what there is so far. Returns whether all of it was taken care of in this time. It blocks the thread.
    #[must_use]
    pub fn flush(&self, timeout: Duration) -> bool {
        let until = Instant::now().checked_add(timeout);
        let (done, is_done) = mpsc::channel::<()>();
        let inner = Arc::clone(&self.inner);
        let flushed = done.clone();
        let metrics = spawn("neuron-flush-metrics", move || {
            if let Some(metrics) = &inner.metrics {
                metrics.provider.force_flush().ok();
            }
            flushed.send(()).ok();
        });
        let inner = Arc::clone(&self.inner);
        let traces = spawn("neuron-flush-traces", move || {
            if let Some(traces) = &inner.traces {
                traces.spans.flush();
            }
            done.send(()).ok();
        });
        let in_time = |_| {
            let left = until.map_or(A_DAY, |until| {
                until.saturating_duration_since(Instant::now())
            });
            is_done.recv_timeout(left).is_ok()
        };
        metrics && traces && (0..2).all(in_time)
    }

    /// Sends what is left, and ends. It blocks the thread for as long as that takes and no longer than this time, whatever
    /// the receiver does; then what is left is lost. There is at most one warning. Nothing is exported afterwards.
    pub fn shutdown(&self, timeout: Duration) {
        if self.inner.is_shut_down.swap(true, Ordering::SeqCst) {
            return;
        }
        let now = Instant::now();
        let until = now.checked_add(timeout).unwrap_or(now + A_DAY);
        let mut signals = Vec::new();
        let mut started = true;
        if let Some(traces) = &self.inner.traces {
            traces.spans.close();
            traces.failures.close();
            signals.push(Arc::clone(&traces.failures));
            let spans = Arc::clone(&traces.spans);
            started &= spawn("neuron-end-traces", move || spans.shut_down(A_DAY));
        }
        if let Some(metrics) = &self.inner.metrics {
            metrics.failures.close();
            signals.push(Arc::clone(&metrics.failures));
            let provider = metrics.provider.clone();
            started &= spawn("neuron-end-metrics", move || drop(provider.shutdown()));
        }
        // Without a thread what is waited for never ends.
        let until = if started { until } else { now };
        let wrong: Vec<String> = signals
            .iter()
            .filter_map(|failures| failures.wait(until).err())
            .collect();
        if let Some(thread) = &self.inner.thread {
            thread.stop();
        }
        if !wrong.is_empty() {
            let error = wrong.join("; ");
            warn!(error, "telemetry was not exported to the end");
        }
    }
}

/// Returns whether there is a thread for it.
fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> bool {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .is_ok()
}
