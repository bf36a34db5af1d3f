use neuron::{Agent, Model, RunFailure};
use neuron_config::ScriptModel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize)]
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
