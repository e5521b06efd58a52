# SPDX-License-Identifier: Apache-2.0
"""The reference pages of the site, by Doxygen, and the check that every public name has a description."""
