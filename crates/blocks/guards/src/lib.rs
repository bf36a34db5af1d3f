#![doc = include_str!("../README.md")]

mod command;
mod finder;
mod hook;
mod model;
mod process;
mod scope;
mod secrets;
mod text_guard;
mod then;
mod urls;

pub use self::{
    command::CommandGuard,
    hook::CommandHook,
    model::ModelGuard,
    process::Program,
    text_guard::{InvalidPattern, InvalidSchema, TextGuard},
    then::Then,
    urls::InvalidHost,
};
