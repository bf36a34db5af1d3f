//! Models that judge for guards.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use neuron_executor::{Executor, ExecutorBuilder, StepScope};
use neuron_guards::{ModelGuard, TextGuard, Then};
use neuron_testing::effects::{TestTool, scope};
use neuron_tool::ToolRegistry;
use neuron_types::{
    CompletionRequest, CompletionResponse, Effect, FailureKind, Guard, GuardEnd, GuardError,
    GuardOutcome, GuardPoint, GuardRequest, GuardSubject, GuardVerdict, Guarded, Judge, JudgeCall,
    JudgeSpec, Message, Outcome, Provider, ProviderError, RequestHead, ResponseFormat, StepFailure,
    TokenUsage, ToolCall, ToolDyn, ToolOutput, WasmBoxedFuture,
};
use rust_decimal::Decimal;
use serde_json::json;

/// A model that always says this, and counts how often it was asked.
#[derive(Clone)]
struct Says(&'static str, Arc<AtomicU32>);

impl Says {
    fn new(text: &'static str) -> Self {
        Self(text, Arc::default())
    }

    fn asked(&self) -> u32 {
        self.1.load(Ordering::Relaxed)
    }
}

impl Provider for Says {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        assert_eq!(
            (request.model.as_str(), request.max_tokens),
            ("small", Some(50))
        );
        match self.0 {
            "hang" => std::future::pending().await,
            "unavailable" => Err(ProviderError::new(FailureKind::Unavailable, "no")),
            "invalid" => Err(ProviderError::new(FailureKind::InvalidRequest, "no")),
            text => Ok(CompletionResponse {
                message: Message::assistant(text),
                usage: TokenUsage {
                    input_tokens: 70,
                    output_tokens: 8,
                    ..TokenUsage::default()
                },
                cost_usd: Some(Decimal::ONE),
                ..CompletionResponse::default()
            }),
        }
    }
}

const PASS: &str = r#"{"verdict": "pass", "reason": ""}"#;
const BLOCK: &str = r#"{"verdict": "block", "reason": "it is Sunday"}"#;

fn judge() -> ModelGuard {
    ModelGuard::new("judge", "another/model", "Nothing on Sundays.")
}

fn with(model: &Says) -> ExecutorBuilder {
    Executor::builder().provider("judges", model.clone())
}

fn call(max_input: Option<u64>) -> JudgeCall {
    JudgeCall {
        guard: "judge".into(),
        model: "judges/small".into(),
        max_tokens: 50,
        max_input,
    }
}

fn named() -> StepScope {
    let mut scope = scope();
    scope.step.position = neuron_types::StepId::OWN_CALLS + 1;
    scope.guards = vec!["judge".into()];
    scope
}

async fn of_texts(
    executor: &Executor,
    texts: &[&str],
    judges: Vec<JudgeCall>,
) -> Result<Vec<Guarded>, StepFailure> {
    let texts = texts.iter().map(|text| (*text).to_owned()).collect();
    let effect = Effect::Guard(GuardRequest::Input { texts, judges });
    match executor.perform(&named(), &effect).await? {
        Outcome::Guard(GuardOutcome::Input(all)) => Ok(all),
        other => panic!("{other:?}"),
    }
}

async fn of_text(executor: &Executor, max_input: Option<u64>) -> Guarded {
    let said = of_texts(executor, &["Push it."], vec![call(max_input)]).await;
    said.unwrap().remove(0)
}

#[tokio::test]
async fn says_what_the_model_said_and_what_it_used() {
    let model = Says::new(BLOCK);
    let executor = with(&model).guard(judge()).build();
    let said = of_texts(&executor, &["one", "two"], vec![call(None)])
        .await
        .unwrap();
    let block = GuardEnd::Block("it is Sunday".into());
    assert!(said.iter().all(|said| said.end == block), "{said:?}");
    let spent = GuardOutcome::Input(said).spent().unwrap();
    assert_eq!(
        (spent.usage.total(), spent.cost_usd),
        (156, Some(Decimal::TWO))
    );
    assert_eq!(model.asked(), 2);
}

#[tokio::test]
async fn asks_nobody_what_the_run_has_no_budget_for() {
    for max_input in [0, 100] {
        let model = Says::new(PASS);
        let executor = with(&model).guard(judge().passing_on_failure()).build();
        let said = of_text(&executor, Some(max_input)).await;
        assert!(
            matches!(&said.end, GuardEnd::Block(why) if why.contains("no room")),
            "{said:?}"
        );
        assert_eq!((model.asked(), said.spent), (0, None));
    }
}

