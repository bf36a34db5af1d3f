use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use neuron::{
    Agent, Local, RunFailure, RunItem,
    prelude::*,
    types::{ExitReason, RunEvent, RunPhase},
    workflow::{AgentAnswer, Door, DurableContext, Served as _, WorkflowError, team},
};
use neuron_config::ScriptModel;
use neuron_harness::until;
use tokio::sync::{Barrier, Semaphore};

use crate::{
    is_let_go,
    mind::{Mind, agent, says},
};

#[neuron::workflow(name = "line")]
async fn line<D: DurableContext>(
    door: &Door<D>,
    agents: Vec<String>,
) -> Result<team::Piped, WorkflowError> {
    let agents: Vec<&str> = agents.iter().map(String::as_str).collect();
    team::pipeline(door, &agents, "tea").await
}

#[neuron::workflow(name = "mended")]
async fn mended<D: DurableContext>(
    door: &Door<D>,
    rounds: u32,
) -> Result<team::Critiqued, WorkflowError> {
    team::critique(door, "writer", "critic", "Write about tea.", rounds).await
}

#[neuron::workflow(name = "jury")]
async fn jury<D: DurableContext>(
    door: &Door<D>,
    prompt: String,
) -> Result<team::Judged, WorkflowError> {
    team::parallel(door, &["one", "two", "three"], "judge", prompt).await
}

/// Asks one agent so often at once.
#[neuron::workflow(name = "many")]
async fn many<D: DurableContext>(
    door: &Door<D>,
    times: usize,
) -> Result<Vec<AgentAnswer>, WorkflowError> {
    door.all((0..times).map(|number| ("one", number.to_string())))
        .await
}

/// Starts a run, and does not wait for it.
#[neuron::workflow(name = "careless")]
async fn careless<D: DurableContext>(door: &Door<D>, fails: bool) -> Result<String, WorkflowError> {
    let child = door.start_agent("one", "Go on for ever.")?;
    let run = child.run_id().to_string();
    let answer = door.scoped("two")?.ask("Is it there?").await?;
    if fails {
        return Err(WorkflowError::failed("enough"));
    }
    Ok(format!("{run}: {answer}"))
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn quotes(name: &'static str) -> Agent {
    says(name, move |told| format!("{name}({told})"))
}

/// Returns the error with which a run ended.
fn error_of(failure: RunFailure) -> String {
    let RunFailure::Ended { error, .. } = failure else {
        panic!("{failure}");
    };
    error.unwrap().message
}

#[tokio::test]
async fn each_agent_of_a_pipeline_is_given_the_answer_of_the_one_before() {
    let line = Line::with(&[&quotes("a"), &quotes("b"), &quotes("c")]).unwrap();
    let home = tempfile::tempdir().unwrap();
    let local = Local::open(home.path()).await.unwrap();
    let asked = names(&["b", "a", "c"]);
    let kept = line.on(&local).start("r1", &asked).await.unwrap();
    for piped in [
        line.run(&asked).await.unwrap(),
        kept.result().await.unwrap(),
    ] {
        assert_eq!(piped.answer, "c(a(b(tea)))");
        let said: Vec<_> = piped
            .said
            .iter()
            .map(|it| format!("{}: {}", it.agent, it.text))
            .collect();
        assert_eq!(said, ["b: b(tea)", "a: a(b(tea))", "c: c(a(b(tea)))"]);
    }
}

#[tokio::test]
async fn a_pipeline_of_nobody_or_of_an_unknown_agent_asks_nobody() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let first = says("a", move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        String::new()
    });
    let line = Line::with(&[&first]).unwrap();
    let nobody = error_of(line.run(&Vec::new()).await.unwrap_err());
    assert_eq!(
        nobody,
        "a team without agents comes to nothing: name one at least"
    );
    let unknown = error_of(line.run(&names(&["a", "b"])).await.unwrap_err());
    assert_eq!(unknown, "the workflow has no agent b: it has a");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

