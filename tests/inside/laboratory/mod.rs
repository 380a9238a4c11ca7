//! Laboratory tests, on hinges and on strip meshes.

mod hinges;
mod population;
mod strip;
