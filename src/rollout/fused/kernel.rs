//! The fused roll-out on a GPU: a thread takes two hinges through their whole schedule.

// A condition that holds at compile time has an `if` of its own.
#![allow(clippy::collapsible_if)]

// What `#[cube]` writes names `cubecl`.
use burn_cubecl::cubecl::{self, prelude::*};

use super::law::law;

/// Hinges that a thread takes side by side: while one waits for an exponential, the other goes on.
pub(super) const TOGETHER: usize = 2;
/// Steps between two states that the way back begins from. Everything in between stays in registers.
pub(super) const SEGMENT: usize = 8;

law! {
    derive: [#[derive(CubeType, CubeTypeMut, Clone, Copy)] #[expand(derive(Clone, Copy))]],
    attribute: [#[cube]],
    plain: [R: Float],
    gated: [R: Float],
    gate: [KernelGate<R>],
}

/// Which gate a kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum GateKind {
    Hard,
    Smoothstep,
    StraightThrough,
    Sigmoid,
}

/// What a kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Form {
    pub gate: GateKind,
    /// Whether a step is [`crate::rollout::StepKind::Release`].
    pub releases: bool,
    /// Whether a step is [`crate::rollout::StepKind::Creep`].
    pub creeps: bool,
    /// Whether the stress is read, or the strain.
    pub reads_stress: bool,
}

/// A gate on the device; see [`super::gate::LaneGate`].
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(super) struct KernelGate<R: Float> {
    /// 1/width or gain.
    scale: R,
    #[cube(comptime)]
    kind: GateKind,
}

#[cube]
fn one<R: Float>() -> R {
    R::new(1.0)
}

#[cube]
fn zero<R: Float>() -> R {
    R::new(0.0)
}

#[cube]
fn magnitude<R: Float>(x: R) -> R {
    x.abs()
}

#[cube]
fn sign<R: Float>(x: R) -> R {
    select(
        x > R::new(0.0),
        R::new(1.0),
        select(x < R::new(0.0), R::new(-1.0), R::new(0.0)),
    )
}

#[cube]
fn max_zero<R: Float>(x: R) -> R {
    select(x > R::new(0.0), x, R::new(0.0))
}

#[cube]
fn clamp01<R: Float>(x: R) -> R {
    let x = max_zero::<R>(x);
    select(x < R::new(1.0), x, R::new(1.0))
}

#[cube]
fn smoothstep<R: Float>(x: R) -> R {
    let u = clamp01::<R>(x);
    u * u * (R::new(3.0) - R::new(2.0) * u)
}

#[cube]
fn smoothstep_slope<R: Float>(x: R) -> R {
    let u = clamp01::<R>(x);
    R::new(6.0) * u * (R::new(1.0) - u)
}

#[cube]
fn gate_of<R: Float>(scale: R, #[comptime] form: Form) -> KernelGate<R> {
    KernelGate::<R> {
        scale,
        kind: comptime!(form.gate),
    }
}

#[cube]
impl<R: Float> KernelGate<R> {
    fn weight(&self, excess: R) -> R {
        match comptime!(self.kind) {
            GateKind::Smoothstep => smoothstep::<R>(excess * self.scale),
            GateKind::Sigmoid => {
                let z = excess * self.scale;
                let e = self.exp_of_nonpositive(-magnitude::<R>(z));
                select(z < R::new(0.0), e, R::new(1.0)) / (R::new(1.0) + e)
            }
            _ => select(excess > R::new(0.0), R::new(1.0), R::new(0.0)),
        }
    }

    fn ramp(&self, excess: R, weight: R) -> R {
        match comptime!(self.kind) {
            GateKind::Smoothstep => max_zero::<R>(excess) * weight,
            GateKind::Sigmoid => excess * weight,
            _ => max_zero::<R>(excess),
        }
    }

    fn weight_slope(&self, excess: R, weight: R) -> R {
        match comptime!(self.kind) {
            GateKind::Hard => R::new(0.0),
            GateKind::Sigmoid => self.scale * weight * (R::new(1.0) - weight),
            _ => smoothstep_slope::<R>(excess * self.scale) * self.scale,
        }
    }

