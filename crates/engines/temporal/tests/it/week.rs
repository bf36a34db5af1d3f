//! A run that waits for a week, on a server whose clock is advanced.

use std::time::Duration;

use neuron_engine::RunClient as _;
use neuron_harness::{Process, TimeSkippingServer, until};
use neuron_temporal::AgentClient;
use neuron_testing::{World, agent, input_of};
use neuron_types::{Decision, ExitReason, RunEvent, RunId, Ticket, TicketKind, Verdict};
use serde_json::json;
use temporalio_client::tonic::Request;
use temporalio_common::protos::temporal::api::testservice::v1::SleepRequest;

const DAY: Duration = Duration::from_secs(24 * 60 * 60); // Of the server's clock, which skips it.

/// A server, a world, and a client.
struct Week {
    server: TimeSkippingServer,
    world: World,
    client: AgentClient,
}

impl Week {
    async fn start() -> Self {
        let server = TimeSkippingServer::start().await;
        let client = AgentClient::connect_to(server.address(), "default").await;
        Self {
            world: World::new("week"),
            client: client.unwrap(),
            server,
        }
    }

    async fn worker(&self) -> Process {
        let variables = [
            ("NEURON_TESTING_SERVER", self.server.address().to_owned()),
            ("NEURON_TESTING_QUEUE", "neuron".to_owned()),
            (
                "NEURON_TESTING_WORLD",
                self.world.address().await.to_string(),
            ),
            ("NEURON_TESTING_AGENTS", self.world.agents_json()),
        ];
        Process::start_example("temporal_conformance_worker", &variables).unwrap()
    }

    /// Advances the server's clock.
    async fn pass(&self, time: Duration) {
        let request = SleepRequest {
            duration: Some(time.try_into().unwrap()),
        };
        let mut service = self.client.temporal().connection().test_service();
        let passed = service
            .unlock_time_skipping_with_sleep(Request::new(request))
            .await;
        passed.unwrap();
    }

    async fn ticket_of(&self, run_id: &RunId) -> Ticket {
        until(async || {
            let status = self.client.status(run_id).await.ok()?;
            status.approvals.into_iter().next()
        })
        .await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deferred_result_comes_after_a_week() {
    let week = Week::start().await;
    let script = json!({"turns": [
        {"tool_calls": [{"name": "deploy", "input": {"text": "it runs"}}]},
        {"text": "Deployed."},
    ]});
    week.world.script("run", &script);
    let run_id = week.world.run_id("run");
    let mut agent = agent();
    agent.head_mut().model = "run".into();
    agent.head_mut().tools.push(World::deferred_tool());

    let _worker = week.worker().await;
    week.client
        .start(&run_id, input_of(&agent).into())
        .await
        .unwrap();
    let ticket = week.ticket_of(&run_id).await;
    assert_eq!(ticket.kind, TicketKind::External);
    week.pass(7 * DAY).await;
    assert_eq!(week.ticket_of(&run_id).await, ticket);

    let attempts = week.world.attempts_at("run", 1, 1);
    let [attempt] = attempts.as_slice() else {
        panic!("the call was made {} times", attempts.len());
    };
    let delivered = Decision {
        output: Some(json!({"id": 7})),
        token: attempt.token.clone(),
        ..neuron_testing::decision(&ticket, Verdict::Complete)
    };
    week.client.decide(&run_id, &delivered).await.unwrap();
    let output = week.client.wait_for_end(&run_id).await.unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(output.output.as_deref(), Some("Deployed."));

    let events = week.client.events_after(&run_id, 0).await.unwrap();
    let waited = |event: &RunEvent| matches!(event, RunEvent::ApprovalDecided { .. });
    let decided: Vec<_> = events.iter().filter(|event| waited(&event.event)).collect();
    let [decided] = decided.as_slice() else {
        panic!("{events:?}");
    };
    assert!(decided.at - ticket.opened_at >= chrono::TimeDelta::days(7));
    let conversation = serde_json::to_string(&week.world.conversation("run")).unwrap();
    assert!(
        conversation.contains("7"),
        "the model has the result: {conversation}"
    );
}
