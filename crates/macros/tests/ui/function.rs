use neuron_macros::neuron_tool;

/// Looks up a value.
#[neuron_tool]
fn not_async(key: String) -> Result<String, std::io::Error> {
    Ok(key)
}

#[neuron_tool]
async fn no_description(key: String) -> Result<String, std::io::Error> {
    Ok(key)
}

/// Looks up a value.
#[neuron_tool]
async fn no_result(key: String) {
    drop(key);
}

/// Looks up a value.
#[neuron_tool]
async fn generic<T>(key: T) -> Result<T, std::io::Error> {
    Ok(key)
}

fn main() {}
