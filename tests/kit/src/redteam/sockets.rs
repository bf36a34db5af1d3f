//! Services that listen outside, and record what they receive.

use std::{
    io::{Read, Write},
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixListener},
    },
    path::Path,
    sync::{Arc, Mutex},
    thread,
};

/// What was received, on any socket.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mail(Arc<Mutex<String>>);

impl Mail {
    pub(crate) fn has(&self, text: &str) -> bool {
        let mail = self.0.lock().unwrap();
        mail.split(|c: char| c.is_whitespace() || c == '/')
            .any(|word| word == text)
    }

    fn add(&self, bytes: &[u8]) {
        let mut mail = self.0.lock().unwrap();
        mail.push_str(&String::from_utf8_lossy(bytes));
        mail.push('\n');
    }

    /// Listens on a port of this machine, which is returned.
    pub(crate) fn tcp(&self) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mail = self.clone();
        thread::spawn(move || {
            listener
                .incoming()
                .flatten()
                .for_each(|from| mail.take(from));
        });
        port
    }

    /// Returns the same for datagrams.
    pub(crate) fn udp(&self) -> u16 {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let mail = self.clone();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length) = socket.recv(&mut bytes) {
                mail.add(&bytes[..length]);
            }
        });
        port
    }

    /// Listens at this path.
    pub(crate) fn path(&self, path: &Path) {
        self.unix(UnixListener::bind(path).unwrap());
    }

    /// Listens at this name, which is not a path.
    pub(crate) fn name(&self, name: &str) {
        let address = SocketAddr::from_abstract_name(name).unwrap();
        self.unix(UnixListener::bind_addr(&address).unwrap());
    }

    fn unix(&self, listener: UnixListener) {
        let mail = self.clone();
        thread::spawn(move || {
            listener
                .incoming()
                .flatten()
                .for_each(|from| mail.take(from));
        });
    }

    /// Reads from a client. One that asks by HTTP gets an answer.
    fn take(&self, mut from: impl Read + Write) {
        let mut bytes = [0; 4096];
        if let Ok(length) = from.read(&mut bytes) {
            self.add(&bytes[..length]);
        }
        // Other clients may be gone.
        from.write_all(b"HTTP/1.0 204 No Content\r\n\r\n").ok();
    }
}
