"""Stand-in for the provider of package_metadata."""

PackageMetadataInfo = provider(
    doc = "What is known of a package: here, nothing.",
    fields = {
        "attributes": "always empty",
        "metadata": "always None",
        "purl": "package URL",
    },
)
