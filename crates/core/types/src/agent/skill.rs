//! The skills of an agent, as its definition names them.

use serde::{Deserialize, Serialize};

/// A skill of an agent, as its definition names it: a folder with instructions that the model reads where it needs them, by
/// the tool [`SkillSpec::TOOL`].
///
/// The definition holds no text of the folder but its digest: a worker whose folder is another reads nothing of it to the
/// model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillSpec {
    /// Its name.
    pub name: String,
    /// What it is for, and when to read it.
    pub description: String,
    /// The SHA-256 of the names and the contents of all files of the folder, as `sha256:…`.
    pub digest: String,
}

impl SkillSpec {
    /// The name of the tool by which the model reads skills.
    pub const TOOL: &'static str = "read_skill";
}
