//! A run whose model changes from one API to another and back in the middle of its conversation.

use std::sync::{Arc, Mutex};

use neuron_executor::Executor;
use neuron_testing::{NotedTool, run_locally};
use neuron_tool::ToolRegistry;
use neuron_types::{
    AgentSpec, ContentItem, ImageSource, RequestHead, RetryPolicy, RunPhase, ToolEffects,
    ToolOutput,
};

use crate::vendors::{Course, Served, VENDORS, Vendor};

/// The answer that has no calls.
const LAST: usize = 4;

/// A tool whose result is a text and a picture.
fn look() -> NotedTool {
    NotedTool::new("look", ToolEffects::ReadOnly, |_| async {
        let picture = ImageSource::Base64 {
            media_type: "image/png".into(),
            data: "iVBORw0KGgo=".into(),
        };
        Ok(ToolOutput {
            content: vec![
                ContentItem::Text("A house.".into()),
                ContentItem::Image { source: picture },
            ],
            ..ToolOutput::default()
        })
    })
}

/// Runs an agent whose two models answer in turn, since the other is away then.
async fn run(first: Vendor, second: Vendor) -> (RunPhase, Option<String>, Course) {
    let course = Arc::new(Mutex::new(Course::default()));
    let one = Served::start(first, 0, LAST, &course).await;
    let other = Served::start(second, 1, LAST, &course).await;
    let mut tools = ToolRegistry::new();
    tools.register_dyn(Arc::new(look()));
    let definitions = tools.definitions();
    let executor = Executor::builder()
        .shared_provider("one", one.client())
        .shared_provider("other", other.client())
        .tools(tools)
        .build();
    let head = RequestHead {
        provider: Some("one".into()),
        model: "m".into(),
        fallback_models: vec!["other/m".into()],
        tools: definitions,
        ..RequestHead::default()
    };
    let spec = AgentSpec {
        head: head.into(),
        // What is rejected once is rejected again.
        model_retry: Some(RetryPolicy {
            maximum_attempts: 2,
            ..RetryPolicy::default()
        }),
        ..AgentSpec::default()
    };
    let (output, _) = run_locally(&spec, &executor).await;
    let course = std::mem::take(&mut *course.lock().unwrap());
    (output.state, output.output, course)
}

#[tokio::test]
async fn a_conversation_goes_on_with_any_other_api_and_back() {
    for first in VENDORS {
        for second in VENDORS {
            let (state, output, course) = run(first, second).await;
            let pair = format!("{first:?} and {second:?}");
            assert_eq!(course.refusals, Vec::<String>::new(), "{pair}");
            assert_eq!(state, RunPhase::Completed, "{pair}");
            assert_eq!(output.as_deref(), Some("Done."), "{pair}");
            assert_eq!(course.answers, LAST + 1, "{pair}");
        }
    }
}
