//! Budgets that runs of a tree share.

use neuron_types::{
    AgentSpec, Allowance, Decision, ExitReason, Limits, OnHalt, RunEvent, StepId, SubAgent,
    TicketKind, Verdict, signal,
};
use serde_json::{Value, json};

use crate::{
    Host, Record, Stage, agent, decision, expect,
    scenarios::trees::{ask, calls_and_says, named, starting},
};

/// Returns an agent that may start a reader, with this many tokens for both.
fn lead(tokens: u64) -> AgentSpec {
    AgentSpec {
        limits: Limits {
            tokens: Some(tokens),
            ..Limits::default()
        },
        ..starting(agent(), &[SubAgent::new("reader")])
    }
}

/// Returns a script that reads this many pages of ten thousand tokens, one a turn.
fn reads(pages: usize) -> Value {
    let usage = json!({"input_tokens": 9_900, "output_tokens": 100});
    let look = json!({"tool_calls": [{"name": "look", "input": {}}], "usage": usage});
    let mut turns = vec![look; pages.saturating_sub(1)];
    turns.push(json!({"text": "Read.", "usage": usage}));
    json!({"turns": turns})
}

/// Opens a stage on which runs may start a reader of this many pages.
async fn with_reader<H: Host>(host: &H, name: &str, pages: usize) -> Stage<H::Session> {
    let stage = Stage::open_idle(host, name).await;
    stage.world.define(named("reader"));
    stage.world.script("reader", &reads(pages));
    stage.execute().await;
    stage
}

fn read_and_say() -> Value {
    calls_and_says(&ask("reader", "Read it all."), "It is read.")
}

/// A run below starts with a part of the budget, and is granted more of what its parent has left. The unused part goes
/// back: all together stay below what the first may use.
pub async fn a_run_below_is_granted_more_of_a_budget<H: Host>(host: &H) {
    let stage = with_reader(host, "granted", 4).await;
    let run = stage.submit("run", &read_and_say(), lead(60_000)).await;
    let mut records = vec![run.ends().await];
    let child = stage.child("run", StepId::new(1, 1));
    records.push(child.ends().await);
    for record in &records {
        assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    }
    let (usage, _) = records[0].output.tree();
    assert_eq!(usage.total(), 40_040);
    expect("granted", &records);
}

/// A run below that needs more than is left ends at the budget, and its parent reads that and continues.
pub async fn a_run_below_ends_where_the_budget_does<H: Host>(host: &H) {
    let stage = with_reader(host, "refused_lease", 4).await;
    let run = stage.submit("run", &read_and_say(), lead(40_000)).await;
    let mut records = vec![run.ends().await];
    let child = stage.child("run", StepId::new(1, 1));
    records.push(child.ends().await);
    assert_eq!(records[0].output.exit_reason, Some(ExitReason::Complete));
    let ended = &records[1].output;
    assert_eq!(ended.exit_reason, Some(ExitReason::MaxTokens));
    let error = ended.error.as_ref().expect("it says why");
    assert!(error.message.contains("grants no more"), "{error:?}");
    let said = format!("{:?}", records[0].conversation);
    assert!(said.contains("grants no more"), "{said}");
    let (usage, _) = records[0].output.tree();
    assert!(usage.total() <= 40_000, "{usage:?}");
}

/// When the budget is used up, a person is asked at the run that owns it, and the run below continues with the
/// addition.
pub async fn a_person_adds_to_a_budget_for_the_runs_below<H: Host>(host: &H) {
    let stage = with_reader(host, "topped_up", 4).await;
    let agent = AgentSpec {
        on_limit: OnHalt::Ask,
        ..lead(30_000)
    };
    let run = stage.submit("run", &read_and_say(), agent).await;
    let ticket = run.waits_for(1).await.remove(0);
    assert_eq!(ticket.kind, TicketKind::Budget);
    run.decide(&Decision {
        choice: Some("extend:tokens=40000".into()),
        ..decision(&ticket, Verdict::Choose)
    })
    .await;
    let mut records = vec![run.ends().await];
    let child = stage.child("run", StepId::new(1, 1));
    records.push(child.ends().await);
    for record in &records {
        assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    }
    let (usage, _) = records[0].output.tree();
    assert_eq!(usage.total(), 40_040);
}

