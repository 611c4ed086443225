import { type McpError, mcpError } from '../../../errors/error.ts'
import { BODY_READ } from '../../../errors/http.ts'
import { STRING_TOO_LONG } from '../../../errors/limits.ts'
import {
  PARSE_FAILED,
  TOO_DEEP,
  TOO_MANY_CONTAINERS,
  TOO_MANY_KEYS,
  TOO_MANY_VALUES,
} from '../../../errors/wire.ts'
import type { Limits } from '../../../protocol/limits.ts'
import type { Bounds } from '../../../wire/bounds.ts'
import { messageSize, sizeProblem } from '../../../wire/message-size.ts'
import { decodeUtf8 } from '../../../wire/utf8.ts'
import type { Service } from '../../../rpc/service.ts'
import { decodeProblem } from '../../io/heap-guard.ts'
import type { HttpIn } from './parts.ts'

/**
 * Takes over a body that a framework has read: its text, its bytes, or the value it parsed. Throws if it is something else or
 * exceeds a limit.
 */
export function takeBody(
  request: Pick<HttpIn, 'body' | 'parsed' | 'size'>,
  given: unknown,
  limits: Bounds & Pick<Limits, 'httpBytes' | 'heap'>,
  service: Pick<Service, 'load'>,
): void {
  const sent = typeof given === 'string' ? given : bytesOf(given)
  if (sent === undefined && !isParsed(given)) throw bodyRead()
  const size = sent === undefined ? measure(given, limits) : messageSize(sent, 'http', limits.httpBytes)
  const isDecoded = sent === undefined || typeof sent === 'string'
  const problem =
    sizeProblem(size, limits.httpBytes) ?? (isDecoded ? undefined : decodeProblem(service, limits, size))
  if (problem !== undefined) throw problem
  if (sent === undefined) {
    request.parsed = given
    request.size = size
    return
  }
  const text = typeof sent === 'string' ? sent : decodeUtf8(sent)
  if (text === undefined) throw mcpError(PARSE_FAILED, {})
  request.body = text
}

function bytesOf(given: unknown): Uint8Array | undefined {
  if (given instanceof Uint8Array) return given
  if (ArrayBuffer.isView(given)) return new Uint8Array(given.buffer, given.byteOffset, given.byteLength)
  return given instanceof ArrayBuffer ? new Uint8Array(given) : undefined
}

/** Whether a parser can have made this value: all but objects of a class, such as forms and web streams. */
function isParsed(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  // Not compared with `Object.prototype`, because the value may come from another realm.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** The least number of characters that a parsed value takes as JSON. Throws if it exceeds a limit. */
function measure(value: unknown, { depth, values, keys, containers, stringLength }: Bounds): number {
  let chars = 0
  let count = 0
  let members = 0
  let opened = 0
  let level: object[] = []
  let next: object[] = []
  const checkText = ({ length }: string): void => {
    if (length > stringLength) throw mcpError(STRING_TOO_LONG, { limit: stringLength })
    chars += length + 2
  }
  const take = (one: unknown): void => {
    if (++count > values) throw mcpError(TOO_MANY_VALUES, { limit: values })
    if (typeof one === 'string') checkText(one)
    else if (typeof one === 'object' && one !== null) {
      if (++opened > containers) throw mcpError(TOO_MANY_CONTAINERS, { limit: containers })
      next.push(one)
    } else chars++
  }
  take(value)
  // Not recursive, because the nesting of messages may be unlimited.
  for (let room = depth; next.length > 0; room--) {
    if (room === 0) throw mcpError(TOO_DEEP, { limit: depth })
    level = next
    next = []
    for (const one of level) {
      chars += 2
      if (Array.isArray(one)) one.forEach(take)
      else {
        const names = Object.keys(one)
        members += names.length
        if (members > keys) throw mcpError(TOO_MANY_KEYS, { limit: keys, counted: '' })
        for (const name of names) {
          checkText(name)
          take((one as Readonly<Record<string, unknown>>)[name])
        }
      }
    }
  }
  return chars
}

const HOW = 'app.node()(request, response, body), or app.fetchWith({})(request, { body })'

/** The error for a body that somebody else has read. */
export function bodyRead(): McpError {
  return mcpError(BODY_READ, { how: HOW })
}
