"""Federation over the network: a link and nodes as processes, TLS and registered keys on, and sites that misbehave."""

import os
import stat
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import psutil
import pytest

pytest.importorskip("flwr", reason="needs quorate[flower]")

from cryptography import x509  # noqa: E402
from flower_network import misbehaving_app, network, until  # noqa: E402

from quorate import GPRegressor, load  # noqa: E402
from quorate.flower import make_keys  # noqa: E402

SITES = ["centre", "east", "north", "south", "west"]
OPTIONS = {"kernel": "se(ard)", "landmarks": 25, "part_size": 60, "restarts": 0}


@pytest.fixture(scope="module")
def tables():
    random = np.random.default_rng(4)
    X = random.uniform(-2, 2, (600, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + random.normal(0, 0.1, 600)
    table = pd.DataFrame(X, columns=["u", "v"]).assign(y=y)
    return {site: table.iloc[at::5].reset_index(drop=True) for at, site in enumerate(SITES)}


def prepared(tables, **other):
    table = pd.concat(tables.values())
    return GPRegressor(**{**OPTIONS, **other}).prepare(table[["u", "v"]], table["y"])


def together(empty, tables):
    """The same parts, summed up in one place."""
    parts = {name: empty.part_message(table[["u", "v"]], table["y"], part_name=name) for name, table in tables.items()}
    return GPRegressor._of_model(empty.model_).set_params(keep_parts=True).absorb(parts)


def test_nodes_with_keys_give_the_model_of_one_place_and_misbehaviour_harms_nobody(tables, tmp_path):
    empty = prepared(tables)
    empty.save(tmp_path / "shared.quorate")
    stranger = {**tables, "stranger": tables["east"]}
    for site, table in stranger.items():
        table.to_parquet(tmp_path / f"{site}.parquet")
    app = misbehaving_app(tmp_path)
    config = {"model": str(tmp_path / "shared.quorate"), "timeout": 200.0}
    with network(tmp_path, stranger) as sites:
        # The stranger's key is registered nowhere.
        sites.register(SITES)
        for site in stranger:
            sites.node(site)
        number = {site: sites.joined(site) for site in SITES}
        started = time.monotonic()
        report = sites.run(app, **config, output=str(tmp_path / "all.quorate"), quorum=5)
        assert report["used"] == SITES and not report["refused"] and report["rows"] == 600
        found, expected = load(tmp_path / "all.quorate"), together(empty, tables)
        assert found.model_.to_bytes() == expected.model_.to_bytes()

        # One is slow, one sends NaN, one another specification, one is killed while it works.
        took = time.monotonic() - started
        behaviour = {"centre": "slow", "north": "another specification", "south": "nan", "west": "slow"}
        for site, what in behaviour.items():
            (tmp_path / f"{site}.parquet.does").write_text(what)
        (tmp_path / "north.parquet.model").write_bytes(prepared(tables, landmarks=20).model_.to_bytes())
        killer = threading.Thread(target=kill_at_work, args=(sites, "centre"))
        killer.start()
        # Twice what all took before: enough for those who answer, however busy the machine is.
        config["timeout"] = max(10.0, 2 * took)
        report = sites.run(app, **config, output=str(tmp_path / "some.quorate"), quorum=1)
        killer.join()
        reasons = report["refused"]
        assert report["used"] == ["east"] and len(reasons) == 4
        for silent in ("centre", "west"):
            assert reasons[f"node {number[silent]}"] == "did not answer in time"
        assert "a number in it is not finite" in reasons["south"]
        assert "made under other columns" in reasons["north"]
        expected = together(empty, {"east": tables["east"]})
        assert load(tmp_path / "some.quorate").model_.to_bytes() == expected.model_.to_bytes()
        assert "Failed to activate SuperNode" in sites.log("stranger")
        assert sites.nodes["stranger"].wait(60) != 0


def kill_at_work(sites, site):
    until(lambda: sites.log(site).count("Start `flwr-clientapp` process") == 2, f"{site} works")
    process = psutil.Process(sites.nodes[site].pid)
    for one in [*process.children(recursive=True), process]:
        one.kill()


def test_keys_are_for_their_owner_alone_and_are_not_overwritten(tmp_path):
    make_keys(tmp_path, ["north"], "server.example")
    for name in ("server.key", "site-north.key"):
        assert stat.S_IMODE(os.stat(tmp_path / name).st_mode) == 0o600
    certificate = x509.load_pem_x509_certificate((tmp_path / "server.pem").read_bytes())
    root = x509.load_pem_x509_certificate((tmp_path / "root.pem").read_bytes())
    certificate.verify_directly_issued_by(root)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost", "server.example"]
    before = (tmp_path / "server.key").read_bytes()
    command = [sys.executable, "-m", "quorate.flower", str(tmp_path), "south"]
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 2 and "server.key" in again.stderr
    assert (tmp_path / "server.key").read_bytes() == before
    for wrong in (["../north"], ["north", "north"], [""]):
        with pytest.raises(ValueError, match="names of sites"):
            make_keys(tmp_path / "more", wrong)
