"""A graph in the making: inputs, constants and nodes with names, and nothing of trees.

Wraps `onnx.helper`, which is imported when a graph is begun: the library works without it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Graph"]

OPSET = 18
ML_OPSET = 5  # TreeEnsemble
IR_VERSION = 9


def _import() -> Any:
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise ImportError(
            "to_onnx needs the packages onnx and (to run graphs) onnxruntime: "
            "pip install costboost[onnx]"
        ) from error
    return onnx


class Graph:
    """Collects the parts of an ONNX graph; values are known by their names."""

    def __init__(self) -> None:
        self.onnx = _import()
        self._nodes: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._held: list[Any] = []
        self._taken = 0
        self.notes: dict[str, str] = {}

    def _new(self, kind: str) -> str:
        self._taken += 1
        return f"{kind.lower()}_{self._taken}"

    def _kind(self, dtype: Any) -> int:
        if isinstance(dtype, str):
            return int(self.onnx.TensorProto.STRING)
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def input(self, name: str, dtype: Any, *shape: int, rows: str = "n") -> str:
        """Declare an input; `rows` names its first dimension."""
        info = self.onnx.helper.make_tensor_value_info(name, self._kind(dtype), [rows, *shape])
        self._inputs.append(info)
        return name

    def output(self, name: str, value: str, dtype: Any, n_dimensions: int, *shape: int) -> None:
        """Make a value an output."""
        self._nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        sizes: list[Any] = ["n", *shape] if n_dimensions == 1 + len(shape) else ["n"]
        info = self.onnx.helper.make_tensor_value_info(name, self._kind(dtype), sizes)
        self._outputs.append(info)

    def constant(self, values: NDArray[Any]) -> str:
        """Return the name of a constant array."""
        name = self._new("constant")
        given = values.astype(object) if values.dtype.kind == "U" else values
        self._held.append(self.onnx.numpy_helper.from_array(given, name))
        return name

    def doubles(self, values: ArrayLike) -> str:
        """Return the name of a constant of doubles."""
        return self.constant(np.array(values, dtype=np.float64))

    def ints(self, values: list[int]) -> str:
        """Return the name of a constant of integers: axes and shapes."""
        return self.constant(np.array(values, dtype=np.int64))

    def tensor(self, values: NDArray[Any]) -> Any:
        """Return an array as the attribute of a node."""
        return self.onnx.numpy_helper.from_array(values, self._new("tensor"))

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node; return the name of its one output."""
        if "to" in attributes:
            attributes["to"] = self._kind(attributes["to"])
        name = self._new(operator)
        node = self.onnx.helper.make_node(
            operator, list(inputs), [name], domain=domain, **attributes
        )
        self._nodes.append(node)
        return name

    def columns(self, table: str, j: int) -> str:
        """Return column j of a table, (n, 1)."""
        return self.add("Gather", table, self.ints([j]), axis=1)

    def model(self, producer: str, name: str) -> Any:
        """Return the whole graph, checked."""
        helper = self.onnx.helper
        graph = helper.make_graph(self._nodes, name, self._inputs, self._outputs, self._held)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        made = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name=producer
        )
        helper.set_model_props(made, self.notes)
        self.onnx.checker.check_model(made)
        return made
