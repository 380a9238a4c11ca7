//! The `rumple` program: see [`rumple::cli`].

fn main() -> std::process::ExitCode {
    rumple::cli::main()
}
