//! What the environment asks for.

use std::time::Duration;

use opentelemetry_sdk::metrics::Temporality;
use reqwest::{Url, header::HeaderMap};

use crate::{
    environment::{self, Environment},
    error::TelemetryError,
    headers,
};

const DISABLED: &str = "OTEL_SDK_DISABLED";
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const TIMEOUT: &str = "OTEL_EXPORTER_OTLP_TIMEOUT";
const COMPRESSION: &str = "OTEL_EXPORTER_OTLP_COMPRESSION";
const TEMPORALITY: &str = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
const SAMPLER: &str = "OTEL_TRACES_SAMPLER";
const SAMPLER_ARG: &str = "OTEL_TRACES_SAMPLER_ARG";

/// The only protocol that is spoken here.
const HTTP_PROTOBUF: &str = "http/protobuf";

/// Where a collector listens by default.
const DEFAULT_ENDPOINT: &str = "http://localhost:4318";
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// What memory is set aside for at once.
const MOST_SPANS: usize = 1_000_000;

/// The variables of one signal.
struct Signal {
    exporter: &'static str,
    endpoint: &'static str,
    path: &'static str,
    protocol: &'static str,
    headers: &'static str,
    timeout: &'static str,
    compression: &'static str,
}

const TRACES: Signal = Signal {
    exporter: "OTEL_TRACES_EXPORTER",
    endpoint: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    path: "v1/traces",
    protocol: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    headers: "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    timeout: "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
    compression: "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION",
};

const METRICS: Signal = Signal {
    exporter: "OTEL_METRICS_EXPORTER",
    endpoint: "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    path: "v1/metrics",
    protocol: "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
    headers: "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    timeout: "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT",
    compression: "OTEL_EXPORTER_OTLP_METRICS_COMPRESSION",
};

/// Where one signal is sent to. It has no `Debug`, as headers and addresses may hold keys.
pub(crate) struct Receiver {
    /// The whole address.
    pub(crate) url: Url,
    /// What each request has.
    pub(crate) headers: HeaderMap,
    /// How long a request may take.
    pub(crate) timeout: Duration,
}

/// What is exported, and where to.
pub(crate) struct Settings {
    /// Where traces are sent to, if they are.
    pub(crate) traces: Option<Receiver>,
    /// Where metrics are sent to, if they are.
    pub(crate) metrics: Option<Receiver>,
    /// Since when metrics are added up.
    pub(crate) temporality: Temporality,
}

impl Settings {
    /// Reads them; `None` if nothing is to be exported.
    ///
    /// # Errors
    ///
    /// Returns an error that names the variable which is wrong, also for those that the SDK reads by itself and would
    /// not complain of.
    pub(crate) fn read(environment: Environment) -> Result<Option<Self>, TelemetryError> {
        if is_disabled(environment)? {
            return Ok(None);
        }
        let traces = receiver(environment, &TRACES)?;
        let metrics = receiver(environment, &METRICS)?;
        if traces.is_none() && metrics.is_none() {
            return Ok(None);
        }
        if traces.is_some() {
            check_traces(environment)?;
        }
        if metrics.is_some() {
            // Of 0 the SDK would make a loop without a pause.
            environment.number::<u64>("OTEL_METRIC_EXPORT_INTERVAL", 1..)?;
        }
        Ok(Some(Self {
            traces,
            metrics,
            temporality: temporality(environment)?,
        }))
    }
}

fn is_disabled(environment: Environment) -> Result<bool, TelemetryError> {
    let Some(value) = environment.text(DISABLED)? else {
        return Ok(false);
    };
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(TelemetryError::of(DISABLED, "it is neither true nor false")),
    }
}

