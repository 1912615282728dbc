//! The demo cluster's program. The library contains and documents everything that it does.

fn main() -> std::process::ExitCode {
    kubechurn_cluster::main()
}
