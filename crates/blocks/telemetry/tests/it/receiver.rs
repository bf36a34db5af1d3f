//! A receiver of OTLP that answers as it is set.

use std::{
    io::{BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use opentelemetry_proto::tonic::collector::{
    metrics::v1::ExportMetricsServiceRequest, trace::v1::ExportTraceServiceRequest,
};
use prost::Message as _;

/// How it answers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer {
    /// As it should.
    Taken,
    /// With these bytes, and then no more.
    Raw(&'static [u8]),
    /// Not at all, for as long as a client waits.
    Never,
}

/// What it was sent.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    /// The first line and the headers, in lower case.
    pub(crate) head: String,
    /// The rest.
    pub(crate) body: Vec<u8>,
}

impl Sent {
    pub(crate) fn traces(&self) -> ExportTraceServiceRequest {
        ExportTraceServiceRequest::decode(self.body.as_slice()).unwrap()
    }

    pub(crate) fn metrics(&self) -> ExportMetricsServiceRequest {
        ExportMetricsServiceRequest::decode(self.body.as_slice()).unwrap()
    }
}

/// It listens as long as the test runs.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) url: String,
    sent: Arc<Mutex<Vec<Sent>>>,
}

impl Receiver {
    pub(crate) fn that_answers(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let sent = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&sent);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, all) = (stream.unwrap(), Arc::clone(&all));
                thread::spawn(move || serve(&stream, answer, &all));
            }
        });
        Self { url, sent }
    }

    /// Returns what it was sent to this path.
    pub(crate) fn at(&self, path: &str) -> Vec<Sent> {
        let line = format!("post {path} ");
        let sent = self.sent.lock().unwrap();
        let sent = sent.iter().filter(|sent| sent.head.starts_with(&line));
        sent.cloned().collect()
    }
}

fn serve(stream: &TcpStream, answer: Answer, all: &Mutex<Vec<Sent>>) {
    let mut reader = BufReader::new(stream);
    while let Some(sent) = read(&mut reader) {
        all.lock().unwrap().push(sent);
        let mut writer = stream;
        let written = match answer {
            Answer::Taken => writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
            Answer::Raw(bytes) => {
                writer.write_all(bytes).ok();
                return;
            }
            Answer::Never => Ok(()),
        };
        if written.is_err() {
            return;
        }
    }
}

/// The next request; `None` if the other side is gone.
fn read(reader: &mut impl std::io::BufRead) -> Option<Sent> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase();
    let length = head.split_once("content-length: ")?.1;
    let length = length.split_once('\r')?.0.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Sent { head, body })
}
