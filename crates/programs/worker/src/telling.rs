//! What a program tells of itself while it works: its log, and traces and metrics where it was built with them.

use std::env;

use tracing_subscriber::{
    Layer, Registry, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use crate::{LogFormat, WorkerError, logging};

type Boxed = Box<dyn Layer<Registry> + Send + Sync>;

/// What a program tells of itself, until it ends.
#[derive(Debug)]
#[must_use = "what was told last is lost unless it is ended"]
pub struct Telling {
    #[cfg(feature = "telemetry")]
    telemetry: Option<neuron_telemetry::Telemetry>,
}

impl Telling {
    /// Starts the log as `RUST_LOG` says, or as `default` does where that says nothing. Without either nothing is logged. A
    /// filter for `neuron` holds for every target that begins so.
    ///
    /// Where the program was built with the feature `telemetry`, and the variables `OTEL_*` ask for it, traces and metrics are
    /// exported from now on. The service is called like the program, unless they say otherwise.
    ///
    /// # Errors
    ///
    /// [`WorkerError::Telemetry`], with the log started, if one of the variables is wrong.
    pub fn begin(default: Option<&str>, format: LogFormat) -> Result<Self, (Self, WorkerError)> {
        let log = logging::layer(default, format);
        let (telling, layer, failed) = Self::exporting();
        if log.is_some() || layer.is_some() {
            let layers: Vec<Boxed> = log.into_iter().chain(layer).collect();
            tracing_subscriber::registry().with(layers).init();
        }
        match failed {
            Some(failed) => Err((telling, failed)),
            None => Ok(telling),
        }
    }

    #[cfg(feature = "telemetry")]
    fn exporting() -> (Self, Option<Boxed>, Option<WorkerError>) {
        let telemetry = match neuron_telemetry::Telemetry::from_env(&program()) {
            Ok(telemetry) => telemetry,
            Err(error) => {
                let failed = WorkerError::Telemetry(Box::new(error));
                return (Self { telemetry: None }, None, Some(failed));
            }
        };
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
        (Self { telemetry }, layer, None)
    }

    #[cfg(not(feature = "telemetry"))]
    fn exporting() -> (Self, Option<Boxed>, Option<WorkerError>) {
        (Self {}, None, None)
    }

    /// Says in the log what else the user should know of it, once that has started.
    pub fn say(&self) {
        let is_asked = || env::vars_os().any(|(name, _)| name == "OTEL_EXPORTER_OTLP_ENDPOINT");
        if cfg!(not(feature = "telemetry")) && is_asked() {
            tracing::warn!(
                "OTEL_EXPORTER_OTLP_ENDPOINT is set, and {} was built without traces and metrics: build it with the feature \
                 `telemetry`",
                program()
            );
        }
    }

    /// Waits 5 s at most until what was recorded is with whoever collects it.
    pub fn end(self) {
        #[cfg(feature = "telemetry")]
        if let Some(telemetry) = self.telemetry {
            telemetry.shutdown(LAST_EXPORT);
        }
    }
}

/// How long a program waits at its end until what it recorded is with whoever collects it.
#[cfg(feature = "telemetry")]
const LAST_EXPORT: std::time::Duration = std::time::Duration::from_secs(5);

/// The program's name.
fn program() -> String {
    let program = env::current_exe().ok();
    let name = program.as_deref().and_then(|path| path.file_stem());
    name.map_or_else(
        || "neuron".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
