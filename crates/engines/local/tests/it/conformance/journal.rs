//! The journaled door.

neuron_testing::conformance!(durable: neuron_testing::JournaledHost::default());
neuron_testing::run_client!(neuron_testing::JournaledHost::default());

#[tokio::test(flavor = "multi_thread")]
async fn a_workflow_carries_out_what_a_turn_asks_for() {
    let host = neuron_testing::JournaledHost::default();
    neuron_testing::scenarios::a_workflow_carries_out_what_a_turn_asks_for(&host).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_a_turn_is_made_and_carried_out() {
    let host = neuron_testing::JournaledHost::default();
    neuron_testing::scenarios::killed_while_a_turn_is_made_and_carried_out(&host).await;
}
