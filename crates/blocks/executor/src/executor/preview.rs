//! What a call would do, asked for before a person is asked about it.

use std::{fmt::Write as _, time::Duration};

use neuron_tool::ToolRegistry;
use neuron_types::{
    Bounds, PermissionDecision, Preview, PreviewRequest, StepFailure, ToolCall, ToolContext,
    ToolError,
};
use tracing::warn;

use super::{
    Executor,
    attempt::{Attempt, Cut},
    grants::Grants,
    judge::{Judge, denied},
};
use crate::StepScope;

/// How many bytes of a diff or a text people are shown.
const MOST_BYTES: usize = 64 * 1024;

/// How many bytes a fingerprint has. It cannot be cut.
const MOST_FINGERPRINT: usize = 1024;

impl Executor {
    /// Returns what a call would do; `None` if there is nothing to show. No hook sees it: the call is not made.
    ///
    /// A tool that is not granted has no preview. The preview of a call that is denied, or that its tool cannot make as
    /// it is, is the reason: a person who decides about the call should know. Nothing here ends a run.
    ///
    /// # Errors
    ///
    /// `timeout` or `cancelled` where the scope ended it.
    pub(super) async fn preview(
        &self,
        scope: &StepScope,
        asked: &PreviewRequest,
    ) -> Result<Option<Preview>, StepFailure> {
        let context = self.context(scope);
        let (tools, grants) = (&self.inner.tools, self.grants.as_deref());
        let preview = preview_of(tools, grants, &scope.bounds, asked, &context);
        let attempt = Attempt::start(scope, Duration::MAX);
        match attempt.part(preview).await {
            Ok(preview) => Ok(preview),
            // The person is asked without one.
            Err(Cut::Panicked(text)) => {
                warn!("the preview of a call panicked: {text}");
                Ok(None)
            }
            Err(cut) => Err(cut.into_failure("the preview of a call")),
        }
    }
}

async fn preview_of(
    tools: &ToolRegistry,
    grants: Option<&Grants>,
    bounds: &[Bounds],
    asked: &PreviewRequest,
    context: &ToolContext,
) -> Option<Preview> {
    let call = ToolCall::new("", asked.name.clone(), asked.input.clone());
    if grants.is_some_and(|grants| !grants.has(&call.name)) {
        return None;
    }
    let judge = Judge::new(&call.name, grants, tools, bounds, &context.cwd);
    if let PermissionDecision::Deny(reason) = judge.judge(&call).await {
        return Some(would_fail(&denied(&reason)));
    }
    let tool = tools.get(&call.name)?;
    match tool.preview_dyn(call.input, context).await {
        Ok(preview) => preview.map(shown),
        // The caller does not want it any more.
        Err(ToolError::Cancelled) => None,
        Err(error) => Some(would_fail(&error.to_string())),
    }
}

fn would_fail(why: &str) -> Preview {
    Preview {
        text: Some(cut(format!("as things are, the call would fail: {why}"))),
        ..Preview::default()
    }
}

/// Returns the preview as people are shown it.
fn shown(preview: Preview) -> Preview {
    let Preview {
        diff,
        text,
        fingerprint,
    } = preview;
    if fingerprint
        .as_ref()
        .is_some_and(|it| it.len() > MOST_FINGERPRINT)
    {
        // Without a fingerprint the call would change what no person was shown.
        let why = "its fingerprint has more than 1024 bytes";
        return Preview {
            text: Some(format!("it cannot be shown what the call would do: {why}")),
            ..Preview::default()
        };
    }
    let changes_nothing = diff.as_ref().is_some_and(String::is_empty);
    let nothing = "as things are, the call would change nothing";
    Preview {
        diff: diff.filter(|diff| !diff.is_empty()).map(cut),
        text: text
            .or_else(|| changes_nothing.then(|| nothing.to_owned()))
            .map(cut),
        fingerprint,
    }
}

/// Cuts a text after its last line for which there is room, and notes the cut.
fn cut(mut text: String) -> String {
    let size = text.len();
    if size <= MOST_BYTES {
        return text;
    }
    let most = text.floor_char_boundary(MOST_BYTES);
    let lines = text.get(..most).and_then(|kept| kept.rfind('\n'));
    text.truncate(lines.map_or(most, |end| end + 1));
    let kept = text.len();
    if lines.is_none() {
        text.push('\n');
    }
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\\ bytes that are not shown: {}", size - kept);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_diff_is_cut_after_a_line_and_says_so() {
        let diff = format!("--- a\n+++ a\n{}", "+ü\n".repeat(MOST_BYTES));
        let cut = cut(diff.clone());
        assert!(cut.len() < MOST_BYTES + 100, "{}", cut.len());
        let (kept, said) = cut.rsplit_once("\\ bytes that are not shown: ").unwrap();
        assert!(kept.ends_with("+ü\n") && diff.starts_with(kept));
        assert_eq!(said.trim_end(), (diff.len() - kept.len()).to_string());
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let line = "ü".repeat(MOST_BYTES);
        let cut = cut(format!("x{line}"));
        let (kept, said) = cut.split_once('\n').unwrap();
        assert_eq!(kept.len(), MOST_BYTES - 1);
        assert!(said.starts_with("\\ bytes that are not shown: "), "{said}");
    }

    #[test]
    fn nothing_is_shown_of_a_call_whose_fingerprint_is_too_long() {
        let preview = shown(Preview {
            diff: Some("+a\n".into()),
            text: None,
            fingerprint: Some("x".repeat(MOST_FINGERPRINT + 1)),
        });
        assert_eq!((preview.diff, preview.fingerprint), (None, None));
        assert!(preview.text.unwrap().contains("fingerprint"));
        let same = shown(Preview {
            diff: Some(String::new()),
            ..Preview::default()
        });
        assert_eq!(same.diff, None);
        assert!(same.text.unwrap().ends_with("would change nothing"));
    }
}
