package main

import "encoding/base64"

// readMessage reads the JSON of a SendMessage call.
func readMessage(data []byte) (naming, *message, *refusal) {
	var name naming
	read, sent := newReader(data), &message{}
	read.object(func(member string) {
		switch member {
		case "QueueUrl":
			name.QueueURL = read.text()
		default:
			read.member(sent, member)
		}
	})
	return name, sent, read.end()
}

// readBatch reads the JSON of a SendMessageBatch call.
func readBatch(data []byte) (naming, []entry, *refusal) {
	var name naming
	var entries []entry
	read := newReader(data)
	read.object(func(member string) {
		switch member {
		case "QueueUrl":
			name.QueueURL = read.text()
		case "Entries":
			entries = entries[:0]
			read.array(func() { entries = append(entries, read.entry()) })
		default:
			read.skip()
		}
	})
	return name, entries, read.end()
}

func (r *reader) entry() entry {
	var one entry
	r.object(func(member string) {
		switch member {
		case "Id":
			one.ID = r.text()
		default:
			r.member(&one.message, member)
		}
	})
	return one
}

// member reads the JSON member `name` into the message.
func (r *reader) member(sent *message, name string) {
	switch name {
	case "MessageBody":
		sent.MessageBody = r.textOrNil()
	case "DelaySeconds":
		sent.DelaySeconds = r.integer()
	case "MessageGroupId":
		sent.MessageGroupID = r.textOrNil()
	case "MessageDeduplicationId":
		sent.MessageDeduplicationID = r.textOrNil()
	case "MessageAttributes":
		sent.MessageAttributes = map[string]attribute{}
		r.object(func(name string) { sent.MessageAttributes[name] = r.attribute() })
	default:
		r.skip()
	}
}

func (r *reader) attribute() attribute {
	var read attribute
	r.object(func(member string) {
		switch member {
		case "DataType":
			read.DataType = r.text()
		case "StringValue":
			read.StringValue = r.textOrNil()
		case "BinaryValue":
			value, err := base64.StdEncoding.DecodeString(r.text())
			if err != nil {
				r.fail()
			}
			read.BinaryValue = value
		default:
			r.skip()
		}
	})
	return read
}
