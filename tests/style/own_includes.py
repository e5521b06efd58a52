#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that sources include what they name, directly or through other headers of the tree. Usage: own_includes.py ROOT

Applies to sources with precompiled headers (PRECOMPILED), which hide a missing #include from the compiler. Names of the standard
library, fmt and Catch2 are looked up in a table (NAMES); for Chorale's own, `room::name` needs room/name.hpp if there is such a header.
Public headers are compiled alone instead (headers.py).

Prints each name whose header is missing as `file:line: name: header`; exit status 1 if there is one.
"""
import re

from tree import closure, includes, run, sources

PRECOMPILED = ("lib/precompiled/library.hpp", "tests/support/precompiled/cases.hpp", "tests/support/precompiled/collectives.hpp")
NAMES = {
    "algorithm": r"std::(ranges::)?(sort|stable_sort|find_if|any_of|all_of|none_of|max_element|min_element|clamp|count_if|shuffle)\b",
    "array": r"std::array<",
    "atomic": r"std::(atomic|memory_order)",
    "catch2/catch.hpp": r"^(TEMPLATE_)?TEST_CASE\(|^\s+(REQUIRE|CHECK)\(",
    "chrono": r"std::chrono::",
    "condition_variable": r"std::condition_variable",
    "coroutine": r"std::(coroutine_handle|suspend_always|suspend_never)",
    "cstring": r"std::(memcpy|memmove|memset|memcmp|strlen|strcmp|strerror)\b",
    "deque": r"std::deque<",
    "fmt/format.h": r"\bfmt::format\(",
    "functional": r"std::(function<|reference_wrapper|plus<|hash<)",
    "map": r"std::(multi)?map<",
    "memory": r"std::(unique_ptr|shared_ptr|make_unique|make_shared|weak_ptr)\b",
    "mutex": r"std::(mutex|lock_guard|unique_lock|scoped_lock|once_flag|call_once|recursive_mutex)\b",
    "optional": r"std::(optional<|nullopt)",
    "random": r"std::(mt19937|uniform_int_distribution|uniform_real_distribution)",
    "span": r"std::span<",
    "string": r"std::(string\b|to_string)",
    "string_view": r"std::string_view",
    "thread": r"std::(thread\b|this_thread)",
    "vector": r"std::vector<",
}
PATTERNS = {header: re.compile(pattern) for header, pattern in NAMES.items()}
# Other headers include parts of these, so that names prove nothing.
EVERYWHERE = {"cstdint", "utility"}
LITERAL = re.compile(r'"([^"\\]|\\.)*"')
# For `a::b::c`, both pairs.
QUALIFIED = re.compile(r"\b(\w+)::(?=(\w+))")
FOLDERS = ("lib", "tests/fake", "tests/inprocess", "tests/misuse", "tests/multirank", "tests/protocols", "tests/support", "tests/unit",
           "tests/verbs")


def rooms(root):
    """{(room, name): header} of the public headers, by their last folder and name, unless ambiguous or the name of a room."""
    found = {}
    for path in sorted((root / "include").rglob("*.hpp")):
        if path.with_suffix("").is_dir():
            continue
        found.setdefault((path.parent.name, path.stem), set()).add(path.relative_to(root))
    return {key: next(iter(headers)) for key, headers in found.items() if len(headers) == 1}


def missing(root, file, own):
    """(line number, name, header) of each name whose header a file does not include, once per header."""
    reached = closure(root, [file])
    foreign = {name for one in reached for _, name, _ in includes(root / one)}
    told = set()
    for number, line in enumerate((root / file).read_text(encoding="utf-8").splitlines(), 1):
        code = LITERAL.sub('""', line).split("//")[0]
        if code.lstrip().startswith("#"):
            continue
        for header, pattern in PATTERNS.items():
            found = pattern.search(code)
            if found and header not in foreign and header not in told:
                told.add(header)
                yield number, found.group(0).strip(), header
        for found in QUALIFIED.finditer(code):
            header = own.get(found.groups())
            if header and header not in reached and header not in told:
                told.add(header)
                yield number, "::".join(found.groups()), header


def unknown(root):
    """Precompiled headers that the table lacks."""
    for file in PRECOMPILED:
        if (root / file).is_file():
            for number, name, quoted in includes(root / file):
                if not quoted and not name.startswith("chorale/") and name not in {*NAMES, *EVERYWHERE}:
                    yield f"{file}:{number}: {name}: has no line in NAMES"


def checked(root):
    return [file for file in sources(root, *FOLDERS) if "precompiled" not in file.parts]


def offences(root):
    """Every name whose header is not included, as lines of text."""
    own = rooms(root)
    found = [f"{file}:{number}: {name}: include {header}"
             for file in checked(root) for number, name, header in missing(root, file, own)]
    return [*unknown(root), *found]


if __name__ == "__main__":
    run(offences, checked, "files")
