mod grants;
mod hooks;
mod model;
mod progress;
mod spans;
mod tool;
