package main

func invoice(s *scanner) {
	seen := 0
	s.object(func(key []byte) {
		switch string(key) {
		case "id":
			s.text()
			seen |= 1 << 0
		case "customer_id":
			s.text()
			seen |= 1 << 1
		case "status":
			s.text()
			seen |= 1 << 2
		case "price_type":
			s.text()
			seen |= 1 << 3
		case "currency_code":
			s.text()
			seen |= 1 << 4
		case "tax":
			s.integer()
			seen |= 1 << 5
		case "sub_total":
			s.integer()
			seen |= 1 << 6
		case "recurring":
			s.truth()
			seen |= 1 << 7
		case "term_finalized":
			s.truth()
			seen |= 1 << 8
		case "is_gifted":
			s.truth()
			seen |= 1 << 9
		case "line_items":
			if s.next() == 'n' {
				s.word("null")
			} else {
				s.array(func() { lineItem(s) })
			}
		default:
			s.skip()
		}
	})
	s.bad = s.bad || seen != invoiceFields
}

func lineItem(s *scanner) {
	seen := 0
	s.object(func(key []byte) {
		switch string(key) {
		case "date_from":
			s.integer()
			seen |= 1 << 0
		case "date_to":
			s.integer()
			seen |= 1 << 1
		case "unit_amount":
			s.integer()
			seen |= 1 << 2
		case "is_taxed":
			s.truth()
			seen |= 1 << 3
		case "description":
			s.text()
			seen |= 1 << 4
		case "entity_type":
			s.text()
			seen |= 1 << 5
		default:
			s.skip()
		}
	})
	s.bad = s.bad || seen != itemFields
}
