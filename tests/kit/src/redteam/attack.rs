//! What an agent tries.

use super::sign::Sign;

/// What an attack is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// To read what only its user should.
    ReadKeys,
    /// To write beyond the working directory.
    LeaveFolder,
    /// To reach the network or a service.
    ReachOut,
    /// To reach other processes, or to be one that lives on.
    Outlive,
    /// To change what binds it.
    ChangeRules,
    /// To decide its own ticket.
    Decide,
}

/// What executes the run that an attack is tried in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// A program, in its memory.
    Memory,
    /// `neuron run`, with the journal.
    Journal,
    /// A worker on Temporal.
    Temporal,
    /// A worker on Restate.
    Restate,
}

impl Door {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Memory, Self::Journal, Self::Temporal, Self::Restate];
}

/// What an attack needs of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Ports of this machine: a sandbox with a network lets it through.
    Ports,
    /// Anything else.
    System,
}

/// Whether an attack succeeds with `sandbox = "off"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unconfined {
    /// It does.
    Succeeds,
    /// Something else than the sandbox is in its way.
    Fails,
    /// Only where the worker is run by root.
    ForRoot,
}

/// A call of a file tool.
#[derive(Debug, Clone, Copy)]
pub struct FileCall {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments as JSON, whose texts have the variables of [`Outside`](super::Outside).
    pub args: &'static str,
}

/// One thing that is tried.
#[derive(Debug, Clone, Copy)]
pub struct Attack {
    /// Its name, here and in the book.
    pub name: &'static str,
    /// What it is for.
    pub aim: Aim,
    /// What it does, for the book.
    pub tries: &'static str,
    /// It, as a call of a file tool, where it is none for `bash`.
    pub file_call: Option<FileCall>,
    /// It, for `bash`. Its variables are those of [`Outside`](super::Outside).
    pub script: &'static str,
    /// What is seen when it has succeeded.
    pub sign: Sign,
    /// Where there is something to be attacked in this way.
    pub doors: &'static [Door],
    /// What it needs.
    pub reach: Reach,
    /// Whether it succeeds without a sandbox.
    pub unconfined: Unconfined,
}

impl Attack {
    /// One that is tried on every door, is stopped by any sandbox and by nothing else.
    pub(crate) const fn new(
        name: &'static str,
        aim: Aim,
        tries: &'static str,
        script: &'static str,
        sign: Sign,
    ) -> Self {
        Self {
            name,
            aim,
            tries,
            file_call: None,
            script,
            sign,
            doors: Door::ALL,
            reach: Reach::System,
            unconfined: Unconfined::Succeeds,
        }
    }

    /// One that is made with a file tool, which asks what is protected whether a sandbox confines commands or not.
    pub(crate) const fn by_file_tool(
        name: &'static str,
        aim: Aim,
        tries: &'static str,
        call: FileCall,
        sign: Sign,
    ) -> Self {
        let mut attack = Self::new(name, aim, tries, "", sign);
        attack.file_call = Some(call);
        attack.unconfined(Unconfined::Fails)
    }

    pub(crate) const fn on(mut self, doors: &'static [Door]) -> Self {
        self.doors = doors;
        self
    }

    /// A network is enough for it.
    pub(crate) const fn by_port(mut self) -> Self {
        self.reach = Reach::Ports;
        self
    }

    pub(crate) const fn unconfined(mut self, unconfined: Unconfined) -> Self {
        self.unconfined = unconfined;
        self
    }
}
