//! The serialised forms, one file per family. A change here changes journals and histories.

use std::fmt::Debug;

use neuron_types::*;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::samples::{
    agent, approval, event, message, request, response, run, step, tool, transcript,
};

fn assert_family<T>(name: &str, family: &T)
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let text = serde_json::to_string(family).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), family);
    insta::with_settings!({
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_json_snapshot!(name, family);
    });
}

/// A struct that exists to be one snapshot, its fields in the order given.
macro_rules! family {
    ($test:ident { $($field:ident: $type:ty = $value:expr,)+ }) => {
        #[test]
        fn $test() {
            #[derive(Debug, PartialEq, Serialize, Deserialize)]
            struct Family { $($field: $type,)+ }
            assert_family(stringify!($test), &Family { $($field: $value,)+ });
        }
    };
}

family!(message {
    roles: Vec<Role> = message::ROLES.to_vec(),
    image_sources: Vec<ImageSource> = message::image_sources(),
    document_sources: Vec<DocumentSource> = message::document_sources(),
    content_items: Vec<ContentItem> = message::content_items(),
    messages: Vec<Message> = message::messages(),
});

family!(request {
    full: CompletionRequest = request::full(),
    default: CompletionRequest = CompletionRequest::default(),
    system_prompts: Vec<SystemPrompt> = request::system_prompts(),
    tool_choices: Vec<ToolChoice> = request::tool_choices(),
    response_formats: Vec<ResponseFormat> = request::response_formats(),
    thinking_configs: Vec<ThinkingConfig> = request::THINKING_CONFIGS.to_vec(),
    reasoning_efforts: Vec<ReasoningEffort> = request::REASONING_EFFORTS.to_vec(),
    context_edits: Vec<ContextEdit> = request::context_edits(),
});

family!(response {
    responses: Vec<CompletionResponse> = response::responses(),
    stop_reasons: Vec<StopReason> = response::stop_reasons(),
    usage: Vec<TokenUsage> = vec![TokenUsage::default(), response::usage()],
});

family!(tool {
    definitions: Vec<ToolDefinition> = tool::definitions(),
    effects: Vec<ToolEffects> = tool::EFFECTS.to_vec(),
    call: ToolCall = tool::call(),
    outputs: Vec<ToolOutput> = tool::outputs(),
});

family!(step {
    activity_options: Vec<ActivityOptions> = step::activity_options(),
    default_retry_policy: RetryPolicy = RetryPolicy::default(),
    failures: Vec<StepFailure> = step::failures(),
});

family!(agent {
    full: AgentSpec = agent::full(),
    limits: Vec<Limits> = agent::limits(),
    on_unknown_outcome: Vec<OnUnknownOutcome> = agent::ON_UNKNOWN_OUTCOME.to_vec(),
    run_requests: Vec<RunRequest> = agent::run_requests(),
});

family!(agent_input {
    typed: AgentSpec = agent::typed(),
});

family!(approval {
    permission_decisions: Vec<PermissionDecision> = approval::permission_decisions(),
    rules: ApprovalRules = approval::rules(),
    on_expiry: Vec<OnExpiry> = approval::ON_EXPIRY.to_vec(),
    tickets: Vec<Ticket> = approval::tickets(),
    verdicts: Vec<Verdict> = approval::VERDICTS.to_vec(),
    decisions: Vec<Decision> = approval::decisions(),
});

family!(event {
    events: Vec<RunEvent> = event::events(),
    recorded: Vec<RecordedEvent> = event::recorded().into_iter().take(3).collect(),
});

family!(run {
    phases: Vec<RunPhase> = run::PHASES.to_vec(),
    exit_reasons: Vec<ExitReason> = run::EXIT_REASONS.to_vec(),
    statuses: Vec<RunStatus> = run::statuses(),
    outputs: Vec<RunOutput> = run::outputs(),
    user_message: UserMessage = run::user_message(),
});

family!(run_state {
    state: RunState = run::state(),
    stages: Vec<Stage> = run::stages(),
    outcomes: Vec<RunOutcome> = run::outcomes(),
});

family!(transcript {
    transcript: Transcript = transcript::transcript(),
    complete: Transcript = Transcript {
        incomplete: None,
        entries: Vec::new(),
        ..transcript::transcript()
    },
});
