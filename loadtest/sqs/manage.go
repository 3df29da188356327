package main

import "slices"

// naming identifies the queue of a call, by URL or by name.
type naming struct {
	QueueURL  string `json:"QueueUrl"`
	QueueName string
}

// queueOf returns the queue of a call.
func (s *service) queueOf(name naming) (*queue, *refusal) {
	switch {
	case name.QueueURL != "":
		return s.queues.find(name.QueueURL)
	case name.QueueName != "":
		return s.queues.find(name.QueueName)
	}
	return nil, missingParameter("QueueUrl")
}

// queueNamedIn returns the queue of a call that has no other parameters.
func (s *service) queueNamedIn(from call) (*queue, *refusal) {
	var asked naming
	if refused := decode(from, &asked); refused != nil {
		return nil, refused
	}
	return s.queueOf(asked)
}

func (s *service) createQueue(from call) (any, *refusal) {
	var asked struct {
		naming
		Attributes map[string]string
	}
	if refused := decode(from, &asked); refused != nil {
		return nil, refused
	}
	if refused := s.queues.create(asked.QueueName, asked.Attributes); refused != nil {
		return nil, refused
	}
	return queueURL(from, asked.QueueName), nil
}

func (s *service) getQueueURL(from call) (any, *refusal) {
	found, refused := s.queueNamedIn(from)
	if refused != nil {
		return nil, refused
	}
	return queueURL(from, found.name), nil
}

func (s *service) deleteQueue(from call) (any, *refusal) {
	found, refused := s.queueNamedIn(from)
	if refused != nil {
		return nil, refused
	}
	s.queues.remove(found)
	return struct{}{}, nil
}

func (s *service) getQueueAttributes(from call) (any, *refusal) {
	var asked struct {
		naming
		AttributeNames []string
	}
	if refused := decode(from, &asked); refused != nil {
		return nil, refused
	}
	found, refused := s.queueOf(asked.naming)
	if refused != nil {
		return nil, refused
	}
	described := found.describe(from.region)
	for name := range described {
		if !slices.Contains(asked.AttributeNames, name) && !slices.Contains(asked.AttributeNames, "All") {
			delete(described, name)
		}
	}
	return map[string]any{"Attributes": described}, nil
}

// queueURL returns a URL with the address that the caller has used, which may be a proxy's.
func queueURL(from call, name string) map[string]string {
	return map[string]string{"QueueUrl": from.url + "/" + account + "/" + name}
}
