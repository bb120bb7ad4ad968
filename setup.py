"""Build the kernels: plain Python files that Cython compiles in its pure-Python mode.

Everything else is in pyproject.toml, but for the description, which is README.md with links that
lead somewhere from anywhere. Three environment variables steer the build:

- ``COSTBOOST_DEBUG=1`` turns bounds checking on in the compiled kernels;
- ``COSTBOOST_SANITIZE=1`` compiles them with AddressSanitizer and UBSan (gcc; see the Makefile);
- ``COSTBOOST_NO_COMPILE=1`` leaves the kernels interpreted.

A build without Cython, without a C compiler, or whose kernels Cython refuses succeeds all the same,
with a warning: the kernels then run interpreted.
"""

import os
import re
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = Path("src")
KERNELS = sorted(SOURCE.rglob("_*_kernels.py"))
SHARED = "costboost.runtime._cyutility"  # Cython's own code, compiled once for all kernels


# Every report ends the process: a test that goes on after one would pass.
SANITIZE = ["-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"]


def description() -> str:
    """Return README.md for a page on which links into the repository would lead nowhere."""
    page = Path("README.md").read_text(encoding="utf-8")
    places = {"!": "https://raw.githubusercontent.com/costboost/costboost/main/",
              "": "https://github.com/costboost/costboost/blob/main/"}  # fmt: skip
    link = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")
    return link.sub(lambda m: f"{m[1]}[{m[2]}]({places[m[1]]}{m[3]})", page)


def flag(name: str) -> bool:
    """Whether an environment variable is set to anything but 0."""
    return os.environ.get(name, "") not in ("", "0")


def build_folder() -> str:
    """Return where files are built. Kinds of kernels keep apart: one must not pass for another."""
    kinds = [kind for kind in ("debug", "sanitize") if flag(f"COSTBOOST_{kind.upper()}")]
    return "/".join(["build", *kinds])


def extensions() -> list[Extension]:
    """Return the kernels as extension modules, or none if they are to stay interpreted."""
    if flag("COSTBOOST_NO_COMPILE"):
        return []
    # -ffp-contract=off: a fused multiply-add would round differently from machine to machine.
    compile_args = ["-O3", "-funroll-loops", "-g0", "-ffp-contract=off"]
    shared_args = ["-O1", "-g0"]
    link_args = []
    if sys.platform == "win32":
        compile_args = shared_args = ["/O2"]
    if flag("COSTBOOST_SANITIZE"):
        compile_args = ["-O1", "-g", "-fno-omit-frame-pointer", "-ffp-contract=off", *SANITIZE]
        shared_args, link_args = compile_args, SANITIZE
    modules = [
        Extension(
            ".".join(path.relative_to(SOURCE).with_suffix("").parts),
            [path.as_posix()],
            extra_compile_args=compile_args,
            extra_link_args=link_args,
        )
        for path in KERNELS
    ]
    shared = SOURCE.joinpath(*SHARED.split(".")).with_suffix(".c").as_posix()
    modules.append(
        Extension(SHARED, [shared], extra_compile_args=shared_args, extra_link_args=link_args)
    )
    return modules


def translate(modules: list[Extension]) -> None:
    """Have Cython write the kernels as C, and make those files the sources of the modules."""
    from Cython.Build import cythonize  # a build that has no Cython leaves kernels interpreted

    debug = flag("COSTBOOST_DEBUG")
    translated = cythonize(
        modules,
        compiler_directives={
            "language_level": 3,
            "boundscheck": debug,
            "wraparound": False,
            "initializedcheck": debug,
            "cdivision": True,
            "freethreading_compatible": True,
        },
        build_dir=f"{build_folder()}/cython",
        nthreads=os.cpu_count() or 1,
        shared_utility_qualified_name=SHARED,
    )
    sources = {module.name: module.sources for module in translated}
    for module in modules:
        module.sources = sources[module.name]


class BuildKernels(build_ext):
    """Builds the kernels that it can, side by side; the others run interpreted."""

    def finalize_options(self) -> None:
        """Use every core unless told otherwise."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extensions(self) -> None:
        """Translate and compile all; only what was built is installed.

        Without the module that they share, none of the kernels could be imported.
        """
        kernels = self.extensions
        try:
            translate(kernels)
        except Exception as error:
            self.interpret("the kernels stay", error)
            self.extensions = []
        super().build_extensions()
        paths = {part.name: Path(self.get_ext_fullpath(part.name)) for part in kernels}
        if kernels and not (self.extensions and paths[SHARED].exists()):
            for path in paths.values():
                path.unlink(missing_ok=True)
        self.extensions = [part for part in kernels if paths[part.name].exists()]

    def build_extension(self, extension: Extension) -> None:
        """Compile one kernel; a failure is told, and is no reason to fail."""
        try:
            super().build_extension(extension)
        except Exception as error:
            self.interpret(f"{extension.name} stays", error)

    def interpret(self, what: str, error: Exception) -> None:
        """Warn of what could not be built."""
        if flag("COSTBOOST_SANITIZE"):  # interpreted kernels would pass every test
            raise error
        print(f"warning: {what} interpreted, and slow: {error}", file=sys.stderr)


if __name__ == "__main__":  # processes that Cython starts import this file, too
    setup(
        long_description=description(),
        long_description_content_type="text/markdown",
        ext_modules=extensions(),
        cmdclass={"build_ext": BuildKernels},
        options={"build": {"build_base": build_folder()}},
    )
