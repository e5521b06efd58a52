#!/usr/bin/env python3
"""The style checks must see what they are there for: each runs on a small tree that breaks its rules.

Those that compile: compiled_self_test.py.
"""
import unittest

import architecture
import citations
import classes
import clocks
import comments
import descriptors
import foreign
import installed
import layering
import messages
import own_includes
import printing
import references
import text
from made_up_tree import Tree


class Messages(Tree):
    """Bytes of a message are checked where they are used."""

    def test_raw_bytes(self):
        folder = "include/chorale/algorithm/"
        self.write(folder + "transfer.hpp", "const auto b = message.bytes();\n")
        self.write(folder + "scan/chain.hpp", "op.combine(theirs.bytes(), mine);\n// a.bytes()\nop.element_bytes();\n")
        self.write(folder + "scan/transfer.hpp", "f(m->bytes());\n")
        self.assertEqual([line.split(": ")[0] for line in messages.offences(self.root)],
                         [folder + "scan/chain.hpp:1", folder + "scan/transfer.hpp:1"])

    def test_objects(self):
        self.write("include/chorale/core/sendable.hpp", "return std::as_bytes(std::span{&message, 1});\n")
        self.write("lib/transport/terms.cpp", "std::as_bytes(std::span{text});\nstd::as_bytes(std::span{this, 1});\nas_bytes(span{ &x, 1 });\n")
        self.assertEqual([line.split(": ")[0] for line in messages.offences(self.root)],
                         ["lib/transport/terms.cpp:2", "lib/transport/terms.cpp:3"])


class Clocks(Tree):
    """Each way past the clock, what looks like one, and exemptions."""

    PAST = ["auto t = std::chrono::steady_clock::now();", "clock_gettime(CLOCK_MONOTONIC, &t);", "auto t = __rdtsc();",
            "std::this_thread::sleep_for(1ms);", "sched_yield();", "::nanosleep(&nap, nullptr);", "usleep(10);", "sleep(1);",
            "_mm_pause();", "__builtin_ia32_pause();", 'asm volatile("yield");', "changed_.wait_for(lock, 1s, done);",
            "changed->wait_until(lock, end);", "epoll_wait(fd, events, 1, 5);", "#include <poll.h>", "m.try_lock_for(1s);",
            "const auto now = std::time(nullptr);"]
    ALLOWED = ["clock::give_way();  // not sched_yield()", "wait_for(changed, lock, 1s, done);", "cq->poll(room);", "co_yield x;",
               "clock::sleep_for(1ms);", "detector.sleep();", "policy = wait_policy::yield;", "stamp(timestamp);"]

    def test_ways_past_the_clock(self):
        self.write("lib/soft/past.cpp", "\n".join(self.PAST) + "\n")
        self.write("include/chorale/core/allowed.hpp", "\n".join(self.ALLOWED) + "\n")
        self.assertEqual([line.split(": ")[0] for line in clocks.offences(self.root, {})],
                         [f"lib/soft/past.cpp:{number}" for number in range(1, len(self.PAST) + 1)])

    def test_exemptions(self):
        self.write("lib/core/clock.cpp", "sched_yield();\n")
        self.write("lib/core/other.cpp")
        self.assertEqual(clocks.offences(self.root, {"lib/core/clock.cpp": "why"}), [])
        found = clocks.offences(self.root, {"lib/core/clock.cpp": "why", "lib/core/other.cpp": "why"})
        self.assertEqual(len(found), 1, found)
        self.assertIn("lib/core/other.cpp: is exempt", found[0])