/// A client that may signal runs of a tree cannot grant, and cannot ask, in the place of another run.
pub async fn nobody_else_grants_what_a_run_may_use<H: Host>(host: &H) {
    let stage = with_reader(host, "forged_grant", 4).await;
    let mut gate = stage.world.hold("reader", 1, 0);
    let run = stage.submit("run", &read_and_say(), lead(40_000)).await;
    gate.reached().await;
    let child = stage.child("run", StepId::new(1, 1));
    let key = "00000000-0000-8000-8000-000000000000";
    let grant = json!({"run": child.id, "key": key, "number": 1, "granted": {"tokens": 1_000_000}});
    child.signal(signal::GRANT, grant).await;
    let request = json!({"run": child.id, "key": key, "number": 1, "need": {"tokens": 30_000}});
    run.signal(signal::LEASE, request).await;
    let ignored = |events: &[neuron_types::RecordedEvent]| {
        let is_ignored = |event: &RunEvent| matches!(event, RunEvent::SignalIgnored { .. });
        events.iter().any(|event| is_ignored(&event.event))
    };
    run.shows("that it is ignored", ignored).await;
    child.shows("that it is ignored", ignored).await;
    gate.release();
    let record = run.ends().await;
    let (usage, _) = record.output.tree();
    assert!(usage.total() <= 40_000, "{usage:?}");
}

/// Runs two readers of four pages that share a pool of this many tokens. Returns the records, including that of the run
/// that starts both.
async fn shares_a_pool<H: Host>(host: &H, name: &str, tokens: u64) -> Vec<Record> {
    let stage = Stage::open_idle(host, name).await;
    let reader = AgentSpec {
        pool: Some("research".into()),
        ..named("reader")
    };
    stage.world.define(reader);
    stage.world.script("reader", &reads(4));
    stage.execute().await;
    let pool = Allowance {
        tokens: Some(tokens),
        cost_usd: None,
    };
    let subagent = SubAgent {
        pools: ["research".to_owned()].into(),
        ..SubAgent::new("reader")
    };
    let lead = AgentSpec {
        pools: [("research".to_owned(), pool)].into(),
        ..starting(agent(), &[subagent])
    };
    let script = json!({"turns": [
        {"tool_calls": [ask("reader", "Read it all."), ask("reader", "Read it, too.")]},
        {"text": "It is read."},
    ]});
    let run = stage.submit("run", &script, lead).await;
    let mut records = vec![run.ends().await];
    for position in [1, 2] {
        let child = stage.child("run", StepId::new(1, position));
        records.push(child.ends().await);
    }
    assert_eq!(
        records[0].output.exit_reason,
        Some(ExitReason::Complete),
        "{:?}",
        records[0].output
    );
    records
}

fn of_pool(record: &Record) -> u64 {
    let pools = record.output.pools.as_ref().expect("what was taken");
    pools["research"].tokens
}

/// Runs below whose agents name a pool share its content, and the run that began the tree reports what was taken.
pub async fn runs_below_share_a_pool<H: Host>(host: &H) {
    let records = shares_a_pool(host, "pool", 120_000).await;
    for record in &records {
        assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    }
    let taken = |record: &Record| of_pool(record);
    let taken: Vec<u64> = records.iter().map(taken).collect();
    assert_eq!(taken, [80_000, 40_000, 40_000]);
}

/// When a pool is used up, a run below ends, and its parent reads that, has a budget of its own and continues.
pub async fn runs_below_end_where_a_pool_does<H: Host>(host: &H) {
    let records = shares_a_pool(host, "pool_ends", 55_000).await;
    let ended = |record: &&Record| record.output.exit_reason == Some(ExitReason::MaxTokens);
    let ended: Vec<_> = records.iter().filter(ended).collect();
    assert!(!ended.is_empty(), "{records:#?}");
    for record in ended {
        let error = record.output.error.as_ref().expect("it says why");
        assert!(error.message.contains("the pool \"research\""), "{error:?}");
    }
    let taken = of_pool(&records[0]);
    assert!((20_000..=55_000).contains(&taken), "{taken}");
}

/// The worker of a tree is killed in a model call of a run below: all runs complete, an answered call is counted once,
/// and a call of unknown end is charged what was put aside for it.
pub async fn killed_in_a_run_below_another<H: Host>(host: &H) {
    let stage = with_reader(host, "killed_tree", 2).await;
    let mut gate = stage.world.hold("reader", 1, 0);
    let script = json!({"turns": [
        {"tool_calls": [ask("reader", "Read it all."), ask("reader", "Read it, too.")]},
        {"text": "It is read."},
    ]});
    let run = stage.submit("run", &script, lead(200_000)).await;
    gate.reached().await;
    stage.kill().await;
    drop(gate);
    stage.execute().await;
    let record = run.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    let (usage, _) = record.output.tree();
    assert_eq!(usage.total(), 40_000, "{:?}", record.output);
    if H::COUNTS_LOST_WORKERS {
        let reserved = record.output.reserved.tokens;
        assert!((1..=100_000).contains(&reserved), "{:?}", record.output);
    }
    for position in [1, 2] {
        let child = stage.child("run", StepId::new(1, position));
        let record = child.ends().await;
        assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
        assert_eq!(record.output.usage.total(), 20_000);
    }
}
