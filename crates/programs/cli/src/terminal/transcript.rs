//! A run's transcript in a form for people.

use std::collections::BTreeMap;

use neuron_types::{
    ContentBlock, ContentItem, FailureKind, ImageSource, Ticket, Transcript, TranscriptEntry,
    TranscriptItem, Verdict,
};
use serde_json::Value;

use crate::terminal::{call, describe, shown};

/// How many lines of a result are shown.
const MOST_LINES: usize = 20;

/// How many characters of a result are shown.
const MOST_CHARS: usize = 4_000;

/// How much of a transcript is shown.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shown {
    /// Whether results are shown to their end.
    pub(crate) full: bool,
    /// Whether the model's thinking is shown.
    pub(crate) thinking: bool,
}

/// Returns the transcript as text.
pub(crate) fn text(transcript: &Transcript, shown: Shown) -> String {
    let mut page = Page {
        shown,
        lines: Vec::new(),
        turn: None,
        calls: BTreeMap::new(),
        asked: 0,
        tickets: BTreeMap::new(),
        previews: previews(transcript),
    };
    for entry in &transcript.entries {
        page.entry(entry);
    }
    page.lines.join("\n")
}

/// Returns the tickets that contain what their calls would change, with their turns.
fn previews(transcript: &Transcript) -> Vec<(u32, &Ticket)> {
    let entries = transcript.entries.iter();
    let tickets = entries.filter_map(|entry| match &entry.item {
        TranscriptItem::Ticket { ticket } => Some((entry.turn, ticket)),
        _ => None,
    });
    tickets
        .filter(|(_, ticket)| ticket.diff.is_some())
        .collect()
}

struct Page<'a> {
    shown: Shown,
    lines: Vec<String>,
    turn: Option<u32>,
    /// The calls of the turn by their ids: those that have no result yet, with their numbers.
    calls: BTreeMap<String, Vec<usize>>,
    /// How many calls the turn has.
    asked: usize,
    /// The tools that tickets are about.
    tickets: BTreeMap<String, String>,
    /// The tickets that contain what their calls would change, with their turns, of calls that are still to come.
    previews: Vec<(u32, &'a Ticket)>,
}

impl<'a> Page<'a> {
    fn entry(&mut self, entry: &TranscriptEntry) {
        if self.turn != Some(entry.turn) && entry.turn > 0 {
            if !self.lines.is_empty() {
                self.lines.push(String::new());
            }
            self.lines.push(format!("turn {}", entry.turn));
            self.calls.clear();
            self.asked = 0;
        }
        self.turn = Some(entry.turn);
        self.item(&entry.item);
    }

    fn item(&mut self, item: &TranscriptItem) {
        match item {
            TranscriptItem::Prompt { text } => self.said("prompt:", text),
            TranscriptItem::AgentAsked { agent, text } => {
                self.said(&format!("{} is asked:", shown::line(agent)), text);
            }
            TranscriptItem::Message { text } => self.said("message:", text),
            TranscriptItem::Thinking { text } if self.shown.thinking => {
                self.said("thinking:", text);
            }
            TranscriptItem::Thinking { text } => {
                let chars = text.chars().count();
                self.line(&format!(
                    "[{chars} characters of thinking: --thinking shows them]"
                ));
            }
            TranscriptItem::Text { text } => self.block(2, &prose(text)),
            TranscriptItem::Block {
                block: ContentBlock::AnsweredBy { model },
            } => self.line(&format!("answered by {}", shown::line(model))),
            TranscriptItem::Block { block } => {
                let json = serde_json::to_string(block).unwrap_or_default();
                self.line(&shown::short_line(&json, MOST_CHARS));
            }
            TranscriptItem::ToolCall {
                call_id,
                tool,
                args,
            } => self.call(call_id, tool, args),
            TranscriptItem::ToolResult {
                call_id,
                tool,
                is_error,
                failure,
                content,
            } => self.result(call_id, tool, (*is_error, *failure), content.as_deref()),
            TranscriptItem::Ticket { ticket } => self.ticket(ticket),
            TranscriptItem::Decision {
                ticket,
                verdict,
                approver,
                comment,
                args,
                text,
                choice,
                output,
                remaining,
                ..
            } => {
                let said = (text.as_deref(), choice.as_deref());
                let given = describe::given(None, said.0, said.1, output.as_ref());
                let (who, why) = (approver.as_deref(), comment.as_deref());
                self.decision(ticket, *verdict, (who, why), args.as_ref(), given.as_ref());
                if *remaining > 0 {
                    self.line(&describe::still_needed(*remaining));
                }
            }
            other => self.line(&happened(other)),
        }
    }

