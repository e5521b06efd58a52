# Copyright 2026 The Chorale authors. SPDX-License-Identifier: Apache-2.0
# A recipe for Spack, which has never run it; packaging/README.md says how to use it.
import pathlib

from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class Chorale(MesonPackage):
    """Collective communication over RDMA, composed at compile time, in C++20, for programs that any PMIx launcher starts. Brings an RDMA
    device in user space for machines that have none."""

    # The clone that this file lies in.
    git = pathlib.Path(__file__).resolve().parents[6].as_uri()
    license("Apache-2.0")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("pmix", default=True, description="Start under PMIx launchers (mpirun, prterun, srun)")
    variant("verbs", default=True, description="Real RDMA devices through libibverbs; without it only soft0 is there")
    variant("rdmacm", default=True, when="+verbs", description="Multicast groups of InfiniBand, through librdmacm")
    variant("simulation", default=True, description="libchorale-sim, ranks in virtual time")
    variant("tools", default=True, description="The programs: chorale-info, chorale-bench and others")

    depends_on("cxx", type="build")
    depends_on("meson@1.0.1:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    # Users of the library need these headers; <infiniband/verbs.h> in any case, since soft0 fills the same structures.
    depends_on("fmt@9:", type=("build", "link"))
    depends_on("rdma-core", type=("build", "link"))
    depends_on("nlohmann-json@3.10:", type=("build", "link"))
    depends_on("pmix@4:", when="+pmix")
    depends_on("boost@1.71: +context", when="+simulation")
    depends_on("cli11@2.1:", when="+tools", type="build")
    # chorale-plot, chorale-trace
    depends_on("python@3.9:", when="+tools", type="run")
    depends_on("gnuplot", when="+tools", type="run")
    depends_on("py-jinja2", when="+tools", type="run")

    conflicts("%gcc@:11", msg="Chorale needs C++20 as of g++ 12")
    conflicts("%clang@:13", msg="Chorale needs C++20 as of clang 14")
    conflicts("platform=darwin", msg="Chorale needs Linux")
    conflicts("platform=windows", msg="Chorale needs Linux")

    def meson_args(self):
        def enabled(variant):
            return "enabled" if self.spec.satisfies(f"+{variant}") else "disabled"

        def true(variant):
            return "true" if self.spec.satisfies(f"+{variant}") else "false"

        features = [f"-D{name}={enabled(name)}" for name in ("pmix", "verbs", "rdmacm", "simulation")]
        return [*features, f"-Dtools={true('tools')}", "-Dexamples=false", "-Dtests=false"]
