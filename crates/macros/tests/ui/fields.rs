use neuron_macros::{Tool, neuron_tool};

/// Looks up a value.
#[derive(Tool)]
struct UnknownOption {
    #[tool(description = "The key", initial = "a")]
    key: String,
}

/// Looks up a value.
#[derive(Tool)]
struct NoText {
    #[tool(description = 3)]
    key: String,
}

/// Looks up a value.
#[derive(Tool)]
struct NoValue {
    #[tool(default)]
    key: String,
}

/// Looks up a value.
#[derive(Tool)]
struct NoLiteral {
    #[tool(default = String::new())]
    key: String,
}

/// Looks up a value.
#[derive(Tool)]
struct Twice {
    #[tool(default = 1, default = 2)]
    key: u32,
}

/// Looks up a value.
#[derive(Tool)]
struct TwoAttributes {
    #[tool(description = "The key")]
    #[tool(default = 2)]
    key: u32,
}

/// Looks up a value.
#[neuron_tool]
async fn unknown_option(#[tool(title = "Key")] key: String) -> Result<String, std::io::Error> {
    Ok(key)
}

/// Looks up a value.
#[neuron_tool]
async fn not_given(
    #[tool(description = "All keys")]
    #[state]
    keys: &String,
) -> Result<String, std::io::Error> {
    Ok(keys.clone())
}

fn main() {}
