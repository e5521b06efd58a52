"""The parts of tools/measure compare."""
