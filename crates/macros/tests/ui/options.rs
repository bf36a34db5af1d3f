use neuron_macros::neuron_tool;

/// Looks up a value.
#[neuron_tool(readonly)]
async fn unknown_option(key: String) -> Result<String, std::io::Error> {
    Ok(key)
}

/// Looks up a value.
#[neuron_tool(name = "look up")]
async fn no_name(key: String) -> Result<String, std::io::Error> {
    Ok(key)
}

/// Looks up a value.
#[neuron_tool(read_only, destructive)]
async fn contradiction(key: String) -> Result<String, std::io::Error> {
    Ok(key)
}

/// Looks up a value.
#[neuron_tool(title = 3)]
async fn no_text(key: String) -> Result<String, std::io::Error> {
    Ok(key)
}

/// Looks up a value.
#[neuron_tool(previews = 3)]
async fn no_function(key: String) -> Result<String, std::io::Error> {
    Ok(key)
}

fn main() {}