fn mended_by(critic: &str) -> Agent<u32, team::Critiqued> {
    let writer = says("writer", |told| match told {
        "Write about tea." => "Tea is green.".to_owned(),
        "Mend the text:\nNot all of it." => "Some tea is green.".to_owned(),
        other => panic!("{other}"),
    });
    let critic = Agent::builder("critic")
        .model(neuron::Model::of(
            ScriptModel::parse(critic).unwrap(),
            "script",
        ))
        .output::<team::Remark>()
        .build()
        .unwrap();
    Mended::with(&[&writer, &critic]).unwrap()
}

const HARD_TO_PLEASE: &str = r#"{"turns": [
    {"text": "{\"accepted\": false, \"remark\": \"Not all of it.\"}"},
    {"text": "{\"accepted\": true, \"remark\": \"\"}"}
]}"#;

#[tokio::test]
async fn a_text_is_mended_until_the_critic_accepts_it() {
    let critiqued = mended_by(HARD_TO_PLEASE).run(&5).await.unwrap();
    assert_eq!(critiqued.text, "Some tea is green.");
    assert!(critiqued.accepted);
    assert_eq!((critiqued.rounds, critiqued.remark.as_str()), (2, ""));
}

#[tokio::test]
async fn a_critic_who_is_not_content_in_time_is_said_to_be_so() {
    let critiqued = mended_by(HARD_TO_PLEASE).run(&1).await.unwrap();
    assert_eq!(critiqued.text, "Tea is green.", "as the critic read it");
    assert!(!critiqued.accepted);
    assert_eq!(critiqued.rounds, 1);
    assert_eq!(critiqued.remark, "Not all of it.");
    let unread = mended_by(HARD_TO_PLEASE).run(&0).await.unwrap();
    assert_eq!((unread.accepted, unread.rounds), (false, 0));
}

/// Returns an agent that answers once this many calls are in flight at the same time.
fn together(name: &'static str, barrier: &Arc<Barrier>) -> Agent {
    let barrier = Arc::clone(barrier);
    let mind = Mind::new(move |told| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            Ok(format!("{name}({told})"))
        }
    });
    agent(name, mind).build().unwrap()
}

fn judge() -> Agent {
    says("judge", |told| format!("judged: {told}"))
}

#[tokio::test]
async fn agents_work_at_the_same_time_and_a_judge_reads_all_answers_in_order() {
    let barrier = Arc::new(Barrier::new(3));
    let team = ["one", "two", "three"].map(|name| together(name, &barrier));
    let jury = Jury::with(&[&team[0], &team[1], &team[2], &judge()]).unwrap();
    let home = tempfile::tempdir().unwrap();
    let local = Local::open(home.path()).await.unwrap();
    let prompt = "tea".to_owned();
    let in_memory = jury.run(&prompt).await.unwrap();
    let kept = jury.on(&local).start("r1", &prompt).await.unwrap();
    let kept = kept.result().await.unwrap();
    let runs: Vec<_> = kept.said.iter().map(|said| said.run.as_str()).collect();
    assert_eq!(runs, ["r1.0-1", "r1.0-2", "r1.0-3"]);
    for judged in [in_memory, kept] {
        assert_eq!(
            judged.answer,
            "judged: The task:\ntea\n\nAnswer 1, of the agent one:\none(tea)\n\nAnswer 2, of the agent two:\n\
             two(tea)\n\nAnswer 3, of the agent three:\nthree(tea)"
        );
    }
    let client = local.client().unwrap();
    let status = client.status(&"r1".parse().unwrap()).await.unwrap();
    let children: Vec<_> = status
        .children
        .iter()
        .map(|child| (child.agent.as_str(), child.state))
        .collect();
    assert_eq!(
        children,
        [
            ("jury/one", RunPhase::Completed),
            ("jury/two", RunPhase::Completed),
            ("jury/three", RunPhase::Completed)
        ]
    );
}

