//! A batch of frames of one garment as tensors.
//!
//! All frames stand side by side in the second dimension, frame by frame: positions are `[3, frames·vertices]`,
//! as if the garment were there so many times. So the elements of a mesh serve a batch as they are, and one
//! operation works on all frames. What belongs to an element is seen as `[frames, elements]` where constants of
//! the garment, `[1, elements]`, or of the frame, `[frames, 1]`, enter.

use super::{Garment, PosedBody};
use crate::{
    element::{Incidence, Vector},
    mesh::{Hinge, Rest, Topology},
    numeric::{Compute, Field},
};

/// Constants of a garment for batches of a certain number of frames.
#[derive(Debug, Clone)]
pub(crate) struct GarmentBatch {
    /// Where it is computed.
    pub compute: Compute,
    /// Frames of a batch.
    pub frames: usize,
    /// Vertices of the garment.
    pub vertices: usize,
    /// Hinges of the garment.
    pub hinges: usize,
    /// Triangles of the garment.
    pub triangles: usize,
    pub(super) incidence: Incidence,
    /// θ̄ \[rad\], `[1, hinges]`.
    pub(super) sewn_angle: Field,
    /// l²/(8a), `[1, hinges]`.
    pub(super) bend_shape: Field,
    /// \[m²\], `[1, triangles]`.
    pub(super) area: Field,
    /// Of each vertex \[m²\], `[1, vertices]`.
    pub(super) vertex_area: Field,
    /// Stiffness of the springs \[N/m\], `[1, vertices]`.
    pub(super) springs: Field,
    /// 0 for pinned vertices, else 1, `[1, vertices]`.
    pub(super) free: Field,
}

/// What the frames of a batch are judged against; nothing of it is differentiated.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    /// Positions one frame before \[m\], `[3, frames·vertices]`.
    pub previous: Field,
    /// Positions two frames before \[m\].
    pub before: Field,
    /// 1 for frames that have both, 0 for others, `[frames, 1]`: a motion's first two have no inertia.
    pub moving: Field,
    /// Rest bending ε_p \[rad\], `[frames, hinges]`.
    pub plastic: Field,
    /// Where skinning puts the garment \[m\], `[3, frames·vertices]`: ends of springs.
    pub anchors: Field,
    /// The body in the pose of each frame.
    pub body: PosedBody,
}

impl GarmentBatch {
    /// The constants of a garment, for batches of `frames`.
    pub(crate) fn new(garment: &Garment, frames: usize, compute: &Compute) -> GarmentBatch {
        let Garment {
            mesh,
            topology,
            rest,
            ..
        } = garment;
        let vertices = mesh.positions.len();
        let row = |values: Vec<f64>| {
            let count = values.len();
            compute.tensor(&values, [1, count])
        };
        let mut springs = vec![0.0; vertices];
        for spring in &garment.springs {
            springs[spring.vertex] += spring.stiffness;
        }
        let mut free = vec![1.0; vertices];
        for &vertex in &garment.pinned {
            free[vertex] = 0.0;
        }
        GarmentBatch {
            compute: compute.clone(),
            frames,
            vertices,
            hinges: topology.hinges.len(),
            triangles: mesh.triangles.len(),
            incidence: repeated(&mesh.triangles, topology, rest, vertices, frames, compute),
            sewn_angle: row(rest.hinges.iter().map(|h| h.angle).collect()),
            bend_shape: row(rest
                .hinges
                .iter()
                .map(|h| h.length * h.length / (8.0 * h.area))
                .collect()),
            area: row(rest.triangles.iter().map(|t| t.area).collect()),
            vertex_area: row(rest.vertex_area.clone()),
            springs: row(springs),
            free: row(free),
        }
    }

    /// `[1, frames·count]` seen as `[frames, count]`.
    pub(crate) fn by_frame(&self, flat: &Field) -> Field {
        let count = flat.dims()[1] / self.frames;
        flat.clone().reshape([self.frames, count])
    }

    /// The inverse of [`GarmentBatch::by_frame`].
    pub(crate) fn side_by_side(&self, framed: &Field) -> Field {
        let [frames, count] = framed.dims();
        framed.clone().reshape([1, frames * count])
    }

    /// Components of a vertex tensor, `[frames, vertices]` each.
    pub(crate) fn by_axis(&self, vertices: &Field) -> Vector {
        Vector::from_rows(vertices).map(|c| self.by_frame(c))
    }

    /// Bending strain ε = θ − θ̄ \[rad\], `[frames, hinges]`, of positions `[3, frames·vertices]`.
    pub(crate) fn strain(&self, positions: &Field) -> Field {
        let spans = self.incidence.spans(positions);
        let bend = crate::element::Bend::new(&spans, &self.compute);
        self.by_frame(&bend.angle) - self.sewn_angle.clone()
    }
}

/// The tables of a mesh that is there `frames` times.
fn repeated(
    triangles: &[[usize; 3]],
    topology: &Topology,
    rest: &Rest,
    vertices: usize,
    frames: usize,
    compute: &Compute,
) -> Incidence {
    let copies = || (0..frames).map(|frame| frame * vertices);
    let all_triangles: Vec<[usize; 3]> = copies()
        .flat_map(|first| triangles.iter().map(move |t| t.map(|v| v + first)))
        .collect();
    let hinge = |first: usize, h: &Hinge| Hinge {
        vertices: h.vertices.map(|v| v + first),
        triangles: h.triangles,
    };
    let all = Topology {
        hinges: copies()
            .flat_map(|first| topology.hinges.iter().map(move |h| hinge(first, h)))
            .collect(),
        boundary: Vec::new(),
        vertex_triangles: Vec::new(),
        islands: Vec::new(),
        notes: Vec::new(),
    };
    let all_rest = Rest {
        triangles: rest.triangles.repeat(frames),
        hinges: Vec::new(),
        vertex_area: Vec::new(),
    };
    Incidence::new(&all_triangles, &all, &all_rest, frames * vertices, compute)
}
