//! Transcripts, from events and what is known of steps.

use chrono::DateTime;
use neuron_engine::{KnownSteps, SegmentBegin};
use neuron_types::{
    CompletionResponse, ContentBlock, ContentItem, FailureKind, GuardPoint, LEFT_UNJUDGED, Message,
    RecordedEvent, Role, RunEvent, RunTags, StepFailure, StepId, StopReason, Ticket, TicketKind,
    TokenUsage, ToolOutput, ToolResultBlock, Transcript, TranscriptItem, Verdict, withheld,
};
use serde_json::{Value, json};

use crate::fake::run_id;

fn responded(turn: u32, text: Option<&str>) -> RunEvent {
    RunEvent::ModelResponded {
        turn,
        stop_reason: StopReason::ToolUse,
        text: text.map(ToOwned::to_owned),
        usage: TokenUsage::default(),
        cost_usd: None,
        model: None,
        spent_before: None,
    }
}

fn called(turn: u32, id: &str, path: &str) -> RunEvent {
    RunEvent::ToolCalled {
        turn,
        call_id: id.to_owned(),
        tool: "look".to_owned(),
        args: json!({ "path": path }),
    }
}

fn finished(turn: u32, id: &str, reason: Option<&str>) -> RunEvent {
    RunEvent::ToolFinished {
        turn,
        call_id: id.to_owned(),
        tool: "look".to_owned(),
        is_error: reason.is_some(),
        failure: None,
        reason: reason.map(ToOwned::to_owned),
    }
}

fn recorded(events: impl IntoIterator<Item = RunEvent>) -> Vec<RecordedEvent> {
    let at = DateTime::UNIX_EPOCH;
    let numbered = (1..).zip(events);
    numbered
        .map(|(seq, event)| RecordedEvent { seq, at, event })
        .collect()
}

/// Two turns of one call each, and a third that says something.
fn three_turns() -> Vec<RecordedEvent> {
    let started = RunEvent::RunStarted {
        agent: "default".into(),
        model: "m".into(),
        prompt: "Go.".into(),
        definition: String::new(),
        tags: RunTags::default(),
        nonce: None,
        trace: None,
        directory: None,
        signed: false,
    };
    let turn = |turn| {
        [
            RunEvent::TurnStarted { turn },
            responded(turn, Some("I look.")),
            called(turn, "c", "a.txt"),
            finished(turn, "c", None),
            RunEvent::TurnEnded { turn },
        ]
    };
    let last = [
        RunEvent::TurnStarted { turn: 3 },
        responded(3, Some("Done.")),
        RunEvent::TurnEnded { turn: 3 },
    ];
    recorded(
        [started]
            .into_iter()
            .chain(turn(1))
            .chain(turn(2))
            .chain(last),
    )
}

fn asking(text: &str) -> Message {
    Message {
        content: vec![
            ContentBlock::Text(text.to_owned()),
            ContentBlock::tool_use("c", "look", json!({"path": "a.txt"})),
        ],
        ..Message::assistant("")
    }
}

fn answered(text: &str) -> Message {
    Message {
        role: Role::User,
        content: vec![ContentBlock::ToolResult(ToolResultBlock {
            tool_use_id: "c".into(),
            name: "look".into(),
            content: vec![ContentItem::Text(text.to_owned())],
            is_error: false,
        })],
    }
}

fn response(message: Message) -> CompletionResponse {
    CompletionResponse {
        model: "m".into(),
        message,
        stop_reason: StopReason::ToolUse,
        ..CompletionResponse::default()
    }
}

fn read(text: &str) -> Option<Vec<ContentItem>> {
    Some(vec![ContentItem::Text(text.to_owned())])
}

fn results(transcript: &Transcript) -> Vec<Option<Vec<ContentItem>>> {
    let entries = transcript.entries.iter();
    let results = entries.filter_map(|entry| match &entry.item {
        TranscriptItem::ToolResult { content, .. } => Some(content.clone()),
        _ => None,
    });
    results.collect()
}

