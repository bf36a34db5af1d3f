//! Executors that act on a world.

use std::sync::Arc;

use neuron_executor::{Executor, ModelPrice, Prices};
use rust_decimal::Decimal;

use super::{
    guard::WorldGuard,
    hook::WorldHook,
    judge,
    line::Line,
    sessions::sessions,
    signing_model::{SIGNING, SigningModel},
    tools,
    verifier::WorldVerifier,
};
use crate::ScriptedModel;

/// The models that have a price: those of the runs of these names.
pub(crate) const PRICED: [&str; 4] = ["billed", "billed-beside", "billed-over", "billed-lost"];

/// Returns an executor that acts on the world at the end of this line. Its provider's name is `world`.
pub(crate) fn executor(line: &Line) -> Executor {
    let executor = Executor::builder()
        .tools(tools::registry(line))
        .hook(WorldHook {
            line: Arc::clone(line),
        })
        .guard(WorldGuard)
        .guard(judge::guard())
        .verifier(WorldVerifier {
            line: Arc::clone(line),
        })
        .provider(
            "world",
            ScriptedModel {
                line: Arc::clone(line),
            },
        );
    let models = SIGNING.map(|name| SigningModel {
        name,
        line: Arc::clone(line),
    });
    let executor = models.into_iter().fold(executor, |executor, model| {
        executor.provider(model.name, model)
    });
    executor.prices(prices()).build().with_sessions(sessions())
}

/// Returns the prices of the models of [`PRICED`]: a tenth of a cent for each token.
fn prices() -> Prices {
    let mut prices = Prices::default();
    for model in PRICED {
        let price = ModelPrice {
            input: Decimal::ONE_THOUSAND,
            output: Decimal::ONE_THOUSAND,
            cache_read: None,
            cache_write: None,
            long_prompt: None,
        };
        prices.insert("world", model, price);
    }
    prices
}
