//! `rumple devices`

use clap::Args;
use serde_json::json;

use super::{Common, print, print_json};
use crate::{error::Result, numeric::gpu_names};

/// List where Rumple can compute on this machine
#[derive(Debug, Args)]
pub(crate) struct DevicesArguments {}

pub(crate) fn run(common: &Common, _: &DevicesArguments) -> Result<()> {
    let threads = rayon::current_num_threads();
    let gpus = gpu_names();
    let built = cfg!(feature = "gpu");
    if common.json {
        return print_json(&json!({
            "cpu": { "threads": threads, "precisions": ["f64", "f32"] },
            "gpu": { "built_in": built, "adapters": gpus, "precisions": ["f32"] },
        }));
    }
    let mut text = format!("cpu: {threads} threads, f64 and f32\n");
    text += &match (built, gpus.is_empty()) {
        (false, _) => "gpu: not in this build; build with --features gpu\n".into(),
        (true, true) => "gpu: no adapter found; install a Vulkan driver (Debian: mesa-vulkan-drivers has a software one)\n".into(),
        (true, false) => gpus.iter().map(|name| format!("gpu: {name}, f32\n")).collect::<String>(),
    };
    print(&text)
}
