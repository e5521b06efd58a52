#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The style checks must detect violations: each runs on small trees that break its rules, and must report exactly the lines marked `~>`.

The checks that compile are in compiled_self_test.py.
"""
import unittest

import architecture
import citations
import classes
import comments
import foreign
import installed
import layering
import own_functions
import own_includes
import references
import text
from made_up_tree import MARK, Tree


class OwnFunctions(Tree):
    """Each way around the library's own functions, code that only looks like one, and exemptions."""

    FILES = {
        "lib/soft/time.cpp": """auto t = std::chrono::steady_clock::now(); ~> time
clock_gettime(CLOCK_MONOTONIC, &t); ~> time
auto t = __rdtsc(); ~> time
std::this_thread::sleep_for(1ms); ~> sleeps
sched_yield(); ~> sleeps
::nanosleep(&nap, nullptr); ~> sleeps
usleep(10); ~> sleeps
sleep(1); ~> sleeps
_mm_pause(); ~> sleeps
__builtin_ia32_pause(); ~> sleeps
asm volatile("yield"); ~> sleeps
changed_.wait_for(lock, 1s, done); ~> waits
changed->wait_until(lock, end); ~> waits
epoll_wait(fd, events, 1, 5); ~> waits
#include <poll.h> ~> waits
m.try_lock_for(1s); ~> waits
const auto now = std::time(nullptr); ~> time
""",
        "include/chorale/core/time.hpp": """clock::give_way();  // not sched_yield()
wait_for(changed, lock, 1s, done);
cq->poll(room);
co_yield x;
clock::sleep_for(1ms);
detector.sleep();
policy = wait_policy::yield;
stamp(timestamp);
""",
        "lib/preload/streams.cpp": """int a = ::open(path, O_RDONLY); ~> open: may take the number of a standard stream
int b = pipe2(ends, 0); ~> standard stream
std::ifstream c(name); ~> standard stream
int d = syscall(SYS_pidfd_open, 1, 0); ~> standard stream
auto e = PMIx_Init(&self, nullptr, 0); ~> standard stream
auto f = detail::above_streams([&] { return open(path, O_RDONLY); });
port.open(O_RDONLY);
// open(path, O_RDONLY)
auto g = foreign_call([] { return PMIx_Init(&self, nullptr, 0); });
void channel::accept(int);
""",
        "tools/files.cpp": """std::ifstream a{name}; ~> open files
int b = ::openat(folder, name, flags); ~> open files
int c = open(name, O_RDWR); ~> open files
auto d = std::fopen(name, "r"); ~> open files
int e = memfd_create(name, 0); ~> open files
port.open(O_RDONLY);
auto a = folder->open(name, O_RDWR);
// open(name, O_RDWR)
void open(int port);
""",
        "tools/tests/files.cpp": "std::ifstream a{name};\n",
        "lib/transport/prints.cpp": """chorale::say(stderr, "{}", name);
std::fputs("\\r", stderr);
// std::cerr << name;
std::snprintf(text, sizeof text, "%d", 1);
out.puts(1);
status::print(job);
""",
        "tools/info/prints.cpp": """fmt::print("{}", name); ~> fmt::print: prints
std::cerr << name; ~> prints
fprintf(stderr, "%s", name); ~> prints
std::fputs(name, stderr); ~> prints
puts(name); ~> prints
perror(name); ~> prints
""",
        "include/chorale/algorithm/scan/chain.hpp": "op.combine(theirs.bytes(), mine); ~> transfer::place\n// a.bytes()\nop.element_bytes();\n",
        "include/chorale/algorithm/scan/transfer.hpp": "f(m->bytes()); ~> transfer::place\n",
        "lib/transport/bytes.cpp": "std::as_bytes(std::span{text});\nstd::as_bytes(std::span{this, 1}); ~> bytes_of\nas_bytes(span{ &x, 1 }); ~> bytes_of\n",
    }

    def test_uses(self):
        self.finds(lambda root: own_functions.offences(root, [rule._replace(exempt={}) for rule in own_functions.RULES]), self.FILES)

    def test_exemptions(self):
        rule = own_functions.Rule("lib", {"bad": "why"}, {"lib/needs.cpp": "why", "lib/other.cpp": "why"})
        self.finds(lambda root: own_functions.offences(root, [rule]), {"lib/needs.cpp": "bad\n", "lib/other.cpp": ""}, "lib/other.cpp: is exempt")
        self.assertEqual(len(own_functions.offences(self.root)), sum(len(rule.exempt) for rule in own_functions.RULES))