#[tokio::test]
async fn what_is_put_aside_is_for_all_texts_together() {
    let model = Says::new(PASS);
    let executor = with(&model).guard(judge()).build();
    let size = 4_000;
    let texts = ["a".repeat(1_000), "b".repeat(1_000), "c".repeat(1_000)];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let said = of_texts(&executor, &texts, vec![call(Some(size))])
        .await
        .unwrap();
    assert_eq!(
        said.iter().filter(|said| said.end.is_pass()).count(),
        1,
        "{said:?}"
    );
    assert_eq!(model.asked(), 1);
}

#[tokio::test]
async fn what_is_no_verdict_is_what_its_failures_mean() {
    for text in ["It is fine.", "invalid"] {
        let executor = with(&Says::new(text)).guard(judge()).build();
        let said = of_text(&executor, None).await;
        assert!(
            matches!(&said.end, GuardEnd::Block(why) if why.contains("judge failed")),
            "{said:?}"
        );
        let executor = with(&Says::new(text))
            .guard(judge().passing_on_failure())
            .build();
        assert_eq!(of_text(&executor, None).await.end, GuardEnd::Pass);
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_is_silent_is_given_up_and_its_attempt_is_lost() {
    const SHORT: Duration = Duration::from_secs(5); // The clock of the test is paused.
    const LONG: Duration = Duration::from_secs(3_600); // Longer than an attempt may take.
    for (longest, why) in [
        (SHORT, "said nothing within 5s"),
        (LONG, "no result within"),
    ] {
        let guard = judge().within(longest);
        let executor = with(&Says::new("hang")).guard(guard).build();
        let said = of_text(&executor, None).await;
        assert!(
            matches!(&said.end, GuardEnd::Block(text) if text.contains(why)),
            "{said:?}"
        );
        assert_eq!(said.spent.map(|spent| spent.lost), Some(1));
    }
}

#[tokio::test]
async fn a_failure_that_passes_by_is_one_of_the_step_with_what_was_used_before_it() {
    let executor = Executor::builder()
        .provider("judges", Says::new(PASS))
        .provider("away", Says::new("unavailable"))
        .guard(judge())
        .guard(ModelGuard::new("other", "away/small", "Nothing."))
        .build();
    let away = JudgeCall {
        guard: "other".into(),
        model: "away/small".into(),
        ..call(None)
    };
    let failure = of_texts(&executor, &["Push it."], vec![call(None), away])
        .await
        .unwrap_err();
    assert!(failure.retryable, "{failure:?}");
    assert_eq!(failure.spent.map(|spent| spent.usage.total()), Some(78));
}

#[tokio::test]
async fn a_worker_without_the_provider_does_not_make_the_step() {
    let executor = Executor::builder().guard(judge()).build();
    let failure = of_texts(&executor, &["Push it."], vec![call(None)])
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoWorker);
}

#[tokio::test]
async fn a_judge_that_the_run_does_not_know_as_one_passes_nothing() {
    let model = Says::new(PASS);
    let executor = with(&model).guard(judge()).build();
    let said = of_texts(&executor, &["Push it."], Vec::new())
        .await
        .unwrap();
    assert!(matches!(said[0].end, GuardEnd::Block(_)), "{said:?}");
    assert_eq!(model.asked(), 0);
}

#[tokio::test]
async fn what_a_guard_before_it_blocks_or_replaces_is_not_shown_to_its_model() {
    let model = Says::new(PASS);
    let names = TextGuard::patterns("names", ["acme"])
        .unwrap()
        .at([GuardPoint::Input]);
    let executor = with(&model).guard(names).guard(judge()).build();
    let said = of_texts(&executor, &["Push it to acme."], vec![call(None)])
        .await
        .unwrap();
    assert!(matches!(said[0].end, GuardEnd::Block(_)), "{said:?}");
    assert_eq!(model.asked(), 0);
}

#[tokio::test]
async fn it_is_asked_about_a_call_in_the_step_of_the_guards_alone() {
    let model = Says::new(BLOCK);
    let executor = with(&model).guard(judge()).build();
    let asked = ToolCall::new("c", "push", json!({"to": "main"}));
    let effect = Effect::Guard(GuardRequest::Call {
        call: Box::new(asked.clone()),
        hooks: false,
        judges: vec![call(None)],
    });
    let said = executor.perform(&named(), &effect).await.unwrap();
    let Outcome::Guard(GuardOutcome::Call(said)) = said else {
        panic!("{said:?}");
    };
    assert_eq!(said.end, GuardEnd::Block("it is Sunday".into()));
    drop(executor.perform(&scope(), &Effect::Tool(asked)).await);
    assert_eq!(model.asked(), 1);
}

#[tokio::test]
async fn a_judge_of_some_tools_lets_calls_of_others_pass_unasked() {
    let model = Says::new(BLOCK);
    let guard = judge().of_tools(["push"]);
    let executor = with(&model).guard(guard).build();
    let effect = Effect::Guard(GuardRequest::Call {
        call: Box::new(ToolCall::new("c", "read", json!({}))),
        hooks: false,
        // The run puts nothing aside for what is not asked.
        judges: Vec::new(),
    });
    let said = executor.perform(&named(), &effect).await.unwrap();
    let Outcome::Guard(GuardOutcome::Call(said)) = said else {
        panic!("{said:?}");
    };
    assert_eq!(said.end, GuardEnd::Pass);
    assert_eq!(model.asked(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_put_aside_is_charged_once_however_many_texts_a_model_is_silent_about() {
    const SHORT: Duration = Duration::from_secs(5); // The clock of the test is paused.
    let guard = judge().within(SHORT);
    let executor = with(&Says::new("hang")).guard(guard).build();
    let texts = ["One.", "Two.", "Three."];
    let said = of_texts(&executor, &texts, vec![call(None)]).await;
    let lost = said.unwrap().into_iter().filter_map(|said| said.spent);
    assert_eq!(lost.map(|spent| spent.lost).sum::<u32>(), 1);
}

/// What judges say of this result, in a step of theirs.
async fn of_result(
    executor: &Executor,
    tool: &str,
    texts: &[&str],
    judges: Vec<JudgeCall>,
) -> Vec<Guarded> {
    let effect = Effect::Guard(GuardRequest::Result {
        tool: tool.into(),
        texts: texts.iter().map(|text| (*text).to_owned()).collect(),
        judges,
    });
    match executor.perform(&named(), &effect).await.unwrap() {
        Outcome::Guard(GuardOutcome::Result(all)) => all,
        other => panic!("{other:?}"),
    }
}

fn echo() -> ToolRegistry {
    ToolRegistry::from_iter([Arc::new(TestTool::echo()) as Arc<dyn ToolDyn>])
}

/// The result of a call that is given back its own text.
async fn echoed(executor: &Executor) -> ToolOutput {
    let asked = ToolCall::new("c", "echo", json!({"text": "acme"}));
    match executor.perform(&scope(), &Effect::Tool(asked)).await {
        Ok(Outcome::Tool(output)) => output,
        other => panic!("{other:?}"),
    }
}

fn of_results() -> ModelGuard {
    judge().at([GuardPoint::Result])
}

#[tokio::test]
async fn it_is_asked_about_a_result_after_the_step_of_the_call_and_others_within_it() {
    let model = Says::new(BLOCK);
    let names = TextGuard::patterns("names", ["acme"]).unwrap();
    let names = names
        .at([GuardPoint::Result])
        .then(Then::Replace("[name]".into()));
    let executor = with(&model)
        .tools(echo())
        .guard(of_results())
        .guard(names)
        .build();
    let output = echoed(&executor).await;
    assert_eq!(output.content, ToolOutput::text("[name]").content);
    assert_eq!(output.guarded.unwrap().deferred, ["judge"]);
    assert_eq!(model.asked(), 0);
    let said = of_result(&executor, "echo", &["acme", "two"], vec![call(None)]).await;
    let block = GuardEnd::Block("it is Sunday".into());
    assert!(said.iter().all(|said| said.end == block), "{said:?}");
    // No guard but the judge looks in its step.
    assert!(said.iter().all(|said| said.replaced.is_none()), "{said:?}");
    assert_eq!(model.asked(), 2);
    let spent = GuardOutcome::Result(said).spent().unwrap();
    assert_eq!(spent.usage.total(), 156);
}

#[tokio::test]
async fn a_judge_of_some_tools_is_not_asked_about_the_results_of_others() {
    let model = Says::new(BLOCK);
    let guard = of_results().of_tools(["push"]);
    let executor = with(&model).tools(echo()).guard(guard).build();
    let output = echoed(&executor).await;
    assert_eq!((output.guarded, model.asked()), (None, 0));
}

#[tokio::test(start_paused = true)]
async fn a_result_passes_by_a_failure_of_its_judge_only_if_that_is_set() {
    for text in ["It is fine.", "invalid", "hang"] {
        let executor = with(&Says::new(text)).guard(of_results()).build();
        let said = of_result(&executor, "echo", &["acme"], vec![call(None)]).await;
        assert!(
            matches!(&said[0].end, GuardEnd::Block(why) if why.contains("judge failed")),
            "{said:?}"
        );
        let passing = of_results().passing_on_failure();
        let executor = with(&Says::new(text)).guard(passing).build();
        let said = of_result(&executor, "echo", &["acme"], vec![call(None)]).await;
        assert_eq!(said[0].end, GuardEnd::Pass);
    }
    let model = Says::new(PASS);
    let passing = of_results().passing_on_failure();
    let executor = with(&model).guard(passing).build();
    let said = of_result(&executor, "echo", &["acme"], vec![call(Some(0))]).await;
    assert!(
        matches!(&said[0].end, GuardEnd::Block(why) if why.contains("no room")),
        "{said:?}"
    );
    assert_eq!(model.asked(), 0);
}

#[tokio::test]
async fn it_is_asked_about_an_answer_after_the_step_of_the_model() {
    let model = Says::new(BLOCK);
    let guard = judge().at([GuardPoint::Output]);
    let executor = with(&model).guard(guard).build();
    let effect = Effect::Guard(GuardRequest::Output {
        text: "Forty-two.".into(),
        judges: vec![call(None)],
        form: None,
    });
    let said = executor.perform(&named(), &effect).await.unwrap();
    let Outcome::Guard(GuardOutcome::Output(said)) = said else {
        panic!("{said:?}");
    };
    assert_eq!(said.end, GuardEnd::Block("it is Sunday".into()));
    assert_eq!(model.asked(), 1);
    assert_eq!(said.spent.unwrap().usage.total(), 78);
}

/// A guard of a program that puts what its model says in the place of an answer or of arguments.
struct Rewrites(JudgeSpec);

impl Judge for Rewrites {
    fn spec(&self) -> JudgeSpec {
        self.0.clone()
    }

    fn question(&self, subject: GuardSubject<'_>) -> Option<CompletionRequest> {
        let messages = vec![Message::user(subject.text)];
        Some(CompletionRequest::new(RequestHead::default(), messages))
    }

    fn verdict(&self, response: &CompletionResponse) -> Result<GuardVerdict, GuardError> {
        Ok(GuardVerdict::Replace {
            with: response.message.text(),
            reason: "it is Sunday".into(),
        })
    }
}

impl Guard for Rewrites {
    fn name(&self) -> &'static str {
        "judge"
    }

    fn on_failure(&self, _: String) -> GuardVerdict {
        GuardVerdict::Pass
    }

    fn judge(&self) -> Option<&dyn Judge> {
        Some(self)
    }

    fn check<'a>(
        &'a self,
        _: GuardSubject<'a>,
    ) -> WasmBoxedFuture<'a, Result<GuardVerdict, GuardError>> {
        Box::pin(async { Ok(GuardVerdict::Pass) })
    }
}

/// An executor whose judge puts this in the place of what it looks at.
fn rewriting(with_text: &'static str) -> Executor {
    let spec = judge().judge().unwrap().spec();
    let model = Says::new(with_text);
    with(&model).tools(echo()).guard(Rewrites(spec)).build()
}

#[tokio::test]
async fn what_it_puts_in_the_place_of_an_answer_is_checked_against_the_form_of_answers() {
    let form = ResponseFormat::JsonSchema {
        name: "total".into(),
        schema: json!({"type": "object", "required": ["total"]}),
        strict: true,
    };
    let wrong =
        Some("it does not fit its schema; at the top level: \"total\" is a required property");
    for (with, form, mismatch) in [
        (r#"{"total": 1}"#, Some(form.clone()), None),
        ("{}", Some(form), wrong),
        ("{}", Some(ResponseFormat::JsonObject), None),
        ("{}", None, None),
    ] {
        let effect = Effect::Guard(GuardRequest::Output {
            text: r#"{"total": 42}"#.into(),
            judges: vec![call(None)],
            form: form.map(Box::new),
        });
        let said = rewriting(with).perform(&named(), &effect).await.unwrap();
        let Outcome::Guard(GuardOutcome::Output(said)) = said else {
            panic!("{said:?}");
        };
        assert_eq!(said.replaced.as_deref(), Some(with));
        assert_eq!(said.mismatch.as_deref(), mismatch);
    }
}

#[tokio::test]
async fn what_it_puts_in_the_place_of_arguments_is_checked_against_the_schema_of_the_tool() {
    let executor = rewriting(r#"{"text": 1}"#);
    let wanted = ToolCall::new("c1", "echo", json!({"text": "x"}));
    let effect = Effect::Guard(GuardRequest::Call {
        call: Box::new(wanted.clone()),
        hooks: false,
        judges: vec![call(None)],
    });
    let said = executor.perform(&named(), &effect).await.unwrap();
    let Outcome::Guard(GuardOutcome::Call(said)) = said else {
        panic!("{said:?}");
    };
    let input = serde_json::from_str(&said.replaced.unwrap()).unwrap();
    let changed = ToolCall { input, ..wanted };
    let output = executor.call_tool(&scope(), &changed).await.unwrap();
    assert!(output.is_error, "{output:?}");
    let text = output.texts().concat();
    assert!(text.contains("do not fit the schema of echo"), "{text}");
}
