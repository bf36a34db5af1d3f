//! The errors of starting a server for a test.

use std::{io, path::PathBuf};

/// An engine is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The program is missing.
    #[error(
        "there is no {name}: set {variable} to the program, or see why `cargo xtask engines {name}` fails: {why}"
    )]
    NoProgram {
        /// The program.
        name: &'static str,
        /// The variable that may name it.
        variable: &'static str,
        /// The error of `cargo xtask engines`.
        why: String,
    },
    /// A program cannot be started or ended.
    #[error("cannot start or end {}", .program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// There is no directory for the server's data, or no port.
    #[error("no directory or no free port for a server")]
    Data {
        /// The cause.
        source: io::Error,
    },
    /// The server ended by itself.
    #[error("the server ended with {status}:\n{log}")]
    Ended {
        /// The exit status.
        status: std::process::ExitStatus,
        /// The end of its log.
        log: String,
    },
    /// The server does not answer.
    #[error("the server does not answer:\n{log}")]
    Silent {
        /// The end of its log.
        log: String,
    },
    /// An image is asked for that cannot be run here.
    #[error(
        "{variable} asks for an image: build neuron-harness with its feature docker, or set {program} to a program"
    )]
    NoDocker {
        /// The variable that names the image.
        variable: &'static str,
        /// The variable that may name a program.
        program: &'static str,
    },
    /// An image cannot be run, or its container not be ended or started again.
    #[error("cannot run {image} with Docker")]
    Docker {
        /// The image.
        image: String,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server was not started here.
    #[error("the server was started by somebody else: it cannot be killed here")]
    External,
}
