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
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from quorate import _core
from quorate._estimator import load
from quorate._keys import command as keys_command
from quorate._keys import make_keys
from quorate._rounds import Lost, learned, share

try:
    from flwr.app import ConfigRecord, Context, Message, RecordDict
    from flwr.clientapp import ClientApp
    from flwr.serverapp import Grid, ServerApp
except ImportError as missing:  # pragma: no cover
    raise ImportError("quorate.flower needs Flower: pip install 'quorate[flower]'") from missing

__all__ = ["NoQuorum", "Outcome", "federate", "make_keys", "server_app", "site_app"]

_RECORD = "quorate"


@dataclass
class Outcome:
    """A federated model, and who has a part in it."""

    estimator: Any
    used: list[str]
    refused: dict[str, str] = field(default_factory=dict)
    rounds: int = 0

    def report(self) -> dict[str, Any]:
        """What happened, for people and logs."""
        return {"used": self.used, "refused": self.refused, "rows": self.estimator.inspect()["rows"], "rounds": self.rounds}


class NoQuorum(Exception):
    """Too few sites answered."""


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
    rows : function of the context that gives the site's table: inputs, targets, and perhaps weights and known noise
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

    return app


def server_app(model: str = "model.quorate", output: str = "federated.quorate") -> ServerApp:
    """The app of the server: federates the prepared model and writes the sum and `<output>.json` beside it.

    The run's settings `model`, `output`, `quorum`, `timeout` (seconds) and `rounds` override what is said here.
    """
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        config = context.run_config
        outcome = federate(
            grid,
            load(str(config.get("model", model))),
            quorum=int(config.get("quorum", 0)) or None,
            timeout=float(config.get("timeout", 600.0)),
            rounds=int(config.get("rounds", 0)),
        )
        target = str(config.get("output", output))
        outcome.estimator.save(target)
        with open(f"{target}.json", "w", encoding="utf-8") as file:
            json.dump(outcome.report(), file, indent=1)

    return app


def federate(
    grid: Grid, estimator: Any, *, quorum: int | None = None, timeout: float = 600.0, rounds: int = 0
) -> Outcome:
    """Asks every site for its part and adds those that can be believed, in the order of their names.

    `quorum` sites must have answered, by default all that are connected. With `rounds`, hyperparameters first climb the
    evidence of all rows of the sites that answered, for at most so many steps.
    """
    nodes = list(grid.get_node_ids())
    needed = len(nodes) if quorum is None else quorum
    asked = estimator

    def parts(of: Any, among: list[int]) -> tuple[dict[str, bytes], dict[str, int], dict[str, str]]:
        replies = _ask(grid, "part", {"model": of.model_.to_bytes()}, among, timeout)
        return _believed(of, replies, among)

    messages, homes, refused = parts(asked, nodes)
    steps = 0
    if rounds and len(messages) >= max(needed, 1):
        among = sorted(homes.values())
        names = set(homes)

        def summed(emptied: Any) -> Any:
            found, _, _ = parts(emptied, among)
            if set(found) != names:
                raise Lost
            return _copy(emptied).absorb(found)

        def shares(emptied: Any, total: Any) -> list[tuple[str, bytes]]:
            nonlocal steps
            steps += 1
            content = {"model": emptied.model_.to_bytes(), "total": total.to_bytes()}
            replies = _ask(grid, "share", content, among, timeout)
            found = {str(reply["site"]): bytes(reply["message"]) for reply in replies.values() if "message" in reply}
            if set(found) != names:
                raise Lost
            return list(found.items())

        asked = learned(estimator, rounds, summed, shares)
        messages, homes, late = parts(asked, among)
        refused |= late
    if len(messages) < max(needed, 1):
        reasons = "".join(f"\n  {site} {why}" for site, why in sorted(refused.items()))
        raise NoQuorum(f"{len(messages)} sites answered, and {needed} must:{reasons}")
    model = _copy(asked).absorb(messages)
    return Outcome(model, sorted(messages), refused, steps)


class _Unwilling(Exception):
    """A reason that may be told to others."""


def _careful(message: Message, site: str, work: Callable[[ConfigRecord], bytes]) -> Message:
    """The reply to a question. What goes wrong is told by its kind alone: an exception's text may hold rows."""
    content: dict[str, Any] = {"site": site}
    try:
        content["message"] = work(message.content[_RECORD])
    except _Unwilling as reason:
        content["refused"] = str(reason)
    except Exception as error:
        logging.getLogger("quorate.flower").exception("the site's part could not be made")
        content["refused"] = f"failed with {type(error).__name__}; its own log says why"
    return Message(RecordDict({_RECORD: ConfigRecord(content)}), reply_to=message)


def _ask(grid: Grid, what: str, content: dict[str, Any], nodes: list[int], timeout: float) -> dict[int, Any]:
    """Replies by node; who fails or does not answer in time is absent, or has the key `refused`."""
    sent = [
        Message(RecordDict({_RECORD: ConfigRecord(content)}), dst_node_id=node, message_type=f"query.{what}")
        for node in nodes
    ]
    replies: dict[int, Any] = {}
    for reply in grid.send_and_receive(sent, timeout=timeout):
        node = reply.metadata.src_node_id
        if reply.has_error():
            replies[node] = {"refused": "could not answer"}
        else:
            replies[node] = reply.content[_RECORD] if _RECORD in reply.content else {}
    return replies


def _believed(
    estimator: Any, replies: dict[int, Any], nodes: list[int]
) -> tuple[dict[str, bytes], dict[str, int], dict[str, str]]:
    """Messages by site, the node of each, and why others were left out."""
    messages: dict[str, bytes] = {}
    homes: dict[str, int] = {}
    refused = {f"node {node}": "did not answer in time" for node in nodes if node not in replies}
    claimed = Counter(str(reply.get("site", "")) for reply in replies.values() if "message" in reply)
    for node, reply in sorted(replies.items()):
        site = str(reply.get("site", "")) or f"node {node}"
        if "message" not in reply:
            refused[site] = str(reply.get("refused", "sent nothing"))
        elif claimed[site] > 1:
            refused[f"{site} (node {node})"] = "has a name that another site has too"
        else:
            try:
                found = estimator.check_part(bytes(reply["message"]), site)
            except (TypeError, ValueError) as error:
                refused[site] = f"sent what cannot be added: {error}"
                continue
            if found["name"] != site:
                refused[site] = "sent a part under another name"
                continue
            messages[site], homes[site] = bytes(reply["message"]), node
    return messages, homes, refused


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
