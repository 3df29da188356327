package main

import (
	"encoding/json"
	"net/http"
)

// refusal is an error with SQS's wording. `code` is the name in the protocol before JSON, which SDKs still report:
// https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#x-amzn-query-error
type refusal struct {
	status  int
	shape   string // after the namespace, as in the service model
	code    string
	message string
}

func (r *refusal) Error() string { return r.shape + ": " + r.message }

const namespace = "com.amazonaws.sqs#"

// named returns a refusal whose name in the old protocol is the new name with a prefix.
func named(shape, message string) *refusal {
	return &refusal{http.StatusBadRequest, shape, "AWS.SimpleQueueService." + shape, message}
}

func noSuchQueue() *refusal {
	return &refusal{http.StatusBadRequest, "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue",
		"The specified queue does not exist."}
}

func unsupported(message string) *refusal { return named("UnsupportedOperation", message) }

func invalidContents(message string) *refusal {
	return &refusal{http.StatusBadRequest, "InvalidMessageContents", "InvalidMessageContents", message}
}

func invalidParameter(message string) *refusal {
	return &refusal{http.StatusBadRequest, "InvalidParameterValueException", "InvalidParameterValue", message}
}

func missingParameter(name string) *refusal {
	return &refusal{http.StatusBadRequest, "MissingRequiredParameterException", "MissingParameter",
		"The request must contain the parameter " + name + "."}
}

func serialization(err error) *refusal {
	return &refusal{http.StatusBadRequest, "SerializationException", "SerializationException", err.Error()}
}

func forbidden(shape, message string) *refusal {
	return &refusal{http.StatusForbidden, shape, shape, message}
}

// write responds with the refusal. If the status is below 500, the fault is the sender's.
func (r *refusal) write(writer http.ResponseWriter) {
	fault := "Sender"
	if r.status >= http.StatusInternalServerError {
		fault = "Receiver"
	}
	writer.Header().Set("x-amzn-query-error", r.code+";"+fault)
	body, _ := json.Marshal(map[string]string{"__type": namespace + r.shape, "message": r.message})
	writeJSON(writer, r.status, body)
}

func writeJSON(writer http.ResponseWriter, status int, body []byte) {
	writer.Header().Set("Content-Type", "application/x-amz-json-1.0")
	writer.WriteHeader(status)
	_, _ = writer.Write(body)
}
