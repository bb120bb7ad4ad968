"""Changed model files by the thousand: each gives the right model or one ModelFileError.

``python tests/helpers/fuzzing.py 100000`` changes so many files, in processes of their own
whose memory is limited, and reports the seeds of those that crash, hang, raise anything else,
answer otherwise, or take more memory than allowed. A seed is enough to do it again.

Half of the changes leave the digest as it was (damage: bits, ends and lengths), and only the
unchanged answer may come out. The other half put the digest right, as somebody would who means
harm: then the parts of the file must still fit each other, and what comes out must answer.
"""

import json
import multiprocessing
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np

import costboost as cb
from costboost.persistence import ModelFileError, container
from zoo import fitted

NAMES = (
    "auto of a frame",
    "stumps",
    "cgada of 3",
    "rareboost",
    "calibrated by isotonic",
    "3 classes calibrated by temperature",
    "gradient of a frame",
    "gradient cost-exponential of 3",
    "regressor huber",
    "p-norm gbse",
    "minimum cost",
    "costing constants",
    "splitter",
    "costs of its own",
    "costs by column",
)
NUMBERS = (0, 1, 2, 3, 7, 255, 256, -1, -(2**31), 2**24, 2**31, 2**32 - 1, 2**63, 2**64, 10**30)
SIZES = (0, 1, 2, 3, 2**16, 2**31, 2**40 - 1, 2**40, 2**47, 2**48 - 1, 2**63)
FLOATS = (0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 5e-324, np.nan, np.inf, -np.inf, 0.5)
# What a model says of a table that it was not made for, after its names or categories changed.
OTHER_TABLE = (
    "feature names should match",
    "its categories were",
    "X has 4 features",
    "was fitted with",
    "Input contains NaN",
)
SECONDS = 20
MEMORY = 1 << 29  # beyond what the process has when it begins


@cache
def original(name):
    """Return the bytes of a model's file, and the answers of the model to a few rows."""
    model, X = fitted(name)
    with tempfile.TemporaryDirectory() as folder:
        cb.save(model, Path(folder) / "model")
        return (Path(folder) / "model").read_bytes(), answers(model, X)


def answers(model, X):
    ask = getattr(model, "predict_proba", model.predict)
    return np.asarray(ask(X[:16]), dtype=float)


