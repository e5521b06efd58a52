#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The style checks that compile must detect violations. Usage: compiled_self_test.py BUILD, whose compiler they use."""
import pathlib
import shutil
import sys
import unittest

import anyones_program
import headers
import syntax
from made_up_tree import Tree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import project_compiler  # noqa: E402


class Headers(Tree):
    """A header that needs another one first, one without a guard, and one with a warning."""

    def test_rules(self):
        self.write("include/good.hpp", "#pragma once\n#include <string>\ninline std::string s() { return {}; }\n")
        self.write("include/needs.hpp", "#pragma once\nstd::string t();\n")
        self.write("include/twice.hpp", "struct twice {};\n")
        self.write("include/warns.hpp", "#pragma once\ninline int f(int unused) { return 0; }\n")
        command, _ = project_compiler.compile_command(BUILD)
        failed, total = headers.failures(self.root / "include", [*command, "-I", str(self.root / "include")], BUILD)
        self.assertEqual(total, 4)
        self.assertEqual([header for header, _ in failed], ["needs.hpp", "twice.hpp", "warns.hpp"])

    def test_who_includes_a_header_does_not_help_it(self):
        """Although headers of a chain are compiled together: `low` lacks what `high` includes, and `top` lacks what no header includes."""
        self.write("include/base.hpp", "#pragma once\n#include <string>\nstd::string s();\n")
        self.write("include/low.hpp", "#pragma once\n#include <base.hpp>\nstd::vector<int> v();\n")
        self.write("include/high.hpp", "#pragma once\n#include <vector>\n#include <low.hpp>\nstd::vector<int> w();\n")
        self.write("include/top.hpp", "#pragma once\n#include <high.hpp>\nstd::map<int, int> m();\n")
        command, _ = project_compiler.compile_command(BUILD)
        found = headers.chains(headers.closures(self.root / "include"))
        self.assertEqual(found, [["base.hpp", "low.hpp", "high.hpp", "top.hpp"]])
        failed, total = headers.failures(self.root / "include", [*command, "-I", str(self.root / "include")], BUILD)
        self.assertEqual(total, 4)
        self.assertEqual([header for header, _ in failed], ["low.hpp", "top.hpp"])

    def test_a_precompiled_header_helps_only_who_includes_it(self):
        """`base` is precompiled for many headers, one of which lacks what another includes; `other` lacks what `base` includes."""
        self.write("include/base.hpp", "#pragma once\n#include <string>\nstd::string s();\n")
        self.write("include/other.hpp", "#pragma once\nstd::string t();\n")
        many = [f"many{i}.hpp" for i in range(headers.FOR_AT_LEAST)]
        for i, name in enumerate(many):
            need = "#include <vector>\n" if i == 1 else ""
            self.write(f"include/{name}", f"#pragma once\n#include <base.hpp>\n{need}std::{'vector<int>' if i < 2 else 'string'} f{i}();\n")
        closure = headers.closures(self.root / "include")
        bases = [base for base, _ in headers.groups(closure)]
        self.assertEqual(bases, ["base.hpp", None])
        self.assertEqual(sorted(name for _, members in headers.groups(closure) for name in members), sorted(closure))
        command, _ = project_compiler.compile_command(BUILD)
        failed, _ = headers.failures(self.root / "include", [*command, "-I", str(self.root / "include")], BUILD)
        self.assertEqual([header for header, _ in failed], ["many0.hpp", "other.hpp"])

    def test_chains(self):
        """Of two headers that include the same one, the second begins a new chain; headers in a cycle are compiled, too."""
        closure = {"a": set(), "b": {"a"}, "c": {"a"}, "d": {"a", "b"}, "e": {"f"}, "f": {"e"}}
        found = headers.chains(closure)
        self.assertEqual(sorted(name for chain in found for name in chain), sorted(closure))
        self.assertEqual(len(found), 4)
        self.assertTrue(all(before in closure[after] for chain in found for before, after in zip(chain, chain[1:])))


