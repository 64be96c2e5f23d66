//! What only a browser has: its clock, its network, its stream of events. Nothing of it exists on the server.

#[cfg(feature = "hydrate")]
pub(crate) mod clock;
#[cfg(feature = "hydrate")]
pub(crate) mod http;
#[cfg(feature = "hydrate")]
pub(crate) mod json;
#[cfg(feature = "hydrate")]
pub(crate) mod live;
#[cfg(feature = "hydrate")]
mod locks;
#[cfg(feature = "hydrate")]
pub(crate) mod notices;
#[cfg(feature = "hydrate")]
mod orders;
#[cfg(feature = "hydrate")]
mod release;
#[cfg(feature = "hydrate")]
mod source;
#[cfg(feature = "hydrate")]
mod tabs;
#[cfg(feature = "hydrate")]
pub(crate) mod timer;
#[cfg(feature = "hydrate")]
pub(crate) mod zone;
