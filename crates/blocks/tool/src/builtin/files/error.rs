use std::io;

use neuron_types::ToolError;

/// An operation of the file system failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {path}: {source}")]
struct FileError {
    /// A verb.
    action: &'static str,
    /// The path as the model knows it.
    path: String,
    source: io::Error,
}

/// For `map_err`: what could not be done with which path.
pub(crate) fn cannot(action: &'static str, path: &str) -> impl FnOnce(io::Error) -> ToolError {
    move |source| {
        ToolError::ExecutionFailed(Box::new(FileError {
            action,
            path: path.to_owned(),
            source,
        }))
    }
}