class Descriptors(Tree):
    """Openings within and outside of what keeps them off the standard streams."""

    def test_rules(self):
        self.write("lib/soft/bad.cpp", "int a = ::open(path, O_RDONLY);\nint b = pipe2(ends, 0);\nstd::ifstream c(name);\n"
                   "int d = syscall(SYS_pidfd_open, 1, 0);\nauto e = PMIx_Init(&self, nullptr, 0);\n")
        self.write("lib/soft/good.cpp", "int a = detail::above_streams([&] { return open(path, O_RDONLY); });\nport.open(O_RDONLY);\n"
                   "// open(path, O_RDONLY)\nauto b = foreign_call([] { return PMIx_Init(&self, nullptr, 0); });\nvoid channel::accept(int);\n")
        self.assertEqual([line.split(": ")[0] for line in descriptors.offences(self.root, {})],
                         [f"lib/soft/bad.cpp:{number}" for number in range(1, 6)])

    def test_exemptions(self):
        self.write("lib/soft/needs.cpp", "int a = pipe(ends);\n")
        self.write("lib/soft/other.cpp")
        found = descriptors.offences(self.root, {"lib/soft/needs.cpp": "why", "lib/soft/other.cpp": "why"})
        self.assertEqual(len(found), 1, found)
        self.assertIn("lib/soft/other.cpp: is exempt", found[0])

    def test_openings(self):
        self.write("tools/bad.cpp", "std::ifstream a{name};\nint b = ::openat(folder, name, flags);\nint c = open(name, O_RDWR);\n"
                   "auto d = std::fopen(name, \"r\");\nint e = memfd_create(name, 0);\n")
        self.write("lib/good.cpp", "port.open(O_RDONLY);\nauto a = folder->open(name, O_RDWR);\n// open(name, O_RDWR)\nvoid open(int port);\n")
        self.write("lib/core/opener.cpp", "int a = ::open(name, O_RDWR);\n")
        found = descriptors.openings(self.root, {"lib/core/opener.cpp": "why", "lib/core/other.cpp": "why"})
        self.assertEqual([line.split(": ")[0] for line in found], [*(f"tools/bad.cpp:{number}" for number in range(1, 6)), "lib/core/other.cpp"])


class Printing(Tree):
    """Each way to print, what is none, and exemptions."""

    def test_ways(self):
        self.write("lib/transport/good.cpp", 'chorale::say(stderr, "{}", name);\nstd::fputs("\\r", stderr);\n// std::cerr << name;\n'
                   'std::snprintf(text, sizeof text, "%d", 1);\nout.puts(1);\nstatus::print(job);\n')
        self.write("tools/info/bad.cpp", 'fmt::print("{}", name);\nstd::cerr << name;\nfprintf(stderr, "%s", name);\nstd::fputs(name, stderr);\n'
                   'puts(name);\nperror(name);\n')
        self.assertEqual([line.split(": ")[0] for line in printing.offences(self.root, {})],
                         [f"tools/info/bad.cpp:{number}" for number in range(1, 7)])

    def test_exemptions(self):
        self.write("tools/needs.cpp", "puts(name);\n")
        self.write("tools/other.cpp")
        found = printing.offences(self.root, {"tools/needs.cpp": "why", "tools/other.cpp": "why"})
        self.assertEqual(len(found), 1, found)
        self.assertIn("tools/other.cpp: is exempt", found[0])


