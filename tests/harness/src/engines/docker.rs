//! A server in a container of its own.

use testcontainers::{ContainerAsync, GenericImage, ImageExt as _, runners::AsyncRunner as _};

use super::engine_settings::Settings;
use crate::EngineError;

/// The folder in the container that the server may write to. It stays through a kill.
pub(crate) const DATA: &str = "/tmp";

/// A container that shares the network of this machine, so that the server reaches workers that listen here.
#[derive(Debug)]
pub(crate) struct Container {
    container: ContainerAsync<GenericImage>,
    image: String,
}

impl Container {
    /// Runs an image whose program takes the engine's arguments.
    pub(crate) async fn start(image: String, settings: Settings) -> Result<Self, EngineError> {
        let (name, tag) = parts(&image);
        let request = settings.variables.into_iter().fold(
            GenericImage::new(name, tag)
                .with_cmd(settings.arguments)
                .with_network("host"),
            |request, (name, value)| request.with_env_var(name, value),
        );
        let failed = failed(&image);
        let container = request.start().await.map_err(failed)?;
        Ok(Self { container, image })
    }

    pub(crate) async fn kill(&self) -> Result<(), EngineError> {
        let killed = self.container.stop_with_timeout(Some(0)).await;
        killed.map_err(failed(&self.image))
    }

    pub(crate) async fn revive(&self) -> Result<(), EngineError> {
        self.container.start().await.map_err(failed(&self.image))
    }
}

fn failed(image: &str) -> impl FnOnce(testcontainers::TestcontainersError) -> EngineError {
    let image = image.to_owned();
    |source| EngineError::Docker {
        image,
        source: source.into(),
    }
}

/// Returns an image's name and its tag. A colon before the last slash belongs to a registry's port.
fn parts(image: &str) -> (&str, &str) {
    match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, tag),
        _ => (image, "latest"),
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn an_image_without_a_tag_is_the_latest() {
        assert_eq!(parts("a/b:1.2"), ("a/b", "1.2"));
        assert_eq!(parts("a/b"), ("a/b", "latest"));
        assert_eq!(parts("here:5000/a/b"), ("here:5000/a/b", "latest"));
    }
}