def damage(data, rng):
    """Change bytes, and leave the digest alone."""
    data, how = bytearray(data), rng.integers(5)
    if how == 0:
        for at in rng.integers(8 * len(data), size=rng.integers(1, 9)):
            data[at // 8] ^= 1 << (at % 8)
    elif how == 1:
        del data[rng.integers(len(data)) :]
    elif how == 2:
        data += rng.bytes(rng.integers(1, 100))
    elif how == 3:
        start, size = rng.integers(len(data)), int(rng.integers(1, 200))
        filling = (rng.bytes(size), bytes(size), b"\xff" * size)[rng.integers(3)]
        data[start : start + size] = filling[: len(data) - start]
    else:
        start, size = np.sort(rng.integers(len(data), size=2))
        data[start:start] = data[start : start + min(size, 500)]
    return bytes(data)


def sealed(data):
    """Return the same file with the digest that it should have."""
    data = bytearray(data)
    place = slice(container.PRELUDE.size - 32, container.PRELUDE.size)
    data[place] = bytes(32)
    data[place] = container._digest([data])
    return bytes(data)


def parts_of(data):
    size = container.PRELUDE.unpack(data[: container.PRELUDE.size])[2]
    start = container.PRELUDE.size
    return json.loads(data[start : start + size]), data[start + size :]


def put_together(data, header, rest):
    """Return a file with another header, its lengths and digest right."""
    text = (
        header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    )
    old = container.PRELUDE.unpack(data[: container.PRELUDE.size])
    before = (container.PRELUDE.size + old[2]) % container.ALIGNMENT
    text += b" " * ((before - container.PRELUDE.size - len(text)) % container.ALIGNMENT)
    size = container.PRELUDE.size + len(text) + len(rest)
    start = container.PRELUDE.pack(old[0], old[1], len(text), size, old[4], bytes(32))
    return sealed(start + text + rest)


def places(node, found, path=()):
    """List all places of a JSON value."""
    found.append(path)
    if isinstance(node, dict | list):
        for key, part in node.items() if isinstance(node, dict) else enumerate(node):
            places(part, found, (*path, key))
    return found


def change_header(data, rng):
    """Change values, references, names and types in the header."""
    header, rest = parts_of(data)
    for _ in range(rng.integers(1, 4)):
        found = places(header, [])
        inside = [path for path in found if path[:1] == ("objects",)]
        path = (inside or found[1:])[rng.integers(len(inside or found[1:]))]
        holder = header
        for key in path[:-1]:
            holder = holder[key]
        key, others = path[-1], found[1:]
        how = rng.integers(6)
        if how == 0:
            holder[key] = int(rng.choice(np.array(NUMBERS, dtype=object)))
        elif how == 1:
            holder[key] = (None, True, "", "x" * 2000, [], {}, 0.5, -1.5, 1e308)[rng.integers(9)]
        elif how == 2:
            del holder[key]
        elif how == 3 and isinstance(holder, dict):
            holder["surprise"] = holder.pop(key)
        elif how == 4 and isinstance(holder[key], int):
            holder[key] = int(holder[key]) + int(rng.integers(-3, 4))
        else:
            source = header
            for step in others[rng.integers(len(others))]:
                if not isinstance(source, dict | list) or (
                    step not in source if isinstance(source, dict) else step >= len(source)
                ):
                    break
                source = source[step]
            holder[key] = json.loads(json.dumps(source))
        if not isinstance(header, dict):
            break
    return put_together(data, header, rest)


def change_text(data, rng):
    """Change characters of the header: mostly no JSON any more."""
    size = container.PRELUDE.unpack(data[: container.PRELUDE.size])[2]
    changed = bytearray(data)
    for at in rng.integers(size, size=rng.integers(1, 4)):
        character = rng.choice(np.frombuffer(b'0123456789[]{},:"-.eE nt', dtype=np.uint8))
        changed[container.PRELUDE.size + at] = character
    return sealed(changed)


def nest(data, rng):
    """Make a header of depth, or of more values than anybody needs."""
    depth = int(rng.integers(1, 200_000))
    texts = (
        b"[" * depth,
        b'{"tuple":[' * depth,
        b'{"objects":' + b"[" * depth + b"]" * depth + b',"arrays":[]}',
        b'{"arrays":[' + b"0," * depth + b'0],"objects":[]}',
        b'{"objects":[["Costs",{"form":' + b"9" * depth + b'}]],"arrays":[]}',
    )
    return put_together(data, texts[rng.integers(len(texts))], b"")


def change_arrays(data, rng):
    """Change numbers in arrays: indices, thresholds, values, words of nodes."""
    header, rest = parts_of(data)
    rest, at = bytearray(rest), container.PRELUDE.unpack(data[: container.PRELUDE.size])[2]
    at += container.PRELUDE.size
    start, spans = at, []
    for name, shape in header["arrays"]:
        at += -at % container.ALIGNMENT
        size = np.dtype(name).itemsize * int(np.prod(shape))
        spans.append((np.dtype(name), at - start, size))
        at += size
    filled = [span for span in spans if span[2]]
    shares = np.array([span[2] for span in filled]) ** 0.5  # large arrays more often
    for _ in range(rng.integers(1, 4)):
        dtype, begin, size = filled[rng.choice(len(filled), p=shares / shares.sum())]
        cell = begin + dtype.itemsize * int(rng.integers(size // dtype.itemsize))
        if rng.uniform() < 0.5:
            rest[cell + rng.integers(dtype.itemsize)] ^= 1 << rng.integers(8)
        else:
            drawn = rng.choice(np.array(FLOATS if dtype.kind == "f" else NUMBERS, dtype=object))
            with np.errstate(all="ignore"):
                value = np.array(drawn, object) if dtype.kind == "f" else drawn % 2**64
            whole = np.array(value, np.float64 if dtype.kind == "f" else np.uint64)
            filling = whole.tobytes()[: dtype.itemsize].ljust(dtype.itemsize, b"\0")
            rest[cell : cell + dtype.itemsize] = filling  # as long as what it stands for
    return put_together(data, header, bytes(rest))


def change_table(data, rng):
    """Change dtypes and shapes of arrays, the rest of the file as it was."""
    header, rest = parts_of(data)
    for _ in range(rng.integers(1, 3)):
        entry = header["arrays"][rng.integers(len(header["arrays"]))]
        if rng.uniform() < 0.5:
            entry[0] = str(rng.choice(["<f8", "<i8", "|b1", "|O", "<U3", "|S8", "<M8[ns]", "|V8"]))
        elif entry[1] and rng.uniform() < 0.5:
            entry[1][rng.integers(len(entry[1]))] = int(rng.choice(np.array(NUMBERS, object)))
        elif rng.uniform() < 0.5:  # no cells, and sizes beyond every memory beside the zero
            entry[1] = rng.permutation([0, *rng.choice(np.array(SIZES, object), size=2)]).tolist()
        else:
            entry[1] = [1] * int(rng.integers(1, 70))
    return put_together(data, header, rest)


def change_prelude(data, rng):
    """Change the lengths and versions that the prelude tells."""
    fields = list(container.PRELUDE.unpack(data[: container.PRELUDE.size]))
    which = int(rng.integers(1, 5))
    limit = (1, 2**32, 2**32, 2**64)[which - 1]
    near = int(rng.integers(-20, 20)) + (fields[which] if which < 4 else 0)
    drawn = (near, int(rng.choice(np.array(NUMBERS, object))))[rng.integers(2)]
    fields[which] = rng.bytes(24) if which == 4 else drawn % max(limit, 2**32)
    return sealed(container.PRELUDE.pack(*fields) + data[container.PRELUDE.size :])


def swap_objects(data, rng):
    """Put the objects of one model into another, or in another order."""
    header, rest = parts_of(data)
    objects = header["objects"]
    one, two = rng.integers(len(objects), size=2)
    if rng.uniform() < 0.5:
        objects[one], objects[two] = objects[two], objects[one]
    else:
        objects[one][0] = objects[two][0]
    return put_together(data, header, rest)


def multiply(data, rng):
    """Refer to what is there more often: to texts, to parts of models, to whole models.

    The file stays small, and what it asks for grows by a factor with every object that is added.
    """
    header, rest = parts_of(data)
    objects, times = header["objects"], int(rng.choice([2, 10, 1000]))
    (multiply_texts, multiply_parts, nest_models, nest_models)[rng.integers(4)](objects, times, rng)
    return put_together(data, header, rest)


def multiply_texts(objects, times, rng):
    """Put texts of the model many times into a parameter that takes anything."""
    nodes = [at(objects, path) for path in places(objects, [])]
    texts = [node for node in nodes if isinstance(node, dict) and list(node) == ["texts"]]
    if texts:
        objects[-1][1]["random_state"] = [texts[rng.integers(len(texts))]] * times


def multiply_parts(objects, times, rng):
    """Repeat the objects that a tuple holds."""
    nodes = [at(objects, path) for path in places(objects, [])]
    held = [node for node in nodes if isinstance(node, dict) and "object" in str(node.get("tuple"))]
    if held:
        held[rng.integers(len(held))]["tuple"] *= times


def nest_models(objects, times, rng):
    """Wrap the model into others, each of which asks the one before it many times."""
    fields = objects[-1][1]
    if "classes_" not in fields:
        return
    names = {"classes_", "costs_", "costs_per_row_", "n_features_in_", "feature_names_in_"}
    own = parts_of(original("costing constants")[0])[0]["objects"][-1][1]
    kept = {name: node for name, node in own.items() if name not in names}
    kept |= {name: node for name, node in fields.items() if name in names}
    for _ in range(rng.integers(1, 30)):
        before = {"object": len(objects) - 1}
        inside = [before] * int(rng.choice([1, times]))
        objects.append(["CostingClassifier", {**kept, "estimator": before, "estimators_": inside}])


def at(node, path):
    """Return the part of a JSON value at a place."""
    for key in path:
        node = node[key]
    return node


CHANGES = (
    change_header,
    change_text,
    nest,
    change_arrays,
    change_table,
    change_prelude,
    swap_objects,
    multiply,
)


def try_seed(seed, folder):
    """Change a file by a seed, load it and ask it; return what happened."""
    rng = np.random.default_rng(seed)
    name = NAMES[rng.integers(len(NAMES))]
    data, expected = original(name)
    honest = rng.uniform() < 0.5
    how = damage if honest else CHANGES[rng.integers(len(CHANGES))]
    changed = how(data, rng)
    path = Path(folder) / "changed"
    path.write_bytes(changed)
    try:
        model = cb.load(path, mmap=bool(rng.integers(2)))
    except ModelFileError:
        return f"{how.__name__}: refused"
    try:
        doc = answers(model, fitted(name)[1])
    except (ValueError, TypeError) as error:
        if honest or not any(words in str(error) for words in OTHER_TABLE):
            raise
        return f"{how.__name__}: a model of another table"
    assert np.isfinite(doc).all(), "an answer is not finite"
    if honest:
        assert doc.tobytes() == expected.tobytes(), "a damaged file answers otherwise"
    same = doc.shape == expected.shape and doc.tobytes() == expected.tobytes()
    return f"{how.__name__}: {'the same answers' if same else 'another model'}"


def run(seeds, at, outcomes):
    """Try seeds in a process whose memory is limited; tell which one is tried."""
    warnings.simplefilter("ignore")
    for name in NAMES:
        original(name)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    signal.signal(signal.SIGALRM, _too_slow)
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            at.value = seed
            signal.alarm(SECONDS)
            try:
                outcomes.put((seed, try_seed(seed, folder)))
            except BaseException as error:
                outcomes.put((seed, f"FAILED {type(error).__name__}: {error}"))
            signal.alarm(0)
    outcomes.put(None)


def _too_slow(*_):
    raise TimeoutError(f"more than {SECONDS} seconds")


def fuzz(first, count, *, tell=False):
    """Try so many seeds; return how often each outcome came, and what failed."""
    for name in NAMES:  # fitted once, and inherited by the processes
        original(name)
    context = multiprocessing.get_context("fork")
    found, failed, seed, began = Counter(), [], first, time.monotonic()
    while seed < first + count:
        at, outcomes = context.Value("q", seed), context.Queue()
        worker = context.Process(target=run, args=(range(seed, first + count), at, outcomes))
        worker.start()
        while True:
            try:
                outcome = outcomes.get(timeout=1)
            except Exception:
                if worker.is_alive():
                    continue
                failed.append((at.value, f"the process died: {worker.exitcode}"))
                seed = at.value + 1
                break
            if outcome is None:
                seed = first + count
                break
            seed = outcome[0] + 1
            (
                failed.append(outcome)
                if outcome[1].startswith("FAILED")
                else found.update([outcome[1]])
            )
            if tell and outcome[0] % 5000 == 4999:
                print(
                    f"{outcome[0] + 1 - first:>8,} files, {time.monotonic() - began:.0f} s",
                    flush=True,
                )
        worker.join()
    return found, failed


if __name__ == "__main__":
    n_files = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    counts, failures = fuzz(int(sys.argv[2]) if len(sys.argv) > 2 else 0, n_files, tell=True)
    for outcome, times in sorted(counts.items()):
        print(f"{times:>8,}  {outcome}")
    for seed, what in failures:
        print(f"seed {seed}: {what}")
    print(f"{n_files:,} files, {len(failures)} failures")
    sys.exit(bool(failures))