class Layering(Tree):
    """A good tree, and one offence of each kind."""

    def setUp(self):
        super().setUp()
        self.write("include/chorale/core/error.hpp", "#include <string>\n")
        self.write("include/chorale/verbs/device.hpp",
                   "#include <infiniband/verbs.h>\n#include <chorale/core/error.hpp>\n")
        self.write("include/chorale/transport/concepts.hpp", "#include <chorale/core/error.hpp>\n")
        self.write("include/chorale/transport/rc.hpp",
                   "#include <chorale/transport/concepts.hpp>\n#include <chorale/verbs/device.hpp>\n")
        self.write("include/chorale/algorithm/barrier/ring.hpp", "#include <chorale/transport/concepts.hpp>\n")
        self.write("include/chorale/chorale.hpp",
                   "#include <chorale/algorithm/barrier/ring.hpp>\n#include <chorale/transport/rc.hpp>\n")
        self.write("lib/soft/ring.hpp")
        self.write("lib/soft/ring.cpp", '#include "ring.hpp"\n#include <chorale/verbs/device.hpp>\n')
        self.write("lib/bootstrap/pmix.cpp", "#include <pmix.h>\n")
        self.write("tests/unit/ring.cpp", "#include <chorale/chorale.hpp>\n#include <chorale/verbs/device.hpp>\n")

    def offences(self):
        return sorted(layering.offences(self.root))

    def test_good_tree(self):
        self.assertEqual(self.offences(), [])

    def bad(self, file, content, *expected):
        """Exactly these lines of the file offend, for these reasons."""
        self.write(file, content)
        found = self.offences()
        self.assertEqual(len(found), len(expected), found)
        for line, (number, phrase) in zip(found, expected):
            self.assertTrue(line.startswith(f"{file}:{number}: "), line)
            self.assertIn(phrase, line)

    def test_core_includes_upwards(self):
        self.bad("include/chorale/core/clock.hpp", "#pragma once\n#  include <chorale/verbs/device.hpp>\n",
                 (2, "core may include only core; this is verbs"))

    def test_algorithm_sees_a_transport(self):
        self.write("include/chorale/transport/rc.hpp")
        self.bad("include/chorale/algorithm/barrier/rc_only.hpp", "#include <chorale/transport/rc.hpp>\n",
                 (1, "this is transports"))

    def test_algorithm_reaches_verbs_through_the_concepts(self):
        self.write("include/chorale/transport/concepts.hpp", "#include <chorale/transport/rc.hpp>\n")
        found = self.offences()
        self.assertEqual(len(found), 2, found)
        self.assertIn("include/chorale/algorithm/barrier/ring.hpp: reaches verbs", found[0])
        self.assertIn("concepts may include only concepts, core; this is transports", found[1])

    def test_library_mirrors(self):
        self.bad("lib/verbs/device.cpp", '#include <chorale/transport/rc.hpp>\n#include "../soft/ring.hpp"\n',
                 (1, "this is transport"), (2, "this is soft"))

    def test_lower_layer_includes_the_top(self):
        self.bad("include/chorale/transport/ud.hpp", "\n\n#include <chorale/chorale.hpp>\n", (3, "this is the top"))

    def test_verbs_header_outside_verbs(self):
        self.bad("include/chorale/transport/ud.hpp", "#include <infiniband/verbs.h>\n", (1, "may include it"))
        (self.root / "include/chorale/transport/ud.hpp").unlink()
        self.bad("tests/unit/ring.cpp", "#include <infiniband/verbs.h>\n", (1, "may include it"))

    def test_pmix_header_in_a_public_header(self):
        self.write("include/chorale/core/error.hpp")
        self.bad("include/chorale/bootstrap/pmix.hpp", "#include <pmix.h>\n", (1, "only lib/bootstrap"))

    def test_public_header_includes_a_private_one(self):
        self.write("lib/verbs/text.hpp")
        self.bad("include/chorale/verbs/soft.hpp", '#include "../../../lib/soft/ring.hpp"\n#include "../../../lib/verbs/text.hpp"\n',
                 (1, "private"), (2, "private"))

    def test_unknown_layer(self):
        self.bad("include/chorale/misc/a.hpp", "#include <chorale/core/error.hpp>\n", (1, "misc is unknown"))

    def test_missing_header(self):
        self.bad("include/chorale/core/clock.hpp", "#include <chorale/core/gone.hpp>\n", (1, "no such file"))


