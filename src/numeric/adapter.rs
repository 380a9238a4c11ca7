//! The GPUs of this machine.

use serde::Serialize;

/// A GPU, or a processor that stands in for one, as wgpu finds it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Adapter {
    /// The name that its driver gives it.
    pub name: String,
    /// Whether a processor does the work.
    pub software: bool,
    /// Largest buffer \[bytes\].
    pub largest_buffer: u64,
    /// Memory that the threads of a workgroup share \[bytes\].
    pub shared_memory: usize,
    /// Most threads of a workgroup.
    pub threads_a_workgroup: u32,
    /// Threads that run in step (a subgroup), at least and at most.
    pub subgroup: [u32; 2],
}

/// The adapters that wgpu finds; none without the feature `gpu`.
#[cfg(not(feature = "gpu"))]
pub(crate) fn adapters() -> Vec<Adapter> {
    Vec::new()
}

/// The adapters that wgpu finds.
#[cfg(feature = "gpu")]
pub(crate) fn adapters() -> Vec<Adapter> {
    use burn::{backend::DispatchDevice, tensor::Device};

    let devices = Device::enumerate(burn::tensor::DeviceType::Wgpu).into_vec();
    let each = devices
        .iter()
        .filter_map(|device| match device.as_dispatch() {
            DispatchDevice::Cube(device) => {
                let client = device.client();
                let properties = client.properties();
                let hardware = &properties.hardware;
                Some(Adapter {
                    name: properties.identity.name.clone(),
                    software: properties.identity.physical.is_none(),
                    largest_buffer: properties.memory.max_page_size,
                    shared_memory: hardware.max_shared_memory_size,
                    threads_a_workgroup: hardware.max_units_per_cube,
                    subgroup: [hardware.plane_size_min, hardware.plane_size_max],
                })
            }
            _ => None,
        });
    each.collect()
}
