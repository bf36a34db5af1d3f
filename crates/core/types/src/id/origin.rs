//! Which run something is done for, and whose it is.

use crate::{RunTags, TraceContext};

/// Which run something is done for, and whose it is: all of a run that those outside are given, and only where they are to
/// have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOrigin<'a> {
    /// The run.
    pub run: &'a str,
    /// The run at the top of the tree: the run itself where no other started it.
    pub root: &'a str,
    /// Whose run it is.
    pub tags: &'a RunTags,
    /// What it is a part of in a distributed trace. A tool or server that is given it passes it on, whether it is to
    /// have the rest or not.
    pub trace: Option<&'a TraceContext>,
}

impl<'a> RunOrigin<'a> {
    /// Returns what is known of it but for the labels: `run`, `root`, `tenant` and `owner`, each with its text.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &'a str)> {
        let texts = [
            ("run", Some(self.run)),
            ("root", Some(self.root)),
            ("tenant", self.tags.tenant.as_deref()),
            ("owner", self.tags.owner.as_deref()),
        ];
        texts
            .into_iter()
            .filter_map(|(what, text)| Some((what, text?)))
    }
}
