//! The demo cluster's program. Everything it does is in the library, which says what that is.

fn main() -> std::process::ExitCode {
    kubechurn_cluster::main()
}
