package main

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

type received struct {
	MessageID         string `json:"MessageId"`
	ReceiptHandle     string
	Body              string
	BodyMD5           string               `json:"MD5OfBody"`
	AttributesMD5     string               `json:"MD5OfMessageAttributes,omitempty"`
	Attributes        map[string]string    `json:",omitempty"`
	MessageAttributes map[string]attribute `json:",omitempty"`
}

// show returns the message with the attributes that the call asks for.
func (r *receiving) show(held *shelved) received {
	shown := received{
		MessageID: held.receipt.id, ReceiptHandle: held.handle, Body: *held.message.MessageBody,
		BodyMD5: hex.EncodeToString(held.receipt.digests.body[:]),
	}
	for name, value := range held.message.MessageAttributes {
		if wants(r.MessageAttributeNames, name) {
			if shown.MessageAttributes == nil {
				shown.MessageAttributes = map[string]attribute{}
			}
			shown.MessageAttributes[name] = value
		}
	}
	if shown.MessageAttributes != nil {
		sum := attributesDigest(shown.MessageAttributes)
		shown.AttributesMD5 = hex.EncodeToString(sum[:])
	}
	shown.Attributes = r.system(held)
	return shown
}

func (r *receiving) system(held *shelved) map[string]string {
	all := map[string]string{
		"ApproximateReceiveCount": strconv.Itoa(held.received),
		"SentTimestamp":           strconv.FormatInt(held.sentAt.UnixMilli(), 10),
		"SequenceNumber":          held.receipt.sequence,
	}
	if id := held.message.MessageGroupID; id != nil {
		all["MessageGroupId"] = *id
	}
	if id := held.message.MessageDeduplicationID; id != nil {
		all["MessageDeduplicationId"] = *id
	}
	asked := slices.Concat(r.AttributeNames, r.MessageSystemAttributeNames)
	for name, value := range all {
		if value == "" || !wants(asked, name) {
			delete(all, name)
		}
	}
	return all
}

// wants returns true if `names` includes `name`. "All", ".*" and "prefix.*" match several names.
func wants(names []string, name string) bool {
	return slices.ContainsFunc(names, func(wanted string) bool {
		prefix, several := strings.CutSuffix(wanted, ".*")
		return wanted == "All" || wanted == name || several && strings.HasPrefix(name, prefix)
	})
}
