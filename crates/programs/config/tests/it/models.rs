mod demo;
mod script;
