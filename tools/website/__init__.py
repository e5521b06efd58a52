# SPDX-License-Identifier: Apache-2.0
"""What `tools/docs` adds to the pages that mkdocs and Doxygen make: their looks, and the search."""
