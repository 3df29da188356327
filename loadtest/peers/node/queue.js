// Sends messages to SQS: each message in a separate call, or all that wait at the same time in one (group commit).
// `send` resolves once SQS has acknowledged the message. No message is sent after its deadline, in ms since 1970.

import { SendMessageBatchCommand, SendMessageCommand } from '@aws-sdk/client-sqs'

// The same limits as in v09: calls in flight, entries of a call, and the bytes of these entries.
const SLOTS = 4
const MAX_ENTRIES = 10
const MAX_BYTES = 256 * 1024

const typed = (attributes) => Object.fromEntries(
  Object.entries(attributes).map(([name, value]) => [name, { DataType: 'String', StringValue: value }])
)

const until = (deadline) => ({ abortSignal: AbortSignal.timeout(Math.max(0, deadline - Date.now())) })

const bytes = (body, attributes) => Object.entries(attributes).reduce(
  (sum, [name, value]) => sum + name.length + 'String'.length + value.length, Buffer.byteLength(body)
)

export class OneByOne {
  #sqs
  #url

  constructor (sqs, url) {
    this.#sqs = sqs
    this.#url = url
  }

  async send (body, attributes, deadline) {
    const message = { QueueUrl: this.#url, MessageBody: body, MessageAttributes: typed(attributes) }
    const answer = await this.#sqs.send(new SendMessageCommand(message), until(deadline))
    if (!answer.MessageId) throw new Error('SQS has not acknowledged the message')
  }
}

export class GroupCommit {
  #sqs
  #url
  #free = SLOTS
  #waiting = []
  #calls = 0

  constructor (sqs, url) {
    this.#sqs = sqs
    this.#url = url
  }

  send (body, attributes, deadline) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ body, attributes, deadline, size: bytes(body, attributes), resolve, reject })
      this.#fill()
    })
  }

  // A free slot takes the waiting messages at once, without a timer.
  #fill () {
    this.#dropLate()
    while (this.#free > 0 && this.#waiting.length > 0) {
      this.#free -= 1
      this.#commit(this.#take()).finally(() => {
        this.#free += 1
        this.#fill()
      })
    }
  }

  #dropLate () {
    while (this.#waiting[0]?.deadline <= Date.now()) this.#waiting.shift().reject(new Error('too late'))
  }

  #take () {
    let count = 1
    let size = this.#waiting[0].size
    while (count < Math.min(MAX_ENTRIES, this.#waiting.length)) {
      size += this.#waiting[count].size
      if (size > MAX_BYTES) break
      count += 1
    }
    return this.#waiting.splice(0, count)
  }

  async #commit (batch) {
    const call = this.#calls++ // makes the ids of the entries unique across all calls
    const entries = batch.map(({ body, attributes }, i) => (
      { Id: `${call}-${i}`, MessageBody: body, MessageAttributes: typed(attributes) }
    ))
    try {
      const command = new SendMessageBatchCommand({ QueueUrl: this.#url, Entries: entries })
      const { Successful = [] } = await this.#sqs.send(command, until(batch.at(-1).deadline))
      for (const { Id, MessageId } of Successful) {
        if (MessageId) batch[entries.findIndex((entry) => entry.Id === Id)]?.resolve()
      }
    } catch (error) {
      batch.forEach(({ reject }) => reject(error))
    }
    // This has no effect on promises that are already settled.
    batch.forEach(({ reject }) => reject(new Error('SQS has not acknowledged the entry')))
  }
}
