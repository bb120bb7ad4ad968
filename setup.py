"""Build the kernels: plain Python files that Cython compiles in its pure-Python mode.

Everything else is in pyproject.toml. Three environment variables steer the build:

- ``COSTBOOST_DEBUG=1`` turns bounds checking on in the compiled kernels;
- ``COSTBOOST_SANITIZE=1`` compiles them with AddressSanitizer and UBSan (gcc; see the Makefile);
- ``COSTBOOST_NO_COMPILE=1`` leaves the kernels interpreted.

A build that finds no C compiler succeeds all the same: the kernels then run interpreted.
"""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = Path("src")
KERNELS = sorted(SOURCE.rglob("_*_kernels.py"))
SHARED = "costboost.runtime._cyutility"  # Cython's own code, compiled once for all kernels


# Every report ends the process: a test that goes on after one would pass.
SANITIZE = ["-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"]


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
            [str(path)],
            extra_compile_args=compile_args,
            extra_link_args=link_args,
        )
        for path in KERNELS
    ]
    shared = str(SOURCE.joinpath(*SHARED.split(".")).with_suffix(".c"))
    modules.append(
        Extension(SHARED, [shared], extra_compile_args=shared_args, extra_link_args=link_args)
    )
    debug = flag("COSTBOOST_DEBUG")
    directives = {
        "language_level": 3,
        "boundscheck": debug,
        "wraparound": False,
        "initializedcheck": debug,
        "cdivision": True,
        "freethreading_compatible": True,
    }
    folder = f"{build_folder()}/cython"
    return cythonize(
        modules,
        compiler_directives=directives,
        build_dir=folder,
        nthreads=os.cpu_count() or 1,
        shared_utility_qualified_name=SHARED,
    )


class BuildKernels(build_ext):
    """Builds the kernels that it can, side by side; the others run interpreted."""

    def finalize_options(self) -> None:
        """Use every core unless told otherwise."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extensions(self) -> None:
        """Compile all; without what they share, none of the kernels could be imported."""
        super().build_extensions()
        paths = {part.name: Path(self.get_ext_fullpath_in(part)) for part in self.extensions}
        if self.extensions and not paths[SHARED].exists():
            for path in paths.values():
                path.unlink(missing_ok=True)

    def build_extension(self, extension: Extension) -> None:
        """Compile one kernel; a failure is told, and is no reason to fail."""
        try:
            super().build_extension(extension)
        except Exception as error:
            if flag("COSTBOOST_SANITIZE"):  # interpreted kernels would pass every test
                raise
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


setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": BuildKernels},
    options={"build": {"build_base": build_folder()}},
)