    fn ramp_slope(&self, excess: R, weight: R) -> R {
        let slope = self.weight_slope(excess, weight);
        match comptime!(self.kind) {
            GateKind::Hard => weight,
            GateKind::Smoothstep => weight + max_zero::<R>(excess) * slope,
            GateKind::StraightThrough => {
                smoothstep::<R>(excess * self.scale) + max_zero::<R>(excess) * slope
            }
            GateKind::Sigmoid => weight + excess * slope,
        }
    }

    fn novelty(&self, agreement: R) -> R {
        match comptime!(self.kind) {
            GateKind::Sigmoid => R::new(0.5) * (R::new(1.0) - agreement),
            _ => R::new(1.0) - smoothstep::<R>(agreement),
        }
    }

    fn novelty_slope(&self, agreement: R) -> R {
        match comptime!(self.kind) {
            GateKind::Sigmoid => R::new(-0.5),
            _ => -smoothstep_slope::<R>(agreement),
        }
    }

    fn exp_of_nonpositive(&self, x: R) -> R {
        x.exp()
    }
}

/// A hinge.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct Hinge<R: Float> {
    p: Coefficients<R>,
    amplitude: R,
    duration: R,
    /// Its place among the hinges of all points.
    place: usize,
}

/// Numbers of one step for one hinge.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct Move<R: Float> {
    /// 0: prescribed, 1: release, 2: creep.
    kind: u32,
    /// Fraction of the amplitude, or mobility.
    value: R,
    dt: R,
    amplitude: R,
}

/// An update, with what its reverse needs.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct Advanced<R: Float> {
    after: LaneState<R>,
    saved: Saved<R>,
}

/// The hinge at a place, or the last one beyond the end.
#[cube]
fn hinge_at<R: Float>(
    parameters: &[R],
    amplitudes: &[R],
    durations: &[R],
    place: usize,
    hinges: u32,
) -> Hinge<R> {
    let place = min(place, amplitudes.len() - 1);
    let first = place / hinges as usize * 9;
    let bending = parameters[first];
    let p = Coefficients::<R> {
        bending,
        friction: parameters[first + 1],
        threshold_initial: parameters[first + 2],
        threshold_saturated: parameters[first + 3],
        inverse_dwell: R::new(1.0) / parameters[first + 4],
        yield_initial: parameters[first + 5],
        hardening: parameters[first + 6],
        drop: parameters[first + 7],
        inverse_flow: R::new(1.0) / parameters[first + 8],
        inverse_bending: R::new(1.0) / bending,
    };
    Hinge::<R> {
        p,
        amplitude: amplitudes[place],
        duration: durations[place],
        place,
    }
}

/// Virgin cloth, or an adjoint of nothing.
#[cube]
fn start<R: Float>(yield_strain: R) -> LaneState<R> {
    LaneState::<R> {
        strain: R::new(0.0),
        anchor: R::new(0.0),
        stick_time: R::new(0.0),
        plastic: R::new(0.0),
        accumulated: R::new(0.0),
        flow_time: R::new(0.0),
        flow_direction: R::new(0.0),
        yield_strain,
    }
}

/// Step `k` for one hinge.
#[cube]
fn step_of<R: Float>(steps: &[R], marks: &[u32], k: usize, hinge: &Hinge<R>) -> Move<R> {
    Move::<R> {
        kind: marks[k] & 3u32,
        value: steps[3 * k],
        dt: hinge.duration * steps[3 * k + 2] + steps[3 * k + 1],
        amplitude: hinge.amplitude,
    }
}