class Installed(Tree):
    """A header that users name, one that it includes through another, one that only lib/ includes; a pattern without a header."""

    def test_rules(self):
        self.write("include/chorale/chorale.hpp", "#include <chorale/core/task.hpp>\n")
        self.write("include/chorale/core/task.hpp", "#include <chorale/core/call.hpp>\n")
        self.write("include/chorale/core/call.hpp")
        self.write("include/chorale/core/printable.hpp", "#include <chorale/core/call.hpp>\n")
        self.write("lib/core/config.cpp", "#include <chorale/core/printable.hpp>\n")
        found = installed.offences(self.root)
        self.assertEqual(found[0], "include/chorale/core/printable.hpp: no header that users name includes it: it belongs to lib/core")
        self.assertEqual(len(found), len(installed.USER))
        self.assertIn("tests/style/installed.py: there is no header communicator.hpp", found)


class Classes(Tree):
    """What is a data member, and what only looks like one."""

    SOURCE = '''
    #define NOT_HERE { int x; }
    /// A comment: int not_here;
    template <class T>
    class alignas(64) sample final : public base<T> {
     public:
      static constexpr std::uint64_t mark = std::uint64_t{1} << 63;
      sample(int a, int b) noexcept(true) : a_{a}, pair_(b, "{;"), c_{{1, 2}} { x = y; }
      explicit operator bool() const { return a_ < 3 && b_ > 2; }
      [[nodiscard]] std::map<int, T> get() const noexcept { return {}; }
      virtual void nothing() = 0;
      friend class other;
      using type = std::function<void(int, int)>;
      enum class kind { one, two };
      struct inner {
        int i = 0, j = 0;
        void run();
      };
      requires(sizeof(T) > 1) void only() {}
      template <class U> U made(U u) { struct local { int n; }; return u; }

     private:
      const int a_;                                   // 1
      std::function<void(int, char)> then_;           // 2
      std::array<std::pair<int, int>, 3> c_{{{1, 2}}}; // 3
      int (*function_)(int) = nullptr;                // 4
      mutable std::atomic<bool> d_{false}, e_{true};  // 5, 6
      alignas(64) char letter_ = '{';                 // 7
      struct { int k; } unnamed_;                     // 8
      unsigned bits_ : 3;                             // 9
      [[no_unique_address]] T t_;                     // 10
      decltype(f(1)) g_;                              // 11
      inner* next_ = make(1, 2);                      // 12
    };
    struct outer::peer { int only; };
    enum class colour { red };
    '''

    def test_counts(self):
        self.assertEqual([found[1:] for found in classes.classes(self.SOURCE)],
                         [("sample", 12), ("inner", 2), ("local", 1), ("outer::peer", 1)])

    def test_rule(self):
        self.write("lib/transport/a.hpp", "struct full {" + "int a;" * classes.MOST + "};\n")
        self.write("include/chorale/transport/b.hpp", "\nclass many {" + "int a;" * (classes.MOST + 1) + "};\n")
        self.write("lib/soft/c.hpp", "class elsewhere {" + "int a;" * (classes.MOST + 1) + "};\n")
        found = classes.offences(self.root)
        self.assertEqual(len(found), 1, found)
        self.assertIn("include/chorale/transport/b.hpp:2: many has 16", found[0])


class Comments(Tree):
    """Lines that end too early, and lines that end early for a reason."""

    def test_rules(self):
        long = "/// " + "word " * 19 + "word"
        self.write("lib/core/good.hpp", "\n".join([
            long, "/// goes on here.", "/// A sentence ends.", "/// Another begins.", "///", "/// * an item", "/// * another, with a", "///   figure",
            "int x;  // not a comment's line", "// but this", "int y;", "/// Of calls:", "/// @throws error"]) + "\n")
        self.assertEqual(comments.offences(self.root), [])
        self.write("lib/core/bad.hpp", "\n".join([long, "/// and", "/// goes on.", "", "/// * an item that goes so that", "/// it", "///   needs no", ""]) + "\n")
        self.assertEqual([line.split(": ")[0] for line in comments.offences(self.root)], ["lib/core/bad.hpp:2", "lib/core/bad.hpp:5", "lib/core/bad.hpp:6"])