    fn line(&mut self, line: &str) {
        self.block(2, &[line.to_owned()]);
    }

    fn block(&mut self, indent: usize, lines: &[String]) {
        let lines = lines.iter().map(|line| match line.as_str() {
            "" => String::new(),
            line => format!("{:indent$}{line}", ""),
        });
        self.lines.extend(lines);
    }

    /// Adds a text that is not the model's.
    fn said(&mut self, who: &str, text: &str) {
        self.line(who);
        self.block(4, &prose(text));
    }

    fn call(&mut self, id: &str, tool: &str, args: &Value) {
        self.asked += 1;
        let open = self.calls.entry(id.to_owned()).or_default();
        open.push(self.asked);
        self.line(&format!("→ {} {}", self.asked, shown::line(tool)));
        let is_empty = args.as_object().is_some_and(serde_json::Map::is_empty);
        if !is_empty {
            let diff = self.diff_of(tool, args);
            self.block(6, &call::lines_with(tool, args, diff));
        }
    }

    /// Returns the preview of the call's changes that a person was shown.
    fn diff_of(&mut self, tool: &str, args: &Value) -> Option<&'a str> {
        let mut previews = self.previews.iter();
        let place = previews.position(|(turn, ticket)| {
            Some(*turn) == self.turn
                && ticket.tool.as_deref() == Some(tool)
                && ticket.args_or_null() == args
        })?;
        let (_, ticket) = self.previews.remove(place);
        ticket.diff.as_deref()
    }

    fn result(
        &mut self,
        id: &str,
        tool: &str,
        (is_error, failure): (bool, Option<FailureKind>),
        content: Option<&[ContentItem]>,
    ) {
        let open = self.calls.get_mut(id);
        let number = open.and_then(|open| (!open.is_empty()).then(|| open.remove(0)));
        let number = number
            .map(|number| format!("{number} "))
            .unwrap_or_default();
        let finished = describe::finished(tool, is_error, failure);
        self.line(&format!("← {number}{finished}"));
        let lines = match content {
            Some(content) => self.content(content),
            None => vec!["[the result is not there any more]".to_owned()],
        };
        self.block(6, &lines);
    }

    /// Returns a result, shortened if it is long.
    fn content(&self, content: &[ContentItem]) -> Vec<String> {
        let lines = content.iter().flat_map(|item| match item {
            ContentItem::Text(text) => call::text_lines(text),
            ContentItem::Image { source } => vec![picture(source)],
            other => vec![shown::line(&format!("{other:?}")).into_owned()],
        });
        let lines: Vec<String> = lines.collect();
        if self.shown.full {
            return lines;
        }
        let mut kept = Vec::new();
        let mut left = MOST_CHARS;
        let mut is_cut = false;
        for line in lines.iter().take(MOST_LINES) {
            let chars = line.chars().count();
            if chars > left {
                kept.push(shown::short_line(line, left.max(1)));
                is_cut = true;
                break;
            }
            left -= chars;
            kept.push(line.clone());
        }
        if is_cut || lines.len() > kept.len() {
            let more = lines.len() - kept.len();
            kept.push(format!("[cut, {more} more lines: --full shows all]"));
        }
        kept
    }

    fn ticket(&mut self, ticket: &Ticket) {
        self.tickets
            .insert(ticket.ticket.clone(), ticket.subject().to_owned());
        self.line(&format!(
            "? ticket {}: {} ({})",
            shown::line(&ticket.ticket),
            shown::line(ticket.subject()),
            shown::line(&ticket.reason)
        ));
        if let Some(text) = &ticket.text {
            self.block(6, &prose(text));
        }
    }

    fn decision(
        &mut self,
        ticket: &str,
        verdict: Verdict,
        (approver, comment): (Option<&str>, Option<&str>),
        args: Option<&Value>,
        given: Option<&Value>,
    ) {
        let decided = describe::decided(ticket, verdict, approver, comment, given);
        match args {
            None => self.line(&decided),
            Some(args) => {
                self.line(&format!("{decided}; with these arguments:"));
                let tool = self.tickets.get(ticket).map_or("", String::as_str);
                let lines = call::lines(tool, args);
                self.block(6, &lines);
            }
        }
    }
}

/// Returns a text, line by line. Some languages need invisible characters.
fn prose(text: &str) -> Vec<String> {
    let lines = text.split_terminator('\n');
    lines.map(|line| shown::text(line).into_owned()).collect()
}

