//! A worker whose reports are retried for as long as its client's requests are.
//!
//! `init_worker` of the SDK's core resets the retry options of the connection to its defaults, 10 s and ten attempts.
//! The result of a step would be dropped after that. `replace_client` of the core takes a connection as it is.

use std::sync::Arc;

use temporalio_client::{Client, NamespacedClient as _};
use temporalio_common::telemetry::TelemetryOptions;
use temporalio_sdk::{Runtime, Worker, WorkerOptions, runtime::RuntimeOptions};
use temporalio_sdk_core::{CoreRuntime, RuntimeOptions as CoreRuntimeOptions, init_worker};

use crate::worker::worker_error::{WorkerError, failed};

/// Returns a worker with these options, and the runtime, which has to live as long as the worker.
pub(super) fn worker(
    telemetry: TelemetryOptions,
    client: &Client,
    options: WorkerOptions,
) -> Result<(CoreRuntime, Worker), WorkerError> {
    let cannot = "cannot be started";
    let config = options.to_core_options(client.namespace(), client.identity());
    let config = config.map_err(failed(cannot))?;
    // A worker needs a core. This constructor fails if there is no tokio runtime; the other one panics.
    let unused = Runtime::from_current_tokio(RuntimeOptions::default()).map_err(failed(cannot))?;
    let mut worker = Worker::new(&unused, client.clone(), options).map_err(failed(cannot))?;
    // It must not be in the client's list together with the next, which serves the same task queue.
    let connection = client.connection();
    let (listed, key) = (connection.workers(), worker.worker_instance_key());
    listed
        .unregister_slot_provider(key)
        .map_err(failed(cannot))?;
    drop(listed.finalize_unregister(key).map_err(failed(cannot))?);

    let runtime = CoreRuntimeOptions::builder().telemetry_options(telemetry);
    let runtime = runtime.build().map_err(failed(cannot))?;
    let runtime = CoreRuntime::new_assume_tokio(runtime).map_err(failed(cannot))?;
    let core = init_worker(&runtime, config, connection.clone()).map_err(failed(cannot))?;
    core.replace_client(connection.clone())
        .map_err(failed(cannot))?;
    worker.with_new_core_worker(Arc::new(core));
    Ok((runtime, worker))
}
