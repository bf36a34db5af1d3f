//! What runs beside a worker for as long as it serves.

use std::{future::Future, io, net::SocketAddr};

use neuron_engine::{Health, Life, serve_health};
use tokio::{net::TcpListener, task::AbortHandle};

use super::WorkerFailure;

/// The tasks beside a worker. They end when it is dropped.
#[derive(Debug, Default)]
pub(super) struct Beside {
    tasks: Vec<AbortHandle>,
    health: Option<SocketAddr>,
}

impl Beside {
    /// Starts a task.
    pub(super) fn spawn<T: Send + 'static>(
        &mut self,
        task: impl Future<Output = T> + Send + 'static,
    ) {
        self.tasks.push(tokio::spawn(task).abort_handle());
    }

    /// Answers about the worker's health at the place of the listener, if there is one.
    pub(super) fn serve_health(
        &mut self,
        place: Option<HealthPlace>,
        life: Life,
        health: impl Health,
    ) {
        if let Some(HealthPlace { listener, address }) = place {
            self.health = Some(address);
            self.spawn(serve_health(listener, life, health));
        }
    }

    /// Returns the address at which it answers about the worker's health.
    pub(super) const fn health(&self) -> Option<SocketAddr> {
        self.health
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// Where a worker answers about its health.
pub(super) struct HealthPlace {
    listener: TcpListener,
    address: SocketAddr,
}

impl HealthPlace {
    /// Listens at this address, if there is one.
    pub(super) async fn listen(address: Option<String>) -> Result<Option<Self>, WorkerFailure> {
        let Some(address) = address else {
            return Ok(None);
        };
        let failed = |source: io::Error| WorkerFailure::Health {
            address: address.clone(),
            source,
        };
        let listener = TcpListener::bind(&address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Some(Self { listener, address }))
    }
}
