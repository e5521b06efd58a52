# SPDX-License-Identifier: Apache-2.0
"""The parts of tools/measure: a module for each subcommand, and common modules."""
