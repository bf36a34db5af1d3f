//! One measurement.

/// Hands out measurements: fields `counter.NAME` or `histogram.NAME`, and what they are about. The collector knows the
/// units by the names.
macro_rules! measure {
    ($($fields:tt)*) => {
        ::tracing::event!(target: "neuron::metrics", ::tracing::Level::INFO, { $($fields)* }, "measured")
    };
}

pub(crate) use measure;
