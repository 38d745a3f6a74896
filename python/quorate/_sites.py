"""The server's side of a federation: asking the sites, and believing what can be believed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from flwr.app import ConfigRecord, Message, RecordDict
from flwr.serverapp import Grid

from quorate import _core
from quorate._propagation import Quadratic

#: Where in a Flower message ours is.
RECORD = "quorate"


class NoQuorum(Exception):
    """Too few sites answered."""


class Sites:
    """The sites of a run: those that were left out once are not asked again."""

    def __init__(self, grid: Grid, nodes: list[int], timeout: float, quorum: int | None):
        self.grid, self.timeout = grid, timeout
        self.nodes, self.homes = nodes, {}
        self.needed = max(len(nodes) if quorum is None else quorum, 1)

    def parts(
        self, of: Any, what: str = "part", further: dict[str, Any] | None = None
    ) -> tuple[dict[str, bytes], dict[str, str]]:
        """Messages of parts by site, and why others were left out."""
        content = {"model": of.model_.to_bytes(), **(further or {})}
        replies = _ask(self.grid, what, content, self.nodes, self.timeout)
        messages, self.homes, refused = _believed(of, replies, self.nodes)
        self.nodes = sorted(self.homes.values())
        return messages, refused

    def answers(self, what: str, content: dict[str, Any]) -> dict[str, bytes]:
        """Answers by site, of those that gave one."""
        replies = _ask(self.grid, what, content, self.nodes, self.timeout)
        return {str(reply["site"]): bytes(reply["message"]) for reply in replies.values() if "message" in reply}

    def quadratics(self, estimator: Any, steps: int) -> Callable[..., dict[str, Quadratic]]:
        """What Laplace propagation asks of the sites."""
        size = int((~np.asarray(_core.hyperparameters(estimator.model_)[2], dtype=bool)).sum())

        def ask(point: np.ndarray, others: dict[str, Quadratic]) -> dict[str, Quadratic]:
            told = {site: json.loads(own.to_bytes()) for site, own in others.items()}
            content = {
                "model": estimator.model_.to_bytes(),
                "point": point.tolist(),
                "others": json.dumps(told).encode(),
                "steps": steps,
            }
            found = {}
            for site, sent in sorted(self.answers("quadratic", content).items()):
                try:
                    found[site] = Quadratic.from_bytes(sent, size)
                except ValueError:  # as if it had not answered
                    continue
            return found

        return ask

    def demand(self, messages: dict[str, bytes], refused: dict[str, str]) -> None:
        """Refuses to go on with fewer sites than were wished for."""
        if len(messages) < self.needed:
            reasons = "".join(f"\n  {site} {why}" for site, why in sorted(refused.items()))
            raise NoQuorum(f"{len(messages)} sites answered, and {self.needed} must:{reasons}")


def _ask(grid: Grid, what: str, content: dict[str, Any], nodes: list[int], timeout: float) -> dict[int, Any]:
    """Replies by node; who fails or does not answer in time is absent, or has the key `refused`."""
    sent = [
        Message(RecordDict({RECORD: ConfigRecord(content)}), dst_node_id=node, message_type=f"query.{what}")
        for node in nodes
    ]
    replies: dict[int, Any] = {}
    for reply in grid.send_and_receive(sent, timeout=timeout):
        node = reply.metadata.src_node_id
        if node not in nodes:
            continue  # the link's own word for a node that it lost, which is then absent
        if reply.has_error():
            replies[node] = {"refused": "could not answer"}
        else:
            replies[node] = reply.content[RECORD] if RECORD in reply.content else {}
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
