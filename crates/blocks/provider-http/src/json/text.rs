//! Texts that wires without a place for their parts take as one.

use std::fmt;

use neuron_types::{ContentItem, ImageSource, SystemPrompt, ToolResultBlock};
use serde::{Serialize, Serializer};

/// Texts that are sent as one, a line break between them.
#[derive(Debug)]
pub struct Joined<'a>(pub Vec<&'a str>);

impl fmt::Display for Joined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, text) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            f.write_str(text)?;
        }
        Ok(())
    }
}

impl Serialize for Joined<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [text] => serializer.serialize_str(text),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'a> Joined<'a> {
    /// Returns the instructions; `None` if the request has no instructions.
    #[must_use]
    pub fn instructions(system: Option<&'a SystemPrompt>) -> Option<Self> {
        let texts: Vec<_> = match system? {
            SystemPrompt::Text(text) => vec![text.as_str()],
            SystemPrompt::Blocks(blocks) => blocks.iter().map(|part| part.text.as_str()).collect(),
        };
        Self::unless_empty(texts)
    }

    /// Returns `None` if there is nothing in the texts.
    #[must_use]
    pub fn unless_empty(texts: Vec<&'a str>) -> Option<Self> {
        texts
            .iter()
            .any(|text| !text.is_empty())
            .then_some(Self(texts))
    }
}

/// Stands where a picture was.
const PICTURE_BELOW: &str = "[picture: see the next user message]";

/// The text of a tool's result. Since there is no flag for a failure, the text reports it. Where a picture was, it
/// names the next message of the user, which shows the [pictures](Self::pictures).
#[derive(Debug)]
pub struct ResultText<'a>(pub &'a ToolResultBlock);

impl<'a> ResultText<'a> {
    /// Returns the pictures of the result.
    pub fn pictures(&self) -> impl Iterator<Item = &'a ImageSource> + use<'a> {
        self.0.content.iter().filter_map(|item| match item {
            ContentItem::Image { source } => Some(source),
            _ => None,
        })
    }
}

impl fmt::Display for ResultText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = self.0.content.iter().filter_map(|item| match item {
            ContentItem::Text(text) => Some(text.as_str()),
            ContentItem::Image { .. } => Some(PICTURE_BELOW),
            _ => None,
        });
        let mut before = if self.0.is_error { "error: " } else { "" };
        for text in texts {
            f.write_str(before)?;
            f.write_str(text)?;
            before = "\n";
        }
        if before == "error: " {
            f.write_str("error: the tool gave no reason")?;
        }
        Ok(())
    }
}

impl Serialize for ResultText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.content.as_slice() {
            [ContentItem::Text(text)] if !self.0.is_error => serializer.serialize_str(text),
            _ => serializer.collect_str(self),
        }
    }
}
