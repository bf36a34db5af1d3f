//! The executor room: effects, local doors, the journal, agent files.
