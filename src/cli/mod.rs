//! The command line: one file a subcommand.

mod bench;
mod cantilever;
mod compare;
mod crease;
mod design;
mod devices;
mod drive;
mod fit;
mod gradcheck;
mod grid;
mod kes;
mod learn;
mod materials;
mod memory;
mod merge;
mod refine;
mod schema;
mod sensitivity;
mod simulate;
mod synthesize;
mod watch;

use std::{
    any::TypeId,
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use serde::Serialize;

use self::watch::{Shown, interrupted, spinner};
use crate::{
    error::{Error, Result, bad_input, readable},
    files::check_folder,
    laboratory::MAX_SECONDS,
    material::{Material, ReadyMaterial, Timer},
    numeric::{Compute, Precision},
    report::{
        document::layout::table,
        plot::{Chart, Format, Picture},
    },
    study::set_command,
};

/// Cloth whose creases depend on how long they were held: laws, laboratory tests, gradients.
#[derive(Debug, Parser)]
#[command(name = "rumple", version, about, arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: RumpleCommand,
}

#[derive(Debug, Subcommand)]
enum RumpleCommand {
    Fit(fit::FitArguments),
    Compare(compare::CompareArguments),
    Profile(refine::ProfileArguments),
    Bootstrap(refine::BootstrapArguments),
    Report(refine::ReportArguments),
    Sensitivity(sensitivity::SensitivityArguments),
    Merge(merge::MergeArguments),
    Design(design::DesignArguments),
    Simulate(simulate::SimulateArguments),
    Learn(learn::LearnArguments),
    Synthesize(synthesize::SynthesizeArguments),
    Materials(materials::MaterialsArguments),
    Drive(drive::DriveArguments),
    Crease(crease::CreaseArguments),
    Kes(kes::KesArguments),
    Cantilever(cantilever::CantileverArguments),
    Gradcheck(gradcheck::GradcheckArguments),
    Devices(devices::DevicesArguments),
    Schema(schema::SchemaArguments),
    Bench(bench::BenchArguments),
}

/// What every command takes.
#[derive(Debug, Args)]
struct Common {
    /// Where to compute
    #[arg(long, global = true, value_enum, default_value = "cpu")]
    device: DeviceName,
    /// Floating point precision [default: f64 on the CPU, f32 on the GPU]
    #[arg(long, global = true, value_enum)]
    precision: Option<PrecisionName>,
    /// Seed of everything random [default: that of the case, else 1]
    #[arg(long, global = true)]
    seed: Option<u64>,
    /// CPU threads [default: all cores]
    #[arg(long, global = true)]
    threads: Option<usize>,
    /// Machine-readable JSON on standard output
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum DeviceName {
    Cpu,
    Gpu,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum PrecisionName {
    F64,
    F32,
}

impl Common {
    fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    fn compute(&self) -> Result<Compute> {
        let precision = match (self.precision, self.device) {
            (Some(PrecisionName::F32), _) | (None, DeviceName::Gpu) => Precision::F32,
            _ => Precision::F64,
        };
        match self.device {
            DeviceName::Cpu => Ok(Compute::cpu(precision)),
            DeviceName::Gpu => Compute::gpu(precision),
        }
    }

    /// Prints a result for a machine or for people.
    fn answer<T: Serialize>(
        &self,
        json: impl FnOnce() -> T,
        text: impl FnOnce() -> String,
    ) -> Result<()> {
        match self.json {
            true => print_json(&json()),
            false => print(&text()),
        }
    }

    fn start_threads(&self) -> Result<()> {
        let Some(threads) = self.threads else {
            return Ok(());
        };
        if !(1..=1024).contains(&threads) {
            return bad_input(format!(
                "--threads {threads} is not a number of threads; give 1 to 1024"
            ));
        }
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|e| Error::Device(format!("--threads {threads}: {e}; try fewer")))
    }
}

/// Exit code after Ctrl-C, as shells have it.
const INTERRUPTED: u8 = 130;

/// Parses the command line, runs the command and turns its result into an exit code.
pub fn main() -> ExitCode {
    #[cfg(all(feature = "gpu", target_os = "linux"))]
    quieten_drivers();
    let mut command = with_negative_numbers(Cli::command());
    let matches = command.try_get_matches_from_mut(std::env::args_os());
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            // Also --help and --version, which are no errors.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of standard output has closed it (`| head`). This is no error.
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(Error::Interrupted(message)) => {
            say(&message);
            ExitCode::from(INTERRUPTED)
        }
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Where there is no desktop session, the Wayland library writes `XDG_RUNTIME_DIR is invalid` whenever wgpu looks for
/// GPUs. With a folder, even one without a socket, it stays silent.
#[cfg(all(feature = "gpu", target_os = "linux"))]
fn quieten_drivers() {
    const FOLDER: &str = "XDG_RUNTIME_DIR";
    if std::env::var_os(FOLDER).is_none() {
        // SAFETY: the program has one thread yet.
        unsafe { std::env::set_var(FOLDER, std::env::temp_dir()) };
    }
}

/// Lets every number be negative, so that our own check says which are allowed.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let numbers = [
        TypeId::of::<f64>(),
        TypeId::of::<usize>(),
        TypeId::of::<u64>(),
    ];
    command
        .mut_args(|arg| {
            let kind = arg.get_value_parser().type_id();
            match numbers.iter().any(|number| kind == *number) {
                true => arg.allow_negative_numbers(true),
                false => arg,
            }
        })
        .mut_subcommands(with_negative_numbers)
}

