use std::path::{Path, PathBuf};

use neuron_types::SkillSpec;

use crate::builtin::{
    files::open,
    skills::{
        error::SkillError,
        folder::Folder,
        front_matter::{self, FrontMatter},
    },
};

/// The file that says what a skill is.
const SKILL_FILE: &str = "SKILL.md";

/// A skill: a folder with a `SKILL.md`, as it was when it was opened.
///
/// ```
/// use neuron_tool::builtin::Skill;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let text = "---\nname: reports\ndescription: Writes the weekly report.\n---\nBegin with the figures.\n";
/// std::fs::write(folder.path().join("SKILL.md"), text)?;
///
/// let skill = Skill::open(folder.path())?;
/// assert_eq!(skill.spec().name, "reports");
/// assert!(skill.spec().digest.starts_with("sha256:"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The real path of the folder.
    path: PathBuf,
    spec: SkillSpec,
}

impl Skill {
    /// The name of the file that says what a skill is.
    pub const FILE: &'static str = SKILL_FILE;

    /// Reads a folder and what its `SKILL.md` begins with: `name` and `description` between two lines `---`.
    ///
    /// # Errors
    ///
    /// [`SkillError`], also where the folder has links, or more than a skill may have.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, SkillError> {
        let folder = folder.as_ref();
        let path = folder.canonicalize().map_err(SkillError::reading(folder))?;
        let own = path.join(SKILL_FILE);
        // Before all else is read: any folder can be named by mistake.
        if !path.is_dir() || open::look(&own).is_err() {
            let path = folder.to_owned();
            return Err(SkillError::NoSkillFile { path });
        }
        let files = Folder::read(&path)?;
        let content = files.get(SKILL_FILE).unwrap_or_default();
        let FrontMatter { name, description } =
            front_matter::parse(content).map_err(|problem| SkillError::FrontMatter {
                path: own,
                line: problem.line,
                problem: problem.message,
            })?;
        Ok(Self {
            path,
            spec: SkillSpec {
                name,
                description,
                digest: files.digest(),
            },
        })
    }

    /// Returns what a definition says of it.
    #[must_use]
    pub const fn spec(&self) -> &SkillSpec {
        &self.spec
    }

    /// Returns the real path of its folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the files of its folder as they are now.
    pub(crate) fn files(&self) -> Result<Folder, SkillError> {
        Folder::read(&self.path)
    }
}
