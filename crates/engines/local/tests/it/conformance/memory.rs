//! The plain local door.

neuron_testing::conformance!(memory: neuron_testing::LocalHost::default());

#[tokio::test(flavor = "multi_thread")]
async fn a_workflow_carries_out_what_a_turn_asks_for() {
    let host = neuron_testing::LocalHost::default();
    neuron_testing::scenarios::a_workflow_carries_out_what_a_turn_asks_for(&host).await;
}
