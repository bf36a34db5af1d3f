//! `neuron worker --engine temporal` and `--engine restate`: the same as the engine's own worker program.

use std::{
    env,
    ffi::{OsStr, OsString},
    process::ExitCode,
};

use clap::Parser;

use crate::args::EngineName;

/// The options of the command that take a value, and may come before the command's name.
const WITH_VALUE: [&str; 3] = ["--engine", "--agent", "--config"];

/// The options that every command has, and these workers do not need.
#[derive(Debug, clap::Args)]
struct Common {
    /// The engine
    #[arg(long, env = "NEURON_ENGINE", value_enum, value_name = "ENGINE")]
    engine: EngineName,
    #[arg(short, long, hide = true)]
    verbose: bool,
}

/// Serves the agents of the agent file on Temporal
#[cfg(feature = "temporal")]
#[derive(Debug, Parser)]
#[command(name = "neuron worker", max_term_width = 100)]
struct OnTemporal {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    args: neuron_worker::temporal::Args,
}

/// Serves the agents of the agent file on Restate
#[cfg(feature = "restate")]
#[derive(Debug, Parser)]
#[command(name = "neuron worker", max_term_width = 100)]
struct OnRestate {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    args: neuron_worker::restate::Args,
}

/// Serves until a signal comes, if the command line is that of a worker on an engine that this build has. Returns the
/// exit code then. It comes before the command line is parsed, since these workers have options of their own.
pub(crate) fn serve() -> Option<ExitCode> {
    let (engine, arguments) = engine_of(env::args_os(), neuron_worker::variable("NEURON_ENGINE"))?;
    match engine.to_str()? {
        #[cfg(feature = "temporal")]
        "temporal" => {
            let OnTemporal { args, .. } = neuron_worker::parse_from(arguments);
            Some(neuron_worker::temporal::serve(args))
        }
        #[cfg(feature = "restate")]
        "restate" => {
            let OnRestate { args, .. } = neuron_worker::parse_from(arguments);
            Some(neuron_worker::restate::serve(args))
        }
        _ => None,
    }
}

/// Returns the engine of a worker, and its command line without the name of the command; `None` for any other command.
fn engine_of(
    arguments: impl IntoIterator<Item = OsString>,
    variable: Option<OsString>,
) -> Option<(OsString, Vec<OsString>)> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let mut position = 1;
    let command = loop {
        let argument = arguments.get(position)?;
        if WITH_VALUE.iter().any(|option| argument == option) {
            position += 2;
        } else if argument.to_string_lossy().starts_with('-') {
            position += 1;
        } else {
            break argument;
        }
    };
    if command != "worker" {
        return None;
    }
    arguments.remove(position);
    let engine = option(&arguments, "--engine").or(variable)?;
    Some((engine, arguments))
}

/// Returns the value of an option.
fn option(arguments: &[OsString], name: &str) -> Option<OsString> {
    let given = arguments.iter().enumerate().find_map(|(index, argument)| {
        if argument == name {
            return arguments.get(index + 1).cloned();
        }
        let text = argument.to_str()?.strip_prefix(name)?;
        text.strip_prefix('=').map(OsString::from)
    });
    given.filter(|value| value != OsStr::new(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, variable: Option<&str>) -> Option<(String, String)> {
        let arguments = line.split_whitespace().map(OsString::from);
        let (engine, rest) = engine_of(arguments, variable.map(OsString::from))?;
        let rest: Vec<_> = rest.iter().map(|part| part.to_string_lossy()).collect();
        Some((engine.to_string_lossy().into_owned(), rest.join(" ")))
    }

    #[test]
    fn the_engine_of_a_worker_is_read_wherever_it_stands() {
        let found = |engine: &str, rest: &str| Some((engine.to_owned(), rest.to_owned()));
        assert_eq!(
            read("neuron worker --engine temporal --http x", None),
            found("temporal", "neuron --engine temporal --http x")
        );
        assert_eq!(
            read("neuron --config worker -v --engine=restate worker", None),
            found("restate", "neuron --config worker -v --engine=restate")
        );
        assert_eq!(
            read("neuron worker", Some("restate")),
            found("restate", "neuron")
        );
        assert_eq!(
            read("neuron worker --engine local", Some("restate")),
            found("local", "neuron --engine local")
        );
        assert_eq!(read("neuron worker", None), None);
        assert_eq!(read("neuron run worker --engine temporal", None), None);
        assert_eq!(read("neuron --engine", None), None);
    }
}
