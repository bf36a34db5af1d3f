//! Sections that no compaction touches.

use neuron_types::{RequestHead, SystemBlock, SystemPrompt};

/// What a model has to know in every turn of a run, however often its conversation is compacted: rules of a
/// project, facts about the user.
///
/// The sections become part of the request's instructions, which no [`ContextStrategy`] sees and every engine
/// carries with the run, so there is no compaction that could lose them.
///
/// ```
/// use neuron_context::{ContextSection, PersistentContext};
/// use neuron_types::{RequestHead, SystemPrompt};
///
/// let context = PersistentContext::new()
///     .section(ContextSection::new("Style", "Write plain English.").priority(10))
///     .section(ContextSection::new("Rules", "Never push to main."));
///
/// let mut head = RequestHead {
///     system: Some(SystemPrompt::Text("You are a coding assistant.".to_owned())),
///     ..RequestHead::default()
/// };
/// context.add_to(&mut head);
/// let sections = "# Rules\n\nNever push to main.\n\n# Style\n\nWrite plain English.";
/// assert_eq!(
///     head.system,
///     Some(SystemPrompt::Text(format!("You are a coding assistant.\n\n{sections}"))),
/// );
/// ```
///
/// [`ContextStrategy`]: neuron_types::ContextStrategy
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PersistentContext {
    sections: Vec<ContextSection>,
}

/// One part of a [`PersistentContext`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextSection {
    /// Its heading.
    pub label: String,
    /// What the model has to know.
    pub content: String,
    /// Where it stands among the others: the lower, the earlier. None is ever left out.
    pub priority: usize,
}

impl ContextSection {
    /// A section of priority 0.
    #[must_use]
    pub fn new(label: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            content: content.into(),
            priority: 0,
        }
    }

    /// Sets where it stands: the lower, the earlier. Default is 0.
    #[must_use]
    pub const fn priority(mut self, priority: usize) -> Self {
        self.priority = priority;
        self
    }
}

impl PersistentContext {
    /// No sections.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a section, after those of the same priority.
    #[must_use]
    pub fn section(mut self, section: ContextSection) -> Self {
        let after = |other: &ContextSection| other.priority <= section.priority;
        let place = self.sections.partition_point(after);
        self.sections.insert(place, section);
        self
    }

    /// The sections in their order.
    #[must_use]
    pub fn sections(&self) -> &[ContextSection] {
        &self.sections
    }

    /// The sections as text, each under its heading. Empty without sections.
    #[must_use]
    pub fn render(&self) -> String {
        let texts = self.sections.iter().map(|section| {
            let ContextSection { label, content, .. } = section;
            format!("# {label}\n\n{}", content.trim())
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// Adds the sections to the instructions, after what is there.
    pub fn add_to(&self, head: &mut RequestHead) {
        if self.sections.is_empty() {
            return;
        }
        let text = self.render();
        head.system = Some(match head.system.take() {
            None => SystemPrompt::Text(text),
            Some(SystemPrompt::Text(before)) => {
                SystemPrompt::Text(format!("{}\n\n{text}", before.trim_end()))
            }
            Some(SystemPrompt::Blocks(mut blocks)) => {
                blocks.push(SystemBlock {
                    text,
                    cache_control: None,
                });
                SystemPrompt::Blocks(blocks)
            }
        });
    }
}
