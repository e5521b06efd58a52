#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the C++ source that tells layouts of shared memory apart: by the text of the headers that say what lies where.

Usage: layout_version.py OUTPUT HEADER...
"""
import pathlib
import sys
import zlib

output, *headers = sys.argv[1:]
text = b"".join(pathlib.Path(header).read_bytes() for header in headers)
pathlib.Path(output).write_text(f"""// Made by layout_version.py.
#include "soft/layout.hpp"

const std::uint32_t chorale::soft::layout_version =
    {zlib.crc32(text):#x} ^ static_cast<std::uint32_t>(sizeof(segment) ^ sizeof(registry) << 8);
""", encoding="utf-8")
