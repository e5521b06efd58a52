#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the Spack recipe against Meson's files: options exist and accept the values, and versions are equal.

Usage: spack_test.py MESON SOURCE. Spack is not needed: the recipe runs with a stand-in for its directives. Whether Spack accepts the recipe is not tested.
"""
import itertools
import json
import pathlib
import re
import subprocess
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECIPE = ROOT / "packaging" / "spack" / "spack_repo" / "chorale" / "packages" / "chorale" / "package.py"
# Options that determine how to build, and options whose default is right.
LEFT_ALONE = {"precompiled", "optimize_programs", "docs"}
# Spack's names of dependencies that Meson calls otherwise.
NAMES = {"fmt": "fmt", "pmix": "pmix", "nlohmann_json": "nlohmann-json", "CLI11": "cli11", "boost": "boost"}


class Recorder:
    """Spack's directives, which only record their arguments."""

    def __init__(self):
        self.variants, self.dependencies, self.versions = [], {}, []

    def module(self):
        """A module `spack.package` with these directives."""
        found = types.ModuleType("spack.package")
        found.variant = lambda name, **_: self.variants.append(name)
        found.version = lambda name, **_: self.versions.append(name)
        found.depends_on = self.depend
        for name in "license", "conflicts":
            setattr(found, name, lambda *_, **__: None)
        return found

    def depend(self, spec, **_):
        """Records the minimum version of a dependency."""
        name, least = re.fullmatch(r"([\w-]+)(?:@([\d.]+):)?(?: \+\w+)?", spec).groups()
        self.dependencies[name] = least


def recipe():
    """The class of the recipe, and the recorded directives."""
    recorder = Recorder()
    sys.modules["spack"] = types.ModuleType("spack")
    sys.modules["spack.package"] = recorder.module()
    for name in "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems", "spack_repo.builtin.build_systems.meson":
        sys.modules[name] = types.ModuleType(name)
    sys.modules[name].MesonPackage = object
    names = {"__file__": str(RECIPE)}
    exec(compile(RECIPE.read_text(encoding="utf-8"), str(RECIPE), "exec"), names)  # pylint: disable=exec-used
    return names["Chorale"], recorder


def arguments(package, chosen):
    """The options that the recipe passes to Meson for the chosen variants, as {option: value}."""
    made = package()
    made.spec = types.SimpleNamespace(satisfies=lambda spec: spec[1:] in chosen)
    return dict(word.removeprefix("-D").split("=") for word in made.meson_args())


def least_versions():
    """({dependency: minimum version}, minimum version of Meson, version of Chorale) in Meson's files."""
    text = "\n".join((ROOT / file).read_text(encoding="utf-8")
                     for file in ("meson.build", "lib/meson.build", "lib/simulation/meson.build", "tools/meson.build"))
    found = dict(re.findall(r"dependency\('(\w+)'(?:, modules : \[[^]]*\])?, version : '>=([\d.]+)'", text))
    return found, re.search(r"meson_version : '>=([\d.]+)'", text).group(1), re.search(r"  version : '([\d.]+)'", text).group(1)


def main():
    meson, source = sys.argv[1:]
    said = subprocess.run([meson, "introspect", "--buildoptions", f"{source}/meson.build"], check=True, text=True, stdout=subprocess.PIPE).stdout
    options = {option["name"]: option for option in json.loads(said) if option["section"] == "user"}
    package, recorder = recipe()
    wrong = []
    for number in range(len(recorder.variants) + 1):
        for chosen in itertools.combinations(recorder.variants, number):
            given = arguments(package, chosen)
            for name, value in given.items():
                choices = ["enabled", "disabled"] if options.get(name, {}).get("type") == "feature" else options.get(name, {}).get("choices", [])
                if value not in choices:
                    wrong.append(f"-D{name}={value}: Meson takes {choices} for it")
            wrong += [f"variant {name} does not decide -D{name}" for name in recorder.variants
                      if (given.get(name) in ("enabled", "true")) != (name in chosen)]
    wrong += [f"nothing is said of Meson's option {name}" for name in options.keys() - given.keys() - LEFT_ALONE]
    versions, meson_version, own_version = least_versions()
    if versions.keys() != NAMES.keys():
        wrong.append(f"Meson asks for versions of {sorted(versions)}, not of {sorted(NAMES)}")
    for name, least in [*((NAMES.get(name), least) for name, least in versions.items()), ("meson", meson_version)]:
        if recorder.dependencies.get(name) != least:
            wrong.append(f"Meson asks for {name} {least}, the recipe for {recorder.dependencies.get(name)}")
    if package.git != ROOT.as_uri():
        wrong.append(f"the recipe takes {package.git} for the repository, which is {ROOT.as_uri()}")
    if own_version not in recorder.versions:
        wrong.append(f"the recipe has no version {own_version}")
    if wrong:
        sys.exit("\n".join(sorted(set(wrong))))
    print(f"{2 ** len(recorder.variants)} choices of {len(recorder.variants)} variants, {len(options)} options of Meson")


if __name__ == "__main__":
    main()
