package main

import (
	"crypto/md5"
	"encoding/binary"
	"slices"
	"unsafe"
)

// digest is an MD5, which SQS answers with anyway: the audit costs nothing more.
type digest [md5.Size]byte

// bodyDigest reads the text in place: a copy of each body would double what the collector has to do.
func bodyDigest(body string) digest { return md5.Sum(unsafe.Slice(unsafe.StringData(body), len(body))) }

// attributesDigest is that of the attributes by name: each name, type and value behind its length, the value also
// behind a byte for how it was transported.
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
