# SPDX-License-Identifier: Apache-2.0
"""Pictures by gnuplot and pages by Jinja2: chorale-plot, and the drawing for tools written in Python."""