class References(Tree):
    """Files that are named from the root, by their end, from beside, and by a link; and two that are not there."""

    def test_rules(self):
        self.write("include/chorale/core/clock.hpp")
        self.write("lib/core/clock.cpp")
        self.write("docs/README.md", "`core/clock.hpp`, `lib/core/clock.cpp`, [that](../README.md), `clock::now()`, `x.hpp`, `*.cpp`, <chorale/no.hpp>")
        self.write("include/chorale/core/README.md", "`clock.hpp`, `clock.cpp`")
        self.assertEqual(references.offences(self.root), ["docs/README.md:1: names ../README.md, which is not there"])
        self.write("README.md", "\n`gone.hpp`, `verbs/clock.hpp`\n")
        self.assertEqual(references.offences(self.root), ["README.md:2: names gone.hpp, which is not there",
                                                          "README.md:2: names verbs/clock.hpp, which is not there"])


class Architecture(Tree):
    """A picture that is true, one with too little and too much, and rooms in a circle."""

    NODE = '<g id="n" class="node">\n<title>{}</title>\n'
    EDGE = '<g id="e" class="edge">\n<title>{}&#45;&gt;{}</title>\n'

    def setUp(self):
        super().setUp()
        self.write("include/chorale/core/error.hpp")
        self.write("lib/verbs/device.cpp", "#include <chorale/core/error.hpp>\n")
        self.write("lib/soft/ring.cpp", '#include "../verbs/device.cpp"\n#include <chorale/core/error.hpp>\n')
        self.write("docs/architecture.md", "`core`, `verbs`, `soft`")

    def picture(self, nodes, edges):
        self.write("docs/architecture.svg", "".join([self.NODE.format(node) for node in nodes] +
                                                    [self.EDGE.format(*edge) for edge in edges]))

    def test_true_picture(self):
        self.picture(["core", "verbs", "soft"], [("verbs", "core"), ("soft", "verbs")])
        self.assertEqual(architecture.offences(self.root), [])

    def test_false_picture(self):
        self.picture(["core", "soft", "attic"], [("verbs", "core"), ("soft", "core")])
        found = architecture.offences(self.root)
        for phrase in ("room verbs is missing", "no room attic", "missing: soft -> verbs", "too many: soft -> core"):
            self.assertEqual(sum(phrase in line for line in found), 1, found)

    def test_circle(self):
        self.write("include/chorale/core/error.hpp", "#include <chorale/verbs/text.hpp>\n")
        self.write("include/chorale/verbs/text.hpp")
        self.assertEqual([line.split(":")[0] for line in architecture.offences(self.root)], ["core", "verbs"])

    def test_page(self):
        self.picture(["core", "verbs", "soft"], [("verbs", "core"), ("soft", "verbs")])
        self.write("docs/architecture.md", "`core`, `soft`")
        self.assertEqual(architecture.offences(self.root), ["docs/architecture.md: does not name the room verbs"])


class Text(Tree):
    """Length, marks, READMEs."""

    def test_rules(self):
        self.write("include/chorale/core/a.hpp", "\n" * text.LONGEST)
        self.write("include/chorale/core/README.md", "core\n")
        self.write("include/chorale/chorale.hpp")
        self.write("lib/core/b.hpp")
        self.assertEqual(text.offences(self.root), [])
        self.write("lib/long.cpp", "\n" * (text.LONGEST + 1))
        self.write("lib/mark.cpp", "int x;\n// TO" + "DO: more\n")
        self.write("include/chorale/verbs/b.hpp")
        found = text.offences(self.root)
        self.assertEqual([line.split(": ")[0] for line in found],
                         ["lib/long.cpp:400", "lib/mark.cpp:2", "verbs"])


