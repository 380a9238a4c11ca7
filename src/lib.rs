//! rumple
pub mod error;
pub mod experiment;
pub mod material;
pub mod numeric;
pub mod rollout;
