"""Sites that share models and never rows: the distributed learning environment of Latouche (2007).

The sites hold as many rows of the (simulated) scatterometry data as the nodes of his table 3.2: fourteen nodes, of which the first eight
(the default here) hold 88,880 of the 90,000 rows. Rows are drawn at random, as his were; with `--arrange regions` each site has a range of
incidence angles of its own instead, so that sites are not only unequal but see different things.

Each site fits a model of its own; a server answers for all of them, and `quorate ask` fuses what they say. For the generalised robust
committee machine each site also fits its rows together with 1,000 public ones, which a further model knows alone. Beside it, one model
that is prepared from the public rows, updated by the sites and merged: summaries. Prints NRMSE (root mean squared error over the targets'
deviation) and the share of targets inside the 95 % interval.

    python python/examples/sites.py --data DIR [--quorate target/release/quorate] [--sites 8] [--arrange random] [--divide 1] [--test 5000]
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

#: Latouche 2007, table 3.2.
ROWS = [12_126, 16_210, 37_482, 15_269, 3_365, 3_233, 1_046, 149, 126, 363, 106, 242, 188, 95]
LANDMARKS = 300
PUBLIC = 1_000


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="folder with scatterometry.parquet")
    parser.add_argument("--quorate", default="quorate", help="the command")
    parser.add_argument("--sites", type=int, default=8, help="the first so many of the fourteen nodes")
    parser.add_argument("--arrange", choices=["random", "regions"], default="random", help="which rows a site has")
    parser.add_argument("--divide", type=int, default=1, help="take one row in so many, for a quick look")
    parser.add_argument("--test", type=int, default=5_000, help="test rows")
    options = parser.parse_args()
    table = pd.read_parquet(Path(options.data) / "scatterometry.parquet")
    random = np.random.default_rng(2007)
    train = random.permutation(90_000)
    others = 90_000 + random.permutation(90_000)
    test = table.iloc[others[: options.test]]
    counts = [max(40, rows // options.divide) for rows in ROWS[: options.sites]]
    ends = np.cumsum(counts)
    train = train[: ends[-1]]
    if options.arrange == "regions":
        train = train[np.argsort(table["inc"].to_numpy()[train], kind="stable")]
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)

        def quorate(*words):
            done = subprocess.run([options.quorate, *words], cwd=place, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise SystemExit(f"quorate {' '.join(words)}\n{done.stderr}")
            return done.stdout

        test.drop(columns="y").to_parquet(place / "test.parquet")
        # Rows that nobody trained on, by which averaging learns how errors go together.
        table.iloc[others[options.test : options.test + 500]].to_parquet(place / "held-out.parquet")
        public = table.iloc[others[options.test + 500 : options.test + 500 + max(200, PUBLIC // options.divide)]]
        public.to_parquet(place / "public.parquet")
        names = [f"site-{number}" for number in range(1, options.sites + 1)]
        for name, end, count in zip(names, ends, counts, strict=True):
            own = table.iloc[train[end - count : end]]
            own.to_parquet(place / f"{name}.parquet")
            pd.concat([own, public]).to_parquet(place / f"{name}-and-public.parquet")
        results = []

        def judge(what, file):
            found = pd.read_csv(place / file)
            truth = test["y"].to_numpy()
            nrmse = np.sqrt(np.mean((found["mean"] - truth) ** 2)) / truth.std()
            covered = np.mean((truth >= found["lower"]) & (truth <= found["upper"]))
            results.append((what, nrmse, covered))

        through = ["--kernel", "matern32(ard)", "--method", "committee", "--mode", "landmarks"]

        def fit(name, count):
            few = str(min(LANDMARKS, count // 2))
            quorate("fit", f"{name}.parquet", "--target", "y", *through, "--landmarks", few, "-o", f"{name}.quorate", "-q")

        for name, count in zip(names, counts, strict=True):
            fit(name, count)
            quorate("predict", f"{name}.quorate", "test.parquet", "-o", f"{name}.csv", "-q")
            judge(f"{name} alone ({count} rows)", f"{name}.csv")
            fit(f"{name}-and-public", count + len(public))
        fit("public", len(public))
        quorate("predict", "public.quorate", "test.parquet", "-o", "public.csv", "-q")
        judge(f"public rows alone ({len(public)})", "public.csv")
        served = ["public", *names, *(f"{name}-and-public" for name in names)]
        serving = [options.quorate, "serve", "--listen", "127.0.0.1:0", "--json", *(f"{name}.quorate" for name in served)]
        server = subprocess.Popen(serving, cwd=place, stdout=subprocess.PIPE, text=True)
        try:
            text = ""
            while not text.rstrip().endswith("}"):
                text += server.stdout.readline()
            url = json.loads(text)["url"]
            agents = [f"{url}/{name}" for name in names]
            with_public = [f"{agent}-and-public" for agent in agents]
            for rule in ["average", "product", "bcm", "robust-bcm", "generalised-product", "generalised-robust-bcm"]:
                more, asked = [], agents
                if rule == "average":
                    more = ["--held-out", "held-out.parquet", "--target", "y"]
                if rule == "generalised-robust-bcm":
                    more, asked = ["--base", f"{url}/public"], with_public
                quorate("ask", "test.parquet", "--agents", *asked, "--rule", rule, *more, "-o", f"{rule}.csv", "-q")
                judge(f"predictions fused: {rule}", f"{rule}.csv")
        finally:
            server.terminate()
            server.wait()
        # Scaling, kernel and landmarks are those of the public rows; all sum up under them.
        few = ["--landmarks", str(min(LANDMARKS, len(public) // 2))]
        quorate("prepare", "public.parquet", "--target", "y", *through, *few, "-o", "shared.quorate", "-q")
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
