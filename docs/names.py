"""The public names, and the pages of the reference that list them."""

from importlib import import_module

MODULES = (
    "costboost",
    "costboost.costs",
    "costboost.metrics",
    "costboost.plots",
    "costboost.calibration",
    "costboost.decisions",
    "costboost.guarantee",
    "costboost.explain",
    "costboost.report",
    "costboost.monitoring",
    "costboost.persistence",
    "costboost.deploy",
    "costboost.files",
    "costboost.dask",
    "costboost.spark",
    "costboost.datasets",
    "costboost.extend",
)


def listed():
    """Return the full names of all public names, in the order of their modules.

    What two modules list has one page: that of the first.
    """
    found = {}
    for module in MODULES:
        for name in import_module(module).__all__:
            value = getattr(import_module(module), name)
            key = id(value) if callable(value) else f"{module}.{name}"
            found.setdefault(key, f"{module}.{name}")
    return list(found.values())


def public_names():
    """Return {as it may stand in a docstring: full name}; short names where they are clear."""
    names = {}
    for full in listed():
        names[full.removeprefix("costboost.")] = full
    short = [full.rpartition(".")[2] for full in listed()]
    for full, name in zip(listed(), short, strict=True):
        if short.count(name) == 1:
            names[name] = full
    return {key: full for key, full in names.items() if not key.startswith("__")}


def write_reference(folder):
    """Write one page for each module: its first line, and a table of its names."""
    pages = {}
    for full in listed():
        pages.setdefault(full.rpartition(".")[0], []).append(full.rpartition(".")[2])
    for module, names in pages.items():
        head = (import_module(module).__doc__ or "").splitlines()[0]
        lines = [module, "=" * len(module), "", head, "", f".. currentmodule:: {module}", ""]
        lines += [".. autosummary::", "   :toctree: generated", "", *(f"   {n}" for n in names)]
        (folder / f"{module}.rst").write_text("\n".join(lines) + "\n", encoding="utf-8")