/// One step.
#[cube]
fn advance<R: Float>(
    p: &Coefficients<R>,
    gate: KernelGate<R>,
    before: &LaneState<R>,
    step: &Move<R>,
    #[comptime] form: Form,
) -> Advanced<R> {
    let fresh = freshness::<R>(p, gate, before);
    let mut strain = step.amplitude * step.value;
    if comptime!(form.creeps) {
        let crept = before.strain - stress::<R>(p, before) * step.value;
        strain = select(step.kind == 2u32, crept, strain);
    }
    let slipping = friction_excess::<R>(p, before, strain, fresh);
    let mut slip = gate.weight(slipping);
    let slid = slide::<R>(gate, before, strain, step.dt, slipping, slip);
    let (mut anchor, mut stick_time) = (slid.0, slid.1);
    if comptime!(form.releases) {
        if step.kind == 1u32 {
            let released = release::<R>(p, gate, before, fresh, step.dt);
            strain = released.strain;
            anchor = released.anchor;
            stick_time = released.stick_time;
            slip = released.slip;
        }
    }
    let excess = yield_excess::<R>(before, strain);
    let yielding = gate.weight(excess);
    let aged = flow_time::<R>(p, gate, before, strain, step.dt, yielding);
    let saved = Saved::<R> {
        fresh,
        slip,
        yielding,
        fading: aged.1,
    };
    let moved = LaneState::<R> {
        strain,
        anchor,
        stick_time,
        plastic: before.plastic,
        accumulated: before.accumulated,
        flow_time: aged.0,
        flow_direction: before.flow_direction,
        yield_strain: before.yield_strain,
    };
    let after = flow::<R>(p, gate, before, moved, excess, &saved);
    Advanced::<R> { after, saved }
}

/// Reverse of [`advance`].
#[cube]
fn retreat<R: Float>(
    p: &Coefficients<R>,
    gate: KernelGate<R>,
    before: &LaneState<R>,
    done: &Advanced<R>,
    step: &Move<R>,
    adjoint: &mut LaneState<R>,
    total: &mut Coefficients<R>,
    #[comptime] form: Form,
) {
    pull_back_plasticity::<R>(
        p,
        gate,
        before,
        &done.after,
        &done.saved,
        step.dt,
        adjoint,
        total,
    );
    if comptime!(form.releases) {
        if step.kind == 1u32 {
            let fresh = done.saved.fresh;
            let released = release::<R>(p, gate, before, fresh, step.dt);
            pull_back_release::<R>(p, gate, before, fresh, step.dt, &released, adjoint, total);
        } else {
            pull_back_held::<R>(p, gate, before, done, step, adjoint, total, form);
        }
    } else {
        pull_back_held::<R>(p, gate, before, done, step, adjoint, total, form);
    }
}

/// Reverse of friction at a strain that is prescribed or creeps.
#[cube]
fn pull_back_held<R: Float>(
    p: &Coefficients<R>,
    gate: KernelGate<R>,
    before: &LaneState<R>,
    done: &Advanced<R>,
    step: &Move<R>,
    adjoint: &mut LaneState<R>,
    total: &mut Coefficients<R>,
    #[comptime] form: Form,
) {
    pull_back_friction::<R>(
        p,
        gate,
        before,
        &done.after,
        &done.saved,
        step.dt,
        adjoint,
        total,
    );
    pull_back_motion::<R>(p, before, step, adjoint, total, form);
}

/// Reverse of a strain that is prescribed or creeps.
#[cube]
fn pull_back_motion<R: Float>(
    p: &Coefficients<R>,
    before: &LaneState<R>,
    step: &Move<R>,
    adjoint: &mut LaneState<R>,
    total: &mut Coefficients<R>,
    #[comptime] form: Form,
) {
    if comptime!(form.creeps) {
        // A prescribed strain depends on nothing: both its own adjoint and the weight are zero.
        let creeps = select(step.kind == 2u32, R::new(1.0), R::new(0.0));
        adjoint.strain *= creeps;
        let weight = -(adjoint.strain * step.value);
        pull_back_stress::<R>(p, before, weight, adjoint, total);
    } else {
        adjoint.strain = R::new(0.0);
    }
}

/// The reading after a step.
#[cube]
fn reading_of<R: Float>(p: &Coefficients<R>, after: &LaneState<R>, #[comptime] form: Form) -> R {
    if comptime!(form.reads_stress) {
        stress::<R>(p, after)
    } else {
        after.strain
    }
}

/// Takes step `k` with all hinges of a thread, and the readings after it.
#[cube]
fn advance_all<R: Float>(
    all: &Sequence<Hinge<R>>,
    gate: KernelGate<R>,
    states: &mut Sequence<LaneState<R>>,
    steps: &[R],
    marks: &[u32],
    readings: &mut [R],
    k: usize,
    columns: usize,
    #[comptime] form: Form,
) {
    #[unroll]
    for h in 0..TOGETHER {
        let hinge = all.index(h);
        let step = step_of::<R>(steps, marks, k, hinge);
        let advanced = advance::<R>(&hinge.p, gate, states.index(h), &step, form);
        set::<R>(states.index_mut(h), &advanced.after);
    }
    let place = marks[k] >> 2u32;
    if place > 0u32 {
        #[unroll]
        for h in 0..TOGETHER {
            let hinge = all.index(h);
            readings[hinge.place * columns + place as usize - 1] =
                reading_of::<R>(&hinge.p, states.index(h), form);
        }
    }
}

