"""Programs that use the library: benchmarks, the gallery, verification."""
