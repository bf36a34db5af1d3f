use neuron_macros::Tool;

/// Looks up a value.
#[derive(Tool)]
struct Nameless(String);

#[derive(Tool)]
struct Undescribed {
    key: String,
}

/// Looks up a value.
#[derive(Tool)]
#[tool(read_only = "yes")]
struct NoFlag {
    key: String,
}

fn main() {}
