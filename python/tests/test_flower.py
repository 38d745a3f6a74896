"""Federation through Flower's own messages and apps, with sites that misbehave. The grid is ours: no process is started."""

import numpy as np
import pytest

pytest.importorskip("flwr", reason="needs quorate[flower]")

from flwr.app import ConfigRecord, Context, Message, RecordDict  # noqa: E402
from flwr.supercore.task_identity import TaskIdentity  # noqa: E402

from scipy.optimize import minimize  # noqa: E402

from quorate import GPClassifier, GPRegressor, _core  # noqa: E402
from quorate._propagation import Quadratic, _Evidence, propagated  # noqa: E402
from quorate.flower import (  # noqa: E402
    LandmarkCountRegressor,
    LandmarkLifetimeRegressor,
    NoQuorum,
    federate,
    site_app,
)
from quorate.privacy import GaussianNoise, Ledger  # noqa: E402

OPTIONS = {"kernel": "se(ard)", "landmarks": 25, "part_size": 60, "restarts": 0}


class Loopback:
    """What a Flower grid does, in this process: each node is an app; a silent one is None."""

    def __init__(self, apps):
        self.apps = dict(enumerate(apps, start=11))
        TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 1, 1

    def get_node_ids(self):
        return list(self.apps)

    def send_and_receive(self, messages, *, timeout=None):
        replies = []
        for message in messages:
            node = message.metadata.dst_node_id
            app = self.apps[node]
            if app is None:
                continue
            context = Context(run_id=1, node_id=node, node_config={}, state=RecordDict(), run_config={})
            reply = app(message, context)
            reply.metadata.__dict__["_src_node_id"] = node
            replies.append(reply)
        return reversed(replies)


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(4)
    X = random.uniform(-2, 2, (480, 2))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + random.normal(0, 0.1, 480)


@pytest.fixture(scope="module")
def prepared(table):
    X, y = table
    return GPRegressor(**OPTIONS).prepare(X, y)


def sites(table, names="abcd"):
    X, y = table
    return [site_app(lambda _, at=at: (X[at::4], y[at::4]), name=name) for at, name in enumerate(names)]


def together(prepared, table, names):
    X, y = table
    model = GPRegressor._of_model(prepared.model_).set_params(keep_parts=True)
    return model.absorb({n: prepared.part_message(X[at::4], y[at::4], part_name=n) for at, n in enumerate("abcd") if n in names})


def says(text):
    """A site that answers with something else."""

    def app(message, context):
        return Message(RecordDict({"quorate": ConfigRecord(text)}), reply_to=message)

    return app


def test_federated_equals_centralised(table, prepared):
    outcome = federate(Loopback(sites(table)), prepared)
    assert outcome.used == ["a", "b", "c", "d"] and not outcome.refused
    assert outcome.estimator.model_.to_bytes() == together(prepared, table, "abcd").model_.to_bytes()


def test_classes_federate_too(table):
    X, y = table
    label = np.where(y > 0, "up", "down")
    empty = GPClassifier(**OPTIONS, mode="landmarks", method="committee").prepare(X, label)
    apps = [site_app(lambda _, at=at: (X[at::2], label[at::2]), name=name) for at, name in enumerate("ab")]
    outcome = federate(Loopback(apps), empty)
    assert outcome.used == ["a", "b"] and isinstance(outcome.estimator, GPClassifier)
    parts = {name: empty.part_message(X[at::2], label[at::2], part_name=name) for at, name in enumerate("ab")}
    alone = GPClassifier._of_model(empty.model_).set_params(keep_parts=True).absorb(parts)
    assert outcome.estimator.model_.to_bytes() == alone.model_.to_bytes()
    assert (outcome.estimator.predict(X) == label).mean() > 0.8


