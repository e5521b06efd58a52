# SPDX-License-Identifier: Apache-2.0
"""What `tools/docs` adds to the pages of mkdocs and Doxygen: styles and the search."""