fn receiver(environment: Environment, signal: &Signal) -> Result<Option<Receiver>, TelemetryError> {
    let exporter = environment.text(signal.exporter)?;
    let address = environment.first([signal.endpoint, ENDPOINT])?;
    match exporter.as_deref() {
        None if address.is_none() => return Ok(None),
        Some("none") => return Ok(None),
        None | Some("otlp") => {}
        Some(_) => {
            let reason = "there are no exporters here but otlp and none";
            return Err(TelemetryError::of(signal.exporter, reason));
        }
    }
    if let Some((variable, protocol)) = environment.first([signal.protocol, PROTOCOL])?
        && protocol != HTTP_PROTOBUF
    {
        let reason = format!("no protocol is spoken here but {HTTP_PROTOBUF}");
        return Err(TelemetryError::of(variable, reason));
    }
    if let Some((variable, compression)) = environment.first([signal.compression, COMPRESSION])?
        && compression != "none"
    {
        let reason = "nothing is compressed here: none is the only value";
        return Err(TelemetryError::of(variable, reason));
    }
    let headers = environment.first([signal.headers, HEADERS])?;
    let headers = headers.map(|(variable, value)| headers::read(variable, &value));
    let timeout = environment.first([signal.timeout, TIMEOUT])?;
    let timeout = timeout.map(|(variable, value)| environment::number(variable, &value, 1..));
    Ok(Some(Receiver {
        url: url(address, signal)?,
        headers: headers.transpose()?.unwrap_or_default(),
        timeout: timeout
            .transpose()?
            .map_or(DEFAULT_TIMEOUT, Duration::from_millis),
    }))
}

/// Returns the address of a signal. Its own variable is taken as it is. To the address of all signals, the signal's
/// path is added.
fn url(address: Option<(&'static str, String)>, signal: &Signal) -> Result<Url, TelemetryError> {
    let (variable, address) = address.unwrap_or_else(|| (ENDPOINT, DEFAULT_ENDPOINT.to_owned()));
    let whole = if variable == ENDPOINT {
        format!("{}/{}", address.trim_end_matches('/'), signal.path)
    } else {
        address
    };
    Url::parse(&whole)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| TelemetryError::of(variable, "it is no address with http or https"))
}

/// Checks what the SDK reads by itself. The SDK takes what it does not understand for what is not set.
fn check_traces(environment: Environment) -> Result<(), TelemetryError> {
    // Of 0 the SDK would make a queue without room, and a loop without a pause.
    environment.number("OTEL_BSP_MAX_QUEUE_SIZE", 1..=MOST_SPANS)?;
    environment.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1..=MOST_SPANS)?;
    environment.number::<u64>("OTEL_BSP_SCHEDULE_DELAY", 1..)?;
    environment.number::<u64>("OTEL_BSP_EXPORT_TIMEOUT", 0..)?;
    environment.number::<u32>("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", 0..)?;
    environment.number::<u32>("OTEL_SPAN_LINK_COUNT_LIMIT", 0..)?;
    let Some(sampler) = environment.text(SAMPLER)? else {
        return Ok(());
    };
    match sampler.as_str() {
        "always_on" | "always_off" | "parentbased_always_on" | "parentbased_always_off" => Ok(()),
        "traceidratio" | "parentbased_traceidratio" => {
            environment.number(SAMPLER_ARG, 0.0..=1.0).map(drop)
        }
        _ => Err(TelemetryError::of(
            SAMPLER,
            "there are no samplers here but always_on, always_off, traceidratio, and each with parentbased_ before it",
        )),
    }
}