class Citations(Tree):
    """Citations over line ends, of several places, of figures; those of what is not there."""

    def test_places(self):
        lines = ["/// down (P2 sections 3.1 and 4.1.2: rendezvous). Source: P1", "/// section 5.3, figure 2; P4 §2, §3.",
                 "# P5 figure 6(c) and P2 section 4.2, figures 3 and 4; as P3 figure 6.16. The P4 of 4.7 us."]
        self.assertEqual(list(citations.citations(lines)), [
            (1, "P2", "section", "3.1"), (1, "P2", "section", "4.1.2"), (1, "P1", "section", "5.3"),
            (1, "P1", "figure", "2"), (2, "P4", "section", "2"), (2, "P4", "section", "3"), (3, "P5", "figure", "6"),
            (3, "P2", "section", "4.2"), (3, "P2", "figure", "3"), (3, "P2", "figure", "4"), (3, "P3", "figure", "6.16")])

    def test_rules(self):
        self.write("include/chorale/tree.hpp", "// P2 section 4.1.2.\n// By rendezvous: P2\n// section 4.1.5.\n")
        self.write("docs/papers.md", "P4 sections 2.3, 4.1 and 4.4\nP3 section 6; P5 figure 12\n")
        self.assertEqual([line.split(" (")[0] for line in citations.offences(self.root)],
                         ["include/chorale/tree.hpp:2: P2 has no section 4.1.5", "docs/papers.md:1: P4 has no section 4.4",
                          "docs/papers.md:2: P3 has no section 6", "docs/papers.md:2: P5 has no figure 12"])


class OwnIncludes(Tree):
    """What a precompiled header would hide."""

    def test_rules(self):
        self.write("include/chorale/algorithm/barrier/ring.hpp", "#include <vector>\nnamespace barrier { struct ring; }\n")
        self.write("tests/support/precompiled/cases.hpp", "#include <vector>\n#include <utility>\n#include <valarray>\n")
        self.write("tests/support/ranks.hpp", "#include <chorale/algorithm/barrier/ring.hpp>\nbarrier::ring* r; std::vector<int> v;\n")
        self.write("tests/unit/good_test.cpp", '#include "../support/ranks.hpp"\nbarrier::ring* s; std::vector<int> w;\n')
        self.write("tests/unit/bad_test.cpp", '// std::map<int, int> "barrier::ring"\nauto s = "std::thread";\n'
                   "std::vector<int> w; std::vector<int> x;\nchorale::barrier::ring* r; barrier::unknown* u;\n")
        self.assertEqual(own_includes.offences(self.root),
                         ["tests/support/precompiled/cases.hpp:3: valarray: has no line in NAMES",
                          "tests/unit/bad_test.cpp:3: std::vector<: include vector",
                          "tests/unit/bad_test.cpp:4: barrier::ring: include include/chorale/algorithm/barrier/ring.hpp"])


class Foreign(Tree):
    """Programs and headers of other packages."""

    def test_rules(self):
        self.write("tests/a_test.py", '#!/usr/bin/env python3\nrun(["bash"])\nrun(["cmake"])\nshutil.which("gnuplot")\nsubprocess.run(["/usr/bin/frobnicate"])\n')
        self.write("tests/b_test.py", '# gnuplot-nox, tools/install-dependencies --ci\nshutil.which("gnuplot")\n')
        self.write("tests/lab/c.py", 'run(["tc"])\n')
        self.write("tools/meson.build", "x = find_program('x_test.py')\ny = dependency('frob')\n")
        self.write("tools/x.cpp", "#include <vector>\n#include <mpi.h>\n#include <frob/frob.h>\n")
        self.write("docs/guide/page.md", "```\n$ mpirun -n 2 ./a\n$ frobnicate\n```\n")
        found = list(foreign.offences(self.root, (["cmake", "g++", "openmpi-bin"], ["iproute2"])))
        self.assertEqual([": ".join(line.split(": ")[:2]) for line in found],
                         ["tests/a_test.py:4: gnuplot", "tests/a_test.py:5: frobnicate", "tools/meson.build:2: frob", "docs/guide/page.md:3: frobnicate",
                          "tools/x.cpp:2: mpi.h", "tools/x.cpp:3: frob/frob.h"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
