/// What is set for Responses alone.
#[derive(Debug, Clone)]
pub struct ResponsesSettings {
    pub(crate) encrypted_reasoning: bool,
    pub(crate) check_models: bool,
}