/// `state` becomes `new`.
#[cube]
fn set<R: Float>(state: &mut LaneState<R>, new: &LaneState<R>) {
    state.strain = new.strain;
    state.anchor = new.anchor;
    state.stick_time = new.stick_time;
    state.plastic = new.plastic;
    state.accumulated = new.accumulated;
    state.flow_time = new.flow_time;
    state.flow_direction = new.flow_direction;
    state.yield_strain = new.yield_strain;
}

/// Readings `[hinges of all points, columns]`. `threads` threads take two hinges each.
#[cube(launch_unchecked)]
#[allow(unused_mut)] // `#[cube]` makes a variable of what is declared with `mut`.
pub(super) fn forward(
    parameters: &[f32],
    amplitudes: &[f32],
    durations: &[f32],
    steps: &[f32],
    marks: &[u32],
    readings: &mut [f32],
    scale: f32,
    hinges: u32,
    columns: u32,
    threads: u32,
    #[comptime] form: Form,
) {
    let thread = ABSOLUTE_POS;
    let stride = threads as usize;
    if thread >= stride {
        terminate!();
    }
    let gate = gate_of::<f32>(scale, form);
    let mut all = Sequence::<Hinge<f32>>::new();
    let mut states = Sequence::<LaneState<f32>>::new();
    #[unroll]
    for h in 0..TOGETHER {
        let place = thread + h * stride;
        let hinge = hinge_at::<f32>(parameters, amplitudes, durations, place, hinges);
        let mut state = start::<f32>(hinge.p.yield_initial);
        states.push(state);
        all.push(hinge);
    }
    for k in 0..marks.len() {
        advance_all::<f32>(
            &all,
            gate,
            &mut states,
            steps,
            marks,
            readings,
            k,
            columns as usize,
            form,
        );
    }
}

/// Adds the gradient of weight·reading.
#[cube]
fn pull_back_reading<R: Float>(
    p: &Coefficients<R>,
    after: &LaneState<R>,
    weight: R,
    adjoint: &mut LaneState<R>,
    total: &mut Coefficients<R>,
    #[comptime] form: Form,
) {
    if comptime!(form.reads_stress) {
        pull_back_stress::<R>(p, after, weight, adjoint, total);
    } else {
        adjoint.strain += weight;
    }
}

/// Coefficients without anything in them.
#[cube]
fn nothing<R: Float>() -> Coefficients<R> {
    Coefficients::<R> {
        bending: R::new(0.0),
        friction: R::new(0.0),
        threshold_initial: R::new(0.0),
        threshold_saturated: R::new(0.0),
        inverse_dwell: R::new(0.0),
        yield_initial: R::new(0.0),
        hardening: R::new(0.0),
        drop: R::new(0.0),
        inverse_flow: R::new(0.0),
        inverse_bending: R::new(0.0),
    }
}

/// Puts the states before segment `segment` where the way back finds them. Numbers of all threads lie side by side.
#[cube]
fn keep<R: Float>(
    kept: &mut [R],
    segment: usize,
    thread: usize,
    stride: usize,
    states: &Sequence<LaneState<R>>,
) {
    #[unroll]
    for h in 0..TOGETHER {
        let first = (segment * TOGETHER + h) * 8 * stride + thread;
        let state = states.index(h);
        kept[first] = state.strain;
        kept[first + stride] = state.anchor;
        kept[first + 2 * stride] = state.stick_time;
        kept[first + 3 * stride] = state.plastic;
        kept[first + 4 * stride] = state.accumulated;
        kept[first + 5 * stride] = state.flow_time;
        kept[first + 6 * stride] = state.flow_direction;
        kept[first + 7 * stride] = state.yield_strain;
    }
}

