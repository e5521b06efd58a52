"""Pictures by gnuplot, for the tools that are written in Python."""
