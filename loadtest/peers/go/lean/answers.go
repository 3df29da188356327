package main

import "strconv"

// acknowledged reads the answer to a call. It returns a bit for each entry that the answer acknowledges with a message
// id, or an error text. Like v09 and later releases, it does not compare the MD5 of the body.
func (s *slot) acknowledged(answer []byte, number int64) (int, string) {
	found := 0
	good := valid(answer, func(r *scanner) {
		r.object(func(key []byte) {
			if string(key) != "Successful" || r.next() != '[' {
				r.skip()
				return
			}
			r.array(func() { found |= s.entry(r, number) })
		})
	})
	if !good {
		return 0, "not JSON"
	}
	return found, ""
}

func (s *slot) entry(r *scanner, number int64) int {
	var id, message []byte
	r.object(func(key []byte) {
		switch string(key) {
		case "Id":
			id = r.text()
		case "MessageId":
			message = r.text()
		default:
			r.skip()
		}
	})
	var expected [32]byte
	for i := range s.batch {
		if len(message) > 0 && string(id) == string(appendID(expected[:0], number, i)) {
			return 1 << i
		}
	}
	return 0
}

// appendID appends an entry's id, which is unique across all calls.
func appendID(to []byte, number int64, i int) []byte {
	return strconv.AppendInt(append(strconv.AppendInt(to, number, 10), '-'), int64(i), 10)
}
