use std::process::{Command, Output};

use neuron_harness::Aimock;
use serde_json::{Value, json};

/// Returns the model's answer to an agent, which the last message or the instructions identify.
fn answer(matches: &Value, answer: &str) -> Value {
    json!({"match": matches, "response": {"content": answer}})
}

fn run(program: &str, engine: &str, model: &Aimock) -> Output {
    let home = tempfile::tempdir().unwrap();
    Command::new(program)
        .args([engine, "tea"])
        .current_dir(home.path())
        .env("ANTHROPIC_API_KEY", "test-key-of-this-run")
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("NO_PROXY", "127.0.0.1")
        .output()
        .unwrap()
}

/// Runs a program in memory and in a journal, and checks that it prints this after this many calls of the model.
fn check(program: &str, fixtures: &[Value], printed: &str, calls: usize) {
    for engine in ["memory", "local"] {
        let model = Aimock::start(&json!({ "fixtures": fixtures }));
        let output = run(program, engine, &model);
        assert!(output.status.success(), "{engine}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{engine}");
        assert_eq!(model.journal().len(), calls, "{engine}");
    }
}

fn to(message: &str) -> Value {
    json!({ "userMessage": message })
}

#[test]
fn each_agent_of_the_pipeline_works_on_the_answer_of_the_one_before() {
    check(
        env!("CARGO_BIN_EXE_pipeline"),
        &[
            answer(&to("Write about tea."), "Leaves, water."),
            answer(&to("Leaves, water."), "Tea is leaves in water."),
            answer(&to("Tea is leaves in water."), "Wet leaves."),
        ],
        "researcher: Leaves, water.\nwriter: Tea is leaves in water.\neditor: Wet leaves.\n",
        3,
    );
}

#[test]
fn the_text_is_mended_until_the_critic_accepts_it() {
    let remark =
        |accepted: bool, remark: &str| json!({"accepted": accepted, "remark": remark}).to_string();
    check(
        env!("CARGO_BIN_EXE_critique"),
        &[
            answer(
                &to("The text:\nTea is green."),
                &remark(false, "Not all of it."),
            ),
            answer(
                &to("The mended text:\nSome tea is green."),
                &remark(true, ""),
            ),
            answer(&to("Mend the text:\nNot all of it."), "Some tea is green."),
            answer(&to("Write about tea."), "Tea is green."),
        ],
        "Some tea is green. (accepted in round 2)\n",
        4,
    );
}

#[test]
fn the_judge_reads_what_the_others_answered() {
    check(
        env!("CARGO_BIN_EXE_judge"),
        &[
            answer(&to("Answer 1, of the agent optimist:"), "Tea is wet."),
            answer(&to("What is to be said about tea?"), "Tea is warm."),
        ],
        "optimist: Tea is warm.\npessimist: Tea is warm.\njudge: Tea is wet.\n",
        3,
    );
}
