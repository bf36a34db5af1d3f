//! Tools: the registry, its middleware, and built-in tools for files and processes.
