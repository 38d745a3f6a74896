"""GPyTorch on a GPU: scores of runs that take a processor hours, not seconds.

Usage: python benches/gpu_peers.py PEERS.PY DATA OUT [WORKERS], where PEERS.PY is the script that runs a peer, DATA the folder of tables, and OUT gets a line
of JSON for each run: SVGP of 100 epochs with the division of rows and the seeds of `cargo xtask bench committee`, one exact process on 10,000 rows of kin40k, and SVGP
with softmax by `class_peers.py`, to its last step. All code is that of the two scripts: tensors are made on the GPU, and come back when NumPy asks for them.
Runs that OUT has already are not repeated. Seconds of these runs are of another machine, and are nobody's beside ours.
"""

import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

RANDOM = {
    "elevators": ("elevators.parquet", 14939, 1660),
    "pol": ("pol.parquet", 13500, 1500),
    "bike": ("bike.parquet", 15641, 1738),
    "california": ("california.csv.gz", 18576, 2064),
    "kin40k-10000": ("kin40k.parquet", 10000, 30000),
    "kin40k": ("kin40k.parquet", 36000, 4000),
    "protein": ("protein.parquet", 41157, 4573),
    "keggdirected": ("keggdirected.parquet", 43944, 4883),
    "satellite_temps": ("satellite_temps.parquet", 133478, 14831),
}
INDEX = {"nycflights": "nycflights.parquet", "scatterometry": "scatterometry.parquet"}
CLASSES = {"shuttle": "shuttle.csv.gz", "letter": "letter.csv.gz", "usps": "usps.parquet", "satimage": "satimage.csv.gz"}
HERE = os.path.dirname(os.path.abspath(__file__))


def on_gpu(script, arguments):
    """Runs a script as it stands, with tensors on the GPU."""
    os.environ["CUDA_VISIBLE_DEVICES"] = "0"
    import torch

    torch.set_default_device("cuda")
    as_array = torch.Tensor.numpy
    torch.Tensor.numpy = lambda tensor, **more: as_array(tensor.cpu(), **more)
    sys.argv = [script, *arguments]
    with open(script) as file:
        text = file.read().replace('os.environ["CUDA_VISIBLE_DEVICES"] = ""', "pass")
    exec(compile(text, script, "exec"), {"__name__": "__main__", "__file__": script})


def jobs(peers, data, place):
    import pandas as pd

    index = pd.read_csv(os.path.join(data, "index.csv")).set_index("file")["n_train"]
    for name, file in CLASSES.items():
        path = os.path.join(data, file)
        table = pd.read_parquet(path) if path.endswith(".parquet") else pd.read_csv(path)
        rows = int(index[file])
        parts = [os.path.join(place, f"{name}.{part}.parquet") for part in ("train", "test")]
        table.iloc[:rows].to_parquet(parts[0], index=False)
        table.iloc[rows:].to_parquet(parts[1], index=False)
        yield {"table": name, "peer": "gpytorch-svgp", "seed": 0}, [os.path.join(HERE, "class_peers.py"), "gpytorch-svgp", *parts, "3000"]

    def run(name, tool, seed, file, *how):
        command = [peers, "--peer", tool, "--data", os.path.join(data, file), "--seed", str(seed), "--limit", "3000", *how]
        return {"table": name, "peer": tool, "seed": seed}, command

    svgp = "gpytorch-svgp-m32-100"
    for name, file in INDEX.items():
        yield run(name, svgp, 0, file, "--split", "index")
    for seed in range(3):
        for name, (file, train, test) in reversed(RANDOM.items()):
            how = ("--split", "random", "--train", str(train), "--test", str(test))
            yield run(name, svgp, seed, file, *how)
            if name == "kin40k-10000":
                yield run(name, "gpytorch-exact-10000", seed, file, *how)


def key(run):
    return run["table"], run["peer"], run["seed"]


def main():
    if sys.argv[1] == "--one":
        return on_gpu(sys.argv[2], sys.argv[3:])
    peers, data, out = sys.argv[1:4]
    workers = int(sys.argv[4]) if len(sys.argv) > 4 else 8

    done = set()
    if os.path.exists(out):
        with open(out) as file:
            done = {key(json.loads(line)) for line in file}

    def one(job):
        about, command = job
        if key(about) in done:
            return
        told = subprocess.run([sys.executable, __file__, "--one", *command], capture_output=True, text=True)
        line = (told.stdout.strip().splitlines() or ["{}"])[-1]
        found = json.loads(line) if line.startswith("{") else {}
        if not found:
            found = {"failed": told.stderr[-600:]}
        with open(out, "a") as file:
            file.write(json.dumps({**found, **about}) + "\n")

    with tempfile.TemporaryDirectory() as place, concurrent.futures.ThreadPoolExecutor(workers) as pool:
        list(pool.map(one, jobs(peers, data, place)))


if __name__ == "__main__":
    main()
