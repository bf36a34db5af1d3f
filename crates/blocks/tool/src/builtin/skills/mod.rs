//! Skills: folders with instructions that a model reads where it needs them.

mod error;
mod folder;
mod front_matter;
mod skill;

pub use self::{error::SkillError, skill::Skill};
