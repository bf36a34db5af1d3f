//! Runs agents as Restate workflows.
