"""Federation through Flower: sites keep their rows and send sums over them. Needs `pip install quorate[flower]`.

A Flower app is two lines of yours (`docs/federation.md`):

    app = site_app(lambda context: (X, y), name="north")       # on every site
    app = server_app()                                         # on the server

The server holds a model that `quorate prepare` made; sites answer with messages of their parts, which are checked on
arrival and added in the order of their names. A site that is down, slow, or sends what cannot be believed is left out and
named; the result stands when a quorum answered.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

try:
    from flwr.app import ConfigRecord, Context, Message, RecordDict
    from flwr.clientapp import ClientApp
    from flwr.serverapp import Grid, ServerApp
except ImportError as missing:  # pragma: no cover
    raise ImportError("quorate.flower needs Flower: pip install 'quorate[flower]'") from missing

from quorate import _core
from quorate._counts import LandmarkCountRegressor
from quorate._estimator import load
from quorate._keys import command as keys_command
from quorate._keys import make_keys
from quorate._lifetimes import LandmarkLifetimeRegressor
from quorate._propagation import Quadratic, propagated, site_quadratic
from quorate._rounds import Lost, learned, share
from quorate._sites import RECORD, NoQuorum, Sites
from quorate._through_landmarks import ThroughLandmarks

__all__ = [
    "LandmarkCountRegressor",
    "LandmarkLifetimeRegressor",
    "NoQuorum",
    "Outcome",
    "federate",
    "make_keys",
    "server_app",
    "site_app",
]


@dataclass
class Outcome:
    """A federated model, and who has a part in it."""

    estimator: Any
    used: list[str]
    refused: dict[str, str] = field(default_factory=dict)
    rounds: int = 0
    notes: list[str] = field(default_factory=list)

    def report(self) -> dict[str, Any]:
        """What happened, for people and logs."""
        rows = self.estimator.inspect()["rows"]
        return {"used": self.used, "refused": self.refused, "rows": rows, "rounds": self.rounds, "notes": self.notes}


def site_app(
    rows: Callable[[Context], tuple[Any, ...]],
    *,
    name: str | None = None,
    min_rows: int = 1,
    noise: Any = None,
    ledger: Any = None,
) -> ClientApp:
    """The app of a site.

    Parameters
    ----------
    rows : function of the context that gives the site's table: inputs, targets, and perhaps weights and known noise (of counts:
        exposure; of lifetimes: events)
    name : name of the site; by default the node's setting `site`
    min_rows : fewer rows than these are not summed up: a sum of few rows tells the rows
    noise : `quorate.privacy.GaussianNoise`, with a `ledger`; off by default
    """
    if (noise is None) != (ledger is None):
        raise ValueError("noise and its ledger come together")
    app = ClientApp()

    def named(context: Context) -> str:
        return name or str(context.node_config.get("site", f"site-{context.node_id}"))

    def held(context: Context) -> tuple[Any, ...]:
        part = tuple(rows(context))
        part = (*part, *(None,) * (4 - len(part)))
        if len(part[1]) < min_rows:
            raise _Unwilling(f"has fewer than {min_rows} rows")
        return part

    @app.query("part")
    def part(message: Message, context: Context) -> Message:
        own = named(context)

        def work(asked: ConfigRecord) -> bytes:
            table = held(context)
            estimator = _received(asked["model"])
            if noise is not None:
                if table[2] is not None or table[3] is not None:
                    raise _Unwilling("weights and known noise do not go with noise")
                sent, _ = noise.message(estimator, table[0], table[1], part_name=own, ledger=ledger)
            else:
                X, y, weight, known = table
                sent = estimator.part_message(X, y, weight, noise=known, part_name=own)
            return sent

        return _careful(message, own, work)

    @app.query("share")
    def gradient(message: Message, context: Context) -> Message:
        own = named(context)

        def work(asked: ConfigRecord) -> bytes:
            table = held(context)
            if noise is not None:
                raise _Unwilling("gives no gradients, because they have no noise")
            emptied, total = _received(asked["model"]), _core.Model.from_bytes(bytes(asked["total"]))
            return share(emptied, total, table, own)

        return _careful(message, own, work)

    @app.query("quadratic")
    def quadratic(message: Message, context: Context) -> Message:
        own = named(context)

        def work(asked: ConfigRecord) -> bytes:
            table = held(context)
            if noise is not None:
                raise _Unwilling("gives no curvature, because it has no noise")
            point = np.asarray(asked["point"], dtype=np.float64)
            sent = json.loads(bytes(asked["others"]))
            estimator = _received(asked["model"])
            free = int((~np.asarray(_core.hyperparameters(estimator.model_)[2], dtype=bool)).sum())
            others = Quadratic.from_bytes(json.dumps(sent.get(own, sent[""])).encode(), free)
            return site_quadratic(estimator, point, others, table, int(asked["steps"])).to_bytes()

        return _careful(message, own, work)

    @app.query("working")
    def working(message: Message, context: Context) -> Message:
        own = named(context)

        def work(asked: ConfigRecord) -> bytes:
            table = held(context)
            if noise is not None:
                raise _Unwilling("sends no working targets, because they have no noise")
            model = _core.Model.from_bytes(bytes(asked["model"]))
            estimator = ThroughLandmarks._of(model, json.loads(bytes(asked["told"])))
            return estimator.working_message(*table, part_name=own)

        return _careful(message, own, work)

    return app


def server_app(model: str = "model.quorate", output: str = "federated.quorate") -> ServerApp:
    """The app of the server: federates the prepared model and writes the sum and `<output>.json` beside it.

    The run's settings `model`, `output`, `quorum`, `timeout` (seconds), `rounds`, `learn` and `steps` override what is said here.
    """
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        config = context.run_config
        path = str(config.get("model", model))
        outcome = federate(
            grid,
            ThroughLandmarks.load(path) if ThroughLandmarks.is_file(path) else load(path),
            quorum=int(config.get("quorum", 0)) or None,
            timeout=float(config.get("timeout", 600.0)),
            rounds=int(config.get("rounds", 0)),
            learn=str(config.get("learn", "evidence")),
            steps=int(config.get("steps", 10)),
        )
        target = str(config.get("output", output))
        outcome.estimator.save(target)
        with open(f"{target}.json", "w", encoding="utf-8") as file:
            json.dump(outcome.report(), file, indent=1)

    return app


def federate(
    grid: Grid,
    estimator: Any,
    *,
    quorum: int | None = None,
    timeout: float = 600.0,
    rounds: int = 0,
    learn: str = "evidence",
    steps: int = 10,
) -> Outcome:
    """Asks every site for its part and adds those that can be believed, in the order of their names.

    `quorum` sites must have answered, by default all that are connected. With `rounds`, hyperparameters are first learned from all rows of
    the sites that answered, for at most so many rounds: with `learn="evidence"` by climbing the evidence of the committee, two
    exchanges a step; with `learn="propagation"` by Laplace propagation, where each site takes up to `steps` steps of its own between
    two exchanges. Counts and lifetimes (a prepared `LandmarkCountRegressor` or `LandmarkLifetimeRegressor`) take rounds of working targets,
    at most as many as it says.
    """
    if learn not in ("evidence", "propagation"):
        raise ValueError(f"learn is 'evidence' or 'propagation'; got {learn!r}")
    sites = Sites(grid, list(grid.get_node_ids()), timeout, quorum)
    if isinstance(estimator, ThroughLandmarks):
        return _federate_quantities(sites, estimator)
    messages, refused = sites.parts(estimator)
    asked, done, notes = estimator, 0, []
    if rounds and len(messages) >= sites.needed:
        if learn == "evidence":
            asked, done = _climbed(sites, estimator, rounds)
        else:
            asked, done, notes = propagated(estimator, rounds, sites.quadratics(estimator, steps))
        messages, late = sites.parts(asked)
        refused |= late
    sites.demand(messages, refused)
    model = _copy(asked).absorb(messages)
    return Outcome(model, sorted(messages), refused, done, notes)


def _climbed(sites: Sites, estimator: Any, rounds: int) -> tuple[Any, int]:
    """Better hyperparameters by the evidence of the committee, and how many points were tried."""
    names, tried = set(sites.homes), 0

    def summed(emptied: Any) -> Any:
        found, _ = sites.parts(emptied)
        if set(found) != names:
            raise Lost
        return _copy(emptied).absorb(found)

    def shares(emptied: Any, total: Any) -> list[tuple[str, bytes]]:
        nonlocal tried
        tried += 1
        found = sites.answers("share", {"model": emptied.model_.to_bytes(), "total": total.to_bytes()})
        if set(found) != names:
            raise Lost
        return list(found.items())

    return learned(estimator, rounds, summed, shares), tried


def _federate_quantities(sites: Sites, estimator: ThroughLandmarks) -> Outcome:
    refused: dict[str, str] = {}
    found = ThroughLandmarks._of(estimator.model_, estimator._told())
    found.keep_parts, found.rounds = True, estimator.rounds

    def ask() -> dict[str, bytes]:
        told = json.dumps(found._told()).encode()
        messages, left_out = sites.parts(found.latent_, "working", {"told": told})
        refused.update(left_out)
        sites.demand(messages, refused)
        return messages

    found.settle(ask)
    return Outcome(found, sorted(sites.homes), refused, found.rounds_)


class _Unwilling(Exception):
    """A reason that may be told to others."""


def _careful(message: Message, site: str, work: Callable[[ConfigRecord], bytes]) -> Message:
    """The reply to a question. What goes wrong is told by its kind alone: an exception's text may hold rows."""
    content: dict[str, Any] = {"site": site}
    try:
        content["message"] = work(message.content[RECORD])
    except _Unwilling as reason:
        content["refused"] = str(reason)
    except Exception as error:
        logging.getLogger("quorate.flower").exception("the site's part could not be made")
        content["refused"] = f"failed with {type(error).__name__}; its own log says why"
    return Message(RecordDict({RECORD: ConfigRecord(content)}), reply_to=message)


def _received(model: Any) -> Any:
    from quorate._classification import GPClassifier
    from quorate._regression import GPRegressor

    found = _core.Model.from_bytes(bytes(model))
    labels, _ = found.labels()
    return (GPClassifier if labels else GPRegressor)._of_model(found)


def _copy(estimator: Any) -> Any:
    copy = type(estimator)._of_model(estimator.model_)
    copy.keep_parts = True
    return copy


if __name__ == "__main__":
    keys_command()
