"""A Flower link and its nodes as processes on this machine, with TLS and registered keys; nothing is left running."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import psutil

EXAMPLE = Path(__file__).parents[1] / "examples" / "federation"

#: Appended to the example's site: what nodes do whose table has a file `<table>.does` beside it.
MISBEHAVIOUR = '''

import hashlib
import json
import time

import numpy as np
from flwr.app import ConfigRecord, Message, RecordDict
from flwr.clientapp import ClientApp

from quorate.flower import _received

honest, app = app, ClientApp()


def with_nan(sent):
    """The same message with one number that is none, and a checksum that is right."""
    length = int.from_bytes(sent[:8], "little")
    header, numbers = json.loads(sent[8 : 8 + length]), bytearray(sent[8 + length :])
    numbers[:8] = np.float64(np.nan).tobytes()
    text = header["__metadata__"]["quorate"]
    found = hashlib.sha256(text[text.index('"part":') + 7 : -1].encode())
    for name in sorted(set(header) - {"__metadata__"}):
        start, end = header[name]["data_offsets"]
        shape = ", ".join(map(str, header[name]["shape"]))
        found.update(f"\\n{name} F64 [{shape}]\\n".encode() + bytes(numbers[start:end]))
    before = json.loads(text)["checksum"]
    header["__metadata__"]["quorate"] = text.replace(before, found.hexdigest())
    coded = json.dumps(header, separators=(",", ":")).encode()
    coded += b" " * (-len(coded) % 8)
    return len(coded).to_bytes(8, "little") + coded + bytes(numbers)


@app.query("part")
def part(message, context):
    behaviour = pathlib.Path(str(context.node_config["table"]) + ".does")
    wanted = behaviour.read_text() if behaviour.exists() else "as asked"
    site = str(context.node_config["site"])
    if wanted == "slow":
        time.sleep(600)
    if wanted in ("nan", "another specification"):
        model = message.content["quorate"]["model"] if wanted == "nan" else behaviour.with_suffix(".model").read_bytes()
        inputs, targets = rows(context)
        sent = _received(model).part_message(inputs, targets, part_name=site)
        content = {"site": site, "message": with_nan(sent) if wanted == "nan" else sent}
        return Message(RecordDict({"quorate": ConfigRecord(content)}), reply_to=message)
    return honest(message, context)
'''


class Network:
    """A link, and nodes that are added to it."""

    def __init__(self, place, sites):
        self.place, self.keys = Path(place), Path(place) / "keys"
        self.started, self.nodes = [], {}
        words = [str(self.keys), *sites]
        subprocess.run([sys.executable, "-m", "quorate.flower", *words], check=True, capture_output=True)
        self.port = free_port()
        home = self.place / "home"
        home.mkdir()
        (home / "config.toml").write_text(
            f'[superlink]\ndefault = "trial"\n\n[superlink.trial]\naddress = "127.0.0.1:{self.port}"\n'
            f'root-certificates = "{self.keys / "root.pem"}"\n'
        )
        self.programs = Path(sys.executable).parent
        self.environment = {
            **os.environ,
            "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
            "FLWR_HOME": str(home),
            "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1",
            "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.5",
        }
        self.start(
            "link", "flower-superlink", "--host", "127.0.0.1", "--port", str(self.port), "--enable-supernode-auth",
            "--ssl-certfile", str(self.keys / "server.pem"), "--ssl-keyfile", str(self.keys / "server.key"),
            "--ssl-ca-certfile", str(self.keys / "root.pem"), "--disable-runtime-dependency-installation",
        )
        until(lambda: answers(self.port), "the link listens")

    def start(self, name, program, *words):
        with open(self.place / f"{name}.log", "w", encoding="utf-8") as log:
            command = [str(self.programs / program), *words]
            process = subprocess.Popen(command, env=self.environment, cwd=self.place, stdout=log, stderr=log)
        self.started.append(process)
        return process

    def register(self, sites):
        """Tells the link the sites' public keys; one process for all, because starting one takes seconds."""
        commands = [["supernode", "register", str(self.keys / f"site-{site}.pub"), "trial"] for site in sites]
        program = f"from flwr.cli.app import app\nfor words in {commands!r}: app(words, standalone_mode=False)"
        self.finish([sys.executable, "-c", program])

    def node(self, site):
        """A node with the table `<site>.parquet`."""
        config = f'site="{site}" table="{self.place / site}.parquet" target="y"'
        self.nodes[site] = self.start(
            site, "flower-supernode", "--superlink", f"127.0.0.1:{self.port}", "--port", str(free_port()),
            "--root-certificates", str(self.keys / "root.pem"),
            "--auth-supernode-private-key", str(self.keys / f"site-{site}.key"), "--node-config", config,
        )

    def joined(self, site):
        """The number of a node, once the link knows it."""
        until(lambda: "SuperNode ID" in self.log(site), f"{site} is there")
        return re.search(r"SuperNode ID: (\d+)", self.log(site)).group(1)

    def finish(self, words):
        done = subprocess.run(words, env=self.environment, cwd=self.place, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr

    def run(self, app, **config):
        """The report of a run."""
        report = Path(config["output"] + ".json")
        words = " ".join(f"{key}={json.dumps(value)}" for key, value in config.items())
        self.finish([str(self.programs / "flwr"), "run", str(app), "trial", "--run-config", words])
        until(report.exists, "the run ends", config["timeout"] + 120)
        return json.loads(report.read_text())

    def log(self, name):
        return re.sub(r"\x1b\[\d+m", "", (self.place / f"{name}.log").read_text())

    def stop(self):
        """Ends all processes that were started, and those that they started."""
        for process in self.started:
            process.send_signal(signal.SIGTERM)
        for process in self.started:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        # Flower's own helpers notice that their parent is gone, but take their time.
        until(lambda: not [process.kill() for process in self.family()], "all processes end", 30)

    def family(self):
        """Processes that live in this network's home, whoever is their parent."""
        home = self.environment["FLWR_HOME"]
        return [process for process in psutil.process_iter() if environment(process).get("FLWR_HOME") == home]


@contextmanager
def network(place, sites):
    found = Network(place, sites)
    try:
        yield found
    finally:
        found.stop()


def misbehaving_app(place):
    """The example's app with sites that can be told to misbehave."""
    app = Path(place) / "app"
    shutil.copytree(EXAMPLE, app, ignore=shutil.ignore_patterns("__pycache__"))
    site = app / "site_and_server" / "site.py"
    site.write_text(site.read_text().replace("import pandas", "import pathlib\n\nimport pandas") + MISBEHAVIOUR)
    return app


def environment(process):
    try:
        return process.environ()
    except psutil.Error:
        return {}


def until(holds, what, seconds=120):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"waited in vain until {what}"
        time.sleep(0.2)


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
