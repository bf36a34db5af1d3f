use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use chrono::DateTime;
use neuron::{
    Agent, AgentError, Approvers, Local, Model, Run, RunFailure, RunItem,
    approvers::{ApproverEntry, Place, Signer, Statement},
    prelude::*,
    types::{DecidedAt, Decision, ExitReason, RunEvent, RunStatus, Verdict},
    workflow::{Door, DurableContext, Served as _, WorkflowError},
};
use neuron_config::ScriptModel;
use serde::{Deserialize, Serialize};

use crate::is_let_go;

#[derive(Debug, Serialize, Deserialize)]
struct Topic {
    title: String,
}

/// Has a text written, and has another agent count its letters.
#[neuron::workflow]
async fn count_letters<D: DurableContext>(
    door: &Door<D>,
    topic: Topic,
) -> Result<Vec<String>, WorkflowError> {
    let mut writer = door.scoped("writer")?;
    let mut counter = door.scoped("counter")?;
    let first = writer.ask(topic.title).await?;
    let counted = counter.ask(&first).await?;
    let second = writer.ask(&counted).await?;
    assert_eq!(writer.messages().len(), 4, "it remembers");
    Ok(vec![first, counted, second])
}

/// Asks an agent that the workflow does not have.
#[neuron::workflow(name = "lost")]
async fn lost<D: DurableContext>(door: &Door<D>) -> Result<(), WorkflowError> {
    door.scoped("nobody")?.ask("Hello?").await.map(drop)
}

/// Counts the letters of a text.
#[neuron_tool(read_only)]
async fn letters(text: String) -> Result<usize, ToolError> {
    Ok(text.len())
}

fn agent(name: &str, script: &str) -> neuron::AgentBuilder {
    Agent::builder(name).model(Model::of(ScriptModel::parse(script).unwrap(), "script"))
}

fn writer() -> Agent {
    let script = r#"{"turns": [{"text": "tea"}, {"text": "Three, then."}]}"#;
    agent("writer", script).build().unwrap()
}

fn counter() -> Agent {
    let script = r#"{"turns": [
        {"tool_calls": [{"name": "letters", "input": {"text": "tea"}}]},
        {"text": "It has 3."}
    ]}"#;
    let counter = agent("counter", script).tool(LettersTool).ask("letters");
    counter.build().unwrap()
}

fn team() -> Agent<Topic, Vec<String>> {
    CountLetters::with(&[&writer(), &counter()]).unwrap()
}

fn topic() -> Topic {
    Topic {
        title: "a drink".into(),
    }
}

const ANSWERS: [&str; 3] = ["tea", "It has 3.", "Three, then."];

async fn open(home: &Path) -> Local {
    Local::open(home).await.unwrap()
}

/// Reads a run to its end, approves its calls, and returns the tickets and the events.
async fn attend<O>(run: &mut Run<O>) -> (Vec<String>, Vec<RunEvent>) {
    let (mut tickets, mut events) = (Vec::new(), Vec::new());
    while let Some(item) = run.next().await {
        match item.unwrap() {
            RunItem::Ticket(ticket) => {
                tickets.push(ticket.question().ticket.clone());
                ticket.approve().await.unwrap();
            }
            RunItem::Event(event) => events.push(event.event),
            _ => {}
        }
    }
    (tickets, events)
}

