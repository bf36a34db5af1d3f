//! Bounds that mean `Send` and `Sync` natively, and nothing on WASM, where futures have one thread.

use std::{future::Future, pin::Pin};

/// `Send` on native targets, no bound at all on `wasm32`.
#[cfg(not(target_arch = "wasm32"))]
pub trait WasmCompatSend: Send {}
#[cfg(not(target_arch = "wasm32"))]
impl<T: Send + ?Sized> WasmCompatSend for T {}

/// `Sync` on native targets, no bound at all on `wasm32`.
#[cfg(not(target_arch = "wasm32"))]
pub trait WasmCompatSync: Sync {}
#[cfg(not(target_arch = "wasm32"))]
impl<T: Sync + ?Sized> WasmCompatSync for T {}

/// A boxed future, as the traits that must be stored behind `dyn` return it.
#[cfg(not(target_arch = "wasm32"))]
pub type WasmBoxedFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// `Send` on native targets, no bound at all on `wasm32`.
#[cfg(target_arch = "wasm32")]
pub trait WasmCompatSend {}
#[cfg(target_arch = "wasm32")]
impl<T: ?Sized> WasmCompatSend for T {}

/// `Sync` on native targets, no bound at all on `wasm32`.
#[cfg(target_arch = "wasm32")]
pub trait WasmCompatSync {}
#[cfg(target_arch = "wasm32")]
impl<T: ?Sized> WasmCompatSync for T {}

/// A boxed future, as the traits that must be stored behind `dyn` return it.
#[cfg(target_arch = "wasm32")]
pub type WasmBoxedFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;
