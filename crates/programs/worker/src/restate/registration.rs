//! The registration of this worker with Restate.

use std::time::Duration;

use neuron_engine::RunClientError;
use neuron_restate::RestateClient;
use neuron_types::with_causes;

use super::health::RestateHealth;

/// The longest time between two tries.
const LONGEST_DELAY: Duration = Duration::from_secs(5);

/// How often the server is asked whether it still knows the worker.
const BETWEEN_LOOKS: Duration = Duration::from_secs(30);

/// The manner of a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Registration {
    /// An existing registration of the URL stays.
    New,
    /// An existing registration of the URL is replaced.
    Over,
}

/// The longest name of a deployment.
const LONGEST_NAME: usize = 64;

/// Returns the default name of a deployment that Restate reaches at this URL: nothing of the URL except the address,
/// and a hash after an address that is too long.
pub(crate) fn deployment(url: &str) -> String {
    let address = url.split_once("://").map_or(url, |(_, address)| address);
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let address = match address.split_once('@') {
        Some((_, address)) => address,
        None => address,
    };
    let letters = address.trim_end_matches('/').chars().map(|c| match c {
        c if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') => c,
        _ => '-',
    });
    let name: String = letters.collect();
    if name.len() <= LONGEST_NAME {
        return name;
    }
    // The hash is FNV-1a: it has to be the same in every build.
    let hash = address
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let kept: String = name.chars().take(LONGEST_NAME - 17).collect();
    format!("{kept}-{hash:016x}")
}

/// Registers the worker, and tries again while the server is away; and again when the server has forgotten the worker,
/// for example because the server's data were lost. Never returns.
pub(crate) async fn register(
    client: RestateClient,
    how: Registration,
    url: String,
    health: RestateHealth,
) {
    loop {
        register_once(&client, how, &url).await;
        health.set_registered(true);
        while is_known(&client, &url).await {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        tracing::warn!(url, "Restate does not know this worker any more");
        health.set_registered(false);
    }
}

async fn register_once(client: &RestateClient, how: Registration, url: &str) {
    let mut delay = Duration::from_millis(100);
    loop {
        let registered = match how {
            Registration::New => client.register(url).await,
            Registration::Over => client.register_over(url).await,
        };
        let Err(error) = registered else {
            tracing::info!(url, "registered");
            return;
        };
        let advice = match (&error, how) {
            (RunClientError::Rejected { .. }, Registration::New) => {
                "; for development, --register-force overwrites what Restate knows"
            }
            _ => "",
        };
        tracing::warn!(
            url,
            "cannot be registered yet: {}{advice}",
            with_causes(&error)
        );
        tokio::time::sleep(delay).await;
        delay = (delay * 2).min(LONGEST_DELAY);
    }
}

/// Returns whether the server knows the worker. A server that does not answer has not forgotten it either.
async fn is_known(client: &RestateClient, url: &str) -> bool {
    match client.is_registered(url).await {
        Ok(is_registered) => is_registered,
        Err(error) => {
            tracing::debug!(
                url,
                "Restate does not say whom it knows: {}",
                with_causes(&error)
            );
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deployment_is_called_as_its_address_is() {
        for (url, name) in [
            ("http://127.0.0.1:9080", "127.0.0.1-9080"),
            ("https://worker-v2:9080/", "worker-v2-9080"),
            ("http://[::1]:9080", "---1--9080"),
            ("http://ada:secret@worker:9080/v2?token=1", "worker-9080-v2"),
        ] {
            assert_eq!(deployment(url), name);
        }
        let long = |port| deployment(&format!("http://{}:{port}", "worker.".repeat(20)));
        assert_eq!(long(9080).len(), LONGEST_NAME);
        assert_ne!(long(9080), long(9081));
    }
}