#[tokio::test]
async fn the_judge_is_told_of_an_agent_that_came_to_no_answer() {
    let broken = Mind::new(|_| async { Err("no such model".to_owned()) });
    let broken = agent("two", broken).build().unwrap();
    let jury = Jury::with(&[&quotes("one"), &broken, &quotes("three"), &judge()]).unwrap();
    let judged = jury.run(&"tea".to_owned()).await.unwrap();
    assert!(
        judged
            .answer
            .contains("No answer 2: the agent two came to no answer (failed): no such model"),
        "{}",
        judged.answer
    );
    assert_eq!(judged.said[1].exit_reason, ExitReason::Failed);
    assert_eq!(judged.said[1].text(), None);
    assert_eq!(judged.said[2].text(), Some("three(tea)"));
}

#[tokio::test]
async fn no_more_runs_are_open_at_once_than_may_be() {
    // The barrier requires the most agents that may run at once, before one of them answers.
    let barrier = Arc::new(Barrier::new(16));
    let open = Arc::new(AtomicUsize::new(0));
    let (counted, at_once) = (Arc::clone(&open), Arc::new(AtomicUsize::new(0)));
    let most = Arc::clone(&at_once);
    let mind = Mind::new(move |told| {
        let (barrier, open, most) = (
            Arc::clone(&barrier),
            Arc::clone(&counted),
            Arc::clone(&most),
        );
        async move {
            let now = open.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            barrier.wait().await;
            open.fetch_sub(1, Ordering::SeqCst);
            Ok(told)
        }
    });
    let many = Many::with(&[&agent("one", mind).build().unwrap()]).unwrap();
    let answers = many.run(&32).await.unwrap();
    let texts: Vec<_> = answers
        .iter()
        .map(|answer| answer.text().unwrap())
        .collect();
    let expected: Vec<_> = (0..32).map(|number| number.to_string()).collect();
    assert_eq!(texts, expected);
    assert_eq!(at_once.load(Ordering::SeqCst), 16);
}

/// Brews tea of a kind.
#[neuron_tool]
async fn brew(kind: String) -> Result<String, ToolError> {
    Ok(format!("{kind} tea"))
}

#[tokio::test]
async fn a_run_of_an_agent_has_the_tools_and_the_limits_of_the_agent() {
    let script = r#"{"turns": [
        {"tool_calls": [{"name": "brew", "input": {"kind": "green"}}]},
        {"text": "done"}
    ]}"#;
    let brewer = |turns| {
        Agent::builder("one")
            .model(neuron::Model::of(
                ScriptModel::parse(script).unwrap(),
                "script",
            ))
            .tool(BrewTool)
            .limits(Limits {
                turns: Some(turns),
                ..Limits::default()
            })
            .build()
            .unwrap()
    };
    let many = Many::with(&[&brewer(2)]).unwrap();
    assert_eq!(many.run(&1).await.unwrap()[0].text(), Some("done"));
    let many = Many::with(&[&brewer(1)]).unwrap();
    let met = &many.run(&1).await.unwrap()[0];
    assert_eq!(met.exit_reason, ExitReason::MaxTurns);
}

/// Returns an agent that never answers, and one that answers when the first was asked.
fn careless_team() -> Agent<bool, String> {
    let asked = Arc::new(Semaphore::new(0));
    let is_asked = Arc::clone(&asked);
    let endless = Mind::new(move |_| {
        asked.add_permits(1);
        std::future::pending()
    });
    let waits = Mind::new(move |_| {
        let is_asked = Arc::clone(&is_asked);
        async move {
            is_asked.acquire().await.unwrap().forget();
            Ok("It is.".to_owned())
        }
    });
    let endless = agent("one", endless).build().unwrap();
    Careless::with(&[&endless, &agent("two", waits).build().unwrap()]).unwrap()
}

