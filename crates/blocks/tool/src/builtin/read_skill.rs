use std::{any::Any, num::NonZeroUsize, sync::Arc};

use neuron_types::{
    SkillSpec, ToolContext, ToolDefinition, ToolDyn, ToolError, ToolOutput, WasmBoxedFuture,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    BuiltinOptions,
    builtin::definition::reader,
    builtin::files::blocking::blocking,
    builtin::files::excerpt::{Range, Source},
    builtin::skills::Skill,
};

/// The most files of a skill that an answer names.
const MAX_NAMED: usize = 50;

/// `read_skill`: the text of a skill's `SKILL.md`, or of another file in its folder.
///
/// Its description lists the skills and what each is for. A call reads the folder as it is then, and fails where the
/// folder has another digest than the run's definition says: what a model reads is what the definition holds.
///
/// It takes no options of a working directory: what is not in the folder has no name here, and folders with links are
/// rejected.
///
/// ```
/// use neuron_tool::{ToolContext, ToolDyn, ToolRegistry, builtin::{ReadSkill, Skill}};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let text = "---\nname: reports\ndescription: Writes reports.\n---\nBegin with the figures.\n";
/// # std::fs::write(folder.path().join("SKILL.md"), text)?;
/// # let path = folder.path();
/// let tool = ReadSkill::new([Skill::open(path)?]);
/// assert!(tool.definition().description.ends_with("- reports: Writes reports."));
///
/// let registry: ToolRegistry = [std::sync::Arc::new(tool) as _].into_iter().collect();
/// let input = json!({"name": "reports", "start_line": 5});
/// let output = registry.execute("read_skill", input, &ToolContext::default()).await?;
/// assert_eq!(output, neuron_tool::ToolOutput::text("Begin with the figures.\n"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ReadSkill {
    skills: Vec<Skill>,
    options: Arc<BuiltinOptions>,
}

/// The arguments of [`ReadSkill`].
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadSkillArgs {
    /// The name of the skill.
    pub name: String,
    /// The file, relative to the skill's folder. Default is SKILL.md.
    #[serde(default)]
    pub path: Option<String>,
    /// The first line to read, counted from 1. Default is the first line of the file.
    #[serde(default)]
    pub start_line: Option<NonZeroUsize>,
    /// The last line to read. Default is the last line of the file.
    #[serde(default)]
    pub end_line: Option<NonZeroUsize>,
}

impl ReadSkill {
    /// The tool's name.
    pub const NAME: &'static str = SkillSpec::TOOL;

    /// Makes the tool for these skills, in their order. Of those with one name the last counts.
    #[must_use]
    pub fn new(skills: impl IntoIterator<Item = Skill>) -> Self {
        let tool = Self {
            skills: Vec::new(),
            options: Arc::default(),
        };
        tool.with(skills)
    }

    /// Sets how long an answer may be: the options for `read_file` apply. Default is [`BuiltinOptions::default`].
    #[must_use]
    pub fn options(mut self, options: impl Into<Arc<BuiltinOptions>>) -> Self {
        self.options = options.into();
        self
    }

    /// Returns the same tool with these skills besides.
    fn with(mut self, skills: impl IntoIterator<Item = Skill>) -> Self {
        for skill in skills {
            let name = &skill.spec().name;
            match self.skills.iter_mut().find(|old| old.spec().name == *name) {
                Some(old) => *old = skill,
                None => self.skills.push(skill),
            }
        }
        self
    }
}

impl ToolDyn for ReadSkill {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn definition(&self) -> ToolDefinition {
        let mut description = "Reads the instructions of a skill, or another file of it. Read a skill before you do what it \
             is for. The skills are:"
            .to_owned();
        for skill in &self.skills {
            let SkillSpec {
                name,
                description: told,
                ..
            } = skill.spec();
            // One line each, so that none passes for another.
            let told: Vec<&str> = told.split_whitespace().collect();
            description.push_str(&format!("\n- {name}: {}", told.join(" ")));
        }
        let mut definition = reader::<ReadSkillArgs>(Self::NAME, "Read skill", description);
        let names: Vec<&str> = self
            .skills
            .iter()
            .map(|it| it.spec().name.as_str())
            .collect();
        if let Some(name) = definition.input_schema.pointer_mut("/properties/name")
            && let Some(schema) = name.as_object_mut()
        {
            schema.insert("enum".to_owned(), json!(names));
        }
        definition
    }

    /// Takes a `Vec` of further [skills](Skill).
    fn with_setting(&self, setting: &dyn Any) -> Option<Arc<dyn ToolDyn>> {
        let skills = setting.downcast_ref::<Vec<Skill>>()?;
        Some(Arc::new(self.clone().with(skills.iter().cloned())))
    }

    fn call_dyn<'a>(
        &'a self,
        input: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let args: ReadSkillArgs = serde_json::from_value(input).map_err(|error| {
                ToolError::ModelRetry(format!("the arguments do not fit the schema: {error}"))
            })?;
            let range = Range::new(args.start_line, args.end_line)?;
            let (skill, digest) = self.find(&args.name, ctx)?;
            let options = Arc::clone(&self.options);
            let text = blocking(ctx, move |stop| {
                let path = args.path.as_deref().unwrap_or(Skill::FILE);
                read(&skill, &digest, path, range, &options, stop)
            });
            Ok(ToolOutput::text(text.await?))
        })
    }
}

impl ReadSkill {
    /// Returns the skill of this name, and the digest that its folder has to have: what the run's definition says of
    /// it.
    fn find(&self, name: &str, ctx: &ToolContext) -> Result<(Skill, String), ToolError> {
        let here = self.skills.iter().find(|skill| skill.spec().name == name);
        let wanted = match ctx.skills.is_empty() {
            true => here.map(|skill| skill.spec().digest.clone()),
            false => ctx.skills.get(name).cloned(),
        };
        let Some(digest) = wanted else {
            let own = self.skills.iter().map(|skill| skill.spec().name.as_str());
            let known: Vec<&str> = match ctx.skills.is_empty() {
                true => own.collect(),
                false => ctx.skills.keys().map(String::as_str).collect(),
            };
            return Err(ToolError::ModelRetry(format!(
                "there is no skill {name:?}; the skills are {}",
                known.join(", ")
            )));
        };
        match here {
            Some(skill) => Ok((skill.clone(), digest)),
            None => Err(failed(format!(
                "the run's definition has a skill {name}, and this worker has none"
            ))),
        }
    }
}

fn read(
    skill: &Skill,
    digest: &str,
    path: &str,
    range: Range,
    options: &BuiltinOptions,
    stop: &CancellationToken,
) -> Result<String, ToolError> {
    let name = &skill.spec().name;
    let files = skill.files();
    let files = files.map_err(|error| ToolError::ExecutionFailed(Box::new(error)))?;
    if files.digest() != digest {
        return Err(failed(format!(
            "the skill {name} on this worker is not the one of the run's definition: its files were changed"
        )));
    }
    let Some(content) = files.get(path) else {
        let mut known: Vec<&str> = files.paths().take(MAX_NAMED + 1).collect();
        if known.len() > MAX_NAMED {
            known.truncate(MAX_NAMED);
            known.push("…");
        }
        return Err(ToolError::ModelRetry(format!(
            "the skill {name} has no file {path:?}; its files are {}",
            known.join(", ")
        )));
    };
    let source = Source {
        path,
        size: u64::try_from(content.len()).unwrap_or(u64::MAX),
        tool: ReadSkill::NAME,
    };
    source.text(&mut &*content, range, options, stop)
}

fn failed(message: String) -> ToolError {
    ToolError::ExecutionFailed(message.into())
}