#[test]
fn events_alone_say_what_they_have_and_that_the_rest_is_missing() {
    let transcript = KnownSteps::default().into_transcript(run_id(), &three_turns());
    let kinds: Vec<(u32, String)> = transcript
        .entries
        .iter()
        .map(|entry| {
            let value = serde_json::to_value(entry).unwrap();
            (entry.turn, value["type"].as_str().unwrap().to_owned())
        })
        .collect();
    let kinds: Vec<(u32, &str)> = kinds.iter().map(|(turn, kind)| (*turn, &**kind)).collect();
    let expected = [
        (0, "prompt"),
        (1, "text"),
        (1, "tool_call"),
        (1, "tool_result"),
        (2, "text"),
        (2, "tool_call"),
        (2, "tool_result"),
        (3, "text"),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(results(&transcript), [None, None]);
    let incomplete = transcript.incomplete.unwrap();
    assert!(
        incomplete.contains("3 turns between 1 and 3"),
        "{incomplete}"
    );
}

#[test]
fn steps_give_the_reasoning_and_the_results_that_the_model_read() {
    let mut steps = KnownSteps::default();
    let mut thoughtful = asking("I look.");
    let thinking = ContentBlock::Thinking {
        field: None,
        thinking: "Which file?".into(),
        signature: Some("s".into()),
    };
    thoughtful.content.insert(0, thinking);
    steps.model(StepId::new(1, 0), &response(thoughtful));
    steps.tool(StepId::new(1, 1), Ok(ToolOutput::text("one")));
    // A summary is no part of the conversation.
    let summary = StepId::new(2, StepId::SUMMARY);
    steps.model(summary, &response(Message::assistant("So far: nothing.")));
    steps.model(StepId::new(2, 0), &response(asking("I look.")));
    let failure = StepFailure::new(FailureKind::Timeout, "it took too long");
    steps.tool(StepId::new(2, 1), Err(failure));
    steps.model(StepId::new(3, 0), &response(Message::assistant("Done.")));
    let transcript = steps.into_transcript(run_id(), &three_turns());
    assert_eq!(transcript.incomplete, None);
    let thought = TranscriptItem::Thinking {
        text: "Which file?".into(),
    };
    assert_eq!(transcript.entries[1].item, thought);
    assert_eq!(
        results(&transcript),
        [read("one"), read("it took too long")]
    );
    assert!(!format!("{transcript:?}").contains("So far"));
}

#[test]
fn what_was_not_made_and_what_was_changed_reads_as_the_model_read_it() {
    let given = |args: Option<Value>| {
        let mut decided = RunEvent::ticket_decided("t1", TicketKind::default(), Verdict::Approve);
        if let RunEvent::ApprovalDecided { args: own, .. } = &mut decided {
            *own = args;
        }
        decided
    };
    let other = json!({"path": "other.txt"});
    for (decided, who) in [
        (given(Some(other)), "a person"),
        (given(None), "a guard or a hook"),
    ] {
        let mut steps = KnownSteps::default();
        let twice = Message {
            content: vec![
                ContentBlock::tool_use("c", "look", json!({"path": "a.txt"})),
                ContentBlock::tool_use("d", "look", json!({"path": "b.txt"})),
            ],
            ..Message::assistant("")
        };
        steps.model(StepId::new(1, 0), &response(twice));
        steps.tool(StepId::new(1, 1), Ok(ToolOutput::text("one")));
        let events = recorded([
            RunEvent::TurnStarted { turn: 1 },
            responded(1, None),
            finished(1, "d", Some("not called: ada denied it")),
            decided,
            called(1, "c", "other.txt"),
            finished(1, "c", None),
        ]);
        let transcript = steps.into_transcript(run_id(), &events);
        assert_eq!(transcript.incomplete, None);
        let note = format!("[{who} changed the arguments to {{\"path\":\"other.txt\"}}]");
        let read_as = vec![ContentItem::Text(note), ContentItem::Text("one".to_owned())];
        let expected = [read("not called: ada denied it"), Some(read_as)];
        assert_eq!(results(&transcript), expected);
    }
}

/// A segment that began with this conversation, after two turns.
fn begin(conversation: Vec<Message>) -> SegmentBegin {
    SegmentBegin {
        turn: 2,
        calls: Vec::new(),
        conversation: conversation.into(),
    }
}

#[test]
fn a_later_segment_s_conversation_has_what_is_left_of_earlier_steps() {
    let events = three_turns();
    let behind = events
        .iter()
        .find(|event| event.event == RunEvent::TurnEnded { turn: 2 });
    let behind = behind.unwrap().seq;
    let last = || response(Message::assistant("Done."));

    let mut steps = KnownSteps::default();
    let whole = vec![
        Message::user("Go."),
        asking("I look."),
        answered("one"),
        asking("I look."),
        answered("two"),
    ];
    steps.segment(behind, begin(whole));
    steps.model(StepId::new(3, 0), &last());
    let transcript = steps.into_transcript(run_id(), &events);
    assert_eq!(results(&transcript), [read("one"), read("two")]);
    let incomplete = transcript.incomplete.unwrap();
    assert!(
        incomplete.contains("as the conversation has them"),
        "{incomplete}"
    );

    // What was summarised is lost, and what follows it is not mistaken for it.
    let mut steps = KnownSteps::default();
    let summarised = vec![
        Message::user("Go."),
        Message::assistant("I looked at one."),
        asking("I look."),
        answered("two"),
    ];
    steps.segment(behind, begin(summarised));
    steps.model(StepId::new(3, 0), &last());
    let transcript = steps.into_transcript(run_id(), &events);
    assert_eq!(results(&transcript), [None, read("two")]);
    let incomplete = transcript.incomplete.unwrap();
    assert!(incomplete.contains("of turn 1 only events"), "{incomplete}");
}

/// Returns what is left of the results of the first of three turns. The answer of the second has no part in the conversation
/// of the segment after them.
fn left_of_the_first(second: &[RunEvent], kept: Option<Message>) -> Option<Vec<ContentItem>> {
    let mut events = vec![
        RunEvent::TurnStarted { turn: 1 },
        responded(1, Some("I look.")),
        called(1, "c", "a"),
        finished(1, "c", None),
        RunEvent::TurnEnded { turn: 1 },
        RunEvent::TurnStarted { turn: 2 },
    ];
    events.extend_from_slice(second);
    events.extend([
        RunEvent::TurnEnded { turn: 2 },
        RunEvent::TurnStarted { turn: 3 },
        responded(3, Some("Done.")),
    ]);
    let events = recorded(events);
    let mut conversation = vec![Message::user("Go."), asking("I look."), answered("one")];
    conversation.extend(kept);
    conversation.push(Message::assistant("Done."));
    let mut steps = KnownSteps::default();
    steps.segment(events.last().unwrap().seq, begin(conversation));
    let transcript = steps.into_transcript(run_id(), &events);
    results(&transcript).remove(0)
}

#[test]
fn turns_behind_an_answer_that_the_run_left_are_recovered() {
    let left = withheld(LEFT_UNJUDGED);
    assert_eq!(
        left_of_the_first(&[responded(2, Some(&left))], None),
        read("one")
    );
    let RunEvent::ModelResponded {
        turn, text, usage, ..
    } = responded(2, Some("Well"))
    else {
        panic!("it is an answer");
    };
    let ended_oddly = RunEvent::ModelResponded {
        turn,
        stop_reason: StopReason::Other("odd".into()),
        text,
        usage,
        cost_usd: None,
        model: None,
        spent_before: None,
    };
    assert_eq!(left_of_the_first(&[ended_oddly], None), read("one"));
    // What is lacking otherwise was made smaller.
    assert_eq!(
        left_of_the_first(&[responded(2, Some("Well."))], None),
        None
    );
}

#[test]
fn turns_behind_an_answer_that_a_person_was_asked_about_are_recovered() {
    for kept in ["[withheld: it may be secret]", "Forty-two."] {
        let kept = Message::assistant(kept);
        let left = left_of_the_first(&[asked_about(2), responded(2, None)], Some(kept));
        assert_eq!(left, read("one"));
    }
}

#[test]
fn a_transcript_has_the_newest_results_where_there_are_too_many() {
    const TURNS: u32 = 20;
    let mut steps = KnownSteps::default();
    let mut events = Vec::new();
    for turn in 1..=TURNS {
        steps.model(StepId::new(turn, 0), &response(asking("I look.")));
        steps.tool(
            StepId::new(turn, 1),
            Ok(ToolOutput::text("x".repeat(1 << 20))),
        );
        events.extend([
            RunEvent::TurnStarted { turn },
            responded(turn, Some("I look.")),
            finished(turn, "c", None),
        ]);
    }
    let transcript = steps.into_transcript(run_id(), &recorded(events));
    let there: Vec<bool> = results(&transcript).iter().map(Option::is_some).collect();
    let expected: Vec<bool> = (1..=TURNS).map(|turn| turn > 4).collect();
    assert_eq!(there, expected);
    let incomplete = transcript.incomplete.unwrap();
    assert!(
        incomplete.contains("4 turns between 1 and 4"),
        "{incomplete}"
    );
}

/// A guard has a person asked about the answer of this turn.
fn asked_about(turn: u32) -> RunEvent {
    RunEvent::Guarded {
        turn,
        point: GuardPoint::Output,
        guard: "judge".into(),
        verdict: "ask".into(),
        reason: "it may be secret".into(),
        call_id: None,
    }
}

/// What a transcript shows of an answer of the first turn that a guard has a person asked about.
fn shown_of(decided: Option<&str>) -> Vec<TranscriptItem> {
    let asked = asked_about(1);
    let ticket = Ticket {
        ticket: "guard-1".into(),
        kind: TicketKind::Guard,
        text: Some("it may be secret\n\nForty-two.".into()),
        ..Ticket::default()
    };
    let requested = RunEvent::ApprovalRequested { turn: 1, ticket };
    let mut events = vec![
        RunEvent::TurnStarted { turn: 1 },
        asked,
        responded(1, None),
        RunEvent::TurnEnded { turn: 1 },
        requested,
    ];
    events.extend(decided.map(|choice| {
        let mut event = RunEvent::ticket_decided("guard-1", TicketKind::Guard, Verdict::Choose);
        if let RunEvent::ApprovalDecided { choice: chosen, .. } = &mut event {
            *chosen = Some(choice.to_owned());
        }
        event
    }));
    let mut steps = KnownSteps::default();
    steps.model(
        StepId::new(1, 0),
        &response(Message::assistant("Forty-two.")),
    );
    let transcript = steps.into_transcript(run_id(), &recorded(events));
    let items = transcript.entries.into_iter().map(|entry| entry.item);
    let is_text = |item: &TranscriptItem| matches!(item, TranscriptItem::Text { .. });
    items.filter(is_text).collect()
}

#[test]
fn an_answer_that_a_person_has_not_released_is_not_shown() {
    let text = |text: &str| vec![TranscriptItem::Text { text: text.into() }];
    let withheld = text("[withheld: it may be secret]");
    assert_eq!(shown_of(None), withheld);
    assert_eq!(shown_of(Some("withhold")), withheld);
    assert_eq!(shown_of(Some("end")), withheld);
    assert_eq!(shown_of(Some("release")), text("Forty-two."));
}

#[test]
fn an_answer_is_shown_as_judges_left_it() {
    let events = vec![
        RunEvent::TurnStarted { turn: 1 },
        responded(1, Some("[withheld: no]")),
        RunEvent::TurnEnded { turn: 1 },
    ];
    let mut steps = KnownSteps::default();
    steps.model(
        StepId::new(1, 0),
        &response(Message::assistant("Forty-two.")),
    );
    let transcript = steps.into_transcript(run_id(), &recorded(events));
    let shown = format!("{:?}", transcript.entries);
    assert!(
        shown.contains("[withheld: no]") && !shown.contains("Forty"),
        "{shown}"
    );
}
