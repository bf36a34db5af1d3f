//! What the command line says.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::Args as ClapArgs;
use neuron_restate::DEFAULT_PREFIX;

use crate::{Settings, duration};
use neuron_restate::Registration;

/// The shortest time after which a run is suspended.
const SHORTEST_INACTIVITY: Duration = Duration::from_secs(1);

/// Serves the agents of an agent file on Restate.
#[derive(Debug, ClapArgs)]
#[command(
    max_term_width = 100,
    after_help = "The address of Restate is read as its own tools read it: RESTATE_ADMIN_URL, RESTATE_INGRESS_URL, \
                  RESTATE_AUTH_TOKEN or RESTATE_AUTH_TOKEN_FILE. With RESTATE_IDENTITY_KEYS (public \
                  keys, separated by commas) only requests that one of them signed are accepted. Without them \
                  the worker listens on this machine only.\n\
                  SIGTERM and Ctrl-C let the steps in flight end; a second one ends at once.\n\
                  Exit codes: 0 stopped, 2 usage or configuration."
)]
#[non_exhaustive]
pub struct Args {
    #[command(flatten)]
    pub(crate) settings: Settings,
    /// The address for Restate's requests
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9080")]
    pub(crate) listen: SocketAddr,
    /// Take requests by HTTPS, with the certificates of this file in PEM, the worker's own first; needs --tls-key
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's key in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Take unsigned requests also at an ADDR of --listen that other machines can reach: any caller there can have
    /// every tool called
    #[arg(long)]
    pub(crate) insecure_listen: bool,
    /// Register this worker with Restate, and again if it forgets it; another version at the URL stays
    #[arg(long)]
    pub(crate) register: bool,
    /// As --register, in place of whatever Restate knows at the URL, also under runs in flight: for development
    #[arg(long)]
    pub(crate) register_force: bool,
    /// What Restate reaches this worker at [default: http://ADDR of --listen, or https://]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// What this deployment is called, in letters, digits, `.`, `_` and `-`: a run continues at a deployment of the name that it
    /// began at [default: the address in --url, or of --listen where that is one]
    #[arg(long, value_name = "NAME")]
    pub(crate) deployment: Option<String>,
    /// The prefix of the services' names
    #[arg(long, value_name = "NAME", env = "NEURON_TASK_QUEUE", default_value = DEFAULT_PREFIX)]
    pub(crate) task_queue: String,
    /// The most journal entries of one segment of a run; then it continues as new [default: 2000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) segment_events: Option<u64>,
    /// The most bytes of results in one segment of a run [default: 8 MiB]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) segment_bytes: Option<u64>,
    /// The most model calls and tool calls that are made at once; those beyond wait in this worker [default: any number]
    #[arg(long, value_name = "N", env = "NEURON_MAX_ATTEMPTS_AT_ONCE", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_attempts_at_once: Option<u32>,
    /// How long a run may be silent before Restate suspends it [default: 1m]
    #[arg(long, value_name = "DURATION", value_parser = inactivity)]
    pub(crate) inactivity_timeout: Option<Duration>,
    /// The public keys of the servers whose requests are taken
    #[arg(
        long,
        hide = true,
        env = "RESTATE_IDENTITY_KEYS",
        hide_env_values = true
    )]
    identity_keys: Option<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("it must be 1s or longer, such as `1m`")]
struct BadInactivity;

fn inactivity(text: &str) -> Result<Duration, BadInactivity> {
    let read = duration(text).map_err(|_| BadInactivity)?;
    (read >= SHORTEST_INACTIVITY)
        .then_some(read)
        .ok_or(BadInactivity)
}

impl Args {
    /// How this worker is to be made known, if it is.
    pub(crate) fn registration(&self) -> Option<Registration> {
        match (self.register_force, self.register) {
            (true, _) => Some(Registration::Over),
            (false, true) => Some(Registration::New),
            (false, false) => None,
        }
    }

    pub(crate) fn identity_keys(&self) -> Vec<String> {
        let keys = self.identity_keys.iter().flat_map(|keys| keys.split(','));
        let keys = keys.map(|key| key.trim().to_owned());
        keys.filter(|key| !key.is_empty()).collect()
    }
}
