//! A way between two processes that can be cut.

use std::{
    collections::{BTreeMap, BTreeSet},
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
    /// Those that carry nothing any more, and say nothing of it.
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

/// What becomes of a piece that is to be passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Passes,
    Lost,
    Ends,
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

    /// Loses all that is sent, and neither end is told: connections stay, carry nothing, and never will, and new ones are
    /// taken and lost too.
    pub fn swallow(&self) {
        self.shared.set(Passage::Swallowed);
    }

    /// How many connections are open that carry nothing any more.
    #[must_use]
    pub fn lost(&self) -> usize {
        self.shared.state().lost.len()
    }

    /// Lets everything pass again: what was held too, and nothing of what was lost.
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
        if passage == Passage::Swallowed {
            let State {
                connections, lost, ..
            } = &mut *state;
            lost.extend(connections.keys());
        }
        if matches!(passage, Passage::Cut | Passage::Gone) {
            for end in state.connections.values().flatten() {
                // It may have ended by itself.
                end.shutdown(Shutdown::Both).ok();
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// What the way does, once it holds nothing any more.
    fn passage(&self) -> Passage {
        let held = |state: &mut State| state.passage == Passage::Held;
        let state = self.changed.wait_while(self.state(), held).unwrap();
        state.passage
    }

    /// What becomes of something of this connection, once nothing is held any more.
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
            // Nobody hears of it.
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

    /// The number of a connection that was made when the way was so; `None` if it was cut while it was made.
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
            // The other direction may go on.
            Fate::Passes => drop(to.shutdown(Shutdown::Write)),
            // That one end has ended is nothing that the other hears of.
            Fate::Lost => {
                let open = |state: &mut State| state.passage != Passage::Gone;
                drop(self.changed.wait_while(self.state(), open).unwrap());
            }
            Fate::Ends => {}
        }
    }
}
