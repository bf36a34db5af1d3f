use neuron::{
    Agent, Local, Model, RunFailure,
    types::{Message, RunRequest},
};
use neuron_config::ScriptModel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, JsonSchema)]
struct Invoice {
    cents: u64,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Verdict {
    paid: bool,
}

fn agent(answers: &[&str]) -> Agent<Invoice, Verdict> {
    let turns: Vec<_> = answers
        .iter()
        .map(|text| serde_json::json!({"text": text}))
        .collect();
    let script = serde_json::json!({ "turns": turns }).to_string();
    Agent::builder("invoice")
        .model(Model::of(ScriptModel::parse(&script).unwrap(), "script"))
        .input::<Invoice>()
        .output::<Verdict>()
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_value_goes_in_and_a_value_comes_out() {
    let agent = agent(&[r#"{"paid": true}"#]);
    assert_eq!(
        agent.run(&Invoice { cents: 1 }).await.unwrap(),
        Verdict { paid: true }
    );
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_once_more() {
    let agent = agent(&["Paid!", r#"{"paid": false}"#]);
    assert_eq!(
        agent.run(&Invoice { cents: 1 }).await.unwrap(),
        Verdict { paid: false }
    );
}

#[tokio::test]
async fn a_second_answer_that_does_not_fit_fails_the_run() {
    let failure = agent(&[r#"{"paid": 1}"#, "{}", r#"{"paid": true}"#])
        .run(&Invoice { cents: 1 })
        .await
        .unwrap_err();
    let RunFailure::Ended {
        error: Some(error), ..
    } = &failure
    else {
        panic!("{failure}");
    };
    assert_eq!(error.kind.as_str(), "invalid_answer");
    assert!(
        error.message.contains(r#""paid" is a required property"#),
        "{error:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_states_no_input_fails_the_run_before_the_model_is_called() {
    let home = tempfile::tempdir().unwrap();
    let agent = agent(&[r#"{"paid": true}"#]);
    for local in [Local::memory(), Local::open(home.path()).await.unwrap()] {
        for (run_id, prompt, reason) in [
            (
                "misfit",
                r#"{"cents": "1"}"#,
                r#"it does not fit its schema; at /cents: "1" is not of type "integer""#,
            ),
            (
                "no-json",
                "Pay it.",
                "it is no JSON: expected value at line 1 column 1",
            ),
        ] {
            let request = RunRequest::new("invoice", Message::user(prompt));
            let on_local = agent.on(&local);
            let mut run = on_local.start_request(run_id, request).await.unwrap();
            while let Some(item) = run.next().await {
                item.unwrap();
            }
            let output = run.finished().unwrap().output().clone();
            assert_eq!((output.turns, output.usage.total()), (0, 0));
            let error = output.error.unwrap();
            assert_eq!(error.kind.as_str(), "invalid_request");
            assert_eq!(
                error.message,
                format!("the prompt is not the input that the agent invoice is given: {reason}")
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_states_an_input_by_hand_runs() {
    let home = tempfile::tempdir().unwrap();
    let agent = agent(&[r#"{"paid": true}"#]);
    for local in [Local::memory(), Local::open(home.path()).await.unwrap()] {
        let request = RunRequest::new("invoice", Message::user(r#"{ "cents": 1 }"#));
        let run = agent.on(&local).start_request("fits", request).await;
        assert_eq!(run.unwrap().result().await.unwrap(), Verdict { paid: true });
    }
}

#[tokio::test]
async fn texts_are_given_as_they_are() {
    let script = ScriptModel::parse(r#"{"turns": [{"text": "Paid."}]}"#).unwrap();
    let agent = Agent::builder("text")
        .model(Model::of(script, "script"))
        .input::<str>()
        .build()
        .unwrap();
    for text in ["Pay it.", "7", r#"{"cents":"#] {
        assert_eq!(agent.run(text).await.unwrap(), "Paid.");
    }
}

/// Fields that are left out when a value is serialised are not required.
#[tokio::test]
async fn every_value_of_the_input_fits() {
    #[derive(Serialize, JsonSchema)]
    struct Order {
        #[serde(skip_serializing_if = "Vec::is_empty")]
        items: Vec<String>,
        note: Option<String>,
    }
    let script = ScriptModel::parse(r#"{"turns": [{"text": "Sent."}]}"#).unwrap();
    let agent = Agent::builder("orders")
        .model(Model::of(script, "script"))
        .input::<Order>()
        .build()
        .unwrap();
    for items in [vec![], vec!["tea".to_owned()]] {
        let order = Order { items, note: None };
        assert_eq!(agent.run(&order).await.unwrap(), "Sent.");
    }
}
