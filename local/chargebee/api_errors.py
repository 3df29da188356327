"""Builds Chargebee's error answers, as documented in https://apidocs.chargebee.com/docs/api/error-handling.

The tables of that page give the `type` of each error code. The answer to a wrong API key has no `type`.
"""

from collections.abc import Mapping
from types import MappingProxyType

_NONE: Mapping[str, str] = MappingProxyType({})


class ApiError(Exception):
    """An error that makes the API answer with the HTTP status `status`.

    In the answer's JSON, the field `api_error_code` is `code`, and the field `type` is `kind`. The field `param` is the
    name of the wrong parameter. A field that is None is left out.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        kind: str | None = "invalid_request",
        param: str | None = None,
        headers: Mapping[str, str] = _NONE,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = headers
        self._body = {
            "message": message,
            "type": kind,
            "api_error_code": code,
            "param": param,
            # The following fields belong to version 1 of the API, but Chargebee still sends them.
            "error_code": code,
            "error_msg": message,
            "http_status_code": status,
        }

    def body(self) -> dict[str, object]:
        return {name: value for name, value in self._body.items() if value is not None}


def unauthorized() -> ApiError:
    message = "Sorry, authentication failed. Invalid api key"
    return ApiError(401, "api_authentication_failed", message, kind=None)


def not_found(resource_id: str) -> ApiError:
    return ApiError(404, "resource_not_found", f"{resource_id} not found")


def no_such_path(path: str) -> ApiError:
    return ApiError(404, "resource_not_found", f"Sorry, we couldn't find that resource: {path}")


def wrong_method() -> ApiError:
    return ApiError(405, "http_method_not_supported", "Sorry, the HTTP method is not supported for this resource")


def wrong_value(param: str, complaint: str) -> ApiError:
    return ApiError(400, "param_wrong_value", f"{param} : {complaint}", param=param)


def invalid_state(message: str) -> ApiError:
    return ApiError(409, "invalid_state_for_request", message)


def invalid_request(message: str) -> ApiError:
    return ApiError(400, "invalid_request", message)


def limit_exceeded(retry_after: int | str) -> ApiError:
    """Returns the error (429) for too many calls.

    `retry_after` is the value of the Retry-After header: a number of seconds, or any text that the stand-in's option
    `retry_after` sets.
    """
    message = "Sorry, access has been blocked temporarily due to request count exceeding acceptable limits."
    headers = {"Retry-After": str(retry_after)}
    return ApiError(429, "api_request_limit_exceeded", message, kind="operation_failed", headers=headers)


def lock_timeout() -> ApiError:
    message = "Sorry, another request is working on this resource. Please try again."
    return ApiError(429, "lock_timeout", message, kind="operation_failed")


def still_in_progress() -> ApiError:
    """Returns the error (409) for a repeated request while the first request with the same idempotency key still runs.

    Chargebee does not document this answer. The Chargebee client in Adyen's SAP Commerce plugin has received it in
    production.
    """
    return invalid_state("The previous request is still in progress. Please retry the request")


def injected(code: str) -> ApiError:
    status = 503 if code == "internal_temporary_error" else 500
    message = "Sorry, something went wrong when trying to process the request."
    return ApiError(status, code, message, kind="operation_failed")
