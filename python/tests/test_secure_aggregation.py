"""Summaries through Flower's SecAgg+: the server learns the sum and not its parts.

The protocol adds whole numbers below 2^29 here. A number travels as two of them, a coarse one and what it leaves, so that the
sum is as good as one of floating-point numbers.
"""

import copy

import numpy as np
import pytest

pytest.importorskip("flwr", reason="needs quorate[flower]")

from flwr.app import ArrayRecord, ConfigRecord, Context, Message, RecordDict  # noqa: E402
from flwr.clientapp import ClientApp  # noqa: E402
from flwr.client.mod import secaggplus_mod  # noqa: E402
from flwr.common import Code, FitIns, FitRes, Parameters, Status, ndarrays_to_parameters, parameters_to_ndarrays  # noqa: E402
from flwr.compat.common import recorddict_compat as compat  # noqa: E402
from flwr.server.compat.legacy_context import LegacyContext  # noqa: E402
from flwr.server.workflow import SecAggPlusWorkflow  # noqa: E402
from flwr.server.workflow.constant import MAIN_CONFIGS_RECORD, MAIN_PARAMS_RECORD, Key  # noqa: E402
from flwr.supercore.task_identity import TaskIdentity  # noqa: E402

from quorate import GPRegressor, Summary  # noqa: E402

#: Whole numbers go up to here, and sums of five of them stay below the protocol's 2^32.
RANGE = 2**29
#: Numbers between -1 and 1 in that many steps.
STEP = 2 / RANGE


class Grid:
    """Nodes in this process that keep their state between messages; dead ones are silent."""

    def __init__(self, apps):
        self.apps, self.dead = dict(enumerate(apps, start=11)), {}
        self.contexts = {
            node: Context(run_id=1, node_id=node, node_config={}, state=RecordDict(), run_config={}) for node in self.apps
        }
        TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 1, 1
        self.stage = 0

    def send_and_receive(self, messages, *, timeout=None):
        replies = []
        self.stage += 1
        for message in messages:
            node = message.metadata.dst_node_id
            if self.stage >= self.dead.get(node, 9):
                continue
            # Over a network it would be a copy.
            reply = self.apps[node](copy.deepcopy(message), self.contexts[node])
            reply.metadata.__dict__["_src_node_id"] = node
            replies.append(reply)
        return replies


class Proxy:
    def __init__(self, node):
        self.node_id = node


class Strategy:
    """Asks all nodes, and keeps what the protocol unmasked."""

    def __init__(self, nodes):
        self.nodes, self.found, self.answered = nodes, None, 0

    def configure_fit(self, server_round, parameters, client_manager):
        return [(Proxy(node), FitIns(Parameters([], ""), {})) for node in self.nodes]

    def aggregate_fit(self, server_round, results, failures):
        self.answered = len(results)
        self.found = parameters_to_ndarrays(results[0][1].parameters)
        return None, {}


class Manager:
    def num_available(self):
        return 5


def site(arrays):
    """A site that sends arrays between -1 and 1, each with the weight of one."""
    app = ClientApp(mods=[secaggplus_mod])

    @app.train()
    def train(message, context):
        answer = FitRes(Status(Code.OK, ""), ndarrays_to_parameters(arrays), 1, {})
        return Message(compat.fitres_to_recorddict(answer, False), reply_to=message)

    return app


@pytest.fixture(scope="module")
def summaries():
    random = np.random.default_rng(4)
    X = random.uniform(-2, 2, (1_000, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + random.normal(0, 0.1, 1_000)
    empty = GPRegressor("se(ard)", landmarks=30, part_size=100, restarts=0).prepare(X, y)
    return [Summary(empty).absorb(X[at::5], y[at::5], name=f"site-{at}") for at in range(5)]


def scales(summaries):
    """One scale for all, a power of two that no site's numbers exceed: sites tell that much of theirs."""
    largest = [max(np.abs(getattr(own, what)).max() for own in summaries) for what in ("information", "vector")]
    return [2.0 ** np.ceil(np.log2(one)) for one in largest]


def limbs(array, scale):
    """A coarse part on the protocol's steps, which it does not round, and what that leaves, as large again."""
    coarse = np.round(array / scale / STEP) * STEP
    return [coarse, (array / scale - coarse) / STEP]


def aggregated(summaries, dead=None):
    """Information and vector as the protocol gives them, and how many sites they are of."""
    scale = scales(summaries)
    grid = Grid([site([*limbs(own.information, scale[0]), *limbs(own.vector, scale[1])]) for own in summaries])
    grid.dead = dead or {}
    strategy = Strategy(list(grid.apps))
    state = RecordDict({MAIN_CONFIGS_RECORD: ConfigRecord({Key.CURRENT_ROUND: 1}), MAIN_PARAMS_RECORD: ArrayRecord()})
    context = Context(run_id=1, node_id=1, node_config={}, state=state, run_config={})
    protocol = SecAggPlusWorkflow(
        num_shares=5, reconstruction_threshold=3, max_weight=1, clipping_range=1.0, quantization_range=RANGE
    )
    np.random.seed(1)  # the protocol rounds up or down at random
    protocol(grid, LegacyContext(context, strategy=strategy, client_manager=Manager()))
    found = [array * strategy.answered for array in strategy.found]
    information, vector = (
        (coarse + fine * STEP) * own for coarse, fine, own in zip(found[::2], found[1::2], scale, strict=True)
    )
    return information, vector, strategy.answered


def posterior(information, vector):
    """Mean and covariance of the whitened landmark values."""
    covariance = np.linalg.inv(np.eye(len(vector)) + information)
    return covariance @ vector, covariance


def difference(found, exact):
    """Means apart, in deviations of the exact posterior, and the greatest relative change of a deviation."""
    (mean, covariance), (expected, under) = posterior(*found), posterior(*exact)
    deviation = np.sqrt(np.diag(under))
    return np.abs((mean - expected) / deviation).max(), np.abs(np.sqrt(np.diag(covariance)) / deviation - 1).max()


def test_the_masked_sum_is_the_sum(summaries):
    information, vector, answered = aggregated(summaries)
    assert answered == 5
    exact = sum(own.information for own in summaries), sum(own.vector for own in summaries)
    # Each site rounds what is fine to a step of a step, up or down; the rest is floating-point rounding of five sums.
    bound = 5 * STEP**2 + 8 * np.finfo(float).eps
    for found, true, scale in zip((information, vector), exact, scales(summaries), strict=True):
        assert np.abs(found - true).max() <= bound * scale
    means, deviations = difference((information, vector), exact)
    assert means < 1e-8 and deviations < 1e-8


def test_one_number_each_is_too_coarse_for_summaries(summaries):
    """Why a number travels as two: as one, the posterior moves by a thousandth of its deviation and more."""
    rounded = [
        sum(np.round(getattr(own, what) / scale / STEP) * STEP * scale for own in summaries)
        for what, scale in zip(("information", "vector"), scales(summaries), strict=True)
    ]
    means, _ = difference(rounded, (sum(own.information for own in summaries), sum(own.vector for own in summaries)))
    assert means > 1e-3


def test_a_site_that_drops_out_is_not_in_the_sum(summaries):
    information, vector, answered = aggregated(summaries, dead={13: 3})
    left = [own for at, own in enumerate(summaries) if at != 2]
    assert answered == 4
    exact = sum(own.information for own in left), sum(own.vector for own in left)
    means, deviations = difference((information, vector), exact)
    assert means < 1e-8 and deviations < 1e-8
