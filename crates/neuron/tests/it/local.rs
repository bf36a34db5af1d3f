use std::{path::Path, sync::Arc};

use neuron::{
    Agent, Approvers, Local, Model, Run, RunFailure, RunItem, approvers::ApproverEntry, prelude::*,
    types::RunPhase,
};
use neuron_config::ScriptModel;
use neuron_types::{
    FormRequest, Message, OnExpiry, Overrides, Pending, Refusal, RunEvent, RunRequest, TicketKind,
    ToolOutput,
};

use crate::is_let_go;

/// A script that answers after one call of the tool, which a person is asked about.
const ASKS: &str = r#"{"turns": [
    {"tool_calls": [{"name": "count", "input": {"table": "runs"}}]},
    {"text": "There are 3."}
]}"#;

const ADA: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti ada@laptop";

/// Counts the rows of a table.
#[neuron_tool(read_only)]
async fn count(table: String) -> Result<usize, ToolError> {
    Ok(table.len() - 1)
}

fn agent(script: &str) -> neuron::AgentBuilder {
    let script = ScriptModel::parse(script).unwrap();
    Agent::builder("analyst")
        .model(Model::of(script, "script"))
        .tool(CountTool)
}

fn asking() -> Agent {
    agent(ASKS).ask("count").build().unwrap()
}

/// Reads a run to its end, approves its calls, and returns the names of the tools that it asked about.
async fn approve_all(run: &mut Run) -> Vec<String> {
    let mut asked = Vec::new();
    while let Some(item) = run.next().await {
        if let RunItem::Ticket(ticket) = item.unwrap() {
            asked.push(ticket.question().subject().to_owned());
            ticket.approve().await.unwrap();
        }
    }
    asked
}

async fn open(home: &Path) -> Local {
    Local::open(home).await.unwrap()
}

#[tokio::test]
async fn the_first_tool_answers_where_the_agent_stops_at_it() {
    let agent = agent(ASKS).stop_on_first_tool().build().unwrap();
    assert_eq!(agent.run("How many?").await.unwrap(), "3");
}

#[tokio::test]
async fn a_run_in_memory_answers() {
    let agent = agent(ASKS).build().unwrap();
    assert_eq!(agent.run("How many?").await.unwrap(), "There are 3.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_in_memory_gives_its_reader_every_event_from_the_first_on() {
    let agent = asking();
    let local = Local::memory();
    // The run executes on another thread, which is faster than its reader in some of these.
    for count in 0..300 {
        let id = format!("q{count}");
        let mut run = agent.on(&local).start(&id, "How many?").await.unwrap();
        let first = run.next().await.unwrap().unwrap();
        assert!(
            matches!(&first, RunItem::Event(event) if event.seq == 1),
            "{first:?}"
        );
    }
}

#[tokio::test]
async fn nobody_to_ask_is_an_error_at_once() {
    let failure = asking().run("How many?").await.unwrap_err();
    assert!(
        matches!(failure, RunFailure::NobodyToAsk { .. }),
        "{failure}"
    );
}

/// Asks for a name before it continues.
#[neuron_tool(read_only)]
async fn book(table: String) -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::pending(Pending::Form {
        requests: vec![FormRequest {
            key: "name".into(),
            message: format!("For whom is {table}?"),
            schema: Some(serde_json::json!({"type": "string"})),
            url: None,
        }],
        state: None,
    }))
}

#[tokio::test]
async fn nobody_to_fill_in_the_form_of_a_tool_is_an_error_once_it_asks() {
    let script = ScriptModel::parse(&ASKS.replace("count", "book")).unwrap();
    let agent: Agent = Agent::builder("host")
        .model(Model::of(script, "script"))
        .tool(BookTool)
        .build()
        .unwrap();
    let failure = agent.run("A table.").await.unwrap_err();
    let RunFailure::NobodyToAsk { agent, asked } = failure else {
        panic!("{failure}");
    };
    assert_eq!(
        (agent.as_str(), asked.unwrap().kind),
        ("host", TicketKind::Form)
    );
}

#[tokio::test]
async fn a_question_that_lapses_is_no_error() {
    let brief = std::time::Duration::from_millis(1); // Over before an answer is possible.
    let agent = agent(ASKS).ask("count").ask_for(brief, OnExpiry::Deny);
    let agent: Agent = agent.build().unwrap();
    assert_eq!(agent.run("How many?").await.unwrap(), "There are 3.");
}

