"""Runs the generators again and compares with the stored files, so that drift is visible.

A number may differ by 1e-10 of the largest entry of its quantity; everything else must be equal, except the date, the
tool's version (reported when it changed) and `tool_error`. Tables or tools that are not on this machine are reported as
skipped. Learned cells are not learned again: the evidence and the scores at the stored values are computed anew.
Exit status 1 when anything drifted. Usage: python check.py
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import learned_sklearn
import tables

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = 1e-10
FREE = {"date", "tool_version", "tool_error"}
# By folder: generators and the module each needs.
GENERATORS = {
    "exact": {"exact_sklearn.py": None, "exact_gpy.py": "GPy"},
    "scores": {"scores.py": None},
    "members": {"members_sklearn.py": None, "committees_sklearn.py": None},
    "machines": {"machines_sklearn.py": None},
    "mixtures": {"mixtures_sklearn.py": None},
    "laplace": {
        "laplace_sklearn.py": None,
        "laplace_reference.py": None,
        "laplace_gpy.py": "GPy",
        "multiclass_reference.py": None,
        "glm_peers.py": "statsmodels",
        "propagation_gpy.py": "GPy",
    },
}


def differences(stored, fresh, where=""):
    """Sentences about what differs, empty when nothing does."""
    if isinstance(stored, dict) and isinstance(fresh, dict):
        found = [f"{where}: fields {sorted(stored.keys() ^ fresh.keys())}"] if stored.keys() ^ fresh.keys() else []
        for key in (stored.keys() & fresh.keys()) - FREE:
            found += differences(stored[key], fresh[key], f"{where}.{key}")
        return found
    if is_numeric(stored) and is_numeric(fresh):
        a, b = np.asarray(stored, dtype=float), np.asarray(fresh, dtype=float)
        if a.shape != b.shape:
            return [f"{where}: shape {a.shape} became {b.shape}"]
        error = np.abs(a - b).max(initial=0.0) / max(np.abs(a).max(initial=0.0), 1e-300)
        return [] if error <= TOLERANCE else [f"{where}: differs by {error:.1e} of its largest entry"]
    if isinstance(stored, list) and isinstance(fresh, list) and len(stored) == len(fresh):
        return [line for i, pair in enumerate(zip(stored, fresh)) for line in differences(*pair, f"{where}[{i}]")]
    return [] if stored == fresh else [f"{where}: {stored!r} became {fresh!r}"]


def is_numeric(value):
    if isinstance(value, list):
        return bool(value) and all(is_numeric(v) for v in value)
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def compare_folder(stored_folder, fresh_folder, generators):
    """Compares every stored file made by one of the generators; returns how many were compared and what differs."""
    found, compared = [], 0
    for path in sorted(stored_folder.glob("*.json")):
        stored = json.loads(path.read_text())
        if pathlib.Path(stored["generator"]).name not in generators:
            continue
        fresh_path = fresh_folder / path.name
        if not fresh_path.exists():
            if stored.get("committed", True) or tables.locate(stored["data"].removesuffix(".csv.gz")).exists():
                found.append(f"{path.name}: no generator makes it any more")
            else:
                print(f"skipped {path.name}: {stored['data']} is not in {tables.SHARED}")
            continue
        fresh = json.loads(fresh_path.read_text())
        if stored["tool_version"] != fresh["tool_version"]:
            print(f"note: {path.name} was made by version {stored['tool_version']}, here is {fresh['tool_version']}")
        found += differences(stored, fresh, path.name)
        compared += 1
    for path in sorted(fresh_folder.glob("*.json")):
        if not (stored_folder / path.name).exists():
            found.append(f"{path.name}: made now, but not stored")
    return compared, found


def run(script, output):
    command = [sys.executable, str(HERE / script), "--output", str(output), "--available"]
    done = subprocess.run(command, capture_output=True, text=True)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["failed"])[-1]


def check_learned(path):
    """The evidence and scores of the first split of each set, at the stored values."""
    found, compared = [], 0
    for cell in learned_sklearn.read_lines(path):
        if cell["split"] != 0 or not (tables.SHARED / cell["data"]).exists():
            continue
        theta = np.log([cell["variance"], *cell["length_scales"], cell["noise_variance"]])
        start = {"start": 0, "log_evidence": cell["log_evidence"], "theta": theta.tolist(), "seconds": 0.0}
        fresh = learned_sklearn.finish_cell(tables.SHARED, cell["set"], 0, [start])
        evidence = learned_sklearn.evidence_at(tables.SHARED, cell["set"], 0, theta)
        pairs = [("sha256", fresh["sha256"]), ("rmse", fresh["rmse"]), ("nlpd", fresh["nlpd"]), ("log_evidence", evidence)]
        for key, value in pairs:
            # The hyperparameters pass through exp and log, and a low noise magnifies that rounding.
            same = cell[key] == value if key == "sha256" else abs(cell[key] - value) <= 1e-7 * max(1.0, abs(value))
            if not same:
                found.append(f"learned {cell['set']}: {key} {cell[key]} became {value}")
        compared += 1
    return compared, found


def main():
    found, compared = [], 0
    with tempfile.TemporaryDirectory() as folder:
        fresh = pathlib.Path(folder)
        for name, scripts in GENERATORS.items():
            ran = []
            for script, module in scripts.items():
                if module and subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode:
                    print(f"skipped {script}: {module} is not installed")
                    continue
                problem = run(script, fresh / name)
                found += [f"{script}: {problem}"] if problem else []
                ran.append(script)
            count, drift = compare_folder(tables.GOLDEN / name, fresh / name, ran)
            compared, found = compared + count, found + drift
    count, drift = check_learned(tables.GOLDEN / "learned" / "sklearn.jsonl")
    for line in found + drift:
        print(f"drift: {line}")
    print(f"{compared} files and {count} learned cells compared, {len(found + drift)} differences")
    sys.exit(1 if found or drift or not compared else 0)


if __name__ == "__main__":
    main()