fn temporality(environment: Environment) -> Result<Temporality, TelemetryError> {
    let Some(value) = environment.text(TEMPORALITY)? else {
        return Ok(Temporality::Cumulative);
    };
    match value.to_ascii_lowercase().as_str() {
        "cumulative" => Ok(Temporality::Cumulative),
        "delta" => Ok(Temporality::Delta),
        "lowmemory" => Ok(Temporality::LowMemory),
        _ => Err(TelemetryError::of(
            TEMPORALITY,
            "it is neither cumulative nor delta nor lowmemory",
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, collections::BTreeMap, ffi::OsString};

    use super::*;

    thread_local! {
        static VARIABLES: RefCell<BTreeMap<String, String>> = const { RefCell::new(BTreeMap::new()) };
    }

    fn of(variables: &[(&str, &str)]) -> Result<Option<Settings>, TelemetryError> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        VARIABLES.set(variables.iter().map(owned).collect());
        Settings::read(Environment::made_up(|variable| {
            VARIABLES.with_borrow(|variables| variables.get(variable).map(OsString::from))
        }))
    }

    fn urls(variables: &[(&str, &str)]) -> [Option<String>; 2] {
        let settings = of(variables).unwrap();
        let settings = settings.map(|settings| [settings.traces, settings.metrics]);
        settings
            .unwrap_or_default()
            .map(|receiver| receiver.map(|receiver| receiver.url.to_string()))
    }

    fn url(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn nothing_is_exported_unless_somebody_asks_for_it() {
        for variables in [
            &[][..],
            &[(ENDPOINT, "")],
            &[("OTEL_SERVICE_NAME", "a"), (HEADERS, "a=b")],
            &[(ENDPOINT, "http://a"), (DISABLED, "TRUE")],
            &[
                (ENDPOINT, "http://a"),
                (TRACES.exporter, "none"),
                (METRICS.exporter, "none"),
            ],
        ] {
            assert_eq!(urls(variables), [None, None], "{variables:?}");
        }
    }

    #[test]
    fn paths_are_added_to_the_address_of_all_signals_only() {
        let all = [
            url("http://a:1/b/v1/traces"),
            url("http://a:1/b/v1/metrics"),
        ];
        assert_eq!(urls(&[(ENDPOINT, "http://a:1/b")]), all);
        assert_eq!(urls(&[(ENDPOINT, "http://a:1/b/")]), all);
        assert_eq!(
            urls(&[(TRACES.endpoint, "https://a/in")]),
            [url("https://a/in"), None]
        );
        assert_eq!(
            urls(&[(TRACES.endpoint, "https://a/in"), (ENDPOINT, "http://b")]),
            [url("https://a/in"), url("http://b/v1/metrics")]
        );
        assert_eq!(
            urls(&[(METRICS.exporter, "otlp")]),
            [None, url("http://localhost:4318/v1/metrics")]
        );
    }

    #[test]
    fn what_a_signal_has_goes_before_what_all_have() {
        let settings = of(&[
            (ENDPOINT, "http://a"),
            (HEADERS, "key=all"),
            (TRACES.headers, "key=traces"),
            (TIMEOUT, "5"),
            (METRICS.timeout, "7"),
            (TEMPORALITY, "Delta"),
        ]);
        let settings = settings.unwrap().unwrap();

        let traces = settings.traces.unwrap();
        assert_eq!(traces.headers["key"], "traces");
        assert_eq!(traces.timeout.as_millis(), 5);
        let metrics = settings.metrics.unwrap();
        assert_eq!(metrics.headers["key"], "all");
        assert_eq!(metrics.timeout.as_millis(), 7);
        assert_eq!(settings.temporality, Temporality::Delta);
    }

    #[test]
    fn what_means_nothing_is_an_error_that_names_the_variable() {
        for (variable, value) in [
            (DISABLED, "1"),
            (ENDPOINT, "hunter2"),
            (ENDPOINT, "ftp://hunter2"),
            (TRACES.endpoint, "unix:/hunter2"),
            (METRICS.endpoint, "http://"),
            (TRACES.exporter, "zipkin"),
            (METRICS.exporter, "prometheus"),
            (PROTOCOL, "grpc"),
            (TRACES.protocol, "http/json"),
            (COMPRESSION, "gzip"),
            (HEADERS, "hunter2"),
            (METRICS.headers, "a=\u{1}hunter2"),
            (TIMEOUT, "0"),
            (TRACES.timeout, "10s"),
            (TEMPORALITY, "sometimes"),
            (SAMPLER, "xray"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "0"),
            ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "18446744073709551615"),
            ("OTEL_BSP_SCHEDULE_DELAY", "0"),
            ("OTEL_BSP_EXPORT_TIMEOUT", "-1"),
            ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "many"),
            ("OTEL_SPAN_LINK_COUNT_LIMIT", "1.5"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "0"),
        ] {
            let Err(error) = of(&[(ENDPOINT, "http://a"), (variable, value)]) else {
                panic!("{variable}={value} was taken");
            };
            let said = format!("{error} {error:?}");
            assert!(said.starts_with(&format!("{variable}: ")), "{said}");
            assert!(!said.contains("hunter2"), "{said}");
        }
    }

    #[test]
    fn the_share_of_traces_is_from_0_to_1() {
        let ratio = |arg| {
            of(&[
                (ENDPOINT, "http://a"),
                (SAMPLER, "traceidratio"),
                (SAMPLER_ARG, arg),
            ])
        };
        for arg in ["0", "0.25", "1", ""] {
            assert!(ratio(arg).is_ok(), "{arg}");
        }
        for arg in ["-0.1", "1.1", "NaN", "half"] {
            assert!(ratio(arg).is_err(), "{arg}");
        }
    }

    #[test]
    fn an_error_of_a_protocol_says_which_is_spoken() {
        let error = of(&[(ENDPOINT, "http://a"), (PROTOCOL, "grpc")]).err();
        assert_eq!(
            error.unwrap().to_string(),
            "OTEL_EXPORTER_OTLP_PROTOCOL: no protocol is spoken here but http/protobuf"
        );
    }
}
