"""The worker reaches Chargebee through the proxy of HTTPS_PROXY, as it reaches SQS and DynamoDB."""

import json
import ssl
import sys
from pathlib import Path

import trustme

from local.chargebee.chargebee_start import start
from local.embedded_aws import EmbeddedAws
from tests.billing.stage import Stage, event_body, some
from tests.harness.connect_proxy import ConnectProxy
from tests.harness.service import Web
from tests.worker.conftest import make_pair, with_billing

SITE = "site.chargebee.example"  # a name that no DNS server knows


def test_an_invoice_is_closed_through_a_proxy(embedded: EmbeddedAws, stage: Stage, tmp_path: Path) -> None:
    """Only the proxy gets its own credentials, and only Chargebee the API key; a .netrc changes neither."""
    ca, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert(SITE).configure_cert(tls)
    ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    (tmp_path / "netrc").write_text("default login wrong password wrong\n", encoding="utf-8")
    pair, body = make_pair(embedded.endpoint), event_body()
    with start(allow_host=SITE) as api, ConnectProxy(tls, int(api.url.rpartition(":")[2])) as proxy:
        stage = stage._replace(api=api)
        stage.register(body)
        stage.put(body["content"]["invoice"]["customer_id"], some(1))
        environment = with_billing(pair, stage) | {
            "APP_CHARGEBEE_URL": f"https://{SITE}",
            "HTTPS_PROXY": f"http://user:secret@127.0.0.1:{proxy.port}",
            "NO_PROXY": "127.0.0.1",
            "SSL_CERT_FILE": str(tmp_path / "ca.pem"),
            "NETRC": str(tmp_path / "netrc"),
        }
        with Web(environment, command=[sys.executable, "-m", "app", "worker"]) as worker:
            pair.send(json.dumps(body))
            worker.log(event_id=body["id"], outcome="closed")
            assert worker.stop() == 0
        assert [charge["amount"] for charge in stage.invoice(body["content"]["invoice"]["id"])["charges"]] == [100]
    for head in proxy.heads:
        assert head.startswith(f"CONNECT {SITE}:443 ")
        assert "\r\nProxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n" in head
        assert "\r\nAuthorization:" not in head
    assert proxy.heads
