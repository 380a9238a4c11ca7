//! `rumple devices`

use clap::Args;
use serde_json::json;

use super::{Common, print, print_json};
use crate::{
    error::{Error, Result},
    numeric::{Adapter, Compute, Precision, adapters},
    verify::{DeviceCheck, check_device},
};

/// List where Rumple can compute on this machine, and test the GPU against the CPU
#[derive(Debug, Args)]
pub(crate) struct DevicesArguments {}

pub(crate) fn run(common: &Common, _: &DevicesArguments) -> Result<()> {
    let threads = rayon::current_num_threads();
    let adapters = adapters();
    let built = cfg!(feature = "gpu");
    if !common.json {
        print(&listed(threads, &adapters))?;
    }
    let checks = match adapters.is_empty() {
        true => Vec::new(),
        false => check_device(&Compute::gpu(Precision::F32)?)?,
    };
    match common.json {
        true => print_json(&json!({
            "cpu": { "threads": threads, "precisions": ["f64", "f32"] },
            "gpu": { "built_in": built, "adapters": adapters, "precisions": ["f32"], "checks": checks },
        }))?,
        false if checks.is_empty() => {}
        false => {
            let lines: String = checks.iter().map(checked).collect();
            print(&format!(
                "the GPU that --device gpu takes, against the CPU in f64:\n{lines}"
            ))?;
        }
    }
    match checks.iter().find(|check| !check.passed()) {
        None => Ok(()),
        Some(check) => Err(Error::Device(format!(
            "the GPU is off by {:.1e} of the largest number ({}), and {:.0e} is allowed; use --device cpu, or update the driver",
            check.error, check.workload, check.tolerance
        ))),
    }
}

/// The devices in words.
fn listed(threads: usize, adapters: &[Adapter]) -> String {
    let mut text = format!("cpu: {threads} threads, f64 and f32\n");
    if !cfg!(feature = "gpu") {
        text += "gpu: not in this build; build with --features gpu\n";
    } else if adapters.is_empty() {
        text += "gpu: no adapter found; install a Vulkan driver (Debian: mesa-vulkan-drivers has a software one)\n";
    }
    for adapter in adapters {
        let kind = match adapter.software {
            true => ", a processor that stands in for a GPU",
            false => "",
        };
        let [least, most] = adapter.subgroup;
        text += &format!(
            "gpu: {}, f32{kind}\n     buffers up to {} MiB; workgroups of up to {} threads with {} KiB, subgroups of {least} to {most}\n",
            adapter.name,
            adapter.largest_buffer >> 20,
            adapter.threads_a_workgroup,
            adapter.shared_memory >> 10,
        );
    }
    text
}

/// A check in words.
fn checked(check: &DeviceCheck) -> String {
    let verdict = match check.passed() {
        true => "agrees to",
        false => "DOES NOT AGREE, off by",
    };
    format!(
        "     {}: {verdict} {:.1e}; {:.1} ms, the first time {:.0} ms (CPU: {:.1} ms)\n",
        check.workload,
        check.error,
        1e3 * check.seconds,
        1e3 * check.first_seconds,
        1e3 * check.cpu_seconds,
    )
}
