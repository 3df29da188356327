"""Figures of the service itself, each with the command that measured it, and what is assumed.

Quotas and prices of AWS and Chargebee are in `quotas.py`.
"""

# CPU for each webhook, in milliseconds: v10_lean_client on a hard quarter of a core, `make bench` on 952eb32.
CPU_MS = 0.27
# Cores that a pod requests: deploy/k8s/base/web/deployment.yaml.
POD_CORES = 0.25
# The share of them in use. With one of three zones lost, the other pods are at 90 %. (The HPA adds pods at 80 %.)
UTILISATION = 0.60
# deploy/k8s/overlays/aws/hpa.yaml
MIN_PODS, MAX_PODS = 3, 12
ZONES = 3
# Seconds that SQS takes for a call: the load test's (`make history`); of real SQS not verified.
SQS_SECONDS = 0.008
# Calls in flight from one pod: the default of APP_SQS_BATCHES; always one on a FIFO queue.
CALLS_IN_FLIGHT, FIFO_CALLS_IN_FLIGHT = 4, 1
# The default of APP_SQS_BATCH_BYTES.
BATCH_BYTES = 262_144
# loadtest/events/default.json, the body of `make bench`; the others from tests/sqs/test_capacity.py, on that body:
BODY_BYTES = 5_686
# … bytes of the attributes, which count in a message's size …
ATTRIBUTE_BYTES = 137
# … bytes of an entry in the call's JSON, attributes included, and those that escaping adds for each byte of the body.
ENTRY_BYTES = 330
ESCAPES = 0.111
# Seconds from receiving a message to deleting it: an assumption about the worker.
PROCESSING_SECONDS = 5.0

MONTH_SECONDS = 730 * 3600  # AWS's month of 730 hours
