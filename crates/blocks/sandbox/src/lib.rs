#![doc = include_str!("../README.md")]

mod backend;
mod bubblewrap;
mod command;
mod confine;
mod confinement;
mod descendants;
mod descriptors;
mod environment;
mod error;
mod filter;
mod git;
mod grants;
mod hard_links;
mod helper;
mod hidden;
mod kind;
mod landlock;
mod limits;
mod links;
mod order;
mod own_home;
mod places;
mod plan;
mod process;
mod programs;
mod protect;
mod protection;
mod sandbox;
mod spawner;
mod start;
mod tie;
mod width;

pub use self::{
    command::ConfinedCommand,
    confine::Confine,
    confinement::{Confinement, ConfinementBuilder},
    environment::is_inherited,
    error::SandboxError,
    helper::{dispatch, use_helper},
    hidden::hide,
    kind::Backend,
    process::Process,
    protect::Protected,
    protection::Protection,
    sandbox::{Sandbox, SandboxRules},
};
