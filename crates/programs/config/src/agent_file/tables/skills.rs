//! The skills of an agent: folders with a `SKILL.md`, under the key `skills`.

use std::{fs, path::Path};

use neuron_tool::{
    BuiltinOptions,
    builtin::{ReadSkill, Skill},
};
use neuron_types::{AgentSpec, CallPattern, SkillSpec, ToolDyn as _, with_causes};

use crate::agent_file::text::{
    patterns,
    table::{Table, Text},
};

/// The key of an agent.
pub(crate) const KEY: &str = "skills";

/// The most skills of an agent: each is described to the model in every request.
const MAX_SKILLS: usize = 100;

/// Returns the skills that an agent's patterns match, in the order of the patterns and then of the folders' names.
pub(crate) fn read(agent: &Table<'_>, patterns: Vec<Text<'_>>) -> Vec<Skill> {
    let mut skills: Vec<Skill> = Vec::new();
    for pattern in patterns {
        if let Err(message) = add(agent, pattern, &mut skills) {
            agent.problem(KEY, pattern.offset, &message);
        }
    }
    skills
}

/// Adds the skills of one pattern. The error states what is wrong with the pattern.
fn add(agent: &Table<'_>, pattern: Text<'_>, skills: &mut Vec<Skill>) -> Result<(), String> {
    let problems = agent.problems;
    let here = problems.folder(pattern.offset);
    let mut found = patterns::find(here, pattern.value)?;
    let more = patterns::folder(here, pattern.value);
    // There may be files beside the folders that a pattern matches.
    found.retain(|path| more.is_none() || path.is_dir());
    if found.is_empty() {
        return Err(format!("has {:?}, which matches no folder", pattern.value));
    }
    for path in found {
        let skill = Skill::open(&path)
            .map_err(|error| format!("has a skill that cannot be used: {}", with_causes(&error)))?;
        let SkillSpec { name, digest, .. } = skill.spec();
        if holds(skill.path(), here) {
            let path = path.display();
            return Err(format!(
                "names {path}, in which the agent file is: give the skill a folder of its own"
            ));
        }
        // It is unknown by which path the folder is reached: its name is its real path.
        problems.note_read(skill.path(), digest);
        match skills.iter().find(|known| known.spec().name == *name) {
            Some(known) if known.path() == skill.path() => {}
            Some(known) => {
                return Err(format!(
                    "names two skills {name}: {} and {}",
                    known.path().display(),
                    skill.path().display()
                ));
            }
            None if skills.len() == MAX_SKILLS => {
                return Err(format!("names more than {MAX_SKILLS} skills"));
            }
            None => skills.push(skill),
        }
    }
    if let Some(more) = more {
        problems.note_folder(more);
    }
    Ok(())
}

/// Returns whether a folder, by its real path, is this one or contains it.
fn holds(folder: &Path, here: &Path) -> bool {
    let here = match here.as_os_str().is_empty() {
        true => Path::new("."),
        false => here,
    };
    fs::canonicalize(here).is_ok_and(|here| here.starts_with(folder))
}

/// Gives an agent its skills, and the tool that reads them.
pub(crate) fn give(spec: &mut AgentSpec, skills: &[Skill], options: &BuiltinOptions) {
    if skills.is_empty() {
        return;
    }
    spec.skills = skills.iter().map(|skill| skill.spec().clone()).collect();
    let definition = tool(skills, options).definition();
    let tools = &mut spec.head_mut().tools;
    tools.push(definition);
    tools.sort_by(|one, other| one.name.cmp(&other.name));
}

/// Returns the tool that reads these skills.
pub(crate) fn tool(skills: &[Skill], options: &BuiltinOptions) -> ReadSkill {
    ReadSkill::new(skills.iter().cloned()).options(options.clone())
}

/// Returns whether a run of this definition may read skills.
pub(crate) fn are_read_by(agent: &AgentSpec) -> bool {
    let mut tools = agent.head.tools.iter();
    tools.any(|tool| tool.name == SkillSpec::TOOL)
}

/// Returns whether a rule of the agent is about the tool that reads its skills.
pub(crate) fn are_read_under(agent: &Table<'_>, pattern: &CallPattern<'_>) -> bool {
    agent.has(KEY) && pattern.matches_tool(SkillSpec::TOOL)
}
