//! A link between two processes that can be cut.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
};

/// How many bytes are passed on at once.
const PIECE: usize = 16 * 1024;

/// A link over TCP, from an address of its own to another one. Dropping it ends its connections.
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
    /// The connections that carry nothing any more, without either end noticing.
    lost: BTreeSet<u64>,
    made: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Passage {
    Open,
    Held,
    Swallowed,
    Cut,
    Gone,
}

/// What happens to a piece that is to be passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Passes,
    Lost,
    Ends,
}

impl Link {
    /// Returns an open link to `host:port`, which need not be listening yet.
    ///
    /// # Panics
    ///
    /// If no port is free.
    #[must_use]
    pub fn to(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            target: target.to_owned(),
            state: Mutex::new(State {
                passage: Passage::Open,
                connections: BTreeMap::new(),
                lost: BTreeSet::new(),
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
                // Either side may disconnect at any time.
                thread::spawn(move || stream.and_then(|stream| carrier.carry(&stream)).ok());
            }
        });
        Self { address, shared }
    }

    /// Returns the link's own address, as `host:port`.
    #[must_use]
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Breaks the connections, and closes new ones at once.
    pub fn cut(&self) {
        self.shared.set(Passage::Cut);
    }

    /// Holds everything back. Connections stay, and so does what is sent meanwhile.
    pub fn hold(&self) {
        self.shared.set(Passage::Held);
    }

    /// Loses everything that is sent, and neither end notices: connections stay, carry nothing, and never will, and new
    /// ones are accepted and lost, too.
    pub fn swallow(&self) {
        self.shared.set(Passage::Swallowed);
    }

    /// Returns how many open connections carry nothing any more.
    #[must_use]
    pub fn lost(&self) -> usize {
        self.shared.state().lost.len()
    }

    /// Passes everything on again: what was held back too, and nothing of what was lost.
    pub fn mend(&self) {
        self.shared.set(Passage::Open);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.set(Passage::Gone);
        // The connection wakes the thread that waits for connections.
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
        if passage == Passage::Swallowed {
            let State {
                connections, lost, ..
            } = &mut *state;
            lost.extend(connections.keys());
        }
        if matches!(passage, Passage::Cut | Passage::Gone) {
            for end in state.connections.values().flatten() {
                // The connection may have ended by itself.
                end.shutdown(Shutdown::Both).ok();
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Returns the state of the link, once it holds nothing back any more.
    fn passage(&self) -> Passage {
        let held = |state: &mut State| state.passage == Passage::Held;
        let state = self.changed.wait_while(self.state(), held).unwrap();
        state.passage
    }

    /// Returns what happens to a piece of this connection, once nothing is held back any more.
    fn fate(&self, number: u64) -> Fate {
        let passage = self.passage();
        match passage {
            Passage::Cut | Passage::Gone => Fate::Ends,
            _ if self.state().lost.contains(&number) => Fate::Lost,
            _ => Fate::Passes,
        }
    }

    /// Carries a connection until both directions have ended.
    fn carry(&self, from: &TcpStream) -> io::Result<()> {
        from.set_nodelay(true)?;
        let passage = self.passage();
        let to = match passage {
            Passage::Cut | Passage::Gone => return Ok(()),
            // Neither end notices it.
            Passage::Swallowed => from.try_clone()?,
            Passage::Open | Passage::Held => TcpStream::connect(&self.target)?,
        };
        to.set_nodelay(true)?;
        let Some(number) = self.add([from.try_clone()?, to.try_clone()?], passage) else {
            return Ok(());
        };
        thread::scope(|scope| {
            scope.spawn(|| self.pass_on(number, from, &to));
            self.pass_on(number, &to, from);
        });
        let mut state = self.state();
        state.connections.remove(&number);
        state.lost.remove(&number);
        Ok(())
    }

    /// Returns the number of a connection that was made when the link was in this state; `None` if the link was cut
    /// meanwhile.
    fn add(&self, ends: [TcpStream; 2], when: Passage) -> Option<u64> {
        let mut state = self.state();
        if matches!(state.passage, Passage::Cut | Passage::Gone) {
            return None;
        }
        state.made += 1;
        let number = state.made;
        state.connections.insert(number, ends);
        if [state.passage, when].contains(&Passage::Swallowed) {
            state.lost.insert(number);
        }
        Some(number)
    }

    fn pass_on(&self, number: u64, mut from: &TcpStream, mut to: &TcpStream) {
        let mut piece = vec![0; PIECE];
        loop {
            let length = match from.read(&mut piece) {
                Ok(0) | Err(_) => break,
                Ok(length) => length,
            };
            match self.fate(number) {
                Fate::Passes if to.write_all(&piece[..length]).is_ok() => {}
                Fate::Lost => {}
                Fate::Passes | Fate::Ends => break,
            }
        }
        match self.fate(number) {
            // The other direction may continue.
            Fate::Passes => drop(to.shutdown(Shutdown::Write)),
            // The other end does not notice that this one has ended.
            Fate::Lost => {
                let open = |state: &mut State| state.passage != Passage::Gone;
                drop(self.changed.wait_while(self.state(), open).unwrap());
            }
            Fate::Ends => {}
        }
    }
}
