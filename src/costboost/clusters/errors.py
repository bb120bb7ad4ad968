"""What can go wrong on a cluster, by name."""

from __future__ import annotations

__all__ = [
    "CheckpointError",
    "ClusterError",
    "PartLostError",
    "SourceChangedError",
    "VersionsDifferError",
]


class ClusterError(RuntimeError):
    """A fit on a cluster could not go on."""


class PartLostError(ClusterError):
    """A part of the table could not be held any more, after all that was tried."""


class VersionsDifferError(ClusterError):
    """A worker runs other versions or other compiled kernels than the driver."""


class SourceChangedError(ClusterError):
    """A part of the table read differently the second time."""


class CheckpointError(ClusterError):
    """A checkpoint belongs to another fit, or was written by other versions."""
