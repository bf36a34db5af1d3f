use neuron_macros::neuron_tool;

/// Looks up a value.
#[neuron_tool]
async fn borrowed(key: &str) -> Result<String, std::io::Error> {
    Ok(key.to_owned())
}

/// Looks up a value.
#[neuron_tool]
async fn nameless((key, _): (String, u32)) -> Result<String, std::io::Error> {
    Ok(key)
}

/// Looks up a value.
#[neuron_tool]
async fn changed(#[state] state: &mut u32, key: String) -> Result<String, std::io::Error> {
    *state += 1;
    Ok(key)
}

struct Notes(u32);

impl Notes {
    /// Looks up a value.
    #[neuron_tool]
    async fn changes(&mut self) -> Result<u32, std::io::Error> {
        self.0 += 1;
        Ok(self.0)
    }
}

fn main() {
    let _ = Notes(0);
}
