mod hooks;
mod model;
mod tool;
