//! The fused roll-out on a GPU: what its kernels are given, and how many threads they have.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use burn::tensor::DType;
use burn_cubecl::{
    CubeBackend,
    cubecl::{prelude::*, server::Handle},
    kernel::into_contiguous,
    ops::numeric::empty_device_contiguous_dtype,
    tensor::CubeTensor,
};

use super::{
    PARAMETERS, Rollout,
    kernel::{Form, GateKind, SEGMENT, TOGETHER, contraction, forward, gradient},
    op::{FusedRollout, shape_of},
};
use crate::{
    numeric::Gate,
    rollout::{HingeReading, StepKind},
};

/// Threads of a cube.
const CUBE: u32 = 64;
/// Most threads of a gradient. Each needs room for the states that its way back begins from.
const MOST_THREADS: usize = 16_384;
/// The same where a processor stands in for a GPU: the room should fit into its cache. With 16,384 threads a gradient
/// took 1.3 times as long.
const MOST_THREADS_IN_SOFTWARE: usize = 512;
/// A device whose threads run in groups no larger than the vectors of a processor is a processor.
const WIDEST_VECTOR: u32 = 16;
/// Numbers in that room at the most: 128 MiB, which every device allows in one buffer.
const MOST_KEPT: usize = 1 << 25;
/// A point with more hinges has its sum shared by a whole cube.
const ONE_THREAD_ADDS: usize = 256;

/// Kernels that were launched by this process.
static LAUNCHES: AtomicUsize = AtomicUsize::new(0);

/// How many kernels of roll-outs this process has launched, for tests.
#[cfg(test)]
pub(crate) fn launches() -> usize {
    LAUNCHES.load(Ordering::Relaxed)
}

impl FusedRollout for CubeBackend {
    fn fused_readings(parameters: CubeTensor, rollout: Arc<Rollout>) -> CubeTensor {
        let batch = Batch::new(parameters, &rollout);
        let readings = batch.empty(&shape_of(&rollout));
        let threads = batch.total.div_ceil(TOGETHER);
        let (cubes, cube) = batch.threads(threads);
        LAUNCHES.fetch_add(1, Ordering::Relaxed);
        // SAFETY: a thread reads the rows of its hinge and its point, which are inside their buffers: `Rollout::check`
        // compared their lengths.
        unsafe {
            forward::launch_unchecked(
                &batch.parameters.client,
                cubes,
                cube,
                batch.parameters.clone().into_buffer_arg(),
                batch.amplitudes(),
                batch.durations(),
                batch.steps(),
                batch.marks(),
                readings.clone().into_buffer_arg(),
                batch.scale,
                rollout.hinges as u32,
                batch.columns as u32,
                threads as u32,
                batch.form,
            );
        }
        readings
    }

    fn fused_linearized(
        parameters: CubeTensor,
        cotangent: CubeTensor,
        rollout: Arc<Rollout>,
    ) -> (CubeTensor, CubeTensor) {
        let batch = Batch::new(parameters, &rollout);
        let (readings, rows) = batch.gradient(&rollout, into_contiguous(cotangent));
        (readings, summed(rows, None, &rollout))
    }

    fn fused_jacobian(parameters: CubeTensor, rollout: Arc<Rollout>) -> (CubeTensor, CubeTensor) {
        let batch = Batch::new(parameters, &rollout);
        let ones = vec![1.0f32; batch.total];
        let ones = CubeTensor::new_contiguous(
            batch.parameters.client.clone(),
            batch.parameters.device.clone(),
            [batch.total].into(),
            batch
                .parameters
                .client
                .create_from_slice(f32::as_bytes(&ones)),
            DType::F32,
        );
        batch.gradient(&rollout, ones)
    }

    fn fused_contraction(
        jacobian: CubeTensor,
        cotangent: CubeTensor,
        rollout: Arc<Rollout>,
    ) -> CubeTensor {
        let jacobian = into_contiguous(jacobian);
        summed(jacobian, Some(into_contiguous(cotangent)), &rollout)
    }
}

/// What a kernel is given.
struct Batch {
    parameters: CubeTensor,
    buffers: [(Handle, usize); 4],
    form: Form,
    /// 1/width or gain of the gate.
    scale: f32,
    total: usize,
    columns: usize,
}

