//! The attributes of the process itself.

use opentelemetry::{Key, KeyValue};
use opentelemetry_sdk::{
    Resource,
    resource::{EnvResourceDetector, ResourceDetector as _},
};
use uuid::Uuid;

use crate::{environment::Environment, error::TelemetryError};

const SERVICE_NAME: &str = "service.name";
const OTEL_SERVICE_NAME: &str = "OTEL_SERVICE_NAME";
const OTEL_RESOURCE_ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";

/// Returns what the SDK knows and the environment says, with this name if the environment has none.
///
/// # Errors
///
/// Returns an error if a variable is no list of attributes.
pub(crate) fn resource(
    environment: Environment,
    service_name: &str,
) -> Result<Resource, TelemetryError> {
    let listed = environment.text(OTEL_RESOURCE_ATTRIBUTES)?;
    let mut entries = listed
        .iter()
        .flat_map(|listed| listed.split_terminator(','));
    if entries.any(|entry| !entry.contains('=')) {
        let reason = "it is no list of attributes: name=value,name=value";
        return Err(TelemetryError::of(OTEL_RESOURCE_ATTRIBUTES, reason));
    }
    let said = EnvResourceDetector::new().detect();
    let own = [
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        // What several workers add up is not to be taken for one sum that jumps.
        KeyValue::new("service.instance.id", Uuid::new_v4().to_string()),
        KeyValue::new("process.pid", i64::from(std::process::id())),
    ];
    let own = own
        .into_iter()
        .filter(|own| said.get_ref(&own.key).is_none());
    let resource = Resource::builder().with_attributes(own);
    let resource = match environment.text(OTEL_SERVICE_NAME)? {
        Some(name) => resource.with_service_name(name),
        None if said.get_ref(&Key::new(SERVICE_NAME)).is_some() => resource,
        None => resource.with_service_name(service_name.to_owned()),
    };
    Ok(resource.build())
}
