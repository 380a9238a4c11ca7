//! Functions whose indices are known.
