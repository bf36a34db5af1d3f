//! The journaled door.

neuron_testing::conformance!(durable: neuron_testing::JournaledHost::default());
neuron_testing::run_client!(neuron_testing::JournaledHost::default());
