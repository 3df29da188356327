"""Tests every local server's guard over real sockets: it rejects websites, and accepts clients."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import NamedTuple
from urllib.parse import urlsplit

import boto3
import httpx
import pytest

from lab.stand_ins import upstream
from loadtest.stage.queues import client
from local import embedded_aws
from local.chargebee.chargebee_start import start as start_chargebee
from local.live.page_config import PageConfig, ShownService
from local.live.start import start as start_page
from tests.harness.service import NO_CAS

FOREIGN = "http://attacker.example"


class Server(NamedTuple):
    """A running server, and a path that it answers with 200 if the request is allowed."""

    url: str
    path: str

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    def ask(self, method: str = "GET", **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.request(method, self.url + self.path, headers=named, verify=NO_CAS, timeout=60)


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, Server]]:
    """Starts one server of each kind."""
    with ExitStack() as stack:
        aws = stack.enter_context(embedded_aws.start()).endpoint
        api = stack.enter_context(start_chargebee()).url
        slow = stack.enter_context(upstream.start()).url
        page = stack.enter_context(start_page())
        page.show(PageConfig([ShownService("a service", "", "", "http://127.0.0.1:9")]))
        live = page.url()
        assert live is not None
        yield {
            "aws": Server(aws, "/?Action=ListQueues"),
            "chargebee": Server(api, "/_/behaviour"),
            "chargebee's invoices": Server(api, "/_/invoices"),
            "chargebee's page": Server(api, "/"),
            "upstream": Server(slow, "/?ms=0"),
            "live": Server(live, "/"),
        }


EACH = ("aws", "chargebee", "chargebee's invoices", "chargebee's page", "upstream", "live")


@pytest.fixture(params=EACH)
def server(request: pytest.FixtureRequest, servers: dict[str, Server]) -> Server:
    return servers[request.param]


def test_clients_that_are_no_browser(server: Server) -> None:
    """Clients send neither Origin nor Sec-Fetch-Site, and may use either name of loopback."""
    assert server.ask().status_code == 200
    assert server.ask(Host=f"localhost:{server.port}").status_code == 200


def test_its_own_page(server: Server) -> None:
    """A browser may send the page's own origin, or say that the user has typed the address."""
    assert server.ask(Origin=server.url, Sec_Fetch_Site="same-origin").status_code == 200
    assert server.ask(Sec_Fetch_Site="none").status_code == 200


@pytest.mark.parametrize(
    "host", ["attacker.example:{}", "127.0.0.1.attacker.example:{}", "attacker.example", "127.0.0.1:{}x"]
)
def test_a_rebound_name(server: Server, host: str) -> None:
    """A request for a foreign name on loopback reads nothing, even with that name's origin."""
    named = host.format(server.port)
    assert server.ask(Host=named).status_code == 403
    assert server.ask(Host=named, Origin=f"http://{named}").status_code == 403


@pytest.mark.parametrize("origin", [FOREIGN, "null", "http://127.0.0.1:1"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "OPTIONS"])
def test_a_foreign_origin(server: Server, method: str, origin: str) -> None:
    """Another site's script, form or preflight is rejected, and no header lets the site read the response."""
    answer = server.ask(method, Origin=origin, Access_Control_Request_Method="POST")
    assert answer.status_code == 403
    assert [name for name in answer.headers if name.startswith("access-control")] == []


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_foreign_image(server: Server, site: str) -> None:
    """A request without Origin, as for an image, is rejected because of its Sec-Fetch-Site."""
    assert server.ask(Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors", Sec_Fetch_Dest="image").status_code == 403


def test_a_link_opens_a_page_and_calls_nothing(servers: dict[str, Server]) -> None:
    """A link on another site may open a page, but not with a query, which could be an SQS call."""
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    asked = {name: server.ask(**link).status_code for name, server in servers.items()}
    assert asked == dict.fromkeys(EACH, 403) | {"chargebee's page": 200, "live": 200}


def test_the_aws_sdk_on_a_guarded_queue(servers: dict[str, Server]) -> None:
    """boto3 can send, receive and read tables; a rejected purge purges nothing."""
    endpoint = servers["aws"].url
    sqs = client(endpoint)
    url = sqs.create_queue(QueueName="guarded")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="kept")
    purge = {"Action": "PurgeQueue", "QueueUrl": url}
    for headers in ({"Origin": FOREIGN}, {"Host": "attacker.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert httpx.post(endpoint, data=purge, headers=headers, verify=NO_CAS, timeout=60).status_code == 403
    assert [message["Body"] for message in sqs.receive_message(QueueUrl=url)["Messages"]] == ["kept"]
    dynamodb = boto3.Session("x", "x", region_name=embedded_aws.REGION).client("dynamodb", endpoint_url=endpoint)
    assert dynamodb.list_tables()["TableNames"] == []
    for each in (sqs, dynamodb):
        each.close()
