"""What the generators of exact/ share: the stored form of an answer, and the command line."""

import argparse
import pathlib

import numpy as np

import reference
import tables

COVARIANCE_ROWS = 5


def record(kernel, noise, problem, found):
    """The stored form of an answer, with its distance from 80-bit arithmetic."""
    exact = reference.answer(kernel, noise, problem)
    error = {key: float(f"{reference.largest_error(found[key], exact[key]):.2g}") for key in found}
    few = np.asarray(found["covariance"])[:COVARIANCE_ROWS, :COVARIANCE_ROWS]
    case = {
        "kernel": kernel.text(),
        "noise_variance": noise,
        "mean": [float(v) for v in found["mean"]],
        "std_latent": [float(v) for v in found["std_latent"]],
        "covariance": [[float(v) for v in row] for row in few],
        "log_evidence": float(found["log_evidence"]),
        "gradient": [float(v) for v in found["gradient"]],
        "gradient_of": kernel.names(problem.numbers) + ["noise_variance"],
        "tool_error": error,
    }
    if max(error.values()) > 1e-9:
        raise SystemExit(f"{problem.name}: {kernel.text()}: the tool itself is off by {error}")
    return case


def main(description, sets, write_set):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--output", type=pathlib.Path, default=tables.GOLDEN / "exact")
    parser.add_argument("--available", action="store_true", help="leave out tables that are not on this machine")
    parser.add_argument("sets", nargs="*", default=sets)
    arguments = parser.parse_args()
    for name in arguments.sets:
        if arguments.available and not tables.locate(name).exists():
            continue
        solved = write_set(name, arguments.output)
        worst = max(max(case["tool_error"].values()) for case in solved)
        print(f"{name}: {len(solved)} cases, largest error of the tool {worst:.1e}", flush=True)
