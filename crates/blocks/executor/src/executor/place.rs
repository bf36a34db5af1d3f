//! Where the paths of a call lead.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use neuron_types::{ArgumentKind, JudgedCall, ToolCall, ToolDefinition};
use serde_json::Value;

/// The working directory of a call.
#[derive(Debug)]
pub(crate) struct Place {
    cwd: PathBuf,
    /// Without links.
    real: PathBuf,
}

impl Place {
    pub(crate) async fn of(cwd: &Path) -> Self {
        // Whatever is not there leads nowhere.
        let real = tokio::fs::canonicalize(cwd).await;
        Self {
            cwd: cwd.to_owned(),
            real: real.unwrap_or_else(|_| cwd.to_owned()),
        }
    }

    /// Returns where a path leads, free of links as far as it exists.
    async fn follow(&self, path: &str) -> PathBuf {
        let full = self.real.join(path);
        let mut head = full.as_path();
        let mut names = Vec::new();
        let mut real = loop {
            if let Ok(real) = tokio::fs::canonicalize(head).await {
                break real;
            }
            // A link that leads nowhere is one of the names: tools do not create what it leads to.
            names.extend(head.components().next_back());
            match head.parent() {
                Some(parent) => head = parent,
                None => break PathBuf::from("/"),
            }
        };
        real.extend(names.iter().rev());
        real
    }
}

/// A call in one of the ways in which it is judged.
#[derive(Debug)]
pub(crate) struct Judged<'a> {
    name: &'a str,
    input: Cow<'a, Value>,
    definition: Option<&'a ToolDefinition>,
    directory: Option<String>,
}

impl<'a> Judged<'a> {
    /// Judges the call by its arguments alone.
    pub(crate) fn by_text(call: &'a ToolCall, definition: Option<&'a ToolDefinition>) -> Self {
        Self {
            name: &call.name,
            input: Cow::Borrowed(&call.input),
            definition,
            directory: None,
        }
    }

    /// Judges the call by its paths as they are written, in this directory.
    pub(crate) fn in_place(
        call: &'a ToolCall,
        definition: Option<&'a ToolDefinition>,
        place: &Place,
    ) -> Self {
        Self {
            directory: Some(place.cwd.to_string_lossy().into_owned()),
            ..Self::by_text(call, definition)
        }
    }

    /// Judges the call by where its paths lead; `None` if it has no paths.
    pub(crate) async fn real(
        call: &'a ToolCall,
        definition: Option<&'a ToolDefinition>,
        place: &Place,
    ) -> Option<Self> {
        let mut input = call.input.clone();
        let mut has_paths = false;
        for (name, kind) in &definition?.arguments {
            if *kind != ArgumentKind::Path {
                continue;
            }
            let found = match name.starts_with('/') {
                true => input.pointer_mut(name),
                false => input.get_mut(name),
            };
            let paths = match found {
                Some(Value::Array(items)) => items.as_mut_slice(),
                Some(path) => std::slice::from_mut(path),
                None => continue,
            };
            for path in paths {
                if let Value::String(text) = path {
                    *text = place.follow(text).await.to_string_lossy().into_owned();
                    has_paths = true;
                }
            }
        }
        has_paths.then(|| Self {
            input: Cow::Owned(input),
            directory: Some(place.real.to_string_lossy().into_owned()),
            ..Self::by_text(call, definition)
        })
    }

    pub(crate) fn call(&self) -> JudgedCall<'_> {
        JudgedCall::new(
            self.name,
            &self.input,
            self.definition.map(|definition| &definition.arguments),
            self.directory.as_deref(),
        )
    }
}
