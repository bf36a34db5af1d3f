//! What a server is looked at for.

use serde::Serialize;

/// What a server is looked at for, in the order in which it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Check {
    /// A plain question is answered.
    Answer,
    /// The same comes in pieces.
    StreamedAnswer,
    /// A tool is called, with arguments of its schema.
    Call,
    /// Two tools are called in one answer.
    TwoCalls,
    /// Calls come in pieces.
    StreamedCalls,
    /// The results of calls are taken, and what the model said beside the calls.
    Results,
    /// A conversation is taken up that another model began: the ids of its calls are not this server's.
    OtherIds,
    /// A tool is taken whose schema says that its arguments are one of two objects.
    ToolSchema,
    /// An answer is of the form that was asked for.
    Form,
    /// A picture is seen.
    Picture,
    /// Ids of calls can be ids everywhere. Of all answers.
    Ids,
    /// An answer states why it ended, and does so rightly. Of all answers.
    Ends,
    /// An answer reports what it used. Of all answers.
    Usage,
}

impl Check {
    /// Those that take a request each.
    pub(crate) const ASKED: [Self; 10] = [
        Self::Answer,
        Self::StreamedAnswer,
        Self::Call,
        Self::TwoCalls,
        Self::StreamedCalls,
        Self::Results,
        Self::OtherIds,
        Self::ToolSchema,
        Self::Form,
        Self::Picture,
    ];

    /// Those of all answers together.
    pub(crate) const OF_ALL: [Self; 3] = [Self::Ids, Self::Ends, Self::Usage];

    /// Returns the name as it stands in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::StreamedAnswer => "streamed_answer",
            Self::Call => "call",
            Self::TwoCalls => "two_calls",
            Self::StreamedCalls => "streamed_calls",
            Self::Results => "results",
            Self::OtherIds => "other_ids",
            Self::ToolSchema => "tool_schema",
            Self::Form => "form",
            Self::Picture => "picture",
            Self::Ids => "ids",
            Self::Ends => "ends",
            Self::Usage => "usage",
        }
    }

    /// Returns whether every server takes its request that takes the settings.
    pub(crate) const fn is_of_plain_requests(self) -> bool {
        !matches!(self, Self::ToolSchema | Self::Form | Self::Picture)
    }

    /// Returns whether its answer comes in pieces.
    pub(crate) const fn is_streamed(self) -> bool {
        matches!(self, Self::StreamedAnswer | Self::StreamedCalls)
    }
}
