#![doc = include_str!("../README.md")]

mod backend;
mod bubblewrap;
mod confinement;
mod descendants;
mod environment;
mod error;
mod filter;
mod git;
mod handed;
mod helper;
mod hidden;
mod kind;
mod landlock;
mod links;
mod places;
mod plan;
mod process;
mod programs;
mod protect;
mod sandbox;
mod spawner;
mod tie;

pub use self::{
    confinement::{ConfinedCommand, Confinement, ConfinementBuilder},
    environment::is_inherited,
    error::SandboxError,
    helper::{dispatch, use_helper},
    hidden::hide,
    kind::Backend,
    process::Process,
    protect::Protected,
    sandbox::{Sandbox, SandboxRules},
};
