import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject, Message } from '../../src/protocol/jsonrpc.ts'
import { methodRow } from '../../src/protocol/methods.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { DIALECTS } from '../../src/protocol/switches.ts'
import { decodeResult } from '../../src/wire/2026-07-28/decode-result.ts'
import { envelopeOf } from '../../src/wire/2026-07-28/encode.ts'
import { readText } from '../../src/wire/read-text.ts'
import { replyText, encodeReply } from '../../src/wire/reply.ts'
import { encodeNotification, encodeRequest, encodeResult } from '../../src/wire/encode.ts'
import { arbitrariesOf } from '../corpus/arbitrary.ts'
import { corpus, type Example } from '../corpus/corpus.ts'

const INFO = { name: 'round', version: '1.0.0' }
const SENDER = { client: { name: 'trip', version: '1.0.0' }, capabilities: {} }

describe.each(REVISIONS)('at %s', (revision) => {
  test.each(corpus(revision))('$kind $method ($name) survives the wire [S0-0.2] [S2-13-C8]', (example) => {
    expect(opened(example, revision)).toEqual(expected(example, revision))
  })

  test.each(arbitrariesOf(revision))(
    'any $kind of $method survives the wire [S2-14-4]',
    ({ kind, method, value }) => {
      fc.assert(
        fc.property(value, (generated) => {
          const example: Example = { name: 'generated', kind, method, value: generated }
          expect(opened(example, revision)).toEqual(expected(example, revision))
        }),
        { numRuns: 40 },
      )
    },
  )
})

/** What comes out of the text that goes in. */
function opened({ kind, method, value }: Example, revision: Revision): unknown {
  const newest = revision === '2026-07-28'
  const embedded = methodRow(method)?.embedded === true
  if (kind === 'result' && newest && embedded) {
    const retry = enveloped({ name: 'tool', inputResponses: { answer: value } })
    const { params } = read(encodeRequest(1, 'tools/call', retry, DIALECTS[revision]))
    return (params!['inputResponses'] as JsonObject)['answer']
  }
  if (kind === 'result') {
    const { result } = read(replyText(encodeReply(1, encodeResult(method, value, DIALECTS[revision], INFO))))
    return newest ? decodeResult(result!) : result
  }
  if (kind === 'notification') return read(encodeNotification(method, value, DIALECTS[revision])).params
  const isEnveloped = newest && !embedded
  const { params } = read(
    encodeRequest(1, method, isEnveloped ? enveloped(value) : value, DIALECTS[revision]),
  )
  return isEnveloped ? withoutEnvelope(params!) : params
}

const ENVELOPE = envelopeOf(SENDER.client, SENDER.capabilities)

function enveloped(params: JsonObject): JsonObject {
  const meta = params['_meta'] as JsonObject | undefined
  return { ...params, _meta: { ...meta, ...ENVELOPE } }
}

function withoutEnvelope({ _meta: meta, ...members }: JsonObject): JsonObject {
  const own = Object.entries(meta as JsonObject).filter(([key]) => !Object.hasOwn(ENVELOPE, key))
  return own.length === 0 ? members : { ...members, _meta: Object.fromEntries(own) }
}

/** The same message; at 2026-07-28 caching hints are always written, and metadata that says nothing is not. */
function expected({ kind, method, value }: Example, revision: Revision): JsonObject {
  const plain = JSON.parse(JSON.stringify(value)) as JsonObject
  if (revision !== '2026-07-28' || kind === 'notification' || methodRow(method)?.embedded === true)
    return plain
  const hinted = kind === 'result' && methodRow(method)?.cached === true && plain['resultType'] === undefined
  const { _meta: meta, ...members } = plain
  const told = meta === undefined || Object.keys(meta as object).length === 0 ? {} : { _meta: meta }
  return { ...(hinted ? { ttlMs: 0, cacheScope: 'private' } : {}), ...members, ...told }
}

function read(text: string): Message {
  return readText(text, { depth: 128, values: Infinity, keys: Infinity, containers: Infinity }) as Message
}
