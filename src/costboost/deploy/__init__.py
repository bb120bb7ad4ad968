"""Models where there is no Python: an ONNX graph, or one C file.

`lowering` says an estimator in few words (forests, maps, a decision); `onnx` and `c` write them.
"""

from costboost.deploy.c import to_c
from costboost.deploy.onnx import to_onnx

__all__ = ["to_c", "to_onnx"]
