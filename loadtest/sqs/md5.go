package main

import (
	"crypto/md5"
	"encoding/binary"
	"slices"
	"unsafe"
)

// digest is an MD5. SQS's responses have MD5s in any case, so the audit needs no further work.
type digest [md5.Size]byte

// bodyDigest reads the text without copying it, because copies would double the work of the garbage collector.
func bodyDigest(body string) digest { return md5.Sum(unsafe.Slice(unsafe.StringData(body), len(body))) }

// attributesDigest returns the MD5 of the attributes, sorted by name. Each name, type and value is preceded by its
// length. Before a value's length, there is a byte for its transport type: 1 for a string, 2 for binary.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html
func attributesDigest(attributes map[string]attribute) digest {
	names := make([]string, 0, len(attributes))
	for name := range attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	var buffer [512]byte
	text := buffer[:0]
	for _, name := range names {
		value := attributes[name]
		text = appendSized(text, name)
		text = appendSized(text, value.DataType)
		if value.isBinary() {
			text = appendSized(append(text, 2), value.BinaryValue)
		} else {
			text = appendSized(append(text, 1), *value.StringValue)
		}
	}
	return md5.Sum(text)
}

func appendSized[T string | []byte](text []byte, value T) []byte {
	return append(binary.BigEndian.AppendUint32(text, uint32(len(value))), value...)
}
