//! One spatial vector per element, kept as three fields.

use burn::tensor::Tensor;

use crate::numeric::Field;

/// A vector of every element: three fields of one shape, `[rows, elements]`.
///
/// Components apart, because cross products of `[3, elements]` tensors need copies of rows, which
/// cost more than the three times as many operations.
#[derive(Debug, Clone)]
pub struct Vector {
    /// First component.
    pub x: Field,
    /// Second component.
    pub y: Field,
    /// Third component.
    pub z: Field,
}

impl Vector {
    /// From a tensor `[3·rows, elements]`, whose first third is x.
    pub fn from_rows(tensor: &Field) -> Vector {
        let rows = tensor.dims()[0] / 3;
        let part = |axis: usize| tensor.clone().narrow(0, axis * rows, rows);
        Vector {
            x: part(0),
            y: part(1),
            z: part(2),
        }
    }

    /// The inverse of [`Vector::from_rows`].
    pub fn to_rows(&self) -> Field {
        Tensor::cat(vec![self.x.clone(), self.y.clone(), self.z.clone()], 0)
    }

    /// Row `row` alone, `[1, elements]`.
    pub fn row(&self, row: usize) -> Vector {
        self.map(|c| c.clone().narrow(0, row, 1))
    }

    /// One function of every component.
    pub fn map(&self, f: impl Fn(&Field) -> Field) -> Vector {
        Vector {
            x: f(&self.x),
            y: f(&self.y),
            z: f(&self.z),
        }
    }

    /// One function of every pair of components.
    fn zip(&self, other: &Vector, f: impl Fn(Field, Field) -> Field) -> Vector {
        Vector {
            x: f(self.x.clone(), other.x.clone()),
            y: f(self.y.clone(), other.y.clone()),
            z: f(self.z.clone(), other.z.clone()),
        }
    }

    /// self + other.
    pub fn plus(&self, other: &Vector) -> Vector {
        self.zip(other, |a, b| a + b)
    }

    /// self − other.
    pub fn minus(&self, other: &Vector) -> Vector {
        self.zip(other, |a, b| a - b)
    }

    /// Every vector times its own factor.
    pub fn times(&self, factor: &Field) -> Vector {
        self.map(|c| c.clone() * factor.clone())
    }

    /// self · other.
    pub fn dot(&self, other: &Vector) -> Field {
        let Vector { x, y, z } = self.zip(other, |a, b| a * b);
        x + y + z
    }

    /// self × other.
    pub fn cross(&self, other: &Vector) -> Vector {
        let minor = |a: &Field, b: &Field, c: &Field, d: &Field| {
            a.clone() * d.clone() - b.clone() * c.clone()
        };
        Vector {
            x: minor(&self.y, &self.z, &other.y, &other.z),
            y: minor(&self.z, &self.x, &other.z, &other.x),
            z: minor(&self.x, &self.y, &other.x, &other.y),
        }
    }
}
