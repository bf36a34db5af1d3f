//! The two sides of a comparison.

/// Who makes the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Neuron,
    Bare,
}
