//! Variables of the environment: an empty one counts as not set, as Compose and CI systems set empty ones.

use std::{env, ffi::OsStr, ffi::OsString};

use clap::{Command, Parser};

/// Returns the value of a variable; `None` if it is not set, or blank.
#[must_use]
pub fn variable(name: impl AsRef<OsStr>) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.to_string_lossy().trim().is_empty())
}

/// Parses the command line, with the values of variables for missing arguments. Ends the program as [`Parser::parse`]
/// does.
#[must_use]
pub fn parse<T: Parser>() -> T {
    parse_from(env::args_os())
}

/// As [`parse`], of this command line, which begins with the program's name.
#[must_use]
pub fn parse_from<T: Parser>(arguments: impl IntoIterator<Item = OsString>) -> T {
    let is_blank = |name: &OsStr| env::var_os(name).is_some() && variable(name).is_none();
    let command = without_blank(T::command(), &is_blank);
    let read = T::from_arg_matches(&command.get_matches_from(arguments));
    read.unwrap_or_else(|error| error.format(&mut T::command()).exit())
}

/// Returns the command, which ignores variables that are blank.
fn without_blank(command: Command, is_blank: &dyn Fn(&OsStr) -> bool) -> Command {
    let command = command.mut_args(|arg| match arg.get_env() {
        Some(name) if is_blank(name) => arg.env(None::<&'static str>),
        _ => arg,
    });
    command.mut_subcommands(|command| without_blank(command, is_blank))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, FromArgMatches as _};

    use super::*;

    #[derive(Debug, Parser)]
    struct Args {
        /// A variable that is set wherever tests are run.
        #[arg(long, env = "PATH")]
        config: Option<String>,
        #[command(subcommand)]
        command: Option<Sub>,
    }

    #[derive(Debug, clap::Subcommand)]
    enum Sub {
        Serve {
            #[arg(long, env = "PATH", default_value = "none")]
            grace: String,
        },
    }

    fn read(is_blank: bool) -> Args {
        let command = without_blank(Args::command(), &|_| is_blank);
        let read = command.try_get_matches_from(["program", "serve"]);
        Args::from_arg_matches(&read.unwrap()).unwrap()
    }

    #[test]
    fn a_variable_that_is_empty_is_as_if_it_were_not_set() {
        let args = read(false);
        assert!(args.config.is_some());
        assert!(matches!(args.command, Some(Sub::Serve { grace }) if grace != "none"));
        let args = read(true);
        assert_eq!(args.config, None);
        assert!(matches!(args.command, Some(Sub::Serve { grace }) if grace == "none"));
    }
}