#[tokio::test]
async fn a_run_in_memory_is_answered_by_its_reader() {
    let mut run = asking().run_stream("How many?").await.unwrap();
    assert_eq!(approve_all(&mut run).await, ["count"]);
    assert_eq!(run.finished().unwrap().into_text().unwrap(), "There are 3.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_process_is_gone_asks_again_and_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let first = open(home.path()).await;
    let mut run = asking().on(&first).start("q3", "How many?").await.unwrap();
    loop {
        if let RunItem::Ticket(_) = run.next().await.unwrap().unwrap() {
            break;
        }
    }
    // The same as an end of the process.
    drop((run, first));
    is_let_go(home.path(), "q3").await;

    let second = open(home.path()).await;
    let mut run = asking().on(&second).start("q3", "How many?").await.unwrap();
    assert_eq!(approve_all(&mut run).await, ["count"]);
    assert_eq!(run.finished().unwrap().into_text().unwrap(), "There are 3.");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_approvers_an_answer_that_nobody_signed_is_not_taken() {
    let home = tempfile::tempdir().unwrap();
    let ada = ApproverEntry {
        name: "ada".into(),
        keys: vec![ADA.into()],
        groups: Vec::new(),
    };
    let agent = agent(ASKS)
        .ask("count")
        .approvers(Approvers::new([ada]).unwrap())
        .build()
        .unwrap();
    for local in [Local::memory(), open(home.path()).await] {
        let mut run = agent.on(&local).start("q3", "How many?").await.unwrap();
        let refused = loop {
            match run.next().await.unwrap().unwrap() {
                RunItem::Ticket(ticket) => match ticket.approve().await {
                    Ok(()) => {}
                    // The journal sees that before the run does.
                    Err(RunFailure::Client(error)) => match error.refusal() {
                        Some(Refusal::NotTaken { reason, .. }) => break reason.clone(),
                        _ => panic!("{error}"),
                    },
                    Err(error) => panic!("{error}"),
                },
                RunItem::Event(event) => {
                    if let RunEvent::ApprovalRefused { reason, .. } = event.event {
                        break reason;
                    }
                }
                _ => {}
            }
        };
        assert_eq!(refused, "the decision is not signed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_readers_of_a_run_read_the_same_events() {
    let home = tempfile::tempdir().unwrap();
    let local = open(home.path()).await;
    let agent = asking();
    let mut one = agent.on(&local).start("q3", "How many?").await.unwrap();
    let mut first = Vec::new();
    let ticket = loop {
        match one.next().await.unwrap().unwrap() {
            RunItem::Event(event) => first.push(event),
            RunItem::Ticket(ticket) => break ticket,
            _ => {}
        }
    };
    let mut other = agent.on(&local).start("q3", "How many?").await.unwrap();
    ticket.approve().await.unwrap();
    let mut second = Vec::new();
    for (run, events) in [(&mut one, &mut first), (&mut other, &mut second)] {
        while let Some(item) = run.next().await {
            if let RunItem::Event(event) = item.unwrap() {
                events.push(event);
            }
        }
    }
    assert_eq!(first, second);
    assert!(matches!(
        second.last().unwrap().event,
        RunEvent::RunEnded { .. }
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_belongs_to_one_agent_and_input() {
    let home = tempfile::tempdir().unwrap();
    let local = open(home.path()).await;
    let agent = agent(ASKS).build().unwrap();
    let run = agent.on(&local).start("q3", "How many?").await.unwrap();
    run.result().await.unwrap();
    let failure = agent.on(&local).start("q3", "Why?").await.unwrap_err();
    assert!(matches!(failure, RunFailure::OtherRun { .. }), "{failure}");
    let again = agent.on(&local).start("q3", "How many?").await.unwrap();
    assert_eq!(again.result().await.unwrap(), "There are 3.");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_belongs_to_one_request_in_all_that_counts() {
    let home = tempfile::tempdir().unwrap();
    let local = open(home.path()).await;
    let agent = agent(ASKS).build().unwrap();
    let request = || {
        RunRequest::new(agent.name(), Message::user("How many?"))
            .tenant("acme")
            .owner("ada")
            .label("report", "q3")
            .deny("bash")
    };
    let start = async |request| agent.on(&local).start_request("q3", request).await;
    start(request()).await.unwrap().result().await.unwrap();
    let again = start(request()).await.unwrap();
    assert_eq!(again.result().await.unwrap(), "There are 3.");
    for other in [
        request().tenant("sk-other"),
        request().owner("bob"),
        request().label("report", "q4"),
        request().deny("write_file"),
        request().overrides(Overrides::default()),
        RunRequest {
            preamble: vec![Message::user("Hello.")].into(),
            ..request()
        },
    ] {
        let failure = start(other).await.unwrap_err();
        assert!(matches!(failure, RunFailure::OtherRun { .. }), "{failure}");
        // Neither request is part of the text.
        let said = format!("{failure} {failure:?}");
        assert!(
            !said.contains("acme") && !said.contains("sk-other"),
            "{said}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_interrupted_is_recovered() {
    let home = tempfile::tempdir().unwrap();
    let agent = asking();
    let first = open(home.path()).await;
    let mut run = agent.on(&first).start("q3", "How many?").await.unwrap();
    loop {
        if let RunItem::Ticket(ticket) = run.next().await.unwrap().unwrap() {
            ticket.approve().await.unwrap();
            break;
        }
    }
    drop((run, first));
    is_let_go(home.path(), "q3").await;

    let second = open(home.path()).await;
    let recovered = second.recover(&[&agent]).await.unwrap();
    let client = second.client().unwrap();
    let run = neuron::engine::RunHandle::new(Arc::clone(&client), "q3".parse().unwrap());
    // The run may have ended before it was interrupted.
    assert!(recovered.len() <= 1);
    assert_eq!(run.wait_for_end().await.unwrap().state, RunPhase::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_taken_step_by_step_in_memory_and_in_a_journal() {
    let home = tempfile::tempdir().unwrap();
    let agent = agent(ASKS).build().unwrap();
    for local in [Local::memory(), open(home.path()).await] {
        let mut steps = agent.on(&local).steps("q3", "How many?").await.unwrap();
        let mut tools = Vec::new();
        while let Some(step) = steps.next().await {
            if let neuron::TurnResult::ToolExecuted { call, .. } = step.unwrap() {
                tools.push(call.name);
            }
        }
        assert_eq!(tools, ["count"]);
        assert_eq!(
            steps.finished().unwrap().into_text().unwrap(),
            "There are 3."
        );
    }
}

#[tokio::test]
async fn a_limit_that_is_met_is_a_failure_that_says_so() {
    let agent = agent(ASKS)
        .limits(Limits {
            turns: Some(1),
            ..Limits::default()
        })
        .build()
        .unwrap();
    let failure = agent.run("How many?").await.unwrap_err();
    assert!(
        failure
            .to_string()
            .ends_with("ended without an answer: max_turns"),
        "{failure}"
    );
}
