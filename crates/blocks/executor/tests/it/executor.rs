mod grants;
mod hooks;
mod model;
mod progress;
mod spans;
mod tickets;
mod tool;
mod turns;
