use neuron_tool::{ToolError, builtin::PermissionChecker};
use neuron_types::ApprovalRules;
use serde_json::json;

use crate::workspace::Workspace;

#[tokio::test]
async fn refuses_what_is_denied_and_what_nobody_can_be_asked_about() {
    let mut place = Workspace::new();
    place
        .registry
        .add_middleware(PermissionChecker::new(ApprovalRules {
            approve: vec!["bash".into()],
            deny: vec!["write_file".into()],
            ..ApprovalRules::default()
        }));
    let input = json!({"path": "a", "content": "b"});
    let denied = place.call("write_file", input).await.unwrap_err();
    assert!(matches!(denied, ToolError::PermissionDenied(_)));
    assert!(!place.path("a").exists());

    let asked = place
        .call("bash", json!({"command": "touch a"}))
        .await
        .unwrap_err();
    assert!(matches!(asked, ToolError::PermissionDenied(_)));
    assert!(asked.to_string().ends_with("there is nobody to ask"));
    assert!(!place.path("a").exists());

    assert_eq!(
        place.ok("list_files", json!({})).await,
        "[the directory is empty]\n"
    );
}
