"""Build the kernels: plain Python files that Cython compiles in its pure-Python mode.

Everything else is in pyproject.toml. Two environment variables steer the build:

- ``COSTBOOST_DEBUG=1`` turns bounds checking on in the compiled kernels;
- ``COSTBOOST_NO_COMPILE=1`` leaves the kernels interpreted.

A build that finds no C compiler succeeds all the same: the kernels then run interpreted.
"""

import os
import sys

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

KERNELS = [
    "trees._binning_kernels",
    "trees._tree_kernels",
    "trees._split_kernels",
    "trees._forest_kernels",
    "boosting._row_kernels",
    "boosting._vote_kernels",
    "boosting._gradient_kernels",
]


def flag(name: str) -> bool:
    """Whether an environment variable is set to anything but 0."""
    return os.environ.get(name, "") not in ("", "0")


def extensions() -> list[Extension]:
    """Return the kernels as extension modules, or none if they are to stay interpreted."""
    if flag("COSTBOOST_NO_COMPILE"):
        return []
    # -ffp-contract=off: a fused multiply-add would round differently from machine to machine.
    compile_args = ["-O3", "-funroll-loops", "-ffp-contract=off"]
    if sys.platform == "win32":
        compile_args = ["/O2"]
    modules = [
        Extension(
            f"costboost.{name}",
            [f"src/costboost/{name.replace('.', '/')}.py"],
            extra_compile_args=compile_args,
        )
        for name in KERNELS
    ]
    debug = flag("COSTBOOST_DEBUG")
    directives = {
        "language_level": 3,
        "boundscheck": debug,
        "wraparound": False,
        "initializedcheck": debug,
        "cdivision": True,
        "freethreading_compatible": True,
    }
    # Debug and release keep their C files apart: one must not pass for the other.
    folder = "build/cython-debug" if debug else "build/cython"
    return cythonize(modules, compiler_directives=directives, build_dir=folder)


class BuildKernels(build_ext):
    """Builds the kernels that it can; the others run interpreted."""

    def build_extension(self, extension: Extension) -> None:
        """Compile one kernel; a failure is told, and is no reason to fail."""
        try:
            super().build_extension(extension)
        except Exception as error:
            print(f"warning: {extension.name} stays interpreted: {error}", file=sys.stderr)

    def copy_extensions_to_source(self) -> None:
        """Copy what was compiled beside its source, for an editable install."""
        built = [part for part in self.extensions if os.path.exists(self.get_ext_fullpath_in(part))]
        self.extensions = built
        super().copy_extensions_to_source()

    def get_ext_fullpath_in(self, extension: Extension) -> str:
        """Return where the compiled kernel lies in the build folder."""
        name = self.get_ext_filename(self.get_ext_fullname(extension.name))
        return os.path.join(self.build_lib, name)


setup(ext_modules=extensions(), cmdclass={"build_ext": BuildKernels})
