# SPDX-License-Identifier: Apache-2.0
"""Pictures by gnuplot, and pages by Jinja2: chorale-plot, and what draws for the tools that are written in Python."""
