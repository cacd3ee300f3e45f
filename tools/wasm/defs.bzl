"""Go for guests: a WASM module from a package main."""

load("@rules_go//go:def.bzl", "go_binary")

def go_wasm(name, gc_linkopts = [], **kwargs):
    """NAME.wasm for wasip1 in the reactor form, without symbols.

    gazelle writes it in place of go_binary where a BUILD file says
    `# gazelle:map_kind go_binary go_wasm //tools/wasm:defs.bzl`.

    The module lies in a folder of its own configuration: reach it as `data`
    with $(rlocationpath), or in runfiles as _main/PACKAGE/NAME.wasm.
    """
    go_binary(
        name = name,
        out = name + ".wasm",
        gc_linkopts = gc_linkopts + ["-s", "-w"],
        goarch = "wasm",
        goos = "wasip1",
        linkmode = "c-shared",
        **kwargs
    )
