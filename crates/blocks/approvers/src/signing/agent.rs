//! The two questions to `ssh-agent`: which keys it has, and a signature with one of them.
//!
//! The protocol is that of draft-miller-ssh-agent: a length, a type, and fields with lengths.

use std::{
    io::{self, Read as _, Write as _},
    os::unix::net::UnixStream,
    path::Path,
    time::{Duration, Instant},
};

use ssh_key::PublicKey;

use crate::{approver_key::ApproverKey, signing::agent_error::AgentError};

const REQUEST_IDENTITIES: u8 = 11;
const IDENTITIES_ANSWER: u8 = 12;
const SIGN_REQUEST: u8 = 13;
const SIGN_RESPONSE: u8 = 14;
const FAILURE: [u8; 3] = [5, 30, 102];

/// The longest message that OpenSSH's agent takes or sends.
const MAX_MESSAGE: usize = 256 * 1024;
const MAX_IDENTITIES: usize = 2048;

/// Timeout of a list of keys.
const LIST_TIMEOUT: Duration = Duration::from_secs(15);
/// Timeout of a signature: a person may have to find the key and touch it.
const SIGN_TIMEOUT: Duration = Duration::from_secs(120);

/// A key of an agent.
pub(crate) struct Identity {
    pub(crate) key: ApproverKey,
    /// The key as the agent names it.
    pub(crate) blob: Vec<u8>,
}

/// A connection to an agent.
pub(crate) struct Agent {
    stream: UnixStream,
}

impl Agent {
    pub(crate) fn connect(socket: &Path) -> Result<Self, AgentError> {
        let stream = UnixStream::connect(socket).map_err(|source| AgentError::Connect {
            socket: socket.to_owned(),
            source,
        })?;
        Ok(Self { stream })
    }

    /// Returns the agent's keys that can be used, in its order.
    pub(crate) fn identities(&mut self) -> Result<Vec<Identity>, AgentError> {
        let answer = self.ask(&[REQUEST_IDENTITIES], IDENTITIES_ANSWER, LIST_TIMEOUT)?;
        let mut fields = Fields(&answer);
        let count = fields.number()?;
        if count > MAX_IDENTITIES {
            return Err(AgentError::Malformed);
        }
        let mut identities = Vec::new();
        for _ in 0..count {
            let blob = fields.bytes()?;
            let _comment = fields.bytes()?;
            // An agent may have keys of other types, and certificates.
            let key = PublicKey::from_bytes(blob).ok();
            if let Some(Ok(key)) = key.map(|key| ApproverKey::of(key.key_data().clone())) {
                let blob = blob.to_vec();
                identities.push(Identity { key, blob });
            }
        }
        Ok(identities)
    }

    /// Returns a signature, as the agent gives it, with the key that the agent names like this.
    pub(crate) fn sign(&mut self, blob: &[u8], data: &[u8]) -> Result<Vec<u8>, AgentError> {
        let mut question = vec![SIGN_REQUEST];
        for field in [blob, data] {
            question.extend(length(field)?);
            question.extend(field);
        }
        // No flags: they are for RSA.
        question.extend([0; 4]);
        let answer = self.ask(&question, SIGN_RESPONSE, SIGN_TIMEOUT)?;
        let mut fields = Fields(&answer);
        Ok(fields.bytes()?.to_vec())
    }

    /// Sends a message and returns what follows the type of the answer.
    fn ask(
        &mut self,
        message: &[u8],
        wanted: u8,
        timeout: Duration,
    ) -> Result<Vec<u8>, AgentError> {
        let deadline = Instant::now() + timeout;
        self.stream.set_write_timeout(Some(timeout))?;
        let framed = [length(message)?.as_slice(), message].concat();
        self.stream.write_all(&framed).map_err(io_error)?;

        let mut header = [0; 5];
        self.read(&mut header, deadline)?;
        let [a, b, c, d, kind] = header;
        let size = usize::try_from(u32::from_be_bytes([a, b, c, d]));
        let size = size.ok().filter(|size| (1..=MAX_MESSAGE).contains(size));
        let Some(size) = size else {
            return Err(AgentError::Malformed);
        };
        let mut answer = vec![0; size - 1];
        self.read(&mut answer, deadline)?;
        match kind {
            kind if kind == wanted => Ok(answer),
            kind if FAILURE.contains(&kind) => Err(AgentError::Refused),
            _ => Err(AgentError::Malformed),
        }
    }

    /// Fills the buffer before the deadline.
    fn read(&mut self, mut buffer: &mut [u8], deadline: Instant) -> Result<(), AgentError> {
        while !buffer.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(AgentError::Timeout);
            }
            self.stream.set_read_timeout(Some(left))?;
            match self.stream.read(buffer) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                Ok(read) => buffer = buffer.get_mut(read..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(io_error(error)),
            }
        }
        Ok(())
    }
}

fn io_error(error: io::Error) -> AgentError {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => AgentError::Timeout,
        _ => error.into(),
    }
}

/// Returns the length of a field. What is longer than a message may be is not sent.
fn length(field: &[u8]) -> Result<[u8; 4], AgentError> {
    let length = u32::try_from(field.len()).ok();
    let length = length.filter(|_| field.len() <= MAX_MESSAGE);
    length.map(u32::to_be_bytes).ok_or(AgentError::Malformed)
}

/// What is left of an answer.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn number(&mut self) -> Result<usize, AgentError> {
        let (number, rest) = self.0.split_first_chunk().ok_or(AgentError::Malformed)?;
        self.0 = rest;
        usize::try_from(u32::from_be_bytes(*number)).map_err(|_| AgentError::Malformed)
    }

    fn bytes(&mut self) -> Result<&'a [u8], AgentError> {
        let length = self.number()?;
        let (bytes, rest) = self
            .0
            .split_at_checked(length)
            .ok_or(AgentError::Malformed)?;
        self.0 = rest;
        Ok(bytes)
    }
}
