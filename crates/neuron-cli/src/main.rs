//! The `neuron` command.

fn main() {}
