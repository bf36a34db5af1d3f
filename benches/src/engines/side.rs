//! The two sides of a comparison.

/// The side that executes the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Neuron,
    Bare,
}
