"""schemathesis reads our OpenAPI document, and searches for input whose response violates the document."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from app.settings import WebSettings
from app.web.main import create_app
from tests.harness.service import PASSWORD, USER, Service


@pytest.mark.slow
@pytest.mark.newest  # all releases share the code of the document
@pytest.mark.parametrize("mode", list(GenerationMode), ids=str)
def test_the_document_holds(service: Service, mode: GenerationMode) -> None:
    """There is no 5xx, and no undeclared status, content type or body. Input that violates the schema is rejected."""
    document = create_app(WebSettings()).openapi()
    del document["paths"]["/webhooks/chargebee"]["post"]["security"]  # 401 is tested by the contract suite
    operation = schemathesis.openapi.from_dict(document)["/webhooks/chargebee"]["POST"]
    seen = set()

    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(operation.as_strategy(mode))
    def check(case: schemathesis.Case[Any]) -> None:
        response = case.call_and_validate(
            service.url,
            auth=(USER, PASSWORD),
            timeout=60,
            # JSON Schema accepts 7.0 as an integer, but we reject it as an amount in minor units. And JSON allows
            # U+FFFE, but SQS does not.
            excluded_checks=[positive_data_acceptance],
        )
        seen.add(response.status_code)

    check()
    assert 200 in seen if mode is GenerationMode.POSITIVE else 422 in seen
