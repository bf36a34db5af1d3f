//! The filters of system calls.

use std::{collections::BTreeMap, env::consts::ARCH, sync::OnceLock};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::error::SandboxError;

/// The bit of the system calls of x32, which some kernels know beside those of `x86_64`.
const X32: i64 = 0x4000_0000;
/// What kind of socket, without the flags beside it.
const KIND: u64 = 0xf;

/// What a filter rejects, with EPERM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filter {
    /// Sockets, but for connected pairs; the user's keyring; what types into the terminal.
    Closed,
    /// The same, with sockets of the network. Those of this machine's services, such as `ssh-agent` and D-Bus, stay
    /// rejected: they have no ports, and start programs and sign for any process that connects.
    Open,
}

/// Whose the memory and the queues are that processes share by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shared {
    /// The sandbox's.
    Own,
    /// The user's: they are rejected.
    Users,
}

impl Filter {
    pub(crate) fn of(network: bool) -> Self {
        match network {
            true => Self::Open,
            false => Self::Closed,
        }
    }

    /// Returns the filter, made once.
    pub(crate) fn program(self) -> Result<&'static BpfProgram, SandboxError> {
        static CLOSED: OnceLock<Result<BpfProgram, String>> = OnceLock::new();
        static OPEN: OnceLock<Result<BpfProgram, String>> = OnceLock::new();
        let made = match self {
            Self::Closed => CLOSED.get_or_init(|| self.make(Shared::Own)),
            Self::Open => OPEN.get_or_init(|| self.make(Shared::Own)),
        };
        made.as_ref()
            .map_err(|error| SandboxError::Filter(error.clone()))
    }

    /// Restricts this thread, what it starts and what that starts, for good.
    pub(crate) fn apply(self, shared: Shared) -> Result<(), SandboxError> {
        let made;
        let program = match shared {
            Shared::Own => self.program()?,
            Shared::Users => {
                made = self.make(shared).map_err(SandboxError::Filter)?;
                &made
            }
        };
        seccompiler::apply_filter(program).map_err(|error| SandboxError::Filter(error.to_string()))
    }

    fn make(self, shared: Shared) -> Result<BpfProgram, String> {
        let text = |error: seccompiler::BackendError| error.to_string();
        let arch = TargetArch::try_from(ARCH).map_err(text)?;
        let mut rules = self.rules(shared).map_err(text)?;
        if arch == TargetArch::x86_64 {
            let twins: Vec<_> = rules
                .iter()
                .map(|(call, rule)| (call | X32, rule.clone()))
                .collect();
            rules.extend(twins);
        }
        let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).map_err(text)?;
        BpfProgram::try_from(filter).map_err(text)
    }

    fn rules(
        self,
        shared: Shared,
    ) -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
        // An argument of 32 bits, as the kernel takes these.
        let condition = |argument, operator, value: i32| {
            let value = u64::from(value.unsigned_abs());
            SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
        };
        let rule = |condition| SeccompRule::new(vec![condition]);
        let mut rules = BTreeMap::new();
        for call in [
            // It makes sockets, too, past a filter of system calls.
            libc::SYS_io_uring_setup,
            libc::SYS_io_uring_enter,
            libc::SYS_io_uring_register,
            // Keys of the user's session.
            libc::SYS_keyctl,
            libc::SYS_add_key,
            libc::SYS_request_key,
        ] {
            rules.insert(call, Vec::new());
        }
        if shared == Shared::Users {
            for call in [
                libc::SYS_shmget,
                libc::SYS_shmat,
                libc::SYS_msgget,
                libc::SYS_msgsnd,
                libc::SYS_msgrcv,
                libc::SYS_semget,
                libc::SYS_mq_open,
            ] {
                rules.insert(call, Vec::new());
            }
        }
        let types = [libc::TIOCSTI, libc::TIOCLINUX].map(i64::try_from);
        let mut terminal = Vec::new();
        for request in types.into_iter().flatten().flat_map(i32::try_from) {
            terminal.push(rule(condition(1, SeccompCmpOp::Eq, request)?)?);
        }
        rules.insert(libc::SYS_ioctl, terminal);
        let sockets = match self {
            Self::Closed => Vec::new(),
            Self::Open => vec![rule(condition(0, SeccompCmpOp::Eq, libc::AF_UNIX)?)?],
        };
        rules.insert(libc::SYS_socket, sockets);
        // One of a pair of datagram sockets could be connected to another socket.
        let masked = SeccompCmpOp::MaskedEq(KIND);
        rules.insert(
            libc::SYS_socketpair,
            vec![
                rule(condition(0, SeccompCmpOp::Ne, libc::AF_UNIX)?)?,
                rule(condition(1, masked.clone(), libc::SOCK_DGRAM)?)?,
                rule(condition(1, masked, libc::SOCK_RAW)?)?,
            ],
        );
        Ok(rules)
    }
}
