use std::{ffi::OsString, time::Duration};

use neuron_sandbox::{Protected, Sandbox};

/// What the built-in tools may do and how much they answer.
///
/// # Examples
///
/// ```
/// use neuron_tool::BuiltinOptions;
///
/// let options = BuiltinOptions { max_lines: 500, ..BuiltinOptions::default() };
/// assert!(options.confine);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltinOptions {
    /// Whether the file tools stay inside [`ToolContext::cwd`](neuron_types::ToolContext::cwd): paths that lead out of
    /// it, by `..`, absolutely or through a symbolic link, are rejected. Default is true.
    ///
    /// This also applies while other processes change links: what was checked is what is opened. `sandbox` decides what
    /// `bash` reaches.
    pub confine: bool,
    /// The most bytes of text in one result, notes not counted. Default is 65,536.
    pub max_output_bytes: usize,
    /// The most lines of a file in one result of `read_file`. Default is 2,000.
    pub max_lines: usize,
    /// The most entries in one result of `list_files`, `glob` and `grep`. Default is 1,000.
    pub max_entries: usize,
    /// The largest file, in bytes, that `edit_file` edits and `grep` searches. Default is 10 MiB.
    pub max_file_bytes: u64,
    /// How long a command may take if the call names no time. Default is 120 seconds.
    pub bash_timeout: Duration,
    /// The longest time that a call may give a command. Default is 600 seconds.
    pub bash_max_timeout: Duration,
    /// How long a command that is stopped has between SIGTERM and SIGKILL. Default is 2 seconds.
    pub bash_kill_grace: Duration,
    /// What the commands of `bash` may reach. Default is [`Sandbox::Workspace`].
    ///
    /// Where nothing can confine them, they are not started: see [`check_sandbox`](crate::check_sandbox).
    pub sandbox: Sandbox,
    /// What neither commands nor file tools change, or read, besides what they never do. Default is nothing.
    pub protected: Protected,
    /// Names of variables of this process that commands get besides those that they always get (see
    /// [`neuron_sandbox::is_inherited`]). Default is no further variables.
    ///
    /// What [`ToolContext::environment`](neuron_types::ToolContext::environment) names is given to commands
    /// in any case.
    pub inherited_environment: Vec<OsString>,
}

impl Default for BuiltinOptions {
    fn default() -> Self {
        Self {
            confine: true,
            max_output_bytes: 64 * 1024,
            max_lines: 2_000,
            max_entries: 1_000,
            max_file_bytes: 10 * 1024 * 1024,
            bash_timeout: Duration::from_secs(120),
            bash_max_timeout: Duration::from_secs(600),
            bash_kill_grace: Duration::from_secs(2),
            sandbox: Sandbox::default(),
            protected: Protected::default(),
            inherited_environment: Vec::new(),
        }
    }
}
