//! A way between two processes that can be cut.

use std::{
    collections::BTreeMap,
    io::{self, Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
};

/// How many bytes are passed on at once.
const PIECE: usize = 16 * 1024;

/// A way over TCP, from an address of its own to another one. Dropping it ends its connections.
#[derive(Debug)]
pub struct Link {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    target: String,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    passage: Passage,
    /// Both ends of each connection, by its number.
    connections: BTreeMap<u64, [TcpStream; 2]>,
    made: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Passage {
    Open,
    Held,
    Cut,
    Gone,
}

impl Link {
    /// An open way to `host:port`, where nobody has to listen yet.
    ///
    /// # Panics
    ///
    /// If no port can be had.
    #[must_use]
    pub fn to(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            target: target.to_owned(),
            state: Mutex::new(State {
                passage: Passage::Open,
                connections: BTreeMap::new(),
                made: 0,
            }),
            changed: Condvar::new(),
        });
        let carrier = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if carrier.state().passage == Passage::Gone {
                    return;
                }
                let carrier = Arc::clone(&carrier);
                // Either side may go at any time.
                thread::spawn(move || stream.and_then(|stream| carrier.carry(&stream)).ok());
            }
        });
        Self { address, shared }
    }

    /// Where it begins, as `host:port`.
    #[must_use]
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Breaks the connections, and closes new ones at once.
    pub fn cut(&self) {
        self.shared.set(Passage::Cut);
    }

    /// Lets nothing pass. Connections stay, and so does what is sent meanwhile.
    pub fn hold(&self) {
        self.shared.set(Passage::Held);
    }

    /// Lets everything pass again: what was held too.
    pub fn mend(&self) {
        self.shared.set(Passage::Open);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.set(Passage::Gone);
        // Wakes the thread that waits for connections.
        TcpStream::connect(self.address).ok();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn set(&self, passage: Passage) {
        let mut state = self.state();
        state.passage = passage;
        if matches!(passage, Passage::Cut | Passage::Gone) {
            for end in state.connections.values().flatten() {
                // It may have ended by itself.
                end.shutdown(Shutdown::Both).ok();
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Whether something may pass, once nothing is held any more.
    fn passes(&self) -> bool {
        let held = |state: &mut State| state.passage == Passage::Held;
        let state = self.changed.wait_while(self.state(), held).unwrap();
        state.passage == Passage::Open
    }

    /// Carries a connection until both directions have ended.
    fn carry(&self, from: &TcpStream) -> io::Result<()> {
        if !self.passes() {
            return Ok(());
        }
        let to = TcpStream::connect(&self.target)?;
        from.set_nodelay(true)?;
        to.set_nodelay(true)?;
        let Some(number) = self.add([from.try_clone()?, to.try_clone()?]) else {
            return Ok(());
        };
        thread::scope(|scope| {
            scope.spawn(|| self.pass_on(from, &to));
            self.pass_on(&to, from);
        });
        self.state().connections.remove(&number);
        Ok(())
    }

    /// The number of a connection; `None` if the way was cut while it was made.
    fn add(&self, ends: [TcpStream; 2]) -> Option<u64> {
        let mut state = self.state();
        if matches!(state.passage, Passage::Cut | Passage::Gone) {
            return None;
        }
        state.made += 1;
        let number = state.made;
        state.connections.insert(number, ends);
        Some(number)
    }

    fn pass_on(&self, mut from: &TcpStream, mut to: &TcpStream) {
        let mut piece = vec![0; PIECE];
        loop {
            let length = match from.read(&mut piece) {
                Ok(0) | Err(_) => break,
                Ok(length) => length,
            };
            if !self.passes() || to.write_all(&piece[..length]).is_err() {
                break;
            }
        }
        if self.passes() {
            // The other direction may go on.
            to.shutdown(Shutdown::Write).ok();
        }
    }
}
