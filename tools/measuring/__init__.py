"""The parts of tools/measure: a module for each subcommand, and what they share."""
