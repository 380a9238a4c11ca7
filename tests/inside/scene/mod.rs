//! Scenes: the shipped ones, and the orderings of paper 1.

mod orderings;
mod shipped;
