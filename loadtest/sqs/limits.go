package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
const (
	maxMessageBytes = 1 << 20
	maxEntries      = 10
	maxAttributes   = 10
	maxNameLength   = 256
	maxDelaySeconds = 900
)

var (
	entryID       = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)
	queueName     = regexp.MustCompile(`^([A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\.fifo)$`)
	attributeName = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	dataType      = regexp.MustCompile(`^(String|Number|Binary)(\..+)?$`)
	// A group id or a deduplication id consists of ASCII letters, digits and punctuation.
	fifoID = regexp.MustCompile(`^[!-~]{1,128}$`)
)

// check returns nil if a queue accepts the message.
func (m *message) check(fifo, contentBased bool) *refusal {
	if m.MessageBody == nil {
		return missingParameter("MessageBody")
	}
	if *m.MessageBody == "" {
		return invalidParameter("The request must contain a MessageBody of at least 1 character.")
	}
	if m.size() > maxMessageBytes {
		return invalidParameter("One or more parameters are invalid. Reason: Message must be shorter than 1048576 bytes.")
	}
	if !isXML(*m.MessageBody) {
		return invalidContents("Invalid characters found. Valid characters are: #x9 | #xA | #xD | #x20 to #xD7FF | " +
			"#xE000 to #xFFFD | #x10000 to #x10FFFF")
	}
	if m.DelaySeconds < 0 || m.DelaySeconds > maxDelaySeconds {
		return invalidParameter(fmt.Sprintf("Value %d for parameter DelaySeconds is invalid.", m.DelaySeconds))
	}
	if refused := checkAttributes(m.MessageAttributes); refused != nil {
		return refused
	}
	return m.checkFIFO(fifo, contentBased)
}

// checkFIFO checks the group id and the deduplication id. A standard queue accepts a group id, because of fair queues,
// but no deduplication id.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html
func (m *message) checkFIFO(fifo, contentBased bool) *refusal {
	ids := map[string]*string{"MessageGroupId": m.MessageGroupID, "MessageDeduplicationId": m.MessageDeduplicationID}
	for name, id := range ids {
		if id != nil && !fifoID.MatchString(*id) {
			return invalidParameter("Value " + *id + " for parameter " + name + " is invalid. Reason: " + name +
				" can only include alphanumeric and punctuation characters. 1 to 128 in length.")
		}
	}
	wrongType := "The request include parameter that is not valid for this queue type"
	switch {
	case !fifo && m.MessageDeduplicationID != nil, fifo && m.DelaySeconds != 0:
		return invalidParameter(wrongType)
	case fifo && m.MessageGroupID == nil:
		return missingParameter("MessageGroupId")
	case fifo && m.MessageDeduplicationID == nil && !contentBased:
		return invalidParameter("The queue should either have ContentBasedDeduplication enabled or " +
			"MessageDeduplicationId provided explicitly")
	}
	return nil
}

// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html
func checkAttributes(attributes map[string]attribute) *refusal {
	if len(attributes) > maxAttributes {
		return invalidParameter(fmt.Sprintf("Number of message attributes [%d] exceeds the allowed maximum [10].", len(attributes)))
	}
	for name, value := range attributes {
		lower := strings.ToLower(name)
		reserved := strings.HasPrefix(lower, "aws.") || strings.HasPrefix(lower, "amazon.")
		if len(name) > maxNameLength || reserved || !attributeName.MatchString(name) {
			return invalidParameter("The message attribute name '" + name + "' is invalid.")
		}
		if len(value.DataType) > maxNameLength || !dataType.MatchString(value.DataType) {
			return invalidParameter("The message attribute '" + name + "' has an invalid message attribute type.")
		}
		if refused := checkValue(name, value); refused != nil {
			return refused
		}
	}
	return nil
}

func checkValue(name string, value attribute) *refusal {
	if value.isBinary() != (value.StringValue == nil) || value.value() == "" {
		return invalidParameter("The message attribute '" + name + "' must contain non-empty message attribute value.")
	}
	if value.isBinary() {
		return nil
	}
	if !isXML(*value.StringValue) {
		return invalidContents("Message attribute '" + name + "' has characters that are not allowed.")
	}
	if kind(value.DataType) == "Number" {
		if _, err := strconv.ParseFloat(*value.StringValue, 64); err != nil {
			return invalidParameter("Can't cast the value of message attribute '" + name + "' to a number.")
		}
	}
	return nil
}

// isXML returns true if a text, which must be valid UTF-8, has only characters that XML 1.0 allows:
// https://www.w3.org/TR/xml/#charsets
func isXML(text string) bool {
	for i := 0; i < len(text); i++ {
		char := text[i]
		if char < ' ' && char != '\t' && char != '\n' && char != '\r' {
			return false
		}
		if char == 0xEF { // the first byte of U+FFFE and U+FFFF
			if r, _ := utf8.DecodeRuneInString(text[i:]); r == 0xFFFE || r == 0xFFFF {
				return false
			}
		}
	}
	return true
}
