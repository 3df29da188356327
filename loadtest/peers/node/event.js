// The JSON schema of a Chargebee event with an invoice: the fields that are always there.

const text = { type: 'string' }
const integer = { type: 'integer' }
const boolean = { type: 'boolean' }

function required (properties, optional = {}) {
  return { type: 'object', required: Object.keys(properties), properties: { ...properties, ...optional } }
}

const lineItem = required({
  date_from: integer,
  date_to: integer,
  unit_amount: integer,
  is_taxed: boolean,
  description: text,
  entity_type: text
})

const invoice = required({
  id: text,
  customer_id: text,
  recurring: boolean,
  status: text,
  price_type: text,
  currency_code: text,
  tax: integer,
  sub_total: integer,
  term_finalized: boolean,
  is_gifted: boolean
}, { line_items: { type: 'array', items: lineItem } })

export const event = required({
  id: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,40}$' },
  occurred_at: integer,
  source: text,
  object: { const: 'event' },
  api_version: text,
  event_type: text,
  webhook_status: text,
  content: required({ invoice })
})
