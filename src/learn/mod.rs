//! Paper 2.
pub mod network;
