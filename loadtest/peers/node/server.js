// Does the work of a release in Node: Basic auth, a validated Chargebee event, one SendMessage per webhook, then 200.
// With --group-commit, the webhooks that wait at the same time share a SendMessageBatch.
// Configured by variables of the service: APP_PORT, APP_SQS_QUEUE_URL, APP_BASIC_AUTH_….

import { isUtf8 } from 'node:buffer'
import { timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { createSecureContext } from 'node:tls'

import { SQSClient } from '@aws-sdk/client-sqs'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import Fastify from 'fastify'

import { WANTED, event } from './event.js'
import { GroupCommit, OneByOne } from './queue.js'

const MAX_BODY_BYTES = 245_760
const BODY_TIMEOUT = 10_000 // ms
const SQS_TIMEOUT = 10_000 // ms
const ATTEMPTS = 3 // the SDK's default
const CONNECTIONS = 64 // the same number as in the releases; the SDK's default is 50

const env = process.env
const credentials = Buffer.from(`${env.APP_BASIC_AUTH_USERNAME}:${env.APP_BASIC_AUTH_PASSWORD}`)
const authorization = Buffer.from(credentials.toString('base64'))

// Made once, because with the option `ca`, Node would load all certificates for each connection.
const secureContext = env.AWS_CA_BUNDLE && createSecureContext({ ca: readFileSync(env.AWS_CA_BUNDLE) })

const groupCommit = process.argv.includes('--group-commit')
const Queue = groupCommit ? GroupCommit : OneByOne

// The SDK for JavaScript reads neither AWS_DEFAULT_REGION nor AWS_CA_BUNDLE by itself.
const sqs = new SQSClient({
  ...groupCommit && { md5: false }, // v02 to v08 compare the MD5 of the body in SQS's answer; v09 and later do not
  region: env.AWS_REGION ?? env.AWS_DEFAULT_REGION,
  requestHandler: new NodeHttpHandler({
    requestTimeout: SQS_TIMEOUT / ATTEMPTS,
    throwOnRequestTimeout: true,
    httpsAgent: new Agent({ keepAlive: true, maxSockets: CONNECTIONS, secureContext })
  })
})
const queue = new Queue(sqs, env.APP_SQS_QUEUE_URL)

const server = Fastify({
  bodyLimit: MAX_BODY_BYTES,
  requestTimeout: BODY_TIMEOUT,
  // For the body, Node uses the longer of headersTimeout and requestTimeout. By default, it checks them every 30 s.
  http: { headersTimeout: BODY_TIMEOUT, connectionsCheckingInterval: 1000 },
  ajv: { customOptions: { coerceTypes: false, removeAdditional: false } }
})

// The message must be the body as it was received, so the text is kept in addition to the parsed body.
server.decorateRequest('text', '')
server.removeAllContentTypeParsers()
server.addContentTypeParser('*', { parseAs: 'buffer' }, async (request, body) => {
  try {
    if (!isUtf8(body)) throw new Error('not UTF-8')
    request.text = body.toString()
    return JSON.parse(request.text)
  } catch {
    throw Object.assign(new Error('not JSON'), { statusCode: 422 }) // the parser's own text quotes the body
  }
})

function authorize (request, reply, done) {
  const [, encoded = ''] = /^basic +(.*)$/i.exec(request.headers.authorization ?? '') ?? []
  const given = Buffer.from(encoded)
  if (given.length !== authorization.length || !timingSafeEqual(given, authorization)) {
    reply.code(401).header('www-authenticate', 'Basic').send({ error: 'unauthorized' })
    return
  }
  done()
}

server.setErrorHandler((error, request, reply) => {
  reply.code(error.validation ? 422 : error.statusCode ?? 500).send({ error: error.message })
})

const within = (promise, ms) => {
  let timer
  const late = new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

server.post('/webhooks/chargebee', {
  onRequest: authorize, // before the body is read
  schema: {
    body: event,
    response: {
      200: { type: 'object', properties: { status: { type: 'string' }, event_id: { type: 'string' } } }
    }
  }
}, async (request, reply) => {
  const { id, event_type: type, api_version: version } = request.body
  if (type !== WANTED) return { status: 'ignored', event_id: id }
  const attributes = {
    event_id: id, event_type: type, api_version: version, received_at: String(Date.now())
  }
  try {
    await within(queue.send(request.text, attributes, Date.now() + SQS_TIMEOUT), SQS_TIMEOUT)
  } catch {
    return reply.code(503).send({ error: 'SQS has not acknowledged' })
  }
  return { status: 'queued', event_id: id }
})
server.get('/readyz', async () => ({}))

process.once('SIGTERM', () => server.close())
await server.listen({ host: '127.0.0.1', port: Number(env.APP_PORT) })
