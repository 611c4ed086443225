import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'

/** One event of an event stream. */
export interface StreamEvent {
  readonly data?: string
  readonly id?: string
  readonly event?: string
  /** How many milliseconds a client waits before it connects again. */
  readonly retry?: number
}

const BREAK = /\r\n|\r|\n/

/** The text of one event. Data may have line breaks; an id or event name with one is refused. */
export function toEvent({ data, id, event, retry }: StreamEvent): string {
  let text = ''
  if (event !== undefined && event !== '') text += `event: ${readField('event', event)}\n`
  if (id !== undefined) text += `id: ${readField('id', id)}\n`
  if (retry !== undefined) text += `retry: ${readRetry(retry)}\n`
  if (data !== undefined) text += BREAK.test(data) ? toLines('data: ', data) : `data: ${data}\n`
  return `${text}\n`
}

/** The event of a message. Its text is JSON on one line, so nothing in it can end the event. */
export function messageEvent(text: string, id?: string): string {
  return id === undefined ? `data: ${text}\n\n` : `id: ${id}\ndata: ${text}\n\n`
}

/** A comment, which readers skip: keeps a quiet stream open. */
export function comment(text: string): string {
  return `${toLines(': ', text)}\n`
}

function toLines(prefix: string, text: string): string {
  let lines = ''
  for (const line of text.split(BREAK)) lines += `${prefix}${line}\n`
  return lines
}

function readField(where: string, value: string): string {
  if (!/[\r\n\0]/.test(value)) return value
  throw mcpError(BAD_OPTION, { where: `${where} of an event`, reason: 'must not hold a line break or NUL' })
}

function readRetry(value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw mcpError(BAD_OPTION, {
    where: 'retry of an event',
    reason: 'must be a whole number of milliseconds',
  })
}
