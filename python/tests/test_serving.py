"""`quorate serve` as two clients of other people see it, and its replies against the description it serves."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import numpy as np
import pytest

from quorate import GPRegressor


@pytest.fixture(scope="module")
def model():
    random = np.random.default_rng(5)
    X = random.uniform(-2, 2, (60, 2))
    return GPRegressor("se(ard)", restarts=0).fit(X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + random.normal(0, 0.1, 60))


@pytest.fixture(scope="module")
def address(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "wave.quorate"
    model.save(path)
    command = "import sys; from quorate._command import main; sys.exit(main())"
    words = [sys.executable, "-c", command, "serve", str(path), "--listen", "127.0.0.1:0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        yield server.stdout.readline().strip().rpartition("://")[2]
        server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 0


def ask(address, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(f"http://{address}{path}", data=data)) as reply:
            return reply.status, json.loads(reply.read() or b"{}")
    except urllib.error.HTTPError as refused:
        return refused.code, json.loads(refused.read() or b"{}")


def question(X):
    column = lambda index: {"name": f"x{index}", "datatype": "FP64", "shape": [len(X)], "data": X[:, index].tolist()}  # noqa: E731
    return {"inputs": [column(0), column(1)]}


def test_plain_json_gives_what_python_gives(model, address):
    X = np.array([[0.1, 0.2], [1.0, -1.0]])
    status, reply = ask(address, "/v2/models/wave/infer", question(X))
    assert status == 200
    said = {output["name"]: np.array(output["data"]) for output in reply["outputs"]}
    mean, std = model.predict(X, return_std=True)
    assert np.array_equal(said["mean"], mean)
    assert np.allclose(np.sqrt(said["variance"]), std, rtol=1e-15)


def test_replies_are_what_the_description_says(address):
    schemas = ask(address, "/openapi.json")[1]
    replies = [
        ("/v2", None, "200", "get"),
        ("/v2/models/{model}", None, "200", "get"),
        ("/v2/models/{model}/infer", question(np.zeros((2, 2))), "200", "post"),
        ("/v2/models/{model}/infer", {"inputs": []}, "400", "post"),
    ]
    for path, body, expected, verb in replies:
        status, reply = ask(address, path.replace("{model}", "wave"), body)
        assert str(status) == expected, (path, reply)
        described = schemas["paths"][path][verb]["responses"][expected]["content"]["application/json"]["schema"]
        assert not list(faults(schemas, described, reply, path))


def faults(document, schema, value, place):
    """What is wrong with a value, by the few words of JSON Schema that the description uses."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    kinds = {"object": dict, "array": list, "string": str, "integer": int}
    kind = kinds.get(schema.get("type"), object)
    if not isinstance(value, kind):
        yield f"{place} is no {schema['type']}"
        return
    for name in schema.get("required", []):
        if name not in value:
            yield f"{place} has no {name}"
    for name, own in schema.get("properties", {}).items():
        if name in value:
            yield from faults(document, own, value[name], f"{place}.{name}")
    if kind is list:
        for index, item in enumerate(value):
            yield from faults(document, schema.get("items", {}), item, f"{place}[{index}]")
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place} is {value}"


def test_the_client_of_triton_is_understood(model, address):
    http = pytest.importorskip("tritonclient.http", reason="needs tritonclient")
    X = np.array([[0.1, 0.2], [1.0, -1.0], [0.5, 0.5]])
    with http.InferenceServerClient(address) as client:
        assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("wave")
        assert client.get_server_metadata()["name"] == "quorate"
        assert [each["name"] for each in client.get_model_metadata("wave")["inputs"]] == ["x0", "x1"]
        assert client.get_model_repository_index()[0]["name"] == "wave"
        for binary in (True, False):
            inputs = []
            for index in range(2):
                inputs.append(http.InferInput(f"x{index}", [3], "FP64"))
                inputs[-1].set_data_from_numpy(np.ascontiguousarray(X[:, index]), binary_data=binary)
            outputs = [http.InferRequestedOutput(name, binary_data=binary) for name in ("mean", "covariance")]
            reply = client.infer("wave", inputs, outputs=outputs, request_id="7")
            _, covariance = model.predict(X, return_cov=True)
            assert np.array_equal(reply.as_numpy("mean"), model.predict(X))
            assert np.array_equal(reply.as_numpy("covariance"), covariance)
        with pytest.raises(Exception, match="there is no model"):
            client.get_model_metadata("other")


def test_the_protocols_own_client_is_understood(model, address):
    openapi = pytest.importorskip("open_inference.openapi.client", reason="needs open-inference-openapi")
    from open_inference.openapi.types import InferenceRequest, RequestInput, TensorData

    client = openapi.OpenInferenceClient(base_url=f"http://{address}")
    client.check_server_readiness()
    assert client.read_model_metadata("wave").platform == "quorate"
    X = np.array([[0.1, 0.2], [1.0, -1.0]])
    inputs = [
        RequestInput(name=f"x{index}", shape=[2], datatype="FP64", data=TensorData.parse_obj(X[:, index].tolist()))
        for index in range(2)
    ]
    reply = client.model_infer("wave", request=InferenceRequest(inputs=inputs))
    assert np.array_equal(np.array(reply.outputs[0].data.__root__), model.predict(X))


def test_a_fuzzer_gets_no_5xx(address, tmp_path):
    pytest.importorskip("schemathesis", reason="needs schemathesis")
    described = ask(address, "/openapi.json")[1]
    version = ask(address, "/v2/models/wave")[1]["versions"][0]
    # A name at random is no model: most requests should reach one.
    known = {"model": ["wave"], "version": [version]}
    for path in described["paths"].values():
        for verb in path.values():
            for parameter in verb.get("parameters", []):
                parameter["schema"]["enum"] = known[parameter["name"]]
    (tmp_path / "openapi.json").write_text(json.dumps(described))
    words = [sys.executable, "-m", "schemathesis.cli", "run", "openapi.json", "--url", f"http://{address}"]
    examples = "100" if "QUORATE_FULL" in os.environ else "20"
    checks = ["--checks", "not_a_server_error", "--phases", "fuzzing", "--max-examples", examples]
    done = subprocess.run([*words, *checks], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    assert ask(address, "/v2/health/ready")[0] == 200
