"""The Rust compiler that this machine has, as the repository @rust_local."""

_DEFS = """\
\"\"\"What tools/rust/extension.bzl found on this machine.\"\"\"

RUSTC = {rustc}
VERSION = {version}
WASM_LINKER = {linker}
HAS_WASIP1 = {has_wasip1}
"""

_BUILD = """\
exports_files(
    ["rustc_version.txt"],
    visibility = ["//visibility:public"],
)
"""

def _run(rctx, *command):
    result = rctx.execute(command)
    return result.stdout.strip() if result.return_code == 0 else ""

def _rust_local_repo_impl(rctx):
    rustc = rctx.getenv("RUSTC") or str(rctx.which("rustc") or "")
    version = ""
    linker = ""
    has_wasip1 = False
    if rustc:
        sysroot = _run(rctx, rustc, "--print", "sysroot")

        # rustup's rustc is a proxy that wants a home folder, which an action
        # has not. The compiler behind it does not.
        if rctx.path(sysroot + "/bin/rustc").exists:
            rustc = sysroot + "/bin/rustc"
        version = _run(rctx, rustc, "--version")
        libdir = _run(rctx, rustc, "--target=wasm32-wasip1", "--print", "target-libdir")
        has_wasip1 = libdir != "" and rctx.path(libdir).exists

        # The target's own linker, rust-lld, comes with rustup and not with a
        # distribution's package.
        own = _run(rctx, rustc, "--print", "target-libdir").removesuffix("/lib") + "/bin/rust-lld"
        if not rctx.path(own).exists:
            linker = str(rctx.which("wasm-ld") or "")
            has_wasip1 = has_wasip1 and linker != ""
    rctx.file("BUILD.bazel", _BUILD)
    rctx.file("rustc_version.txt", version + "\n")
    rctx.file("defs.bzl", _DEFS.format(
        rustc = repr(rustc),
        version = repr(version),
        linker = repr(linker),
        has_wasip1 = has_wasip1,
    ))

# Local: looked for anew by each Bazel server, since nothing tells Bazel that
# another rustc was installed.
_rust_local_repo = repository_rule(
    implementation = _rust_local_repo_impl,
    environ = ["PATH"],
    local = True,
)

def _rust_local_impl(_mctx):
    _rust_local_repo(name = "rust_local")

rust_local = module_extension(implementation = _rust_local_impl)
