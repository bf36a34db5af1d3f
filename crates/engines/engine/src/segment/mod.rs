//! Segments: the histories that a long run goes through.

mod pace;
mod segment_size;

pub use pace::Pace;
pub use segment_size::SegmentSize;