#[tokio::test]
async fn a_run_that_nobody_waits_for_is_cancelled_when_its_workflow_ends_or_fails() {
    let in_memory = careless_team().run(&true).await.unwrap_err();
    assert_eq!(error_of(in_memory), "enough");
    let home = tempfile::tempdir().unwrap();
    let local = Local::open(home.path()).await.unwrap();
    let client = local.client().unwrap();
    for (run, fails) in [("r1", false), ("r2", true)] {
        let team = careless_team();
        let result = team.on(&local).start(run, &fails).await.unwrap().result();
        match result.await {
            Ok(answer) => assert_eq!(answer, "r1.0-1: It is."),
            Err(failure) => assert_eq!(error_of(failure), "enough"),
        }
        let child = format!("{run}.0-1").parse().unwrap();
        let status = client.status(&child).await.unwrap();
        assert_eq!(status.state, RunPhase::Cancelled, "{run}");
    }
}

#[tokio::test]
async fn a_cancel_of_a_workflow_cancels_the_runs_that_it_started() {
    let home = tempfile::tempdir().unwrap();
    let local = Local::open(home.path()).await.unwrap();
    let endless = || {
        let mind = Mind::new(|_| std::future::pending());
        agent("one", mind).build().unwrap()
    };
    let many = Many::with(&[&endless()]).unwrap();
    let mut run = many.on(&local).start("r1", &2).await.unwrap();
    let mut started = 0;
    while let Some(item) = run.next().await {
        if let RunItem::Event(event) = item.unwrap()
            && let RunEvent::ChildStarted { .. } = event.event
        {
            started += 1;
            if started == 2 {
                run.cancel(Some("enough".into())).await.unwrap();
            }
        }
    }
    let failure = run.finished().unwrap().into_value().unwrap_err();
    let RunFailure::Ended { exit_reason, .. } = failure else {
        panic!("{failure}");
    };
    assert_eq!(exit_reason, ExitReason::Cancelled);
    let client = local.client().unwrap();
    for child in ["r1.0-1", "r1.0-2"] {
        // A run whose start was given up with the run does not exist.
        if let Ok(status) = client.status(&child.parse().unwrap()).await {
            assert_eq!(status.state, RunPhase::Cancelled, "{child}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workflow_whose_process_is_gone_goes_on_with_the_runs_that_it_started() {
    let asked = Arc::new(AtomicUsize::new(0));
    // The first process never gets the answer of the second agent.
    let team = |is_second: bool| {
        let counted = Arc::clone(&asked);
        let one = says("one", move |told| {
            counted.fetch_add(1, Ordering::SeqCst);
            format!("one({told})")
        });
        let two = Mind::new(move |told| async move {
            match is_second {
                true => Ok(format!("two({told})")),
                false => std::future::pending().await,
            }
        });
        let two = agent("two", two).build().unwrap();
        Jury::with(&[&one, &two, &quotes("three"), &judge()]).unwrap()
    };
    let home = tempfile::tempdir().unwrap();
    let first = Local::open(home.path()).await.unwrap();
    let prompt = "tea".to_owned();
    let run = team(false).on(&first).start("r1", &prompt).await.unwrap();
    let client = first.client().unwrap();
    let ended = ["r1.0-1".parse().unwrap(), "r1.0-3".parse().unwrap()];
    until(async || {
        for child in &ended {
            let status = client.status(child).await.ok()?;
            status.state.is_final().then_some(())?;
        }
        Some(())
    })
    .await;
    // The same as an end of the process.
    drop((run, first, client));
    for run in ["r1", "r1.0-2"] {
        is_let_go(home.path(), run).await;
    }

    let second = Local::open(home.path()).await.unwrap();
    let jury = team(true);
    let recovered = second.recover(&[&jury]).await.unwrap();
    assert_eq!(recovered.len(), 1, "the workflow has its runs with it");
    let run = jury.on(&second).start("r1", &prompt).await.unwrap();
    let judged = run.result().await.unwrap();
    let texts: Vec<_> = judged
        .said
        .iter()
        .map(|said| said.text().unwrap())
        .collect();
    assert_eq!(texts, ["one(tea)", "two(tea)", "three(tea)"]);
    assert_eq!(asked.load(Ordering::SeqCst), 1, "none is started twice");
}
