/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose<'a> {
    Answer,
    Count,
    Compaction { instructions: Option<&'a str> },
}