fn run(cli: &Cli) -> Result<()> {
    set_command(std::env::args());
    memory::keep_freed();
    cli.common.start_threads()?;
    match &cli.command {
        RumpleCommand::Fit(a) => fit::run(&cli.common, a),
        RumpleCommand::Compare(a) => compare::run(&cli.common, a),
        RumpleCommand::Profile(a) => refine::run_profile(&cli.common, a),
        RumpleCommand::Bootstrap(a) => refine::run_bootstrap(&cli.common, a),
        RumpleCommand::Report(a) => refine::run_report(&cli.common, a),
        RumpleCommand::Sensitivity(a) => sensitivity::run(&cli.common, a),
        RumpleCommand::Merge(a) => merge::run(&cli.common, a),
        RumpleCommand::Design(a) => design::run(&cli.common, a),
        RumpleCommand::Simulate(a) => simulate::run(&cli.common, a),
        RumpleCommand::Learn(a) => learn::run(&cli.common, a),
        RumpleCommand::Synthesize(a) => synthesize::run(&cli.common, a),
        RumpleCommand::Materials(a) => materials::run(&cli.common, a),
        RumpleCommand::Drive(a) => drive::run(&cli.common, a),
        RumpleCommand::Crease(a) => crease::run(&cli.common, a),
        RumpleCommand::Kes(a) => kes::run(&cli.common, a),
        RumpleCommand::Cantilever(a) => cantilever::run(&cli.common, a),
        RumpleCommand::Gradcheck(a) => gradcheck::run(&cli.common, a),
        RumpleCommand::Devices(a) => devices::run(&cli.common, a),
        RumpleCommand::Schema(a) => schema::run(&cli.common, a),
        RumpleCommand::Bench(a) => bench::run(&cli.common, a),
    }
}

/// Which material, and how its law is taken.
#[derive(Debug, Args)]
struct MaterialArguments {
    /// A material file or the name of a preset (`rumple materials`)
    #[arg(long, value_name = "FILE|PRESET")]
    material: String,
    /// hard, smoothstep[:width], sigmoid[:gain], sigmoid-one-sided[:gain] or straight-through[:width];
    /// width in units of strain, gain in their inverse
    #[arg(long, default_value = "hard")]
    gate: String,
    /// When the flow timer runs
    #[arg(long, value_enum, default_value = "authors")]
    timer: TimerName,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum TimerName {
    /// Always; a held fold creeps (the authors' program)
    Authors,
    /// Only while yielding; a held fold stalls (the printed equations)
    Printed,
}

/// [`MaterialArguments`] for a test that needs curvature.
#[derive(Debug, Args)]
struct CurvatureArguments {
    #[command(flatten)]
    material: MaterialArguments,
    /// Mean triangle height H̄ of the mesh that a material's angles belong to: κ = θ/H̄
    #[arg(long, value_name = "MM")]
    hinge_height_mm: Option<f64>,
}

impl MaterialArguments {
    /// Loads the material as it is, in its own measure of strain.
    fn prepare(&self) -> Result<ReadyMaterial> {
        self.ready(Material::find(&self.material)?)
    }

    fn ready(&self, material: Material) -> Result<ReadyMaterial> {
        let timer = match self.timer {
            TimerName::Authors => Timer::Authors,
            TimerName::Printed => Timer::Printed,
        };
        ReadyMaterial::new(material, timer, &self.gate)
    }
}

impl CurvatureArguments {
    /// Loads the material, converting angles.
    fn prepare(&self) -> Result<ReadyMaterial> {
        let material = Material::find(&self.material.material)?;
        self.material
            .ready(material.in_curvature(self.hinge_height_mm)?)
    }
}

/// Writes text to standard output.
fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|source| Error::Io {
            path: "standard output".into(),
            source,
            remedy: "send it somewhere that can be written".into(),
        })
}

/// Writes JSON to standard output, indented.
fn print_json(value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| Error::BadInput(format!("the result cannot be written as JSON: {e}")))?;
    print(&format!("{text}\n"))
}

/// Says something to the person at the terminal; standard output stays clean.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Where a picture goes: the file asked for, else `default` unless the output is for a machine. Refuses
/// a wrong ending or a missing folder before any work is done.
fn plot_path(asked: &Option<PathBuf>, common: &Common, default: &str) -> Result<Option<PathBuf>> {
    let path = match asked {
        Some(path) => Some(path.clone()),
        None => (!common.json).then(|| PathBuf::from(default)),
    };
    if let Some(path) = &path {
        Format::of(path)?;
        check_folder(path)?;
    }
    Ok(path)
}

/// Draws a chart and says where it is.
fn save_plot(chart: Chart, path: &Path) -> Result<()> {
    Picture::from(chart).save(path)?;
    say(&format!("plot: {}", path.display()));
    Ok(())
}

/// Every number of a list option must be in a range.
fn check_list(option: &str, values: &[f64], low: f64, high: f64) -> Result<()> {
    match values.iter().find(|v| !(low..=high).contains(*v)) {
        None => Ok(()),
        Some(v) => bad_input(format!(
            "{option}: {} cannot be used; give numbers from {} to {}, separated by commas",
            readable(*v),
            readable(low),
            readable(high)
        )),
    }
}

/// A whole number, also written like 1e6.
fn count(text: &str) -> std::result::Result<usize, String> {
    let whole = |v: f64| v.fract() == 0.0 && (0.0..1e15).contains(&v);
    match (text.parse::<usize>(), text.parse::<f64>()) {
        (Ok(number), _) => Ok(number),
        (_, Ok(v)) if whole(v) => Ok(v as usize),
        _ => Err("not a whole number".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        with_negative_numbers(Cli::command()).debug_assert();
    }
}
