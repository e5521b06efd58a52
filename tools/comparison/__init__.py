"""The parts of tools/compare."""
