//! A Restate server that exists as long as a test uses it. Call it where blocking is allowed.

use std::sync::Arc;

use neuron_harness::{Engine, EngineServer};
use neuron_restate::ServerAddress;
use tokio::runtime::Handle;

pub(crate) struct Server {
    pub(crate) address: ServerAddress,
    engine: Arc<EngineServer>,
}

impl Server {
    /// Returns the server of this process's tests. It ends when the last of them drops it.
    pub(crate) fn shared() -> Arc<Self> {
        let engine = Handle::current().block_on(EngineServer::shared(Engine::Restate));
        Arc::new(Self::of(engine.unwrap()))
    }

    /// Starts a separate server for one test.
    pub(crate) fn start() -> Self {
        let engine = Handle::current().block_on(EngineServer::find(Engine::Restate));
        Self::of(Arc::new(engine.unwrap()))
    }

    fn of(engine: Arc<EngineServer>) -> Self {
        let addresses = engine.addresses();
        Self {
            address: ServerAddress {
                ingress_url: addresses.main.clone(),
                admin_url: addresses.http.clone(),
                auth_token: None,
                auth_token_file: None,
            },
            engine,
        }
    }

    /// Kills the server, and starts it again with its files.
    pub(crate) fn kill_and_restart(&mut self) {
        let engine = Arc::get_mut(&mut self.engine).expect("nobody shares the server");
        Handle::current().block_on(engine.restart()).unwrap();
    }
}
