use std::sync::{Arc, Mutex};

use neuron_executor::{EventSink, Executor, RetryNotice, ToolProgress};
use neuron_testing::effects::{TestTool, call, scope};
use neuron_tool::ToolRegistry;
use neuron_types::{RecordedEvent, ToolOutput};
use serde_json::json;

#[derive(Default)]
struct Reports(Mutex<Vec<ToolProgress>>);

impl EventSink for Reports {
    fn event(&self, _event: &RecordedEvent) {}

    fn retry(&self, _notice: &RetryNotice) {}

    fn progress(&self, progress: &ToolProgress) {
        self.0.lock().unwrap().push(progress.clone());
    }
}

#[tokio::test]
async fn what_a_tool_reports_reaches_the_sink_and_whoever_makes_the_attempt() {
    let tool = TestTool::new("t", |_, context| async move {
        let reporter = context.progress_reporter.unwrap();
        reporter.report(1.0, Some(3.0), Some("one of three"));
        reporter.report(2.0, None, Some(&"ä".repeat(1_000)));
        context.cancellation_token.cancel();
        Ok(ToolOutput::text("done"))
    });
    let mut tools = ToolRegistry::new();
    tools.register_dyn(Arc::new(tool));
    let reports = Arc::new(Reports::default());
    let executor = Executor::builder()
        .tools(tools)
        .build()
        .with_sink(reports.clone());
    let scope = scope();
    assert_eq!(scope.progress.get(), None);
    let output = executor.call_tool(&scope, &call("t", json!({}))).await;
    assert!(!output.unwrap().is_error);

    let reports = reports.0.lock().unwrap();
    let first = &reports[0];
    assert_eq!(
        (first.call_id.as_str(), first.tool.as_str()),
        ("call-1", "t")
    );
    assert_eq!((first.step, first.attempt), (scope.step, 1));
    assert_eq!(
        (first.report.progress, first.report.total),
        (1.0, Some(3.0))
    );
    assert_eq!(first.report.message.as_deref(), Some("one of three"));
    let cut = reports[1].report.message.as_ref().unwrap();
    assert_eq!(*cut, "ä".repeat(512), "1 KiB, at a character's end");
    assert_eq!(scope.progress.get(), Some(reports[1].report.clone()));
}

#[tokio::test]
async fn a_call_that_was_given_up_reports_no_more() {
    let tool = TestTool::new("t", |_, context| async move {
        context.cancellation_token.cancelled().await;
        context.progress_reporter.unwrap().report(1.0, None, None);
        Ok(ToolOutput::text("late"))
    });
    let mut tools = ToolRegistry::new();
    tools.register_dyn(Arc::new(tool));
    let executor = Executor::builder().tools(tools).build();
    let scope = scope();
    scope.cancellation.cancel();
    drop(executor.call_tool(&scope, &call("t", json!({}))).await);
    assert_eq!(scope.progress.get(), None);
}