/// The inverse of [`keep`].
#[cube]
fn recall<R: Float>(
    kept: &mut [R],
    segment: usize,
    thread: usize,
    stride: usize,
) -> Sequence<LaneState<R>> {
    let mut states = Sequence::<LaneState<R>>::new();
    #[unroll]
    for h in 0..TOGETHER {
        let first = (segment * TOGETHER + h) * 8 * stride + thread;
        states.push(LaneState::<R> {
            strain: kept[first],
            anchor: kept[first + stride],
            stick_time: kept[first + 2 * stride],
            plastic: kept[first + 3 * stride],
            accumulated: kept[first + 4 * stride],
            flow_time: kept[first + 5 * stride],
            flow_direction: kept[first + 6 * stride],
            yield_strain: kept[first + 7 * stride],
        });
    }
    states
}

/// Readings, and for every hinge the gradient of Σ cotangent·readings with respect to its nine parameters,
/// `[9, hinges]`. A thread takes two hinges at a time until none is left. On the way forward a thread keeps the state before every
/// segment of steps. On the way back it runs the segment again, with all of its states in registers. Where the steps
/// are no whole number of segments, the first segments have one step.
#[cube(launch_unchecked)]
#[allow(unused_mut)] // As in `forward`.
pub(super) fn gradient(
    parameters: &[f32],
    amplitudes: &[f32],
    durations: &[f32],
    steps: &[f32],
    marks: &[u32],
    cotangent: &[f32],
    readings: &mut [f32],
    rows: &mut [f32],
    kept: &mut [f32],
    scale: f32,
    hinges: u32,
    columns: u32,
    threads: u32,
    #[comptime] form: Form,
) {
    let thread = ABSOLUTE_POS;
    let stride = threads as usize;
    if thread >= stride {
        terminate!();
    }
    let gate = gate_of::<f32>(scale, form);
    let total = amplitudes.len();
    let columns = columns as usize;
    let single = marks.len() % SEGMENT;
    let segments = marks.len() / SEGMENT;
    for first in range_stepped(thread, total, TOGETHER * stride) {
        let mut all = Sequence::<Hinge<f32>>::new();
        let mut states = Sequence::<LaneState<f32>>::new();
        let mut adjoints = Sequence::<LaneState<f32>>::new();
        let mut sums = Sequence::<Coefficients<f32>>::new();
        #[unroll]
        for h in 0..TOGETHER {
            let place = first + h * stride;
            let hinge = hinge_at::<f32>(parameters, amplitudes, durations, place, hinges);
            let mut state = start::<f32>(hinge.p.yield_initial);
            let mut adjoint = start::<f32>(0.0);
            let mut sum = nothing::<f32>();
            states.push(state);
            adjoints.push(adjoint);
            sums.push(sum);
            all.push(hinge);
        }
        for k in 0..single {
            keep::<f32>(kept, k, thread, stride, &states);
            advance_all::<f32>(
                &all,
                gate,
                &mut states,
                steps,
                marks,
                readings,
                k,
                columns,
                form,
            );
        }
        for segment in 0..segments {
            keep::<f32>(kept, single + segment, thread, stride, &states);
            #[unroll]
            for s in 0..SEGMENT {
                let k = single + segment * SEGMENT + s;
                advance_all::<f32>(
                    &all,
                    gate,
                    &mut states,
                    steps,
                    marks,
                    readings,
                    k,
                    columns,
                    form,
                );
            }
        }
        for back in 0..segments {
            let segment = segments - 1 - back;
            let before = recall::<f32>(kept, single + segment, thread, stride);
            let k = single + segment * SEGMENT;
            segment_back::<f32>(
                &all,
                gate,
                before,
                steps,
                marks,
                cotangent,
                k,
                columns,
                &mut adjoints,
                &mut sums,
                SEGMENT,
                form,
            );
        }
        for back in 0..single {
            let k = single - 1 - back;
            let before = recall::<f32>(kept, k, thread, stride);
            segment_back::<f32>(
                &all,
                gate,
                before,
                steps,
                marks,
                cotangent,
                k,
                columns,
                &mut adjoints,
                &mut sums,
                1usize,
                form,
            );
        }
        #[unroll]
        for h in 0..TOGETHER {
            let hinge = all.index(h);
            let sum = sums.index(h);
            let (dwell, flow) = (hinge.p.inverse_dwell, hinge.p.inverse_flow);
            let place = hinge.place;
            rows[place] = sum.bending;
            rows[total + place] = sum.friction;
            rows[2 * total + place] = sum.threshold_initial;
            rows[3 * total + place] = sum.threshold_saturated;
            rows[4 * total + place] = -(sum.inverse_dwell * dwell * dwell);
            rows[5 * total + place] = sum.yield_initial + adjoints.index(h).yield_strain;
            rows[6 * total + place] = sum.hardening;
            rows[7 * total + place] = sum.drop;
            rows[8 * total + place] = -(sum.inverse_flow * flow * flow);
        }
    }
}

