"""`costboost decide --explore --never`: drawn decisions, and the log that `policy_cost` reads."""

import json

import numpy as np
import polars as pl
import pytest

from costboost import Costs
from costboost.metrics import policy_cost
from payments import payments


@pytest.fixture
def decided(run, folder, tmp_path):
    def call(*more):
        out = tmp_path / "d.parquet"
        table = tmp_path / "in.parquet"
        rows = payments(400, 4)
        vip = np.arange(400) % 5 == 0
        rows.with_columns(
            vip=pl.Series(vip), old=pl.Series(np.where(vip, "yes", "no")), odd=pl.lit("maybe")
        ).write_parquet(table)
        ran = run("decide", folder / "model.cb", table, "-o", out, "--json", "--force", *more)
        return ran, pl.read_parquet(out) if ran.code == 0 else None

    return call


def test_drawn_decisions_and_their_log(decided):
    plain_ran, plain = decided()
    ran, table = decided("--explore", "0.1", "--seed", "3")
    found = json.loads(ran.out)
    assert found["explored"] == table["explored"].sum() == 40
    differs = (table["decision"] != plain["decision"]).to_numpy()
    np.testing.assert_array_equal(differs, table["explored"].to_numpy())
    more = table["expected_cost"].sum() - plain["expected_cost"].sum()
    assert more > 0
    assert found["exploration_cost"] > 0
    both = table["propensity_yes"] + table["propensity_no"]
    np.testing.assert_allclose(both.to_numpy(), 1.0)
    _, again = decided("--explore", "0.1", "--seed", "3")
    assert again.equals(table)
    _, other = decided("--explore", "0.1", "--seed", "4")
    assert not other["explored"].equals(table["explored"])
    # What it says on a screen.
    assert "explored" not in json.loads(plain_ran.out)


@pytest.mark.parametrize("column", ["vip", "old"])
def test_what_is_forbidden_is_never_decided(decided, column):
    ran, table = decided("--explore", "0.3", "--never", f"yes={column}")
    assert ran.code == 0, ran.err
    vip = np.arange(400) % 5 == 0
    assert (table["decision"].to_numpy()[vip] == "no").all()
    assert (table["propensity_yes"].to_numpy()[vip] == 0).all()
    _, strict = decided("--never", f"yes={column}")
    assert (strict["decision"].to_numpy()[vip] == "no").all()
    assert "propensity" not in strict.columns


def test_the_file_judges_another_policy(decided):
    ran, table = decided("--explore", "0.3", "--prefix", "new_")
    assert ran.code == 0, ran.err
    truth = payments(400, 4)["fraud"].to_numpy()
    seen = np.where(table["new_decision"].to_numpy() == "yes", None, truth)
    costs = Costs(fp=8, tp=8, fn=payments(400, 4)["amount"].to_numpy(), positive="yes")
    found = policy_cost(
        seen, np.full(400, "no"), costs=costs, log=table, reveals="no", labels=["no", "yes"]
    )
    assert found.known.rows == np.sum(table["new_decision"].to_numpy() == "no")
    assert found.bounds[0] <= costs.bind(["no", "yes"]).total(truth, ["no"] * 400)


WRONG = [
    (("--explore", "0.8"), "--explore 0.8|explore=0.8"),
    (("--explore", "-0.1"), "explore"),
    (("--never", "vip"), "write ACTION=COLUMN, such as decline=vip"),
    (("--never", "=vip"), "write ACTION=COLUMN"),
    (("--never", "yes=vip", "--never", "yes=old"), "forbids yes twice"),
    (("--never", "block=vip"), "block"),
    (("--never", "yes=nobody"), "nobody"),
    (("--never", "yes=odd"), "true and false, 1 and 0, or yes and no"),
    (("--never", "yes=vip", "--never", "no=vip"), "forbids every action"),
    (("--explore", "0.1", "--capacity", "yes=3"), "may draw 40 for 'yes', which is limited to 3"),
]


@pytest.mark.parametrize(("more", "said"), WRONG)
def test_wrong_options_say_what_to_do(decided, more, said):
    ran, table = decided(*more)
    assert ran.code in (1, 2)
    assert table is None
    text = " ".join(ran.err.split())
    assert any(part in text for part in said.split("|"))
