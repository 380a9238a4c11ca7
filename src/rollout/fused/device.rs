//! The fused roll-out on a GPU: what its kernels are given, and how many threads they have.

use std::sync::Arc;
#[cfg(test)]
use std::sync::atomic::{AtomicUsize, Ordering};

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
/// Numbers in that room at the most: 128 MiB, which every device allows in one buffer.
const MOST_KEPT: usize = 1 << 25;
/// A point with more hinges has its sum shared by a whole cube.
const ONE_THREAD_ADDS: usize = 256;

/// Kernels of roll-outs that this process has launched.
#[cfg(test)]
static LAUNCHES: AtomicUsize = AtomicUsize::new(0);

/// How many kernels of roll-outs this process has launched.
#[cfg(test)]
pub(crate) fn launches() -> usize {
    LAUNCHES.load(Ordering::Relaxed)
}

/// Counts a launch, for tests.
fn count_launch() {
    #[cfg(test)]
    LAUNCHES.fetch_add(1, Ordering::Relaxed);
}

impl FusedRollout for CubeBackend {
    fn fused_readings(parameters: CubeTensor, rollout: Arc<Rollout>) -> CubeTensor {
        let batch = Batch::new(parameters, &rollout);
        let readings = batch.empty(&shape_of(&rollout));
        let threads = batch.total.div_ceil(TOGETHER);
        let (cubes, cube) = batch.threads(threads);
        count_launch();
        // SAFETY: a thread reads the rows of its hinge and its point, which are inside their buffers: `Batch::new`
        // compared their lengths.
        unsafe {
            forward::launch_unchecked(
                &batch.parameters.client,
                cubes,
                cube,
                batch.parameters.clone().into_buffer_arg(),
                batch.amplitudes.argument(),
                batch.durations.argument(),
                batch.steps.argument(),
                batch.marks.argument(),
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

/// Numbers on the device, and how many there are.
struct Buffer(Handle, usize);

impl Buffer {
    fn argument(&self) -> BufferArg {
        // SAFETY: the buffer was made from as many numbers.
        unsafe { BufferArg::from_raw_parts(self.0.clone(), self.1) }
    }
}

/// What a kernel is given.
struct Batch {
    parameters: CubeTensor,
    amplitudes: Buffer,
    durations: Buffer,
    steps: Buffer,
    marks: Buffer,
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
        let total = rollout.points * rollout.hinges;
        assert_eq!(
            [rollout.amplitude.len(), rollout.duration.len()],
            [total; 2],
            "a roll-out has one amplitude and one duration a hinge"
        );
        let client = &parameters.client;
        let single = |values: &[f64]| {
            let values: Vec<f32> = values.iter().map(|v| *v as f32).collect();
            Buffer(
                client.create_from_slice(f32::as_bytes(&values)),
                values.len(),
            )
        };
        Batch {
            amplitudes: single(&rollout.amplitude),
            durations: single(&rollout.duration),
            steps: Buffer(client.create_from_slice(f32::as_bytes(&steps)), steps.len()),
            marks: Buffer(client.create_from_slice(u32::as_bytes(&marks)), marks.len()),
            form,
            scale: scale as f32,
            total,
            columns: schedule.readings.len(),
            parameters,
        }
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
        let identity = &self.parameters.client.properties().identity;
        let most_threads = match identity.physical.is_none() {
            true => MOST_THREADS_IN_SOFTWARE,
            false => MOST_THREADS,
        };
        let threads = (MOST_KEPT / numbers)
            .clamp(CUBE as usize, most_threads)
            .min(self.total.div_ceil(TOGETHER));
        let kept = self.empty(&[numbers * threads]);
        let (cubes, cube) = self.threads(threads);
        count_launch();
        // SAFETY: as in `fused_readings`; a thread keeps its states in its own places.
        unsafe {
            gradient::launch_unchecked(
                &self.parameters.client,
                cubes,
                cube,
                self.parameters.clone().into_buffer_arg(),
                self.amplitudes.argument(),
                self.durations.argument(),
                self.steps.argument(),
                self.marks.argument(),
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
    count_launch();
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