class Layering(Tree):
    """A correct tree, and offences of each kind."""

    GOOD = {
        "include/chorale/core/error.hpp": "#include <string>\n",
        "include/chorale/verbs/device.hpp": "#include <infiniband/verbs.h>\n#include <chorale/core/error.hpp>\n",
        "include/chorale/transport/concepts.hpp": "#include <chorale/core/error.hpp>\n",
        "include/chorale/transport/wire/device_port.hpp": "#include <chorale/verbs/device.hpp>\n",
        "include/chorale/transport/rc.hpp": "#include <chorale/transport/concepts.hpp>\n#include <chorale/transport/wire/device_port.hpp>\n",
        "include/chorale/algorithm/barrier/ring.hpp": "#include <chorale/transport/concepts.hpp>\n",
        "include/chorale/chorale.hpp": "#include <chorale/algorithm/barrier/ring.hpp>\n#include <chorale/transport/rc.hpp>\n",
        "lib/soft/ring.hpp": "",
        "lib/soft/ring.cpp": '#include "ring.hpp"\n#include <chorale/verbs/device.hpp>\n',
        "lib/bootstrap/pmix.cpp": "#include <pmix.h>\n",
        "tests/unit/ring.cpp": "#include <chorale/chorale.hpp>\n#include <chorale/verbs/device.hpp>\n",
    }

    def test_good_tree(self):
        self.finds(layering.offences, self.GOOD)

    def test_each_include(self):
        self.finds(layering.offences, {
            **self.GOOD,
            "include/chorale/core/clock.hpp": "#pragma once\n#  include <chorale/verbs/device.hpp> ~> core may include only core; this is verbs\n",
            "include/chorale/core/task.hpp": "#include <chorale/core/gone.hpp> ~> no such file\n",
            "include/chorale/algorithm/barrier/rc_only.hpp": "#include <chorale/transport/rc_send_receive.hpp> ~> this is transport\n",
            "include/chorale/transport/rc_send_receive.hpp": "",
            "include/chorale/transport/ud.hpp": "\n\n#include <chorale/chorale.hpp> ~> this is the top\n#include <infiniband/verbs.h> ~> may include it\n",
            "include/chorale/bootstrap/pmix.hpp": "#include <pmix.h> ~> only lib/bootstrap\n",
            "include/chorale/verbs/soft.hpp": '#include "../../../lib/soft/ring.hpp" ~> private\n#include "../../../lib/verbs/text.hpp" ~> private\n',
            "include/chorale/misc/a.hpp": "#include <chorale/core/error.hpp> ~> misc is unknown\n",
            "lib/verbs/device.cpp": '#include <chorale/transport/rc.hpp> ~> this is transport\n#include "../soft/ring.hpp" ~> this is soft\n',
            "lib/verbs/text.hpp": "",
            "tests/unit/verbs.cpp": "#include <infiniband/verbs.h> ~> may include it\n",
        })

    def test_algorithm_reaches_verbs_through_the_concepts(self):
        self.finds(layering.offences, {
            **self.GOOD, "include/chorale/transport/concepts.hpp": "#include <chorale/transport/rc.hpp> ~> concepts may include only concepts, core; this is transport\n"},
            "include/chorale/algorithm/barrier/ring.hpp: reaches verbs")


class Installed(Tree):
    """A header that users name, one that it includes indirectly, one that only lib/ includes; a pattern that matches no header."""

    def test_rules(self):
        self.finds(installed.offences, {
            "include/chorale/chorale.hpp": "#include <chorale/core/task.hpp>\n",
            "include/chorale/core/task.hpp": "#include <chorale/core/call.hpp>\n",
            "include/chorale/core/call.hpp": "",
            "include/chorale/core/printable.hpp": "#include <chorale/core/call.hpp>\n",
            "lib/core/config.cpp": "#include <chorale/core/printable.hpp>\n",
            "docs/page.md": "    #include <chorale/chorale.hpp>\n    #include <chorale/core/task.hpp>\n",
        }, "include/chorale/core/printable.hpp: no header that users name includes it: it belongs to lib/core",
            "docs/page.md: <chorale/core/task.hpp> is not promised",
            *(f"include/chorale/README.md: there is no header {name}" for name in installed.USER if name != "chorale.hpp"))