def test_sites_that_misbehave_harm_nobody(table, prepared):
    X, y = table
    good = sites(table)[:2]
    other = GPRegressor(**{**OPTIONS, "landmarks": 20}).prepare(X, y)
    foreign = says({"site": "foreign", "message": other.part_message(X, y, part_name="foreign")})
    damaged = prepared.part_message(X, y, part_name="nan")
    grid = Loopback([
        *good,
        None,
        says({"site": "nan", "message": damaged[:-8] + np.float64(np.nan).tobytes()}),
        foreign,
        says({"site": "odd", "message": "text"}),
        says({"site": "posing", "message": prepared.part_message(X, y, part_name="a2")}),
        site_app(lambda _: (_ for _ in ()).throw(ValueError("a secret row: 42")), name="broken"),
        site_app(lambda _: (X[:3], y[:3]), name="few", min_rows=10),
        says({}),
    ])
    outcome = federate(grid, prepared, quorum=2)
    assert outcome.used == ["a", "b"]
    assert outcome.estimator.model_.to_bytes() == together(prepared, table, "ab").model_.to_bytes()
    reasons = outcome.refused
    assert "did not answer" in reasons["node 13"]
    assert "checksum" in reasons["nan"]
    assert "made under other columns" in reasons["foreign"]
    assert "another name" in reasons["posing"]
    assert reasons["broken"] == "failed with ValueError; its own log says why"
    assert reasons["few"] == "has fewer than 10 rows"
    assert not any("42" in reason for reason in reasons.values())
    with pytest.raises(NoQuorum, match="2 sites answered, and 3 must"):
        federate(grid, prepared, quorum=3)


def test_a_reply_of_nobody_who_was_asked_is_not_heard(table, prepared):
    """The link itself answers for a node that it lost, under a number of its own."""
    grid = Loopback([*sites(table)[:2], None])
    honest = grid.send_and_receive

    def with_a_stranger(messages, *, timeout=None):
        replies = list(honest(messages, timeout=timeout))
        stranger = sites(table)[2](messages[-1], Context(run_id=1, node_id=1, node_config={}, state=RecordDict(), run_config={}))
        stranger.metadata.__dict__["_src_node_id"] = 1
        return [*replies, stranger]

    grid.send_and_receive = with_a_stranger
    outcome = federate(grid, prepared, quorum=2)
    assert outcome.used == ["a", "b"] and list(outcome.refused) == ["node 13"]


def test_two_sites_of_one_name_are_both_left_out(table, prepared):
    outcome = federate(Loopback(sites(table, "abbd")), prepared, quorum=2)
    assert outcome.used == ["a", "d"] and len(outcome.refused) == 2


def test_a_forgotten_site_was_never_there(table, prepared):
    outcome = federate(Loopback(sites(table)), prepared)
    left = outcome.estimator.forget("c")
    assert left.model_.to_bytes() == together(prepared, table, "abd").model_.to_bytes()


def test_rounds_climb_the_evidence_of_all_sites(table, prepared):
    plain = federate(Loopback(sites(table)), prepared).estimator
    climbed = federate(Loopback(sites(table)), prepared, rounds=3)
    assert climbed.rounds > 0 and climbed.used == ["a", "b", "c", "d"]
    assert climbed.estimator.log_marginal_likelihood_value_ > plain.log_marginal_likelihood_value_


def test_noise_is_written_down_and_limited(table, prepared, tmp_path):
    X, y = table
    ledger = Ledger.open(tmp_path / "ledger.json", delta=1e-5, limit=1.2)
    noise = GaussianNoise(epsilon=1.0, delta=1e-5)
    app = site_app(lambda _: (X, y), name="north", noise=noise, ledger=ledger)
    outcome = federate(Loopback([app]), prepared)
    assert outcome.used == ["north"]
    assert abs(Ledger.open(tmp_path / "ledger.json", delta=1e-5).spent.epsilon - 1.0) < 1e-6
    # A second release of the same rows would go beyond the limit.
    with pytest.raises(NoQuorum):
        federate(Loopback([app]), prepared)
    with pytest.raises(ValueError, match="together"):
        site_app(lambda _: (X, y), noise=noise)


def test_propagated_hyperparameters_are_those_of_one_search_over_all_sites(table, prepared):
    X, y = table
    parts = [(X[at::4], y[at::4], None, None) for at in range(4)]
    outcome = federate(Loopback(sites(table)), prepared, rounds=15, learn="propagation")
    assert outcome.used == ["a", "b", "c", "d"] and 2 < outcome.rounds < 15 and not outcome.notes
    names, start, _ = _core.hyperparameters(prepared.model_)
    evidences = [_Evidence(prepared, part) for part in parts]

    def together(point):
        found = [evidence(point) for evidence in evidences]
        away = (point - start) / 9
        return -sum(value for value, _ in found) + away @ (point - start) / 2, away - sum(slope for _, slope in found)

    best = minimize(together, start, jac=True, method="L-BFGS-B").x
    assert np.abs(_core.hyperparameters(outcome.estimator.model_)[1] - best).max() < 1e-3


