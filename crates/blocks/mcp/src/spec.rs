//! What a server is and how it is reached.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use neuron_sandbox::{Protected, Sandbox, SandboxRules};

/// How long a request may take, tool calls apart.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The most bytes of one message of a server.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// One MCP server, as an agent file or a program names it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpServerSpec {
    /// The name that errors and logs use, and that the names of its tools begin with.
    pub name: String,
    /// How it is reached.
    pub transport: McpTransport,
    /// How long each request may take. Tool calls have no limit of their own: they end with the attempt that makes them.
    /// Default is 60 s.
    pub timeout: Duration,
    /// How long starting it may take, until it answers the first question of the protocol. `None` is as long as
    /// `timeout`, the default.
    pub start_timeout: Option<Duration>,
    /// Whether others are not to start without this server: see `McpServers::start`. Default is true.
    pub required: bool,
    /// The most bytes that one message of the server may have. A server that sends a larger one is stopped,
    /// and started again when it is next needed. Default is 16 MiB, which is also the most over HTTP.
    pub max_message_bytes: usize,
    /// Whether calls of its tools carry which run they belong to, and whose it is: see
    /// [`sends_tags`](Self::sends_tags). `None` is the default: a program is sent it, and a server at an address is
    /// not.
    pub tags: Option<bool>,
    /// The agent file that has the server, if one does. The home directory of a program is its own: that of this file,
    /// this name, its command line, the names of its variables and its sandbox. Without a file it is that of the working
    /// directory.
    pub configured_in: Option<PathBuf>,
}

/// How an MCP server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// A program that is started here and spoken to over its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that it gets beside those that it inherits (see [`neuron_sandbox::is_inherited`]).
        environment: BTreeMap<String, String>,
        /// What it may reach. Default is the network, and of files what the commands of an agent reach; a home
        /// directory of its own can be written besides. What its command line names can be read.
        sandbox: Sandbox,
        /// What it leaves alone besides what it always does.
        protected: Protected,
        /// Its working directory; that of this process where `None`.
        cwd: Option<PathBuf>,
    },
    /// A server that is already running, over streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// Sent as a bearer token.
        token: Option<String>,
        /// Headers that every request has besides, by name.
        headers: BTreeMap<String, String>,
    },
}

impl McpServerSpec {
    /// Describes a program to start, with its arguments.
    pub fn stdio<A: Into<String>>(
        name: impl Into<String>,
        command: impl Into<String>,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        Self::new(
            name,
            McpTransport::Stdio {
                command: command.into(),
                args: args.into_iter().map(Into::into).collect(),
                environment: BTreeMap::new(),
                sandbox: Sandbox::Custom(SandboxRules::new().network(true)),
                protected: Protected::default(),
                cwd: None,
            },
        )
    }

    /// Describes a server at an address.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        let transport = McpTransport::Http {
            url: url.into(),
            token: None,
            headers: BTreeMap::new(),
        };
        Self::new(name, transport)
    }

    fn new(name: impl Into<String>, transport: McpTransport) -> Self {
        Self {
            name: name.into(),
            transport,
            timeout: TIMEOUT,
            start_timeout: None,
            required: true,
            max_message_bytes: MAX_MESSAGE_BYTES,
            tags: None,
            configured_in: None,
        }
    }

    /// Sets how long each request may take, and starting the server where
    /// `start_timeout` is not set. Default is 60 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how long starting the server may take. Default is as long as a request.
    #[must_use]
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.start_timeout = Some(timeout);
        self
    }

    /// Returns how long starting the server may take.
    #[must_use]
    pub fn longest_start(&self) -> Duration {
        self.start_timeout.unwrap_or(self.timeout)
    }

    /// Sets whether other servers are not to start without it. Default is true.
    #[must_use]
    pub fn required(mut self, required: bool) -> Self {
        self.required = required;
        self
    }

    /// Sets whether calls of its tools carry which run they belong to, and whose it is. Default is yes for a program
    /// that is started here, and no for a server at an address: labels may be private.
    #[must_use]
    pub fn tags(mut self, sent: bool) -> Self {
        self.tags = Some(sent);
        self
    }

    /// Returns whether calls of its tools carry which run they belong to, and whose it is: in the keys `neuron/run`,
    /// `neuron/root`, `neuron/tenant`, `neuron/owner` and `neuron/labels` of the request's `_meta`.
    #[must_use]
    pub fn sends_tags(&self) -> bool {
        let is_program = matches!(self.transport, McpTransport::Stdio { .. });
        self.tags.unwrap_or(is_program)
    }

    /// Sets the agent file that has the server: see [`configured_in`](field@Self::configured_in). Default is no file.
    #[must_use]
    pub fn configured_in(mut self, file: impl Into<PathBuf>) -> Self {
        self.configured_in = Some(file.into());
        self
    }

    /// Adds a header to every request, or replaces it. The value is kept secret. Without effect on a program.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let McpTransport::Http { headers, .. } = &mut self.transport {
            headers.insert(name.into(), value.into());
        }
        self
    }

    /// Sets what a program may reach. Default is the network, the working directory, and a cache of its own. Without
    /// effect on a server at an address.
    #[must_use]
    pub fn sandbox(mut self, to: Sandbox) -> Self {
        if let McpTransport::Stdio { sandbox, .. } = &mut self.transport {
            *sandbox = to;
        }
        self
    }

    /// Sets the most bytes of one message. Default is 16 MiB.
    #[must_use]
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.max_message_bytes = bytes;
        self
    }
}

impl McpTransport {
    /// Returns what a program may reach; `None` for a server at an address, which runs elsewhere.
    #[must_use]
    pub fn sandbox(&self) -> Option<&Sandbox> {
        match self {
            Self::Stdio { sandbox, .. } => Some(sandbox),
            Self::Http { .. } => None,
        }
    }
}

impl fmt::Debug for McpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Values of variables and tokens are secrets, and so may be what an address carries.
            Self::Stdio {
                command,
                environment,
                cwd,
                ..
            } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("environment", &environment.keys())
                .field("cwd", cwd)
                .finish_non_exhaustive(),
            Self::Http { .. } => f.debug_struct("Http").finish_non_exhaustive(),
        }
    }
}
