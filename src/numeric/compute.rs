//! Where and how precisely tensors are computed.

use burn::tensor::{DType, Device, Int, Tensor, TensorCreationOptions, TensorData};

use crate::error::{Error, Result};

/// Floating point precision of a run, chosen at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// 64 bit, CPU only.
    F64,
    /// 32 bit, every device.
    F32,
}

impl Precision {
    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F64 => "f64",
            Precision::F32 => "f32",
        }
    }
}

/// A device and a precision: everything needed to make a tensor.
#[derive(Debug, Clone)]
pub struct Compute {
    device: Device,
    precision: Precision,
}

impl Compute {
    /// The CPU (burn's Flex backend).
    pub fn cpu(precision: Precision) -> Self {
        Compute {
            device: Device::flex(),
            precision,
        }
    }

    /// The GPU that wgpu prefers for speed, in 32 bit.
    #[cfg(feature = "gpu")]
    pub fn gpu(precision: Precision) -> Result<Self> {
        if precision == Precision::F64 {
            return Err(Error::Device(
                "the GPU computes in f32 only; add --precision f32 or use --device cpu".into(),
            ));
        }
        // wgpu panics when there is no adapter: ask before choosing one.
        if Device::enumerate(burn::tensor::DeviceType::Wgpu)
            .into_vec()
            .is_empty()
        {
            return Err(Error::Device(
                "no GPU adapter found; install a Vulkan driver (Debian: mesa-vulkan-drivers has a \
                 software one) or use --device cpu"
                    .into(),
            ));
        }
        Ok(Compute {
            device: Device::wgpu(burn::tensor::DeviceKind::DefaultDevice),
            precision,
        })
    }

    /// This build has no GPU support.
    #[cfg(not(feature = "gpu"))]
    pub fn gpu(_precision: Precision) -> Result<Self> {
        Err(Error::Device(
            "this build has no GPU support; build with `--features gpu` or use --device cpu".into(),
        ))
    }

    /// The same place without a tape.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The precision of every tensor made here.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Size of one number \[bytes\].
    pub fn bytes_per_number(&self) -> usize {
        match self.precision {
            Precision::F64 => 8,
            Precision::F32 => 4,
        }
    }

    /// The same device where single precision will do. It is twice as fast on a CPU.
    pub(crate) fn coarse(&self) -> Self {
        match self.is_cpu() {
            true => Compute::cpu(Precision::F32),
            false => self.clone(),
        }
    }

    /// This device, or where it is a GPU, the CPU in double precision.
    pub(crate) fn fine(&self) -> Self {
        match self.is_cpu() {
            true => self.clone(),
            false => Compute::cpu(Precision::F64),
        }
    }

    /// Whether this is the CPU.
    pub fn is_cpu(&self) -> bool {
        self.device == Device::flex()
    }

    fn options(&self) -> TensorCreationOptions {
        let dtype = match self.precision {
            Precision::F64 => DType::F64,
            Precision::F32 => DType::F32,
        };
        TensorCreationOptions::new(self.device.clone()).with_dtype(dtype)
    }

    /// A tensor of the given shape from row-major values.
    pub fn tensor<const D: usize>(&self, values: &[f64], shape: [usize; D]) -> Tensor<D> {
        let data = match self.precision {
            Precision::F64 => TensorData::new(values.to_vec(), shape),
            Precision::F32 => TensorData::new(
                values.iter().map(|&v| v as f32).collect::<Vec<f32>>(),
                shape,
            ),
        };
        Tensor::from_data(data, self.options())
    }

    /// Indices as a tensor: 64 bit on the CPU, which reads them without a copy, 32 bit elsewhere.
    pub fn indices(&self, values: &[usize]) -> Tensor<1, Int> {
        let shape = [values.len()];
        let (data, dtype) = if self.is_cpu() {
            let values: Vec<i64> = values.iter().map(|&v| v as i64).collect();
            (TensorData::new(values, shape), DType::I64)
        } else {
            let values: Vec<i32> = values.iter().map(|&v| v as i32).collect();
            (TensorData::new(values, shape), DType::I32)
        };
        let options = TensorCreationOptions::new(self.device.clone()).with_dtype(dtype);
        Tensor::from_data(data, options)
    }

    /// All zeros.
    pub fn zeros<const D: usize>(&self, shape: [usize; D]) -> Tensor<D> {
        Tensor::zeros(shape, self.options())
    }

    /// Row-major values of a tensor, as f64.
    pub fn values<const D: usize>(&self, tensor: Tensor<D>) -> Result<Vec<f64>> {
        tensor
            .try_into_vec_as::<f64>()
            .map_err(|e| match self.is_cpu() {
                true => Error::Device(format!("reading a tensor back failed: {e:?}")),
                false => Error::Device(format!(
                    "the GPU gave no result ({}); it may be lost or out of memory; --device cpu does the same",
                    innermost(&format!("{e:?}"))
                )),
            })
    }

    /// What this is, in words: for journals and reports.
    pub fn describe(&self) -> String {
        let place = if self.is_cpu() { "cpu" } else { "gpu" };
        format!("{place}, {}", self.precision.name())
    }
}

/// The innermost cause in the text of an error of CubeCL, which has a line for each of its causes.
fn innermost(text: &str) -> &str {
    let lines = text.lines().map(str::trim);
    let causes = lines.clone().zip(lines.skip(1));
    let last = causes.filter(|(line, _)| *line == "Caused by:").last();
    last.map_or(text, |(_, cause)| cause)
}

#[cfg(test)]
mod tests {
    use super::innermost;

    #[test]
    fn the_innermost_cause_is_told() {
        let nested = "A failure\nCaused by:\n  An IO error happened\nCaused by:\n  can't allocate\nNo backtrace";
        assert_eq!(innermost(nested), "can't allocate");
        assert_eq!(innermost("plain"), "plain");
    }
}