def test_a_quadratic_that_cannot_be_is_not_believed(table, prepared):
    size = len(_core.hyperparameters(prepared.model_)[1])
    good = Quadratic(np.eye(size), np.ones(size))
    assert np.array_equal(Quadratic.from_bytes(good.to_bytes(), size).precision, good.precision)
    for wrong, why in (
        (Quadratic(np.eye(size) * np.nan, np.ones(size)), "not finite"),
        (Quadratic(np.triu(np.ones((size, size))), np.ones(size)), "not symmetric"),
        (Quadratic(np.eye(2), np.ones(2)), "another number"),
    ):
        with pytest.raises(ValueError, match=why):
            Quadratic.from_bytes(wrong.to_bytes(), size)
    with pytest.raises(ValueError, match="no quadratic"):
        Quadratic.from_bytes(b"{}", size)
    # A site whose quadratic bends upwards everywhere is outweighed by the prior, and that is said.
    upwards = Quadratic(-np.eye(size), np.zeros(size))
    _, rounds, notes = propagated(prepared, 3, lambda point, others: {"a": upwards})
    assert rounds <= 3 and "damped" in notes[0]


def test_counts_take_rounds_of_working_targets(table):
    X, latent = table
    random = np.random.default_rng(7)
    exposure = random.uniform(0.5, 2.0, len(X))
    y = random.poisson(exposure * np.exp(1 + latent)).astype(float)
    options = {"kernel": "se(ard)", "likelihood": "poisson", "landmarks": 25, "part_size": 60, "restarts": 0}
    empty = LandmarkCountRegressor(**options).prepare(X, y, exposure=exposure)
    parts = {name: (X[at::4], y[at::4], None, exposure[at::4]) for at, name in enumerate("abcd")}
    apps = [site_app(lambda _, own=own: own, name=name) for name, own in parts.items()]
    outcome = federate(Loopback([*apps, None]), empty, quorum=4)
    alone = LandmarkCountRegressor._of(empty.model_, empty._told())
    alone.keep_parts = True
    alone.settle(lambda: {name: alone.working_message(*part, part_name=name) for name, part in parts.items()})
    assert outcome.used == list("abcd") and outcome.rounds == alone.rounds_
    assert outcome.estimator.model_.to_bytes() == alone.model_.to_bytes()
    assert "did not answer" in outcome.refused["node 15"] and outcome.report()["rows"] == len(X)
    with pytest.raises(NoQuorum):
        federate(Loopback([*apps, None]), empty)
    with pytest.raises(ValueError, match="propagation"):
        federate(Loopback(apps), empty, learn="guess")


def test_lifetimes_take_rounds_of_working_targets(table):
    X, latent = table
    random = np.random.default_rng(7)
    full = np.exp(1 + latent) * random.weibull(1.5, len(X))
    limit = random.uniform(1.0, 12.0, len(X))
    y, event = np.minimum(full, limit), (full <= limit).astype(float)
    empty = LandmarkLifetimeRegressor("se(ard)", landmarks=25, part_size=60, restarts=0).prepare(X, y, event=event)
    parts = {name: (X[at::4], y[at::4], None, event[at::4]) for at, name in enumerate("abcd")}
    outcome = federate(Loopback([site_app(lambda _, own=own: own, name=name) for name, own in parts.items()]), empty)
    alone = LandmarkLifetimeRegressor._of(empty.model_, empty._told())
    alone.keep_parts = True
    alone.settle(lambda: {name: alone.working_message(*part, part_name=name) for name, part in parts.items()})
    assert outcome.estimator.model_.to_bytes() == alone.model_.to_bytes() and 2 < outcome.rounds < 25
    assert isinstance(outcome.estimator, LandmarkLifetimeRegressor)
