"""Which public names have no description: neither where they are declared, nor by a convention."""
import collections

from . import conventions, headers


def complete(compounds):
    """Gives members without a description that of the overload before them or of a convention. @returns those that remain, as lines of text."""
    concepts = (headers.INCLUDE / "chorale/transport/concepts.hpp").read_text(encoding="utf-8")
    described_files = {path.relative_to(headers.INCLUDE).as_posix() for path in headers.described()}
    missing = collections.OrderedDict()
    for compound in compounds:
        if compound.kind != "namespace" and not compound.text:
            missing[(compound.header, compound.line)] = f"{compound.kind} {compound.name}"
        known = {}
        for one in compound.members:
            if not one.text and compound.kind != "namespace":
                one.text = conventions.meaning(one, compound, concepts) or ""
            if not one.text and one.name in known:
                one.text = "–"  # shown below the overload that is described
            if one.text:
                known[one.name] = one
            elif one.header in described_files:
                missing[(one.header, one.line)] = one.qualified
            for value in one.members:
                if not value.text:
                    missing[(value.header, value.line, value.name)] = value.qualified
    return [f"include/{where[0]}:{where[1]}: {name} has no description" for where, name in sorted(missing.items(), key=lambda item: [str(x) for x in item[0]])]
