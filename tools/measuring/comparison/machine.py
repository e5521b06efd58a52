"""What the machine is, as far as it matters to whoever compares figures."""
import contextlib
import os
import pathlib
import platform
import re

from measuring import process
from measuring.comparison import contestants


def facts():
    """[(name, text)] of what programs run on."""
    return [("processor", processor()), ("cores", cores()), ("caches", caches()), ("memory", memory()),
            ("kernel", f"{platform.system()} {platform.release()}"), ("hypervisor", hypervisor())]


def load():
    """How many processes want to run, in the mean."""
    return f"{os.getloadavg()[0]:.2f} (mean of a minute)"


def versions(everyone, results):
    """[(contestant, what its library says about itself)]."""
    told = []
    for one in everyone:
        library = dict(results.facts.get(one.name, {}))
        for of_a_run in ("ranks", "waiting"):
            library.pop(of_a_run, None)
        version = library.pop("MPI", None)
        words = [version] if version else [f"{name} {value}" for name, value in library.items()]
        options = f"; launcher's options: {' '.join(one.library.options)}" if one.library.options else ""
        told.append((one.name, (", ".join(words) or "unknown, since no run has ended well") + options))
    return told


def line(file, *names, default=""):
    """The text after the colon of the first line with one of these names."""
    try:
        lines = pathlib.Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return default
    pairs = [text.partition(":") for text in lines]
    return next((" ".join(value.split()) for name in names for key, _, value in pairs if key.strip() == name), default)


def processor():
    """Its model."""
    return line("/proc/cpuinfo", "model name", "Model", "cpu", default=platform.processor() or platform.machine())


def cores():
    """Those that programs may use, and all."""
    return f"{contestants.cores()} of {os.cpu_count()}"


def caches(folder="/sys/devices/system/cpu/cpu0/cache"):
    """Those of the first core, and who shares them."""
    found = []
    for index in sorted(pathlib.Path(folder).glob("index*")):
        def read(name, index=index):
            return (index / name).read_text(encoding="utf-8").strip()
        try:
            sort = {"Data": "d", "Instruction": "i"}.get(read("type"), "")
            found.append(f"L{read('level')}{sort} {read('size')} of cores {read('shared_cpu_list')}")
        except OSError:
            continue
    return ", ".join(found) or "unknown"


def memory():
    """Of the whole machine."""
    words = line("/proc/meminfo", "MemTotal").split()
    return f"{int(words[0]) / 2 ** 20:.0f} GiB" if words and words[0].isdigit() else "unknown"


def hypervisor():
    """Whether the machine is a virtual one, and whose."""
    flags = line("/proc/cpuinfo", "flags", "Features").split()
    names = []
    for file in ("/sys/hypervisor/type", "/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name"):
        try:
            names.append(pathlib.Path(file).read_text(encoding="utf-8").strip())
        except OSError:
            continue
    with contextlib.suppress(process.Refused):
        said = process.run(["lscpu"], {**os.environ, "LC_ALL": "C"}, 20)
        names += re.findall(r"^Hypervisor vendor:\s*(.+)", said, re.M)
    told = ", ".join(dict.fromkeys(filter(None, names)))
    if "hypervisor" in flags:
        return "yes" + (f" ({told})" if told else "")
    return "none that the processor tells of" + (f" ({told})" if told else "")
