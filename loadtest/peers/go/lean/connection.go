package main

import (
	"bufio"
	"crypto/tls"
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

const maxAnswerBytes = 64 * 1024

// connection is one keep-alive connection to SQS. The zero value is closed. It is not safe for concurrent use.
type connection struct {
	to     endpoint
	conn   net.Conn
	reader *bufio.Reader
	sent   []byte
	answer fasthttp.Response
}

// request sends a request, and returns the status and the body of the response. The body is valid until the next call.
// After an error, request closes the connection, and the next call opens a new connection.
func (c *connection) request(head, body []byte, deadline time.Time) (int, []byte, error) {
	status, answer, err := c.exchange(head, body, deadline)
	if c.conn != nil && (err != nil || c.answer.ConnectionClose()) {
		_ = c.conn.Close()
		c.conn = nil
	}
	return status, answer, err
}

func (c *connection) exchange(head, body []byte, deadline time.Time) (int, []byte, error) {
	if c.conn == nil {
		if err := c.open(deadline); err != nil {
			return 0, nil, err
		}
	}
	if err := c.conn.SetDeadline(deadline); err != nil {
		return 0, nil, err
	}
	c.sent = append(append(c.sent[:0], head...), body...)
	if _, err := c.conn.Write(c.sent); err != nil {
		return 0, nil, err
	}
	if err := c.answer.ReadLimitBody(c.reader, maxAnswerBytes); err != nil {
		return 0, nil, err
	}
	return c.answer.StatusCode(), c.answer.Body(), nil
}

func (c *connection) open(deadline time.Time) error {
	conn, err := (&net.Dialer{Deadline: deadline}).Dial("tcp", c.to.address)
	if err != nil {
		return err
	}
	if c.to.tls != nil {
		conn = newSecured(conn, c.to.tls)
	}
	c.conn = conn
	if c.reader == nil {
		c.reader = bufio.NewReaderSize(nil, 8*1024)
	}
	c.reader.Reset(conn)
	return nil
}

// secured is a TLS connection with one system call for each Write. crypto/tls alone makes a system call for each record
// of 16 KiB.
type secured struct {
	*tls.Conn
	records *gathered
}

func newSecured(conn net.Conn, config *tls.Config) secured {
	records := &gathered{Conn: conn}
	return secured{tls.Client(records, config), records}
}

func (s secured) Write(data []byte) (int, error) {
	if err := s.Handshake(); err != nil {
		return 0, err
	}
	s.records.gather = true
	if _, err := s.Conn.Write(data); err != nil {
		return 0, err
	}
	return len(data), s.records.flush()
}

// gathered is a connection that buffers written bytes until flush while gather is true.
type gathered struct {
	net.Conn
	gather bool
	kept   []byte
}

func (g *gathered) Write(data []byte) (int, error) {
	if !g.gather {
		return g.Conn.Write(data)
	}
	g.kept = append(g.kept, data...)
	return len(data), nil
}

func (g *gathered) flush() error {
	_, err := g.Conn.Write(g.kept)
	g.kept, g.gather = g.kept[:0], false
	return err
}