impl Batch {
    fn new(parameters: CubeTensor, rollout: &Rollout) -> Batch {
        let parameters = into_contiguous(parameters);
        let schedule = &rollout.schedule;
        let mut form = Form {
            gate: GateKind::Hard,
            releases: false,
            creeps: false,
            reads_stress: schedule.reading == HingeReading::Stress,
        };
        let (mut steps, mut marks) = (Vec::new(), Vec::new());
        for (k, step) in schedule.steps.iter().enumerate() {
            let (kind, value) = match step.motion {
                StepKind::Prescribe { fraction } => (0, fraction),
                StepKind::Release => (1, 0.0),
                StepKind::Creep { mobility } => (2, mobility),
            };
            form.releases |= kind == 1;
            form.creeps |= kind == 2;
            steps.extend([value, step.seconds, step.share].map(|v| v as f32));
            let place = schedule.reading_at(k).map_or(0, |r| r as u32 + 1);
            marks.push(kind + 4 * place);
        }
        let scale;
        (form.gate, scale) = match rollout.gate {
            Gate::Hard => (GateKind::Hard, 0.0),
            Gate::Smoothstep { width } => (GateKind::Smoothstep, 1.0 / width),
            Gate::StraightThrough { width } => (GateKind::StraightThrough, 1.0 / width),
            Gate::Sigmoid { gain, .. } => (GateKind::Sigmoid, gain),
        };
        let client = &parameters.client;
        let single = |values: &[f64]| {
            let values: Vec<f32> = values.iter().map(|v| *v as f32).collect();
            (
                client.create_from_slice(f32::as_bytes(&values)),
                values.len(),
            )
        };
        let buffers = [
            single(&rollout.amplitude),
            single(&rollout.duration),
            (client.create_from_slice(f32::as_bytes(&steps)), steps.len()),
            (client.create_from_slice(u32::as_bytes(&marks)), marks.len()),
        ];
        Batch {
            buffers,
            form,
            scale: scale as f32,
            total: rollout.points * rollout.hinges,
            columns: schedule.readings.len(),
            parameters,
        }
    }

    fn buffer(&self, which: usize) -> BufferArg {
        let (handle, length) = &self.buffers[which];
        // SAFETY: the buffer was made from as many numbers.
        unsafe { BufferArg::from_raw_parts(handle.clone(), *length) }
    }

    fn amplitudes(&self) -> BufferArg {
        self.buffer(0)
    }

    fn durations(&self) -> BufferArg {
        self.buffer(1)
    }

    fn steps(&self) -> BufferArg {
        self.buffer(2)
    }

    fn marks(&self) -> BufferArg {
        self.buffer(3)
    }

    fn empty(&self, shape: &[usize]) -> CubeTensor {
        empty_like(&self.parameters, shape)
    }

    /// Cubes with at least so many threads.
    fn threads(&self, threads: usize) -> (CubeCount, CubeDim) {
        (
            cubes(threads.div_ceil(CUBE as usize)),
            CubeDim::new_1d(CUBE),
        )
    }

    /// Readings, and derivatives `[9, points·hinges]` of Σ cotangent·readings.
    fn gradient(&self, rollout: &Rollout, cotangent: CubeTensor) -> (CubeTensor, CubeTensor) {
        let readings = self.empty(&shape_of(rollout));
        let rows = self.empty(&[PARAMETERS, self.total]);
        let count = rollout.schedule.steps.len();
        let numbers = 8 * TOGETHER * (count % SEGMENT + count / SEGMENT);
        let hardware = &self.parameters.client.properties().hardware;
        let most_threads = match hardware.plane_size_max <= WIDEST_VECTOR {
            true => MOST_THREADS_IN_SOFTWARE,
            false => MOST_THREADS,
        };
        let threads = (MOST_KEPT / numbers)
            .clamp(CUBE as usize, most_threads)
            .min(self.total);
        let kept = self.empty(&[numbers * threads]);
        let (cubes, cube) = self.threads(threads);
        LAUNCHES.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as in `fused_readings`; a thread keeps its states in its own places.
        unsafe {
            gradient::launch_unchecked(
                &self.parameters.client,
                cubes,
                cube,
                self.parameters.clone().into_buffer_arg(),
                self.amplitudes(),
                self.durations(),
                self.steps(),
                self.marks(),
                cotangent.into_buffer_arg(),
                readings.clone().into_buffer_arg(),
                rows.clone().into_buffer_arg(),
                kept.into_buffer_arg(),
                self.scale,
                rollout.hinges as u32,
                self.columns as u32,
                threads as u32,
                self.form,
            );
        }
        (readings, rows)
    }
}

/// Σ weight·row over the hinges of each point, `[points, 9]`.
fn summed(rows: CubeTensor, weights: Option<CubeTensor>, rollout: &Rollout) -> CubeTensor {
    let sums = empty_like(&rows, &[rollout.points, PARAMETERS]);
    let width = match rollout.hinges <= ONE_THREAD_ADDS {
        true => 1,
        false => CUBE,
    };
    let items = rollout.points * PARAMETERS;
    let cube = CubeDim::new_2d(width, CUBE / width);
    LAUNCHES.fetch_add(1, Ordering::Relaxed);
    let weighted = weights.is_some();
    // SAFETY: there is a row and a weight for every hinge, and threads beyond the last sum do nothing.
    unsafe {
        contraction::launch_unchecked(
            &rows.client.clone(),
            cubes(items.div_ceil((CUBE / width) as usize)),
            cube,
            rows.clone().into_buffer_arg(),
            weights.unwrap_or(rows).into_buffer_arg(),
            sums.clone().into_buffer_arg(),
            rollout.hinges as u32,
            weighted,
            width,
        );
    }
    sums
}

fn empty_like(tensor: &CubeTensor, shape: &[usize]) -> CubeTensor {
    let (client, device) = (tensor.client.clone(), tensor.device.clone());
    empty_device_contiguous_dtype(client, device, shape.to_vec().into(), DType::F32)
}

/// At least so many cubes. A device counts up to 65,535 in one direction.
fn cubes(count: usize) -> CubeCount {
    let wide = count.clamp(1, 32_768);
    CubeCount::Static(wide as u32, count.div_ceil(wide).max(1) as u32, 1)
}
