import { McpError } from '../../../src/errors/error.ts'
import type { JsonObject } from '../../../src/protocol/jsonrpc.ts'
import { META } from '../../../src/protocol/meta.ts'
import { methodRow } from '../../../src/protocol/methods.ts'
import { REVISIONS } from '../../../src/protocol/revisions.ts'
import { DIALECTS } from '../../../src/protocol/switches.ts'
import type { Service } from '../../../src/rpc/service.ts'
import { openRequest } from '../../../src/transport/http/server/envelope.ts'
import { encodeHeaderValue } from '../../../src/wire/header-value.ts'
import { decodeHeaderValue } from '../../../src/wire/headers.ts'
import { corpus, toWire } from '../../corpus/corpus.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { spell } from '../json-text.ts'
import { mutateText, mutateValue } from '../mutate.ts'
import type { Random } from '../random.ts'
import { anyText } from '../values.ts'

interface Input {
  readonly method: string
  readonly params: JsonObject
  readonly headers: Readonly<Record<string, string>>
  readonly spoilt: boolean
}

const service = {
  revisions: REVISIONS,
  dialects: DIALECTS,
  observers: { targets: new Map() },
} as unknown as Service
const REQUESTS = corpus('2026-07-28')
  .filter(({ kind, method }) => kind === 'request' && methodRow(method)?.embedded !== true)
  .map((example) => toWire(example, '2026-07-28'))

/** A request of 2026-07-28 is taken when its headers repeat its body, and never when they say something else. */
export const envelopeTarget: Target = target<Input>({
  name: 'envelope',
  share: 5,
  make(random) {
    const sound = random.pick(REQUESTS) as { readonly method: string; readonly params: JsonObject }
    const named = methodRow(sound.method)?.named
    const params =
      named !== undefined && random.oneIn(2) ? { ...sound.params, [named]: anyText(random) } : sound.params
    const headers = headersOf(sound.method, params)
    if (random.oneIn(4)) return { method: sound.method, params, headers, spoilt: false }
    return { method: sound.method, ...spoil(params, headers, random), spoilt: true }
  },
  check({ method, params, headers, spoilt }) {
    const request = {
      method: 'POST',
      header: (name: string) => headers[name],
      body: '',
      onGone: () => undefined,
    }
    try {
      openRequest(method, params, request, service)
    } catch (thrown) {
      if (!(thrown instanceof McpError)) throw thrown
      return claim(spoilt, `a good request is refused: ${thrown.message}`)
    }
    const meta = params['_meta'] as JsonObject
    claim(meta[META.protocolVersion] === '2026-07-28', 'another version is taken')
    claim(typeof meta[META.clientCapabilities] === 'object', 'no capabilities are taken for some')
    claim(headers['mcp-protocol-version']?.trim() === '2026-07-28', 'the version header differs')
    claim(headers['mcp-method']?.trim() === method, 'the method header differs')
    const named = methodRow(method)?.named
    const name = named === undefined ? undefined : params[named]
    if (typeof name === 'string')
      claim(decodeHeaderValue(headers['mcp-name'] ?? '') === wellFormed(name), 'the name header differs')
  },
})

function headersOf(method: string, params: JsonObject): Readonly<Record<string, string>> {
  const named = methodRow(method)?.named
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(named !== undefined && { 'mcp-name': encodeHeaderValue(params[named] as string) }),
  }
}

function spoil(
  params: JsonObject,
  headers: Readonly<Record<string, string>>,
  random: Random,
): Pick<Input, 'params' | 'headers'> {
  if (random.oneIn(2)) {
    const name = random.pick([...Object.keys(headers), 'mcp-name'])
    const value = random.oneIn(2) ? mutateText(headers[name] ?? '', random) : anyText(random)
    return { params, headers: { ...headers, [name]: value } }
  }
  const { params: spoilt } = JSON.parse(spellValid({ params }, random)) as { readonly params?: JsonObject }
  const isParams = typeof spoilt === 'object' && spoilt !== null && !Array.isArray(spoilt)
  const meta = isParams ? spoilt['_meta'] : undefined
  const isMeta = meta === undefined || (typeof meta === 'object' && meta !== null && !Array.isArray(meta))
  return { params: isParams && isMeta ? spoilt : {}, headers }
}

/** A changed value that is still JSON. */
function spellValid(value: unknown, random: Random): string {
  for (let tries = 0; tries < 5; tries++) {
    const text = spell(mutateValue(value, random), random)
    try {
      if (typeof JSON.parse(text) === 'object' && JSON.parse(text) !== null) return text
    } catch {
      continue
    }
  }
  return JSON.stringify(value)
}

function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}