/// Reverse of `length` steps from step `first`, whose states before are known.
#[cube]
fn segment_back<R: Float>(
    all: &Sequence<Hinge<R>>,
    gate: KernelGate<R>,
    before: Sequence<LaneState<R>>,
    steps: &[R],
    marks: &[u32],
    cotangent: &[R],
    first: usize,
    columns: usize,
    adjoints: &mut Sequence<LaneState<R>>,
    sums: &mut Sequence<Coefficients<R>>,
    #[comptime] length: usize,
    #[comptime] form: Form,
) {
    // State `s` of hinge `h` is at `s·TOGETHER + h`.
    let mut states = before;
    let mut moves = Sequence::<Move<R>>::new();
    let mut done = Sequence::<Advanced<R>>::new();
    #[unroll]
    for s in 0..length {
        #[unroll]
        for h in 0..TOGETHER {
            let hinge = all.index(h);
            let step = step_of::<R>(steps, marks, first + s, hinge);
            let i = comptime!(s * TOGETHER + h);
            let advanced = advance::<R>(&hinge.p, gate, states.index(i), &step, form);
            states.push(advanced.after);
            moves.push(step);
            done.push(advanced);
        }
    }
    #[unroll]
    for b in 0..length {
        let s = comptime!(length - 1 - b);
        let reading = marks[first + s] >> 2u32;
        #[unroll]
        for h in 0..TOGETHER {
            let hinge = all.index(h);
            let i = comptime!(s * TOGETHER + h);
            if reading > 0u32 {
                let weight = cotangent[hinge.place * columns + reading as usize - 1];
                pull_back_reading::<R>(
                    &hinge.p,
                    &done.index(i).after,
                    weight,
                    adjoints.index_mut(h),
                    sums.index_mut(h),
                    form,
                );
            }
            retreat::<R>(
                &hinge.p,
                gate,
                states.index(i),
                done.index(i),
                moves.index(i),
                adjoints.index_mut(h),
                sums.index_mut(h),
                form,
            );
        }
    }
}

/// Σ weight·row over the hinges of each point, `[points, 9]`, in a fixed order. `width` threads share a sum. Each adds
/// every `width`-th product with Kahan's compensation, and a tree adds their sums.
#[cube(launch_unchecked)]
pub(super) fn contraction(
    rows: &[f32],
    weights: &[f32],
    sums: &mut [f32],
    hinges: u32,
    #[comptime] weighted: bool,
    #[comptime] width: u32,
) {
    let item = CUBE_POS * CUBE_DIM_Y as usize + UNIT_POS_Y as usize;
    let here = item < sums.len();
    let all = rows.len() / 9;
    let hinges = hinges as usize;
    let point = item / 9;
    let mut sum = 0.0;
    let mut lost = 0.0;
    if here {
        for h in range_stepped(UNIT_POS_X as usize, hinges, width as usize) {
            let hinge = point * hinges + h;
            let mut product = rows[item % 9 * all + hinge];
            if comptime!(weighted) {
                product *= weights[hinge];
            }
            let next = product - lost;
            let more = sum + next;
            lost = (more - sum) - next;
            sum = more;
        }
    }
    if comptime!(width > 1u32) {
        let mut shared = Shared::new_slice(width as usize);
        shared[UNIT_POS_X as usize] = sum;
        let mut half = comptime!(width as usize / 2).runtime();
        while half > 0 {
            sync_cube();
            let mine = UNIT_POS_X as usize;
            if mine < half {
                shared[mine] += shared[mine + half];
            }
            half /= 2;
        }
        if here && UNIT_POS_X == 0u32 {
            sums[item] = shared[0];
        }
    } else {
        if here {
            sums[item] = sum;
        }
    }
}
