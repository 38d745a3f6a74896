"""Eight sites that share models and never rows: the distributed learning environment of Latouche (2007).

The sites hold as many rows of the (simulated) scatterometry data as the first eight nodes of his table 3.2, drawn at random.
Each fits a model of its own; a server answers for all of them, and `quorate ask` fuses what they say. Beside it, one
prepared model that sites update and that is merged: summaries. Prints NRMSE (root mean squared error over the
targets' deviation) and the share of targets inside the 95 % interval.

    python python/examples/sites.py --data DIR [--quorate target/release/quorate] [--divide 1] [--test 5000]
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

#: Latouche 2007, table 3.2, nodes 1 to 8.
ROWS = [12_126, 16_210, 37_482, 15_269, 3_365, 3_233, 1_046, 149]
LANDMARKS = 300


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="folder with scatterometry.parquet")
    parser.add_argument("--quorate", default="quorate", help="the command")
    parser.add_argument("--divide", type=int, default=1, help="take one row in so many, for a quick look")
    parser.add_argument("--test", type=int, default=5_000, help="test rows")
    options = parser.parse_args()
    table = pd.read_parquet(Path(options.data) / "scatterometry.parquet")
    random = np.random.default_rng(2007)
    train = random.permutation(90_000)
    test = table.iloc[90_000 + random.permutation(90_000)[: options.test]]
    counts = [max(40, rows // options.divide) for rows in ROWS]
    ends = np.cumsum(counts)
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)

        def quorate(*words):
            done = subprocess.run([options.quorate, *words], cwd=place, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise SystemExit(f"quorate {' '.join(words)}\n{done.stderr}")
            return done.stdout

        test.drop(columns="y").to_parquet(place / "test.parquet")
        # Rows that nobody trained on, by which averaging learns how errors go together.
        held_out = table.iloc[train[ends[-1] : ends[-1] + 500]]
        held_out.to_parquet(place / "held-out.parquet")
        names = [f"site-{number}" for number in range(1, 9)]
        for name, end, count in zip(names, ends, counts, strict=True):
            table.iloc[train[end - count : end]].to_parquet(place / f"{name}.parquet")
        results = []

        def judge(what, file):
            found = pd.read_csv(place / file)
            truth = test["y"].to_numpy()
            nrmse = np.sqrt(np.mean((found["mean"] - truth) ** 2)) / truth.std()
            covered = np.mean((truth >= found["lower"]) & (truth <= found["upper"]))
            results.append((what, nrmse, covered))

        through = ["--kernel", "matern32(ard)", "--method", "committee", "--mode", "landmarks"]
        for name, count in zip(names, counts, strict=True):
            few = str(min(LANDMARKS, count // 2))
            quorate("fit", f"{name}.parquet", "--target", "y", *through, "--landmarks", few, "-o", f"{name}.quorate", "-q")
            quorate("predict", f"{name}.quorate", "test.parquet", "-o", f"{name}.csv", "-q")
            judge(f"{name} alone ({count} rows)", f"{name}.csv")
        serving = [options.quorate, "serve", "--listen", "127.0.0.1:0", "--json", *(f"{n}.quorate" for n in names)]
        server = subprocess.Popen(serving, cwd=place, stdout=subprocess.PIPE, text=True)
        try:
            text = ""
            while not text.rstrip().endswith("}"):
                text += server.stdout.readline()
            url = json.loads(text)["url"]
            agents = [f"{url}/{name}" for name in names]
            for rule in ["average", "product", "bcm", "robust-bcm", "generalised-product"]:
                more = ["--held-out", "held-out.parquet", "--target", "y"] if rule == "average" else []
                quorate("ask", "test.parquet", "--agents", *agents, "--rule", rule, *more, "-o", f"{rule}.csv", "-q")
                judge(f"predictions fused: {rule}", f"{rule}.csv")
        finally:
            server.terminate()
            server.wait()
        # The site with the most rows proposes scaling, kernel and landmarks; all sum up under them.
        few = ["--landmarks", str(LANDMARKS)]
        quorate("prepare", "site-3.parquet", "--target", "y", *through, *few, "-o", "shared.quorate", "-q")
        for name in names:
            quorate("update", "shared.quorate", f"{name}.parquet", "--part-name", name, "-o", f"{name}.part.quorate", "-q")
        quorate("merge", *(f"{name}.part.quorate" for name in names), "-o", "all.quorate", "-q")
        quorate("predict", "all.quorate", "test.parquet", "-o", "summaries.csv", "-q")
        judge("summaries added", "summaries.csv")
    print("| model | NRMSE | coverage of 95 % |\n|---|---|---|")
    for what, nrmse, covered in results:
        print(f"| {what} | {nrmse:.4f} | {100 * covered:.1f} % |")


if __name__ == "__main__":
    main()
