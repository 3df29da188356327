package main

import "strings"

// message has the parameters that SendMessage and an entry of SendMessageBatch have in common.
type message struct {
	MessageBody            *string
	MessageAttributes      map[string]attribute
	DelaySeconds           int
	MessageGroupID         *string
	MessageDeduplicationID *string
}

type attribute struct {
	DataType    string
	StringValue *string `json:",omitempty"`
	BinaryValue []byte  `json:",omitempty"`
}

// isBinary returns true for Binary, also with a label, as in Binary.gif.
func (a attribute) isBinary() bool { return kind(a.DataType) == "Binary" }

func kind(dataType string) string {
	name, _, _ := strings.Cut(dataType, ".")
	return name
}

func (a attribute) value() string {
	if a.StringValue != nil {
		return *a.StringValue
	}
	return string(a.BinaryValue)
}

// size returns the bytes that count towards the limit of 1 MiB: the body, and each attribute's name, type and value.
func (m *message) size() int {
	total := 0
	if m.MessageBody != nil {
		total = len(*m.MessageBody)
	}
	for name, value := range m.MessageAttributes {
		total += len(name) + len(value.DataType) + len(value.BinaryValue)
		if value.StringValue != nil {
			total += len(*value.StringValue)
		}
	}
	return total
}
