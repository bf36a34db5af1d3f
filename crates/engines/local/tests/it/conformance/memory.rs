//! The plain local door.

neuron_testing::conformance!(memory: neuron_testing::LocalHost::default());
