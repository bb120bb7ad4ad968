"""A transport that keeps its few promises, and no more, is enough for a fit."""

import pickle

import numpy as np
import pytest

from costboost.clusters.driver import Driver
from costboost.clusters.protocol import Candidate, identity
from costboost.clusters.worker import Worker
from toy_parts import CALLS, Part, naive, plain, sources


class Careless:
    """Workers in this very thread: replies come late, twice or never, in any order."""

    def __init__(self, seed, deaths=0):
        self.rng, self.deaths = np.random.default_rng(seed), deaths
        self.made, self.gone, self.held = {}, {}, []
        self.let_go = set()

    def start(self):
        for name in "abc":
            self.join(name)

    def join(self, name):
        self.made[name] = Worker("fit", Part)

    def workers(self):
        return {name: Candidate(identity()) for name in self.made}

    def lost(self):
        return self.gone

    def submit(self, requests):
        for name, request in requests:
            if name in self.made:  # else it is dropped silently
                for _ in range(self.rng.integers(1, 3)):
                    reply = self.made[name].answer(pickle.loads(pickle.dumps(request)))
                    self.held.append((name, reply))

    def collect(self, timeout):
        if self.deaths and self.rng.random() < 0.2:
            self.lose(str(self.rng.choice(list(self.made))))
        self.rng.shuffle(self.held)
        n_taken = self.rng.integers(len(self.held) + 1)
        taken, self.held = self.held[:n_taken], self.held[n_taken:]
        return [reply for _, reply in taken]

    def lose(self, name):
        """Let a worker go with what it has not said, and a new one come under a new name."""
        self.deaths -= 1
        self.made.pop(name).close()
        self.gone[name] = "killed"
        self.held = [(whose, reply) for whose, reply in self.held if whose != name]
        self.join(f"{name}+")

    def close(self):
        for worker in self.made.values():
            worker.close()


@pytest.mark.parametrize("deaths", [0, 3])
@pytest.mark.parametrize("seed", range(10))
def test_a_careless_transport_is_enough(seed, deaths):
    transport = Careless(seed, deaths)
    with Driver(transport, sources(), fit="fit", rebuilds=4) as driver:
        assert [plain(driver.send(orders)) for orders in CALLS] == naive()
    assert all(worker.closed for worker in transport.made.values())