class Classes(Tree):
    """Data members, and statements that only look like them."""

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
  enum state { off, on } state_ = off;            // 13
  alignas(T) std::byte storage_[sizeof(T)]{};     // 14
};
struct outer::peer { int only; };
enum class colour { red };
'''

    def test_counts(self):
        self.assertEqual([found[1:] for found in classes.classes(self.SOURCE)],
                         [("sample", 14), ("inner", 2), ("local", 1), ("outer::peer", 1)])

    def test_rule(self):
        many = "int a;" * (classes.MOST + 1)
        self.finds(classes.offences, {"lib/transport/a.hpp": "struct full {" + "int a;" * classes.MOST + "};\n",
                                      "include/chorale/transport/b.hpp": f"\nclass many {{{many}}}; ~> many has 16\n",
                                      "lib/soft/c.hpp": f"class elsewhere {{{many}}};\n"})


class Comments(Tree):
    """Lines that end too early, and lines that end early for a reason."""

    def test_rules(self):
        long = "/// " + "word " * 19 + "word"
        self.finds(comments.offences, {
            "lib/core/good.hpp": f"""{long}
/// goes on here.
/// A sentence ends.
/// Another begins.
///
/// * an item
/// * another, with a
///   figure
int x;  // not a comment's line
// but this
int y;
/// Of calls:
/// @throws error
""",
            "lib/core/bad.hpp": f"""{long}
/// and ~>
/// goes on.

/// * an item that goes so that ~>
/// it ~>
///   needs no

{long} and more words ~> 118 columns
int x;
"""})


class References(Tree):
    """Files named relative to the root, by the end of their path, relative to the page, and by a link; and missing files."""

    def test_rules(self):
        self.finds(references.offences, {
            "include/chorale/core/clock.hpp": "",
            "lib/core/clock.cpp": "",
            "docs/README.md": "`core/clock.hpp`, `lib/core/clock.cpp`, [that](../NEWS.md), `clock::now()`, `x.hpp`, `*.cpp`, <chorale/no.hpp> ~> names ../NEWS.md, which is not there",
            "include/chorale/core/README.md": "`clock.hpp`, `clock.cpp`",
            "README.md": "\n`gone.hpp` ~> names gone.hpp\n`verbs/clock.hpp` ~> names verbs/clock.hpp\n"})


class Architecture(Tree):
    """A correct picture, one with missing and superfluous arrows, and rooms in a cycle."""

    FILES = {"include/chorale/core/error.hpp": "", "lib/verbs/device.cpp": "#include <chorale/core/error.hpp>\n",
             "lib/soft/ring.cpp": '#include "../verbs/device.cpp"\n#include <chorale/core/error.hpp>\n', "docs/architecture.md": "`core`, `verbs`, `soft`"}

    def shows(self, nodes, edges, more, *others, width=420):
        picture = f'<svg width="{width}pt">\n' + "".join(f'<g id="n" class="node">\n<title>{node}</title>\n' for node in nodes.split())
        picture += "".join(f'<g id="e" class="edge">\n<title>{edge.replace("->", "&#45;&gt;")}</title>\n' for edge in edges.split())
        self.finds(architecture.offences, {**self.FILES, **more, "docs/architecture.svg": picture}, *others)

    def test_pictures(self):
        self.shows("core verbs soft", "verbs->core soft->verbs", {})
        self.shows("core verbs soft", "verbs->core soft->verbs", {}, "docs/architecture.svg: 421 points wide", "redraw it", width=421)
        self.shows("core verbs soft", "verbs->core soft->verbs", {"docs/architecture.md": "`core`, `soft`"}, "docs/architecture.md: does not name the room verbs")
        self.shows("core soft attic", "verbs->core soft->core", {}, *("docs/architecture.svg: " + what for what in (
            "the room verbs is missing", "there is no room attic", "an arrow is missing: soft -> verbs", "there is an arrow too many: soft -> core")), "redraw it")

    def test_circle(self):
        self.shows("", "", {"include/chorale/core/error.hpp": "#include <chorale/verbs/text.hpp>\n", "include/chorale/verbs/text.hpp": ""}, "core: includes itself", "verbs: includes itself")


class Text(Tree):
    """Length, left-over marks, READMEs."""

    def test_rules(self):
        ours = f"// {text.LICENCE}\n"
        long = ours + "\n" * (text.LONGEST - 2)
        self.finds(text.offences, {"include/chorale/core/a.hpp": long + "\n\n", "include/chorale/core/README.md": "core\n", "include/chorale/chorale.hpp": ours, "lib/core/b.hpp": ours,
                                   "lib/long.cpp": long + f"{MARK}402 lines\n\n\n", "lib/mark.cpp": ours + "int x;\n// TO" + "DO: more ~>\n", "include/chorale/verbs/b.hpp": ours,
                                   "lib/none.cpp": f"int x;{MARK}does not begin with\n{ours}", "tools/script": f"#!/bin/sh\n# {text.LICENCE}\n",
                                   "tools/other": f"#!/bin/sh{MARK}does not begin with\n"},
                   "verbs: has headers and no README.md")


class Citations(Tree):
    """Citations across line ends, of several places, of figures; and of sections that do not exist."""

    def test_places(self):
        lines = ["/// down (P2 sections 3.1 and 4.1.2: rendezvous). Source: P1", "/// section 5.3, figure 2; P4 §2, §3.",
                 "# P5 figure 6(c) and P2 section 4.2, figures 3 and 4; as P3 figure 6.16. The P4 of 4.7 us."]
        self.assertEqual(list(citations.citations(lines)), [
            (1, "P2", "section", "3.1"), (1, "P2", "section", "4.1.2"), (1, "P1", "section", "5.3"),
            (1, "P1", "figure", "2"), (2, "P4", "section", "2"), (2, "P4", "section", "3"), (3, "P5", "figure", "6"),
            (3, "P2", "section", "4.2"), (3, "P2", "figure", "3"), (3, "P2", "figure", "4"), (3, "P3", "figure", "6.16")])

    def test_rules(self):
        self.finds(citations.offences, {
            "include/chorale/tree.hpp": "// P2 section 4.1.2.\n// By rendezvous: P2 ~> P2 has no section 4.1.5\n// section 4.1.5.\n",
            "docs/papers.md": "P4 sections 2.3, 4.1 and 4.4 ~> P4 has no section 4.4\nP3 section 6 ~> P3 has no section 6\nP5 figure 12 ~> P5 has no figure 12\n"})


class OwnIncludes(Tree):
    """Includes that a precompiled header would hide."""

    def test_rules(self):
        self.finds(own_includes.offences, {
            "include/chorale/algorithm/barrier/ring.hpp": "#include <vector>\nnamespace barrier { struct ring; }\n",
            "tests/support/precompiled/cases.hpp": "#include <vector>\n#include <utility>\n#include <valarray> ~> valarray: has no line in NAMES\n",
            "tests/support/ranks.hpp": "#include <chorale/algorithm/barrier/ring.hpp>\nbarrier::ring* r; std::vector<int> v;\n",
            "tests/unit/good_test.cpp": '#include "../support/ranks.hpp"\nbarrier::ring* s; std::vector<int> w;\n',
            "tests/unit/bad_test.cpp": """// std::map<int, int> "barrier::ring"
auto s = "std::thread";
std::vector<int> w; std::vector<int> x; ~> std::vector<: include vector
chorale::barrier::ring* r; barrier::unknown* u; ~> barrier::ring: include include/chorale/algorithm/barrier/ring.hpp
"""})


class Foreign(Tree):
    """Programs and headers of other packages."""

    def test_rules(self):
        self.finds(lambda root: foreign.offences(root, (["cmake", "g++", "openmpi-bin"], ["iproute2"])), {
            "tests/a_test.py": """#!/usr/bin/env python3
run(["bash"])
run(["cmake"])
shutil.which("gnuplot") ~> gnuplot: is of gnuplot-nox
subprocess.run(["/usr/bin/frobnicate"]) ~> frobnicate: which Debian package
""",
            "tests/b_test.py": '# gnuplot-nox, tools/install-dependencies --ci\nshutil.which("gnuplot")\n',
            "tests/lab/c.py": 'run(["tc"])\n',
            "tools/meson.build": "x = find_program('x_test.py')\ny = dependency('frob') ~> frob: which\n",
            "tools/x.cpp": "#include <vector>\n#include <mpi.h> ~> mpi.h: is of\n#include <frob/frob.h> ~> frob/frob.h: which\n",
            "docs/guide/page.md": "```\n$ mpirun -n 2 ./a\n$ frobnicate ~> frobnicate: which\n```\n"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
