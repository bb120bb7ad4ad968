"""Models where there is no Python: an ONNX graph, or one C file.

`exported` reads an estimator's fitted model, or refuses it by name; `onnx` and `c` write it down.
"""

from costboost.deploy.c import to_c
from costboost.deploy.onnx import to_onnx

__all__ = ["to_c", "to_onnx"]
