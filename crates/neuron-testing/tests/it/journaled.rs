//! The journaled door.

neuron_testing::conformance!(durable: neuron_testing::JournaledHost::default());
