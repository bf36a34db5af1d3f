mod hooks;
mod model;
mod spans;
mod tool;
