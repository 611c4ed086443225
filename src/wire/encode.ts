import { storedIn, textWith } from '../base/stored-member.ts'
import { sharedParams } from '../base/shared-params.ts'
import { isObject, JSONRPC, type JsonObject } from '../protocol/jsonrpc.ts'
import { methodRow } from '../protocol/methods.ts'
import { LATEST } from '../protocol/revisions.ts'
import type { ElicitRequestParams, ElicitResult } from '../protocol/spec/2026-07-28.ts'
import type { Dialect } from '../protocol/switches.ts'
import { encodeText } from './2026-07-28/encode.ts'
import { CachedText } from './reply.ts'
import { resultText } from './result-text.ts'
import { loweringFor, lowerNotification, lowerRequest, lowerResult } from './lower.ts'

/** Encodes a result in a dialect. The text of a list that is frozen is cached. */
export function encodeResult(
  method: string,
  result: JsonObject,
  dialect: Dialect,
  info: JsonObject,
): string | CachedText {
  // Middleware may return anything; a value that is not an object would not become valid JSON.
  if (!isObject(result)) {
    const other = dialect.adapter?.encodeNonObject(method, result)
    if (other !== undefined) return other
    throw new TypeError(`the result of ${method} is not an object`)
  }
  return methodRow(method)?.list !== undefined && Object.isFrozen(result)
    ? cachedText(method, result, dialect, info)
    : toText(method, result, dialect, info)
}

/** Encodes a notification in a dialect. The text of params that are frozen, because many clients get the same, is cached. */
export function encodeNotification(method: string, params: JsonObject, dialect: Dialect): string {
  if (Object.isFrozen(params)) return cachedNotice(method, params, dialect)
  const shared = sharedParams(params)
  if (shared === undefined || dialect.revision !== LATEST || dialect.adapter !== undefined)
    return noticeText(method, params, dialect)
  // The text ends with the braces of the params and of the message.
  const start = cachedNotice(method, shared, dialect).slice(0, -2)
  return `${start}${start.endsWith('{') ? '' : ','}"_meta":${JSON.stringify(params['_meta'])}}}`
}

const notices = new WeakMap<JsonObject, Map<Dialect, { readonly method: string; readonly text: string }>>()

function cachedNotice(method: string, params: JsonObject, dialect: Dialect): string {
  let byDialect = notices.get(params)
  if (byDialect === undefined) notices.set(params, (byDialect = new Map()))
  let kept = byDialect.get(dialect)
  if (kept?.method !== method)
    byDialect.set(dialect, (kept = { method, text: noticeText(method, params, dialect) }))
  return kept.text
}

function noticeText(method: string, params: JsonObject, { revision, adapter }: Dialect): string {
  const lowered = lowerNotification(method, params, loweringFor(revision))
  const adapted = adapter?.encodeNotification({ method, params: lowered })
  const given = adapted?.params ?? lowered
  const stored = storedIn(given)
  const text = stored === undefined ? JSON.stringify(given) : textWith(given, stored)
  return `{"jsonrpc":"2.0","method":${JSON.stringify(adapted?.method ?? method)},"params":${text}}`
}

/** Encodes a request to the client in a dialect. */
export function encodeRequest(
  id: number,
  method: string,
  params: JsonObject,
  { revision, adapter }: Dialect,
): string {
  const lowered = lowerRequest(method, params, loweringFor(revision))
  const sealed = adapter === undefined ? lowered : adapter.encodeRequest(method, lowered)
  return JSON.stringify({ jsonrpc: JSONRPC, id, method, params: sealed })
}

/** Converts the client's answer to an encoded request into an answer to the original request. */
export function decodeAnswer(
  method: string,
  given: JsonObject,
  asked: JsonObject,
  { revision, adapter }: Dialect,
): JsonObject {
  const answer = adapter === undefined ? given : adapter.decodeResult(method, given)
  const raise = method === 'elicitation/create' ? loweringFor(revision).elicitAnswer : undefined
  if (raise === undefined) return answer
  return raise(
    answer as unknown as ElicitResult,
    asked as unknown as ElicitRequestParams,
  ) as unknown as JsonObject
}

/** The texts of lists, by the identity of the result: a list is one object until something in it changes. */
const texts = new WeakMap<JsonObject, Map<Dialect, string | CachedText>>()
/** Shorter texts are cheaper to encode again than to send in pieces. */
const LONG_CHARS = 16_384

function cachedText(
  method: string,
  result: JsonObject,
  dialect: Dialect,
  info: JsonObject,
): string | CachedText {
  let byDialect = texts.get(result)
  if (byDialect === undefined) texts.set(result, (byDialect = new Map()))
  let kept = byDialect.get(dialect)
  if (kept === undefined) {
    const text = toText(method, result, dialect, info)
    byDialect.set(dialect, (kept = text.length < LONG_CHARS ? text : new CachedText(text)))
  }
  return kept
}

function toText(method: string, result: JsonObject, dialect: Dialect, info: JsonObject): string {
  const { revision, adapter } = dialect
  if (revision !== '2026-07-28') {
    const lowered = lowerResult(method, result, loweringFor(revision))
    return resultText(adapter === undefined ? lowered : adapter.encodeResult(method, lowered))
  }
  return encodeText(result, infoText(info), methodRow(method)?.cached === true)
}

const infoTexts = new WeakMap<JsonObject, string>()

function infoText(info: JsonObject): string {
  let text = infoTexts.get(info)
  if (text === undefined) infoTexts.set(info, (text = JSON.stringify(info)))
  return text
}
