"""Networks of columns: queries against what can be counted, drawn rows, the same file at the command line."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from quorate import GPNetwork


def weather(rows, seed=0):
    random = np.random.default_rng(seed)
    rain = random.random(rows) < 0.3
    wet = np.where(rain, random.random(rows) < 0.9, random.random(rows) < 0.2)
    slow = 50 - 10.0 * wet + random.standard_normal(rows)
    word = np.array(["no", "yes"])
    return {"rain": word[rain.astype(int)], "wet": word[wet.astype(int)], "speed": slow}


def test_a_query_is_what_counting_says_and_the_file_is_the_same_at_the_command_line(tmp_path):
    table = weather(400)
    network = GPNetwork({"rain": [], "wet": ["rain"], "speed": ["wet"]}).fit(table)
    assert network.structure_ == {"rain": [], "wet": ["rain"], "speed": ["wet"]}
    assert any(note.startswith("wet: ") for note in network.notes_)
    answers = network.query(["rain", "speed"], given={"wet": "yes"}, samples=20_000)
    # Bayes' rule on the shares of the table itself.
    rain, wet = table["rain"] == "yes", table["wet"] == "yes"
    both = (rain & wet).mean() / wet.mean()
    found = answers["rain"]["probabilities"]["yes"]
    assert abs(found - both) < 0.03 + 4 * answers["rain"]["standard_errors"]["yes"]
    assert abs(answers["speed"]["mean"] - table["speed"][wet].mean()) < 0.5
    path = tmp_path / "weather.network"
    network.save(path)
    again = GPNetwork.load(path)
    assert again.query("rain", given={"wet": "yes"}) == network.query("rain", given={"wet": "yes"})
    assert again.structure_ == network.structure_
    copied = pickle.loads(pickle.dumps(network))
    assert copied.query("rain") == network.query("rain")
    program = "import sys; from quorate._command import main; sys.exit(main())"
    line = ["network", "query", str(path), "--about", "rain", "--given", "wet=yes", "--json"]
    told = subprocess.run([sys.executable, "-c", program, *line], capture_output=True, text=True, check=True)
    shares = {label: share for label, share, _ in json.loads(told.stdout)["answers"][0]["shares"]}
    assert shares == network.query("rain", given={"wet": "yes"})["rain"]["probabilities"]


def test_rows_are_drawn_as_tables_of_the_same_library():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(weather(200))
    network = GPNetwork({"rain": [], "wet": ["rain"], "speed": ["wet"]}).fit(table)
    drawn = network.sample(500, random_state=3)
    assert isinstance(drawn, pandas.DataFrame) and list(drawn.columns) == ["rain", "wet", "speed"]
    assert abs((drawn["rain"] == "yes").mean() - (table["rain"] == "yes").mean()) < 0.1
    assert drawn.equals(network.sample(500, random_state=3))
    weighted = network.sample(50, given={"wet": "yes"})
    assert set(weighted["wet"]) == {"yes"} and (weighted["log_weight"] < 0).all()


def test_structures_are_found_or_left_open_and_errors_are_told():
    table = weather(300, seed=1)
    found = GPNetwork(max_parents=2).fit(table)
    edges = {frozenset((name, parent)) for name, own in found.structure_.items() for parent in own}
    assert frozenset(("rain", "wet")) in edges and frozenset(("wet", "speed")) in edges
    everybody = GPNetwork("dependency", exogenous=["rain"]).fit(table)
    assert everybody.structure_["wet"] == ["rain", "speed"]
    with pytest.raises(ValueError, match="exogenous"):
        everybody.query("wet")
    with pytest.raises(ValueError, match="structure is"):
        GPNetwork("tree").fit(table)
    with pytest.raises(AttributeError, match="not fitted"):
        GPNetwork().query("rain")
    with pytest.raises(TypeError, match="named columns"):
        GPNetwork().fit(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="no rows"):
        GPNetwork().fit({"a": [], "b": []})


def test_counts_have_a_likelihood(tmp_path):
    random = np.random.default_rng(5)
    young = random.random(400) < 0.4
    claims = random.poisson(np.where(young, 3.0, 0.5))
    table = {"young": np.array(["no", "yes"])[young.astype(int)], "claims": claims}
    network = GPNetwork({"young": [], "claims": ["young"]}, counts=["claims"]).fit(table)
    answer = network.query("claims", given={"young": "yes"})["claims"]
    assert abs(answer["mean"] - claims[young].mean()) < 0.2
    assert all(float(quantile).is_integer() for quantile in answer["quantiles"])
    # Bayes' rule with the two Poisson rates.
    few, many = np.exp(-0.5) * 0.5**3 / 6, np.exp(-3.0) * 3.0**3 / 6
    share = young.mean() * many / (young.mean() * many + (1 - young.mean()) * few)
    found = network.query("young", given={"claims": 3})["young"]["probabilities"]["yes"]
    assert abs(found - share) < 0.08
    drawn = network.sample(50)
    assert np.all(np.asarray(drawn["claims"]) % 1 == 0)
    network.save(tmp_path / "claims.network")
    again = GPNetwork.load(tmp_path / "claims.network")
    assert again.counts == ["claims"] and again.query("claims") == network.query("claims")
