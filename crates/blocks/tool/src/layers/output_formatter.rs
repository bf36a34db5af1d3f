use std::ops::Range;

use neuron_types::{ContentItem, ToolContext, ToolError, ToolOutput, WasmBoxedFuture};

use crate::middleware::{Next, ToolCall, ToolMiddleware};

/// Cuts the text of long results, so that one result cannot fill the model's context.
///
/// The first and the last half of the limit are kept, and a note between them says how many characters
/// were cut. Several texts in one result are measured and cut as if they were one. Pictures, structured
/// content and errors pass unchanged.
///
/// ```
/// use neuron_tool::{
///     ToolContext, ToolError, ToolOutput, ToolRegistry, builtin::OutputFormatter, neuron_tool,
/// };
///
/// /// Says a lot.
/// #[neuron_tool]
/// async fn talk() -> Result<String, ToolError> {
///     Ok("x".repeat(10_007))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let mut registry = ToolRegistry::new();
/// registry.register(TalkTool);
/// registry.add_middleware(OutputFormatter::new(10_000));
///
/// let output = registry.execute("talk", serde_json::json!({}), &ToolContext::default()).await?;
/// let half = "x".repeat(5_000);
/// assert_eq!(output, ToolOutput::text(format!("{half}\n[… 7 characters cut …]\n{half}")));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OutputFormatter {
    limit: usize,
}

impl OutputFormatter {
    /// Makes a formatter that keeps at most `limit` characters of each result. The note comes on top.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit }
    }

    fn cut(self, output: &mut ToolOutput) {
        let texts = || output.content.iter().filter_map(as_text);
        // A text never has more characters than bytes: short results are not counted through.
        if texts().map(str::len).sum::<usize>() <= self.limit {
            return;
        }
        let total = texts().map(|text| text.chars().count()).sum::<usize>();
        if total <= self.limit {
            return;
        }
        let head = self.limit / 2;
        let gap = head..total - (self.limit - head);
        let note = format!("\n[… {} characters cut …]\n", gap.len());
        let mut start = 0;
        for item in &mut output.content {
            if let ContentItem::Text(text) = item {
                let length = text.chars().count();
                *text = without(text, start..start + length, &gap, &note);
                start += length;
            }
        }
        output
            .content
            .retain(|item| as_text(item).is_none_or(|text| !text.is_empty()));
    }
}

fn as_text(item: &ContentItem) -> Option<&str> {
    match item {
        ContentItem::Text(text) => Some(text),
        _ => None,
    }
}

/// Returns the text, which stands at `place`, without what lies in `gap`; the note where the gap begins.
fn without(text: &str, place: Range<usize>, gap: &Range<usize>, note: &str) -> String {
    let head = gap.start.saturating_sub(place.start).min(place.len());
    let tail = place.end.saturating_sub(gap.end).min(place.len());
    let mut kept: String = text.chars().take(head).collect();
    if place.contains(&gap.start) {
        kept.push_str(note);
    }
    kept.extend(text.chars().skip(place.len() - tail));
    kept
}

impl ToolMiddleware for OutputFormatter {
    fn process<'a>(
        &'a self,
        call: &'a ToolCall,
        ctx: &'a ToolContext,
        next: Next<'a>,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let mut output = next.run(call, ctx).await?;
            self.cut(&mut output);
            Ok(output)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(limit: usize, texts: &[&str]) -> Vec<String> {
        let mut output = ToolOutput {
            content: texts
                .iter()
                .map(|&text| ContentItem::Text(text.into()))
                .collect(),
            ..ToolOutput::default()
        };
        OutputFormatter::new(limit).cut(&mut output);
        output
            .content
            .iter()
            .filter_map(as_text)
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn keeps_head_and_tail_and_says_how_much_is_gone() {
        assert_eq!(cut(4, &["äbcdefgh"]), ["äb\n[… 4 characters cut …]\ngh"]);
    }

    #[test]
    fn counts_characters_not_bytes() {
        assert_eq!(cut(4, &["ääää"]), ["ääää"]);
    }

    #[test]
    fn cuts_several_texts_as_one() {
        assert_eq!(
            cut(4, &["abc", "def", "ghi"]),
            ["ab\n[… 5 characters cut …]\n", "hi"]
        );
    }

    #[test]
    fn a_limit_of_zero_leaves_the_note() {
        assert_eq!(cut(0, &["abc"]), ["\n[… 3 characters cut …]\n"]);
    }

    proptest! {
        #[test]
        fn keeps_exactly_the_limit(
            texts in proptest::collection::vec("[aä]{0,9}", 0..5),
            limit in 0_usize..40,
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let whole = texts.concat();
            let total = whole.chars().count();
            let kept = cut(limit, &texts).concat();
            if total <= limit {
                prop_assert_eq!(kept, whole);
            } else {
                let note = format!("\n[… {} characters cut …]\n", total - limit);
                let (head, tail) = kept.split_once(&note).unwrap();
                prop_assert!(whole.starts_with(head) && whole.ends_with(tail));
                prop_assert_eq!(head.chars().count() + tail.chars().count(), limit);
            }
        }
    }
}
