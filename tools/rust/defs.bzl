"""Rust for guests: a crate, a WASM module made of crates, a test of a crate.

They call rustc and no cargo: nothing here has a dependency outside the tree.
A crate is compiled twice, for wasm32-wasip1 and for the build machine, but only
where a target asks for it.
"""

load("@rust_local//:defs.bzl", "HAS_WASIP1", "RUSTC", "VERSION", "WASM_LINKER")

_EDITION = "2021"

_Crate = provider(
    doc = "A crate, compiled for each of the two targets.",
    fields = {
        "name": "crate name, as `use` says it",
        "wasm": "its rlib for wasm32-wasip1",
        "native": "its rlib for the build machine",
        "wasm_all": "depset of that and all rlibs below it",
        "native_all": "depset of that and all rlibs below it",
    },
)

_NO_RUSTC = "no rustc on this machine; get one from https://rustup.rs, then: rustup target add wasm32-wasip1"
_NO_WASIP1 = "the rustc of this machine (%s) cannot make wasm32-wasip1; run: rustup target add wasm32-wasip1" % VERSION

def _root(ctx):
    """The file that names the crate's modules: lib.rs or main.rs, or the only one."""
    if len(ctx.files.srcs) == 1:
        return ctx.files.srcs[0]
    for src in ctx.files.srcs:
        if src.basename in ["lib.rs", "main.rs"]:
            return src
    fail("%s: several sources, none of them lib.rs" % ctx.label)

def _rustc(ctx, *, out, wasm, flags):
    problem = None
    if not RUSTC:
        problem = _NO_RUSTC
    elif wasm and not HAS_WASIP1:
        problem = _NO_WASIP1
    if problem:
        # When it runs and not before, so that all that needs no Rust still builds.
        ctx.actions.run_shell(
            outputs = [out],
            command = 'echo "%s: $1" >&2; exit 1' % ctx.label,
            arguments = [problem],
            mnemonic = "Rustc",
        )
        return
    args = ctx.actions.args()
    args.add("--edition=" + _EDITION)
    if wasm:
        args.add("--target=wasm32-wasip1")
        args.add("-Cpanic=abort")
    args.add_all(flags)
    args.add_all(ctx.attr.rustc_flags)
    args.add("-o", out)
    crates = [dep[_Crate] for dep in ctx.attr.deps]
    for crate in crates:
        args.add(crate.wasm if wasm else crate.native, format = "--extern=" + crate.name + "=%s")
    below = depset(transitive = [c.wasm_all if wasm else c.native_all for c in crates])
    args.add_all(below, format_each = "-Ldependency=%s", map_each = _dirname, uniquify = True)
    args.add(_root(ctx))
    ctx.actions.run_shell(
        # No path of this machine gets into the output, so the same sources give
        # the same bytes wherever the checkout lies.
        command = 'exec "%s" --remap-path-prefix="$PWD"=. "$@"' % RUSTC,
        arguments = [args],
        inputs = depset(ctx.files.srcs + ctx.files.compile_data, transitive = [below]),
        outputs = [out],
        # The compiler is not an input, so its version has to be in the key.
        env = {"LOLA_RUSTC_VERSION": VERSION},
        use_default_shell_env = True,
        execution_requirements = {"no-remote-exec": "1"},
        mnemonic = "Rustc",
        progress_message = "Compiling Rust %{output}",
    )

def _dirname(file):
    return file.dirname

# One unit and optimisation across crates: smaller modules, and the order of
# parallel units cannot show in the bytes.
_FOR_SIZE = ["-Copt-level=s", "-Ccodegen-units=1"]

def _library_impl(ctx):
    name = ctx.attr.crate_name or ctx.label.name
    made = {}
    for target in ["wasm", "native"]:
        out = ctx.actions.declare_file("%s/lib%s.rlib" % (target, name))
        _rustc(ctx, out = out, wasm = target == "wasm", flags = [
            "--crate-type=rlib",
            "--crate-name=" + name,
        ] + _FOR_SIZE)
        made[target] = out
    below = [dep[_Crate] for dep in ctx.attr.deps]
    return [
        DefaultInfo(files = depset([made["native"]])),
        _Crate(
            name = name,
            wasm = made["wasm"],
            native = made["native"],
            wasm_all = depset([made["wasm"]], transitive = [c.wasm_all for c in below]),
            native_all = depset([made["native"]], transitive = [c.native_all for c in below]),
        ),
    ]

def _wasm_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".wasm")
    flags = [
        "--crate-type=cdylib",
        "--crate-name=" + ctx.label.name.replace("-", "_"),
        "-Clto=fat",
        "-Cstrip=symbols",
    ]
    if WASM_LINKER:
        flags.append("-Clinker=" + WASM_LINKER)
    _rustc(ctx, out = out, wasm = True, flags = flags + _FOR_SIZE)
    return [DefaultInfo(
        files = depset([out]),
        runfiles = ctx.runfiles([out]),
    )]

def _test_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name)
    _rustc(ctx, out = out, wasm = False, flags = [
        "--test",
        "--crate-name=" + ctx.label.name.replace("-", "_"),
    ])
    env = {
        name: ctx.expand_location(value, ctx.attr.data)
        for name, value in ctx.attr.env.items()
    }
    return [
        DefaultInfo(executable = out, runfiles = ctx.runfiles(ctx.files.data)),
        RunEnvironmentInfo(environment = env),
    ]

_ATTRS = {
    "srcs": attr.label_list(allow_files = [".rs"], mandatory = True),
    "deps": attr.label_list(providers = [_Crate]),
    "compile_data": attr.label_list(
        allow_files = True,
        doc = "Files that include_str! and its kin name.",
    ),
    "rustc_flags": attr.string_list(),
}

rust_library = rule(
    doc = "A crate that others link.",
    implementation = _library_impl,
    attrs = _ATTRS | {"crate_name": attr.string(doc = "Default: the target's name.")},
    provides = [_Crate],
)

rust_wasm = rule(
    doc = "NAME.wasm for wasm32-wasip1, without _start: the reactor form of the guest ABI.",
    implementation = _wasm_impl,
    attrs = _ATTRS,
)

_rust_test = rule(
    implementation = _test_impl,
    attrs = _ATTRS | {
        "data": attr.label_list(allow_files = True),
        "env": attr.string_dict(),
    },
    test = True,
)

def rust_test(name, size = "small", tags = [], target_compatible_with = [], **kwargs):
    """The #[test] functions of srcs, run on the build machine from the root of the runfiles."""
    _rust_test(
        name = name,
        size = size,
        tags = tags + ["no-remote-exec"],
        target_compatible_with = target_compatible_with + ["//platforms:native"],
        **kwargs
    )
