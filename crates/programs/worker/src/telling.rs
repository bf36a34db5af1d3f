//! The telemetry of a program: its log, and traces and metrics if it was built with them.

use std::env;

use tracing_subscriber::{
    Layer, Registry, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use crate::{LogFormat, WorkerError, logging};

type Boxed = Box<dyn Layer<Registry> + Send + Sync>;

/// The telemetry of a program, until the program ends.
#[derive(Debug)]
#[must_use = "the last traces and metrics are lost unless it is ended"]
pub struct Telling {
    #[cfg(feature = "telemetry")]
    telemetry: Option<neuron_telemetry::Telemetry>,
}

impl Telling {
    /// Starts the log with the filter `RUST_LOG`, or with `default` if that is not set. Without either nothing is
    /// logged. A filter for `neuron` applies to every target that begins with it.
    ///
    /// If the program was built with the feature `telemetry`, and the variables `OTEL_*` ask for it, traces and metrics
    /// are exported from now on. The service has the program's name, unless the variables set another one.
    ///
    /// # Errors
    ///
    /// [`WorkerError::Telemetry`] if one of the variables is wrong: the log is started, and nothing else.
    pub fn begin(default: Option<&str>, format: LogFormat) -> Result<Self, WorkerError> {
        let log = logging::layer(default, format);
        let (telling, layer) = Self::exporting().map_or_else(
            |failed| (Err(failed), None),
            |(telling, layer)| (Ok(telling), layer),
        );
        if log.is_some() || layer.is_some() {
            let layers: Vec<Boxed> = log.into_iter().chain(layer).collect();
            tracing_subscriber::registry().with(layers).init();
        }
        say_what_is_missing();
        telling
    }

    #[cfg(feature = "telemetry")]
    fn exporting() -> Result<(Self, Option<Boxed>), WorkerError> {
        let telemetry = neuron_telemetry::Telemetry::from_env(&program());
        let telemetry = telemetry.map_err(|error| WorkerError::Telemetry(Box::new(error)))?;
        let layer = telemetry.as_ref().map(|telemetry| {
            if telemetry.has_traces() {
                let sampler = telemetry.clone();
                neuron_executor::record_traces(move |trace_id| sampler.samples(trace_id));
            }
            if telemetry.has_metrics() {
                neuron_executor::record_metrics();
            }
            telemetry.layer::<Registry>().boxed()
        });
        Ok((Self { telemetry }, layer))
    }

    #[cfg(not(feature = "telemetry"))]
    #[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
    const fn exporting() -> Result<(Self, Option<Boxed>), WorkerError> {
        Ok((Self {}, None))
    }

    /// Waits 5 s at most until the collector has what was recorded.
    pub fn end(self) {
        #[cfg(feature = "telemetry")]
        if let Some(telemetry) = self.telemetry {
            telemetry.shutdown(LAST_EXPORT);
        }
    }
}

/// Logs that this program cannot do what the environment asks for.
fn say_what_is_missing() {
    let is_asked = || env::var_os("OTEL_EXPORTER_OTLP_ENDPOINT").is_some();
    if cfg!(not(feature = "telemetry")) && is_asked() {
        tracing::warn!(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, and {} was built without traces and metrics: build it with the feature \
             `telemetry`",
            program()
        );
    }
}

/// How long a program waits at its end until the collector has what was recorded.
#[cfg(feature = "telemetry")]
const LAST_EXPORT: std::time::Duration = std::time::Duration::from_secs(5);

/// Returns the program's name.
fn program() -> String {
    let program = env::current_exe().ok();
    let name = program.as_deref().and_then(|path| path.file_stem());
    name.map_or_else(
        || "neuron".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
