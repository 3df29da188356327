// The JSON schema of a Chargebee event with an invoice: the fields that each event has.

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

export const WANTED = 'pending_invoice_created' // Other events are ignored, and their content is any object.

const envelope = required({
  id: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,40}$' },
  occurred_at: integer,
  source: text,
  object: { const: 'event' },
  api_version: { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,20}$' },
  event_type: { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,100}$' },
  webhook_status: text,
  content: { type: 'object' }
})

export const event = {
  ...envelope,
  if: { properties: { event_type: { const: WANTED } } },
  then: { properties: { content: required({ invoice }) } }
}
