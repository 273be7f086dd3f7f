"""WebAssembly: programs of the CPU for web browsers, and the calls by which they draw a tile."""
