"""Tasks of a barrier job as threads of this process, which call the driver as real ones do."""

import threading

from costboost.clusters.protocol import identity
from costboost.spark.job import Address, Hello, HoldRows
from toy_parts import Part


class Reader:
    """Makes sources of toy parts: here a partition's batches are its source already."""

    def source(self, batches):
        return batches


class Stage:
    """Starts all tasks together, and all of them again where one has failed: as Spark does.

    `errors` are those that tasks have ended with.
    """

    def __init__(self, sources, monkeypatch):
        self.sources, self.attempts, self.errors = sources, 0, []
        self._here = threading.local()
        self._lock = threading.Lock()
        self._identity = identity()  # takes its time at first, while others would wait
        monkeypatch.setattr("costboost.spark.job._hello", lambda: self._here.hello)

    def hello(self, partition, attempt, **changes):
        """Return what a task says of itself."""
        given = {
            "partition": partition,
            "n_tasks": len(self.sources),
            "attempt": attempt,
            "where": "here",
            "process": attempt,
            "identity": self._identity,
        }
        return Hello(**{**given, **changes})

    def start(self, address, partitions=None):
        """Start one task for every partition, or for some; return their threads."""
        with self._lock:
            first, self.attempts = self.attempts, self.attempts + len(self.sources)
        chosen = range(len(self.sources)) if partitions is None else partitions
        threads = [
            threading.Thread(target=self._run, args=(address, k, first + k), daemon=True)
            for k in chosen
        ]
        for thread in threads:
            thread.start()
        return threads

    def _run(self, address, partition, attempt):
        self._here.hello = self.hello(partition, attempt)
        try:
            assert list(HoldRows(address, "fit", Part, Reader())(self.sources[partition])) == []
        except Exception as error:
            self.errors.append(error)


class Job:
    """A job of Spark, whose tasks are those of a stage; starts them again as long as they fail."""

    def __init__(self, stage, listener, token, retries=5):
        self.stage, self.address = stage, Address("127.0.0.1", listener.port, token)
        self.ended, self.cancelled, self.retries = None, False, retries
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        for _ in range(self.retries):
            before = len(self.stage.errors)
            for thread in self.stage.start(self.address):
                thread.join()
            if len(self.stage.errors) == before or self.cancelled:
                return

    def check(self):
        if self.ended is not None:
            raise self.ended

    def progress(self):
        return None

    def wait(self, timeout):
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def cancel(self):
        self.cancelled = True
