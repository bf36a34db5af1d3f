//! The attacks of an agent.

use super::sign::Sign;

/// The purpose of an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// To read what only the agent's user should.
    ReadKeys,
    /// To write beyond the working directory.
    LeaveFolder,
    /// To reach the network or a service.
    ReachOut,
    /// To reach other processes, or to outlive the call.
    Outlive,
    /// To change the agent's rules.
    ChangeRules,
    /// To decide its own ticket.
    Decide,
}

/// The executor of the run in which an attack is tried.
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
    /// All doors.
    pub const ALL: &'static [Self] = &[Self::Memory, Self::Journal, Self::Temporal, Self::Restate];
}

/// The part of the machine that an attack needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Ports of this machine: a sandbox with a network allows them.
    Ports,
    /// Anything else.
    System,
}

/// Whether an attack succeeds with `sandbox = "off"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unconfined {
    /// The attack succeeds.
    Succeeds,
    /// Something other than the sandbox stops it.
    Fails,
    /// It only succeeds if root runs the worker.
    ForRoot,
}

/// A call of a file tool.
#[derive(Debug, Clone, Copy)]
pub struct FileCall {
    /// The tool.
    pub tool: &'static str,
    /// The tool's arguments as JSON. Its texts have the variables of [`Outside`](super::Outside).
    pub args: &'static str,
}

/// One attack.
#[derive(Debug, Clone, Copy)]
pub struct Attack {
    /// The attack's name, here and in the book.
    pub name: &'static str,
    /// The attack's purpose.
    pub aim: Aim,
    /// What the attack does, for the book.
    pub tries: &'static str,
    /// The attack as a call of a file tool; `None` if it is one for `bash`.
    pub file_call: Option<FileCall>,
    /// The attack as a script for `bash`. Its variables are those of [`Outside`](super::Outside).
    pub script: &'static str,
    /// What is seen when the attack has succeeded.
    pub sign: Sign,
    /// The doors that can be attacked in this way.
    pub doors: &'static [Door],
    /// What the attack needs.
    pub reach: Reach,
    /// Whether the attack succeeds without a sandbox.
    pub unconfined: Unconfined,
}

impl Attack {
    /// Returns an attack that is tried on every door, and that only a sandbox stops, but any sandbox does.
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

    /// Returns an attack with a file tool, which checks for protected files whether or not a sandbox confines commands.
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

    /// Returns the same attack, for which a network is enough.
    pub(crate) const fn by_port(mut self) -> Self {
        self.reach = Reach::Ports;
        self
    }

    pub(crate) const fn unconfined(mut self, unconfined: Unconfined) -> Self {
        self.unconfined = unconfined;
        self
    }
}
