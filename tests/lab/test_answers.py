"""Each experiment's answers, and what it refuses."""

import httpx
import pytest

from lab.application.do_nothing import MOST_BYTES
from local.sample_events import SAMPLES

BODY = (SAMPLES / "default.json").read_bytes()
JSON = {"Content-Type": "application/json"}
KINDS = ("", "-body", "-model-body", "-http")
NOTHING = [f"/do-nothing-{way}{kind}" for way in ("sync", "async") for kind in KINDS]
SOMETHING = ["/do-something-sync?key=a", "/do-something-async?key=a", "/do-something-sync"]
TIPS = ["nothing", "dict", "response-model", "orjson", "body-once", "body-twice"]
MS = [
    *("/sync_baseline", "/async_independent", "/async_dependent", "/async_concurrent"),
    *("/outbound/sync", "/outbound/async", "/outbound/async_sync_client"),
    *("/async_endpoint_async_processing", "/sync_endpoint_sync_processing"),
    *("/sync_endpoint_mix_processing", "/async_endpoint_mix_processing"),
]


@pytest.mark.parametrize("path", [*NOTHING, *SOMETHING])
def test_do_nothing(http: httpx.Client, path: str) -> None:
    """All endpoints give the same answer to the same body, whatever they do with it."""
    answer = http.post(path, content=BODY, headers=JSON)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("-body", b"[1]", 422),
        ("-body", b"{", 422),
        ("-model-body", b"{}", 422),
        ("-body", b" " * (MOST_BYTES + 1), 413),
        ("-model-body", b" " * (MOST_BYTES + 1), 413),
    ],
    ids=["no object", "no JSON", "no event", "too large", "too large for a model"],
)
def test_a_wrong_body(http: httpx.Client, way: str, kind: str, body: bytes, status: int) -> None:
    """A body that is no JSON, no object or no event gets 422. A body over 1 MiB gets 413."""
    assert http.post(f"/do-nothing-{way}{kind}", content=body, headers=JSON).status_code == status


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_key_out_of_bounds(http: httpx.Client, way: str) -> None:
    """A key has at most 100 characters."""
    refused = http.post(f"/do-something-{way}?key={'k' * 101}", content=BODY, headers=JSON)
    assert refused.status_code == 422


@pytest.mark.parametrize("name", TIPS)
def test_tips(http: httpx.Client, name: str) -> None:
    """The answer is the same, whichever way it is made."""
    answer = http.post(f"/tips/{name}", content=BODY, headers=JSON)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json() == {"status": "queued", "event_id": "ev_ZXezuTUBe7r5iIaw"}


@pytest.mark.parametrize("name", ["body-once", "body-twice"])
def test_tips_with_a_wrong_body(http: httpx.Client, name: str) -> None:
    """A body that is no event gets 422. A body over 1 MiB gets 413."""
    assert http.post(f"/tips/{name}", content=b"{}", headers=JSON).status_code == 422
    assert http.post(f"/tips/{name}", content=b" " * (MOST_BYTES + 1), headers=JSON).status_code == 413


@pytest.mark.parametrize("path", MS[:4])
def test_three_tasks(http: httpx.Client, path: str) -> None:
    """Each task is done once, and the results are in order."""
    assert http.get(path, params={"ms": 1}).json() == [1, 2, 3]


@pytest.mark.parametrize("client", ["new", "shared"])
@pytest.mark.parametrize("path", MS[4:7])
def test_outbound(http: httpx.Client, path: str, client: str) -> None:
    """The answer is the upstream's, whichever client is used."""
    assert http.get(path, params={"ms": 3, "client": client}).json() == {"waited_ms": 3}


@pytest.mark.parametrize("path", MS[7:])
def test_blocking(http: httpx.Client, path: str) -> None:
    """The answer is the number of milliseconds of each sleep."""
    assert http.get(path, params={"ms": 2}).json() == 2


@pytest.mark.parametrize("way", ["sync", "async"])
def test_json_file(http: httpx.Client, way: str) -> None:
    """The answer is the number of records in the file."""
    assert http.get(f"/json_file/{way}").json() == {"records": 600}


@pytest.mark.parametrize("ms", ["-1", "10001", "1.5", "soon", ""])
@pytest.mark.parametrize("path", MS)
def test_ms_out_of_bounds(http: httpx.Client, path: str, ms: str) -> None:
    """`ms` must be an integer from 0 to 10,000."""
    refused = http.get(path, params={"ms": ms})
    assert refused.status_code == 422
    assert refused.json()["detail"][0]["loc"] == ["query", "ms"]


@pytest.mark.parametrize("path", MS[4:7])
def test_a_client_that_is_none(http: httpx.Client, path: str) -> None:
    """`client` must be `new` or `shared`."""
    assert http.get(path, params={"ms": 0, "client": "other"}).status_code == 422


def test_other_paths(http: httpx.Client) -> None:
    """The answer is 404."""
    assert http.get("/do-nothing").status_code == 404