#[tokio::test]
async fn agents_take_turns_with_scopes_of_their_own() {
    let mut run = team().run_stream(&topic()).await.unwrap();
    let (tickets, events) = attend(&mut run).await;
    // The ticket of the second agent, in the second turn of the run.
    assert_eq!(tickets, ["s2-t2-1"]);
    let asked: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::AgentAsked { scope, agent, .. } => Some((*scope, agent.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(asked, [(1, "writer"), (2, "counter"), (1, "writer")]);
    let turns: Vec<u32> = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::TurnStarted { turn } => Some(*turn),
            _ => None,
        })
        .collect();
    assert_eq!(turns, [1, 2, 3, 4], "turns are those of the run");
    let ends = |event: &&RunEvent| {
        matches!(
            event,
            RunEvent::RunStarted { .. } | RunEvent::RunEnded { .. }
        )
    };
    assert_eq!(events.iter().filter(ends).count(), 2, "{events:?}");
    let finished = run.finished().unwrap();
    assert_eq!(finished.output().turns, 4);
    assert_eq!(finished.into_value().unwrap(), ANSWERS);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_process_is_gone_goes_on_with_the_agent_whose_turn_it_is() {
    let home = tempfile::tempdir().unwrap();
    let first = open(home.path()).await;
    let mut run = team().on(&first).start("letters", &topic()).await.unwrap();
    loop {
        if let RunItem::Ticket(_) = run.next().await.unwrap().unwrap() {
            break;
        }
    }
    // The same as an end of the process.
    drop((run, first));
    is_let_go(home.path(), "letters").await;

    let second = open(home.path()).await;
    let recovered = second.recover(&[&team()]).await.unwrap();
    assert_eq!(recovered.len(), 1);
    let mut run = team().on(&second).start("letters", &topic()).await.unwrap();
    let (tickets, _) = attend(&mut run).await;
    assert_eq!(tickets, ["s2-t2-1"]);
    assert_eq!(run.finished().unwrap().into_value().unwrap(), ANSWERS);
}

#[tokio::test]
async fn a_cancelled_run_ends_while_an_agent_waits() {
    let home = tempfile::tempdir().unwrap();
    let local = open(home.path()).await;
    let mut run = team().on(&local).start("letters", &topic()).await.unwrap();
    while let Some(item) = run.next().await {
        if let RunItem::Ticket(_) = item.unwrap() {
            run.cancel(Some("enough".into())).await.unwrap();
        }
    }
    let failure = run.finished().unwrap().into_value().unwrap_err();
    let RunFailure::Ended { exit_reason, .. } = failure else {
        panic!("{failure}");
    };
    assert_eq!(exit_reason, ExitReason::Cancelled);
}

#[tokio::test]
async fn an_agent_that_the_workflow_lacks_fails_the_run() {
    let lost = Lost::with(&[&writer()]).unwrap();
    let failure = lost.run(&()).await.unwrap_err();
    let RunFailure::Ended { error, .. } = failure else {
        panic!("{failure}");
    };
    assert_eq!(
        error.unwrap().message,
        "the workflow has no agent nobody: it has writer"
    );
}

#[tokio::test]
async fn an_input_that_cannot_be_read_fails_the_run() {
    let home = tempfile::tempdir().unwrap();
    let local = open(home.path()).await;
    let request = RunRequest::new("count-letters", neuron::types::Message::user("tea"));
    let team = team();
    let started = team.on(&local).start_request("wrong", request).await;
    let failure = started.unwrap().result().await.unwrap_err();
    let RunFailure::Ended { error, .. } = failure else {
        panic!("{failure}");
    };
    let message = error.unwrap().message;
    assert!(
        message.starts_with("the input cannot be read: "),
        "{message}"
    );
}

#[test]
fn two_agents_of_one_name_are_no_team() {
    let error = CountLetters::with(&[&writer(), &writer()]).unwrap_err();
    assert!(matches!(error, AgentError::SameName { .. }), "{error}");
}

#[tokio::test]
async fn what_asks_a_person_is_an_error_where_nobody_answers() {
    let failure = team().run(&topic()).await.unwrap_err();
    assert!(
        matches!(failure, RunFailure::NobodyToAsk { .. }),
        "{failure}"
    );
}

/// The key of Ada, who only decides here.
const ADA: &str = "-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
QyNTUxOQAAACDk1EoS8xCU6TjYittwdIT2yUVoJavocl5KCjMPsGOj+gAAAIg9jiuOPY4r
jgAAAAtzc2gtZWQyNTUxOQAAACDk1EoS8xCU6TjYittwdIT2yUVoJavocl5KCjMPsGOj+g
AAAEBuxZvmW9pYeWDivlNMdml26VMC8a175NvF4u27bz4aOeTUShLzEJTpONiK23B0hPbJ
RWglq+hyXkoKMw+wY6P6AAAAA2FkYQEC
-----END OPENSSH PRIVATE KEY-----
";

const ADA_PUBLIC: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOTUShLzEJTpONiK23B0hPbJRWglq+hyXkoKMw+wY6P6";

/// Returns the team. Ada approves the calls of the writer, and the counter, which asks, has no approvers.
fn team_of_ada() -> Agent<Topic, Vec<String>> {
    let ada = ApproverEntry {
        name: "ada".into(),
        keys: vec![ADA_PUBLIC.into()],
        groups: Vec::new(),
    };
    let script = r#"{"turns": [{"text": "tea"}, {"text": "Three, then."}]}"#;
    let writer = agent("writer", script).approvers(Approvers::new([ada]).unwrap());
    CountLetters::with(&[&writer.build().unwrap(), &counter()]).unwrap()
}

fn signed_by_ada(place: &Place, status: &RunStatus, decision: Decision) -> Decision {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    fs::write(&path, ADA).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let signer = Signer::from_key_file(&path, None, |_| panic!("it has no passphrase")).unwrap();
    let decision = Decision {
        approver: Some("ada".into()),
        at: Some(DecidedAt::parse("2026-11-23T16:27:58.123Z").unwrap()),
        ..decision
    };
    let statement = Statement::of_run(place, status, &decision).unwrap();
    Decision {
        signature: Some(signer.sign(&statement).unwrap()),
        ..decision
    }
}

/// Answers the run's questions without a signature and then with one, and returns why the first answer did not count.
async fn attend_signed<O>(run: &mut Run<O>, place: &Place) -> String {
    let begun = DateTime::UNIX_EPOCH;
    let mut status = RunStatus::new("letters".parse().unwrap(), "local", "count-letters", begun);
    let (mut reason, mut approvers) = (None, Vec::new());
    while let Some(item) = run.next().await {
        match item.unwrap() {
            RunItem::Ticket(ticket) => {
                assert!(status.signed);
                assert_eq!(ticket.question().agent.as_deref(), Some("counter"));
                let approval = ticket.decision(Verdict::Approve);
                let unsigned = Decision {
                    approver: Some("ada".into()),
                    ..approval.clone()
                };
                if let Err(refused) = ticket.decide(unsigned).await {
                    reason = Some(refused.to_string());
                }
                let signed = signed_by_ada(place, &status, approval);
                ticket.decide(signed).await.unwrap();
            }
            RunItem::Event(recorded) => {
                status.run_id = run.run_id().clone();
                status.apply(&recorded.event, recorded.at);
                match recorded.event {
                    RunEvent::ApprovalRefused { reason: why, .. } => reason = Some(why),
                    RunEvent::ApprovalDecided {
                        approver, verified, ..
                    } => approvers.push((approver, verified)),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    assert_eq!(approvers, [(Some("ada".to_owned()), true)]);
    reason.unwrap()
}

#[tokio::test]
async fn where_one_agent_has_approvers_decisions_about_all_of_them_are_signed() {
    let mut run = team_of_ada().run_stream(&topic()).await.unwrap();
    let reason = attend_signed(&mut run, &Place::Memory).await;
    assert_eq!(reason, "the decision is not signed");
    assert_eq!(run.finished().unwrap().into_value().unwrap(), ANSWERS);

    let home = tempfile::tempdir().unwrap();
    let journal = neuron_local::Journal::open(home.path()).await.unwrap();
    let place = journal.place().clone();
    let local = Local::from(journal);
    let team = team_of_ada();
    let mut run = team.on(&local).start("letters", &topic()).await.unwrap();
    let reason = attend_signed(&mut run, &place).await;
    assert!(
        reason.ends_with("is not taken: the decision is not signed"),
        "{reason}"
    );
    assert_eq!(run.finished().unwrap().into_value().unwrap(), ANSWERS);
}
