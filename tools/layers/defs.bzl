"""A library that only tests of other layers may import."""

load("@rules_go//go:def.bzl", "GoArchive", "GoInfo")

def _for_tests_impl(ctx):
    library = ctx.attr.library
    return [
        library[DefaultInfo],
        library[GoArchive],
        library[GoInfo],
    ]

_for_tests = rule(
    implementation = _for_tests_impl,
    attrs = {"library": attr.label(
        mandatory = True,
        providers = [GoArchive, GoInfo],
    )},
)

def for_tests(name, library, visibility):
    """The library once more, `testonly`.

    A rule and not an alias, because Bazel looks through an alias for what is
    behind it and does not ask whether the alias is `testonly`.

    Args:
      name: target name
      library: go_library
      visibility: layers whose tests may import it
    """
    _for_tests(
        name = name,
        testonly = True,
        library = library,
        visibility = visibility,
    )
