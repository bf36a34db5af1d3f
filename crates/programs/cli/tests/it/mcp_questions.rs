//! Questions of MCP servers to the person and to a model, with an agent file.

use serde_json::json;

use crate::{
    everything::{offered, one, over_pipes},
    model_server::{ModelServer, Part},
    support::{Home, with_time_enough},
    terminal::{ends_with, in_terminal},
};

const ASKS: &str = "trigger-elicitation-request";
const ASKS_A_MODEL: &str = "trigger-sampling-request";
const RUN: [&str; 4] = ["run", "--id", "r1", "go"];

fn asking() -> Home {
    let turns = one(ASKS, &json!({}));
    Home::with_script(&turns, &over_pipes("elicitation = true"))
}

#[test]
fn a_server_is_told_what_it_may_ask() {
    let of = |lines: &str| offered(&Home::with_script(&json!([]), &over_pipes(lines)));
    let asks = |tools: &[String], name: &str| tools.iter().any(|tool| tool == name);
    let nothing = of("");
    assert!(asks(&nothing, "echo"), "{nothing:?}");
    assert!(!asks(&nothing, ASKS), "{nothing:?}");
    assert!(!asks(&nothing, ASKS_A_MODEL), "{nothing:?}");
    let all = of("elicitation = true\nsampling = true");
    assert!(asks(&all, ASKS) && asks(&all, ASKS_A_MODEL), "{all:?}");
}

#[test]
fn the_person_at_the_terminal_fills_in_the_form() {
    let home = asking();
    let mut session = in_terminal(home.command(&RUN));
    session
        .exp_string("the MCP server everything asks:")
        .unwrap();
    session.exp_string("Please provide inputs").unwrap();
    session.exp_string("[a]nswer, [n]o: ").unwrap();
    session.send_line("a").unwrap();
    session.exp_string("name (text; needed): ").unwrap();
    session.send_line("").unwrap();
    session.exp_string("it is needed").unwrap();
    session.exp_string("name (text; needed): ").unwrap();
    session.send_line("Ada").unwrap();
    // Twelve more optional fields.
    for _ in 0..12 {
        session.exp_string("; nothing ").unwrap();
        session.exp_string("): ").unwrap();
        session.send_line("").unwrap();
    }
    session.exp_string("\"name\": \"Ada\"").unwrap();
    session.exp_string("[s]end it, [e]dit, [n]o: ").unwrap();
    session.send_line("s").unwrap();
    let rest = ends_with(session, 0);
    assert!(rest.contains("Done."), "{rest}");
    let seen = home.read("seen");
    assert!(seen.contains(r#""action":"accept""#), "{seen}");
    assert!(seen.contains(r#""name":"Ada""#), "{seen}");
    assert!(seen.contains(r#""integer":42"#), "{seen}");
}

#[test]
fn the_person_at_the_terminal_says_no() {
    for (typed, told) in [("n", "decline"), ("\u{4}", "cancel")] {
        let home = asking();
        let mut session = in_terminal(home.command(&RUN));
        session.exp_string("[a]nswer, [n]o: ").unwrap();
        match typed {
            "\u{4}" => session.send_control('d').map(drop).unwrap(),
            typed => session.send_line(typed).map(drop).unwrap(),
        }
        ends_with(session, 0);
        let seen = home.read("seen");
        assert!(seen.contains(&format!(r#""action":"{told}""#)), "{seen}");
    }
}

#[test]
fn without_a_terminal_the_person_declines() {
    let home = asking();
    home.neuron(&RUN).exits(0).prints("Done.\n");
    let seen = home.read("seen");
    assert!(seen.contains(r#""action":"decline""#), "{seen}");
}

#[test]
fn a_question_is_taken_back_when_its_call_is_over() {
    let rest = with_time_enough(|time| {
        let home = asking();
        let file = home.read("neuron.toml");
        let agent = format!(
            "[agents.default]\ntool_timeout = \"{}ms\"\n",
            time.as_millis()
        );
        home.write("neuron.toml", &file.replace("[agents.default]\n", &agent));
        let mut session = in_terminal(home.command(&RUN));
        let (_, first) = session.exp_regex(r"\[n\]o: |Done\.").unwrap();
        let rest = ends_with(session, 0);
        (first != "Done.").then_some(rest)
    });
    assert!(rest.contains("Done."), "{rest}");
}

#[test]
fn tickets_and_forms_are_asked_about_one_after_the_other() {
    let turns = json!([
        {"tool_calls": [
            {"name": "everything__trigger-elicitation-request", "input": {}},
            {"name": "bash", "input": {"command": "touch made"}},
        ]},
        {"text": "Done."},
    ]);
    let lines = format!("ask = [\"bash\"]\n{}", over_pipes("elicitation = true"));
    let home = Home::with_script(&turns, &lines);
    let mut session = in_terminal(home.command(&RUN));
    // The order of the two is not guaranteed.
    for _ in 0..2 {
        let asked = session
            .exp_regex(r"\[a\]nswer, \[n\]o: |\[l\]ater: ")
            .unwrap();
        match asked.1.starts_with("[a]nswer") {
            true => session.send_line("n").unwrap(),
            false => session.send_line("y").unwrap(),
        };
    }
    ends_with(session, 0);
    assert!(home.exists("made"));
    let seen = home.read("seen");
    assert!(seen.contains(r#""action":"decline""#), "{seen}");
}

#[test]
fn a_model_answers_a_server_within_its_limit() {
    let server = ModelServer::start([vec![Part::Text("A model's answer."), Part::End]]);
    let turns = one(
        ASKS_A_MODEL,
        &json!({"prompt": "What is up?", "maxTokens": 100_000}),
    );
    let lines = format!(
        "{}\n\n[providers.fake]\nkind = \"openai-chat\"\nbase_url = {:?}\n",
        over_pipes("sampling = \"fake/fake-1\"\nsampling_max_tokens = 50"),
        server.url()
    );
    let home = Home::with_script(&turns, &lines);
    home.neuron(&RUN).exits(0).prints("Done.\n");
    let asked = server.bodies();
    assert_eq!(asked.len(), 1, "{asked:?}");
    let asked = asked[0].to_string();
    assert!(asked.contains("What is up?"), "{asked}");
    assert!(asked.contains("You are a helpful test server."), "{asked}");
    assert!(asked.contains(":50"), "{asked}");
    assert!(asked.contains("\"fake-1\""), "{asked}");
    let seen = home.read("seen");
    assert!(seen.contains("A model's answer."), "{seen}");
}

#[test]
fn a_model_that_cannot_answer_costs_the_server_its_answer_and_not_the_run() {
    let turns = one(ASKS_A_MODEL, &json!({"prompt": "What is up?"}));
    let home = Home::with_script(&turns, &over_pipes("sampling = \"openai/some-model\""));
    home.neuron(&RUN).exits(0).prints("Done.\n");
    let seen = home.read("seen");
    assert!(seen.contains("the model does not answer"), "{seen}");
    assert!(!seen.contains("OPENAI_API_KEY"), "{seen}");
}
