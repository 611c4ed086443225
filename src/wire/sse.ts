import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'

/** One event of an event stream. */
export interface StreamEvent {
  readonly data?: string
  readonly id?: string
  readonly event?: string
  /** Milliseconds that a client waits before it reconnects. */
  readonly retry?: number
}

const BREAK = /\r\n|\r|\n/

/** The text of one event. Data may contain line breaks; ids and event names may not. */
export function toEvent({ data, id, event, retry }: StreamEvent): string {
  let text = ''
  if (event !== undefined && event !== '') text += `event: ${readField('event', event)}\n`
  if (id !== undefined) text += `id: ${readField('id', id)}\n`
  if (retry !== undefined) text += `retry: ${readRetry(retry)}\n`
  if (data !== undefined) text += BREAK.test(data) ? toLines('data: ', data) : `data: ${data}\n`
  return `${text}\n`
}

/** The event for a message. Its text is JSON on one line, so it cannot end the event early. */
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
  throw mcpError(BAD_OPTION, {
    where: `${where} of an event`,
    reason: 'must not contain a line break or NUL',
  })
}

function readRetry(value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw mcpError(BAD_OPTION, {
    where: 'retry of an event',
    reason: 'must be a whole number of milliseconds',
  })
}
