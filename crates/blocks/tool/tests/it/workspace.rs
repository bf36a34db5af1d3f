//! A directory for one test, and the built-in tools in it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use neuron_tool::{
    BuiltinOptions, ToolContext, ToolError, ToolOutput, ToolRegistry, builtin_tools,
};
use neuron_types::{ContentItem, Preview};
use serde_json::Value;

pub(crate) struct Workspace {
    folder: tempfile::TempDir,
    pub(crate) registry: ToolRegistry,
    pub(crate) ctx: ToolContext,
}

impl Workspace {
    pub(crate) fn new() -> Self {
        Self::with(&BuiltinOptions::default())
    }

    /// The working directory is inside the test's own directory, so that there is an outside.
    pub(crate) fn with(options: &BuiltinOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().join("work");
        fs::create_dir(&cwd).unwrap();
        let registry = ToolRegistry::from_iter(builtin_tools(options));
        let ctx = ToolContext {
            cwd,
            ..ToolContext::default()
        };
        Self {
            folder,
            registry,
            ctx,
        }
    }

    /// A path in the working directory.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.ctx.cwd.join(path)
    }

    /// The directory that the working directory is in.
    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) async fn call(&self, tool: &str, input: Value) -> Result<ToolOutput, ToolError> {
        self.registry.execute(tool, input, &self.ctx).await
    }

    /// The text of a call that succeeds.
    pub(crate) async fn ok(&self, tool: &str, input: Value) -> String {
        let output = self.call(tool, input).await.unwrap();
        assert!(!output.is_error, "{output:?}");
        text(&output)
    }

    /// Returns what a call would do.
    pub(crate) async fn preview(
        &self,
        tool: &str,
        input: Value,
    ) -> Result<Option<Preview>, ToolError> {
        let tool = self.registry.get(tool).unwrap();
        tool.preview_dyn(input, &self.ctx).await
    }

    /// Makes a call that a person approved who saw this.
    pub(crate) async fn call_approved(
        &self,
        tool: &str,
        input: Value,
        seen: &Preview,
    ) -> Result<ToolOutput, ToolError> {
        let ctx = ToolContext {
            preview: seen.fingerprint.clone(),
            ..self.ctx.clone()
        };
        self.registry.execute(tool, input, &ctx).await
    }

    /// The message of a call that the model can mend.
    pub(crate) async fn hint(&self, tool: &str, input: Value) -> String {
        match self.call(tool, input).await {
            Err(ToolError::ModelRetry(hint)) => hint,
            other => panic!("expected a hint, got {other:?}"),
        }
    }
}

pub(crate) fn text(output: &ToolOutput) -> String {
    match output.content.as_slice() {
        [ContentItem::Text(text)] => text.clone(),
        other => panic!("expected one text, got {other:?}"),
    }
}