/// Returns what happened besides texts and calls.
fn happened(item: &TranscriptItem) -> String {
    match item {
        TranscriptItem::DecisionRepeated {
            tool,
            verdict,
            approver,
            ..
        } => describe::repeated(tool, *verdict, approver.as_deref()),
        TranscriptItem::TicketEscalated { ticket, to } => describe::escalated(ticket, to),
        TranscriptItem::TicketExpired { ticket } => describe::expired(ticket),
        TranscriptItem::Upgraded { changes, by } => describe::upgraded(changes, by.as_deref()),
        TranscriptItem::HandedOver {
            from,
            to,
            reason,
            conversation,
        } => describe::handed_over(from, to, reason, *conversation),
        TranscriptItem::Compacted {
            old_tokens,
            new_tokens,
        } => describe::compacted(*old_tokens, *new_tokens),
        TranscriptItem::AnswerRejected { reason } => {
            format!("answer rejected: {}", shown::line(reason))
        }
        TranscriptItem::LeftOut { what } => describe::left_out(what),
        TranscriptItem::Guarded {
            point,
            guard,
            verdict,
            reason,
            ..
        } => describe::guarded(*point, guard, verdict, reason),
        TranscriptItem::ModelFailed { failure } => {
            format!("model failed: {}", shown::line(&failure.to_string()))
        }
        TranscriptItem::Ended { exit_reason, error } => {
            describe::ended(*exit_reason, error.as_ref())
        }
        _ => "something that this version of neuron does not know".to_owned(),
    }
}

fn picture(source: &ImageSource) -> String {
    match source {
        ImageSource::Base64 { media_type, data } => {
            let bytes = data.len() / 4 * 3;
            format!(
                "[a picture, {}, about {bytes} bytes]",
                shown::line(media_type)
            )
        }
        ImageSource::Url { url } => format!("[a picture at {}]", shown::line(url)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each item, at least once: a test of neuron-types makes sure of that.
    const SAMPLE: &str = include_str!("../../../../core/types/tests/it/snapshots/transcript.snap");

    fn sample() -> Transcript {
        let (_, sample) = SAMPLE.split_once("\n---\n").unwrap();
        let mut sample: Value = serde_json::from_str(sample).unwrap();
        serde_json::from_value(sample["transcript"].take()).unwrap()
    }

    #[test]
    fn every_item_is_shown() {
        let shown = Shown::default();
        let text = text(&sample(), shown);
        let expected = "  prompt:
    Tidy up.

turn 1
  critic is asked:
    Is this true?
  message:
    And the tests.
  [15 characters of thinking: --thinking shows them]
  I will look.
  {\"other\":{\"id\":\"ws_1\",\"type\":\"web_search_call\"}}
  → 1 bash
      $ ls
      timeout: 0.5
  ← 1 bash ok
      42 lines
      [a picture at https://example.com/plot.png]
  ← bash failed (outcome_unknown)
      [the result is not there any more]
  ? ticket t2-1: bash (the agent asks before it calls bash)
  ticket t2-1 approved by ada with {\"id\":7}: fine; with these arguments:
      $ cargo clean
  1 more needed
  ticket t2-1 is passed to leads: no approver decided in time
  bash approved as before
  ticket t2-2 expired: no approver decided in time
  it adopted the current definition of its agent: limits
  handed over by support to billing with the last message: It is about an invoice.
  conversation compacted from about 120000 to 40000 tokens
  answer rejected: it is no JSON
  left out: the tool \"odd\" is left out
  guard no_secrets at output: replace: it has a secret
  model failed: network: the connection was cut
  run failed: the account has no money left";
        assert_eq!(text, expected);
    }

    #[test]
    fn results_and_thinking_are_folded_until_somebody_asks() {
        let result: String = (1..=100).map(|line| format!("line {line}\n")).collect();
        let entry = |item| TranscriptEntry {
            turn: 1,
            at: chrono::DateTime::UNIX_EPOCH,
            item,
        };
        let transcript = Transcript {
            entries: vec![
                entry(TranscriptItem::Thinking {
                    text: "Which file?".into(),
                }),
                entry(TranscriptItem::ToolResult {
                    call_id: "c".into(),
                    tool: "look".into(),
                    is_error: false,
                    failure: None,
                    content: Some(vec![ContentItem::Text(result)]),
                }),
            ],
            ..sample()
        };
        let folded = text(&transcript, Shown::default());
        assert!(folded.contains("[11 characters of thinking"), "{folded}");
        assert!(folded.contains("line 20\n"), "{folded}");
        assert!(folded.contains("[cut, 80 more lines: --full"), "{folded}");
        assert!(!folded.contains("line 21"), "{folded}");
        let all = Shown {
            full: true,
            thinking: true,
        };
        let whole = text(&transcript, all);
        assert!(whole.contains("Which file?"), "{whole}");
        assert!(whole.ends_with("line 100"), "{whole}");
    }
}
