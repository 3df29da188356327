"""KEDA's objects, as far as components/keda uses them: names and types of fields, and the keys of the SQS scaler.

Written by hand after KEDA's sources (github.com/kedacore/keda, Apache License 2.0), from which its CRDs are generated:
apis/keda/v1alpha1/scaledobject_types.go at 01ee1d30b296b6cd0347641d5084962f4081b6e0,
triggerauthentication_types.go at 01af5fdbe963d2a89dc34cf5fc49c6bbf66717c0, scaletriggers_types.go at
1bcb2acae2ddda264dd10323991fb76fd0188b6c. A field that is missing here is refused, so that a typo is.
"""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from tests.deploy.policy import Objects, container, environment, named, of

TEXT: Any = {"type": "string"}
COUNT: Any = {"type": "integer", "minimum": 0}


def _object(required: str, **fields: Any) -> Any:
    return {"type": "object", "properties": fields, "required": required.split(), "additionalProperties": False}


def _kind(spec: Any) -> Any:
    known = {"apiVersion": {"const": "keda.sh/v1alpha1"}, "kind": TEXT, "metadata": {"type": "object"}, "spec": spec}
    return _object("apiVersion kind metadata spec", **known)


_RULES = _object(
    "",
    stabilizationWindowSeconds={**COUNT, "maximum": 3600},
    policies={
        "type": "array",
        "items": _object("type value periodSeconds", type=TEXT, value=COUNT, periodSeconds=COUNT),
    },
    selectPolicy=TEXT,
)
SCHEMAS = {
    "ScaledObject": _kind(
        _object(
            "scaleTargetRef triggers",
            scaleTargetRef=_object("name", name=TEXT, apiVersion=TEXT, kind=TEXT, envSourceContainerName=TEXT),
            pollingInterval=COUNT,
            initialCooldownPeriod=COUNT,
            cooldownPeriod=COUNT,
            idleReplicaCount=COUNT,
            minReplicaCount=COUNT,
            maxReplicaCount=COUNT,
            fallback=_object("failureThreshold replicas", failureThreshold=COUNT, replicas=COUNT, behavior=TEXT),
            advanced=_object(
                "",
                horizontalPodAutoscalerConfig=_object(
                    "", name=TEXT, behavior=_object("", scaleUp=_RULES, scaleDown=_RULES)
                ),
                restoreToOriginalReplicaCount={"type": "boolean"},
            ),
            triggers={
                "type": "array",
                "items": _object(
                    "type metadata",
                    type=TEXT,
                    name=TEXT,
                    metricType=TEXT,
                    useCachedMetrics={"type": "boolean"},
                    metadata={"type": "object", "additionalProperties": TEXT},
                    authenticationRef=_object("name", name=TEXT, kind=TEXT),
                ),
            },
        )
    ),
    "TriggerAuthentication": _kind(
        _object(
            "",
            podIdentity=_object(
                "provider",
                provider={"enum": ["azure-workload", "gcp", "aws", "aws-eks", "none"]},
                roleArn=TEXT,
                identityOwner={"enum": ["keda", "workload"]},
            ),
            env={"type": "array", "items": _object("parameter name", parameter=TEXT, name=TEXT, containerName=TEXT)},
        )
    ),
}
# The names in the struct tags of awsSqsQueueMetadata in pkg/scalers/aws_sqs_queue_scaler.go since KEDA 2.17
# (https://github.com/kedacore/keda/pull/6358), as the schema takes any key: name → where a value may come from.
# `…FromEnv` is the key for `resolvedEnv`.
SCALER = {
    "queueLength": {"triggerMetadata"},
    "activationQueueLength": {"triggerMetadata"},
    "queueURL": {"triggerMetadata", "resolvedEnv"},
    "awsRegion": {"triggerMetadata", "authParams"},
    "awsEndpoint": {"triggerMetadata"},
    "scaleOnInFlight": {"triggerMetadata"},
    "scaleOnDelayed": {"triggerMetadata"},
}
REQUIRED = {"queueURL", "awsRegion"}
KEYS = {*SCALER, *(f"{name}FromEnv" for name, sources in SCALER.items() if "resolvedEnv" in sources)}
PARAMETERS = {name for name, sources in SCALER.items() if "authParams" in sources}


def schema(objects: Objects) -> Iterator[str]:
    """KEDA's objects have no unknown field, and no field of a wrong type."""
    for kind, expected in SCHEMAS.items():
        for found in of(objects, kind):
            yield from (error.message for error in jsonschema_rs.Draft202012Validator(expected).iter_errors(found))


def scaler(objects: Objects) -> Iterator[str]:
    """The scaler knows each key and gets all required ones. The worker has the variables that it reads.

    KEDA 2.17.0 refuses a fallback without a metricType (https://github.com/kedacore/keda/issues/6696).
    """
    for scaled in of(objects, "ScaledObject"):
        given, _ = environment(objects, named(objects, "Deployment", "worker"))
        for trigger in scaled["spec"]["triggers"]:
            metadata = trigger["metadata"]
            yield from (f"{key} is not a key of {trigger['type']}" for key in metadata if key not in KEYS)
            by_env = {key.removesuffix("FromEnv"): name for key, name in metadata.items() if key.endswith("FromEnv")}
            by_auth = {
                each["parameter"]: each["name"]
                for each in _authentication(objects, trigger)["spec"].get("env", [])
                if each.get("containerName") == container(named(objects, "Deployment", "worker"))["name"]
            }
            yield from (f"{name} is no parameter of the scaler" for name in by_auth if name not in PARAMETERS)
            yield from (f"the worker has no {name}" for name in {**by_env, **by_auth}.values() if name not in given)
            if missing := REQUIRED - {*metadata, *by_env, *by_auth}:
                yield f"the scaler lacks {', '.join(sorted(missing))}"
            if "fallback" in scaled["spec"] and "metricType" not in trigger:
                yield "a fallback without a metricType"
            if metadata.get("scaleOnInFlight", "true") != "true":
                yield "messages that workers hold do not count: busy workers would be removed"


def _authentication(objects: Objects, trigger: Any) -> Any:
    return named(objects, "TriggerAuthentication", trigger["authenticationRef"]["name"])
