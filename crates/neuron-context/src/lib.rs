//! Keeping a conversation small: token counting and compaction.