class AnyonesProgram(Tree):
    """Headers that use names which a program may have."""

    def said(self, content):
        self.write("include/own.hpp", "#pragma once\n#include <vector>\n" + content)
        command, _ = project_compiler.compile_command(BUILD)
        return anyones_program.complaint(self.root / "include", [*command, "-I", str(self.root / "include")], BUILD, "#include <own.hpp>\n")

    def test_macros(self):
        self.assertEqual(self.said("template <class Element> Element one() { return Element(1); }\n"), "")
        for name in "T", "I", "None", "B0":
            self.assertIn(name, self.said(f"template <class {name}> int of() {{ return 1; }}\n"))

    def test_debug_mode(self):
        self.assertIn("plain", self.said("static_assert(sizeof(std::vector<int>) == 3 * sizeof(void*), \"plain\");\n"))

    @unittest.skipIf(shutil.which("clang++") is None, "clang is not installed (tools/install-dependencies --ci)")
    def test_calls(self):
        self.write("include/own.hpp", "#pragma once\nnamespace chorale {\ntemplate <class Any> void from(Any&&) {}\n"
                   "template <class Any>\nvoid a(Any&& any) {\n  chorale::from(any);\n}\n"
                   "template <class Any>\nvoid b(Any&& any) {\n  from(any);\n}\n}\n")
        include = self.root / "include"
        found = anyones_program.unqualified(include, anyones_program.tree_of("clang++", include, self.root))
        self.assertEqual([text.split(": qualify")[0] for text in found], [f"{include}/own.hpp:10: from"])
        self.write("include/own.hpp", "#pragma once\nint = 1;\n")
        self.assertEqual(len(anyones_program.unqualified(include, anyones_program.tree_of("clang++", include, self.root))), 1)


class Command(unittest.TestCase):
    """The parts of a compile command that are kept."""

    def test_strip(self):
        words = "ccache g++ -Ia -Wall -MD -MQ x.o -MF x.d -o x.o -c ../x.cpp".split()
        self.assertEqual(project_compiler.strip(words, "../x.cpp"), ["g++", "-Ia", "-Wall"])

    def test_unknown_source(self):
        with self.assertRaises(LookupError):
            project_compiler.compile_command(BUILD, "lib/none.cpp")


class Syntax(Tree):
    """A build of three files, each in two targets: a good one, a bad one, and a bad one that one target has already built."""

    def test_only_what_is_not_built_is_compiled(self):
        command, _ = project_compiler.compile_command(BUILD)
        entries = []
        for name, content in ("good", "int x;\n"), ("bad", "int x = ;\n"), ("built", "int x = ;\n"):
            self.write(name + ".cpp", content)
            entries += [{"directory": str(self.root), "file": name + ".cpp", "output": f"{name}{target}.o",
                         "command": f"{command[0]} -o {name}{target}.o -c {name}.cpp"} for target in ("", "_again")]
        self.write("built.o")
        left = syntax.not_built(entries)
        self.assertEqual([entry["file"] for entry in left], ["good.cpp", "bad.cpp"])
        self.assertEqual([syntax.check(entry)[0] != 0 for entry in left], [False, True])
        self.assertIn("error", syntax.check(left[1])[1])

    def test_only_what_has_changed_is_compiled(self):
        """Three sources compiled together, of which two have changed, and two that are not built, of which one has a header that has."""
        self.write("build/all-unity0.cpp", "#include <../little.cpp>\n#include <../unchanged.cpp>\n#include <../much.cpp>\n")
        self.write("build/all.o")
        self.write("include/public.hpp")
        self.write("tests/own.hpp")
        self.write("tests/user.cpp", '#include "own.hpp"\n')
        self.write("tests/other.cpp", "#include <public.hpp>\n")
        entries = [{"directory": str(self.root / "build"), "file": file, "output": output, "command": f"g++ -c {file}"}
                   for file, output in (("all-unity0.cpp", "all.o"), ("../tests/user.cpp", "user.o"), ("../tests/other.cpp", "other.o"))]
        lines = {"little.cpp": 1, "much.cpp": 3, "tests/own.hpp": 2, "include/public.hpp": 4}
        left = syntax.touched(entries, {pathlib.Path(name): number for name, number in lines.items()}, self.root)
        self.assertEqual([entry["file"] for entry in left], ["../much.cpp", "../tests/user.cpp", "../little.cpp"])


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main(verbosity=2)
