//! Carrying effects out.

use std::error::Error;

use neuron_types::{WasmBoxedFuture, WasmCompatSend, WasmCompatSync};

use crate::Effect;

/// Carries effects out, those of some kinds or all.
pub trait EffectHandler: WasmCompatSend + WasmCompatSync {
    /// Carries an effect out, and returns whether it is one of its kinds.
    ///
    /// A caller that tries a turn again may hand out the same effect again: an effect is named only by its content.
    ///
    /// # Errors
    ///
    /// [`EffectFailed`], if it is one of its kinds and cannot be carried out.
    fn handle<'a>(&'a self, effect: &'a Effect) -> WasmBoxedFuture<'a, Result<bool, EffectFailed>>;
}

/// Why an effect is not carried out.
#[derive(Debug, thiserror::Error)]
#[error("the effect cannot be carried out")]
pub struct EffectFailed {
    #[source]
    source: Box<dyn Error + Send + Sync>,
}

impl EffectFailed {
    /// Wraps the cause.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            source: source.into(),
        }
    }
}

/// Carries effects out one after the other, each by the first of these handlers that takes it, and returns those that
/// no handler takes.
///
/// # Errors
///
/// The first failure. The effects before it are carried out, those after it are not.
pub async fn carry_out(
    effects: impl IntoIterator<Item = Effect>,
    handlers: &[&dyn EffectHandler],
) -> Result<Vec<Effect>, EffectFailed> {
    let mut left = Vec::new();
    'effects: for effect in effects {
        for handler in handlers {
            if handler.handle(&effect).await? {
                continue 'effects;
            }
        }
        left.push(effect);
    }
    Ok(left)
}
