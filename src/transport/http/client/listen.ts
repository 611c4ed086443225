import type { ReadLimits } from '../../../protocol/client-limits.ts'
import type { Message } from '../../../protocol/jsonrpc.ts'
import type { TransportEvents } from '../../../rpc/client-transport.ts'
import { isOtherLogin } from '../../../rpc/logins.ts'
import type { ReadEvent } from '../../../wire/sse-reader.ts'
import { dropBody } from './body.ts'
import { readReceived } from './message.ts'
import { ReconnectBackoff, type BackoffOptions } from './reconnect-backoff.ts'
import { isStream, resume } from './resume.ts'
import { isMessageEvent, Place, readStream } from './stream.ts'

export interface ListenOptions extends BackoffOptions {
  readonly limits: ReadLimits
  readonly signal: AbortSignal
  readonly leftovers: Set<() => void>
  readonly events: TransportEvents
  get(lastId: string | undefined, isFirst: boolean): Promise<Response>
  /** Called when the server no longer knows the session. */
  onLost(): void
  /** Called when nothing is read any more; returns the error that counts. */
  onEnd(error?: unknown): Error | undefined
  /** Whether an error is worth reporting. */
  isWanted(): boolean
}

/** How long the server may take to open the stream; some send no head before the first event. */
const OPEN_MS = 1000

/**
 * Starts reading messages that do not belong to a request. Resolves when the stream is open, or after a while if it is
 * not, or if the server has none.
 */
export function listen(options: ListenOptions): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, OPEN_MS)
    const onOpen = (): void => {
      clearTimeout(timer)
      resolve()
    }
    const onEnd = (error?: unknown): void => {
      onOpen()
      const reason = options.onEnd(error)
      if (isOtherLogin(reason)) return options.events.onOtherLogin?.(reason)
      if (reason !== undefined && options.isWanted())
        options.events.onNote?.('stream', `the stream for notifications failed: ${reason.message}`)
    }
    readAll(options, onOpen).then(() => onEnd(), onEnd)
  })
}

/** Reconnects when the stream is lost; ends if the server has none. */
async function readAll(options: ListenOptions, onOpen: () => void): Promise<void> {
  const { signal, events } = options
  const backoff = new ReconnectBackoff(options.reconnect, options.random)
  const place = new Place()
  const invalid = { inRow: 0, noted: false }
  const note = (text: string): void => events.onNote?.('stream', `the stream for notifications ${text}`)
  const onWait = (ms: number): void => note(`is not open; the next attempt is in ${ms} ms`)
  for (let opened = false; ;) {
    const get = (lastId?: string): Promise<Response> => options.get(lastId, !opened)
    const response = await resume({ place, backoff, signal, get, onWait, counted: false }, opened)
    if (response === undefined) return
    if (!isStream(response)) {
      dropBody(response)
      if (!opened) return
      if (response.status === 404) return options.onLost()
      if (response.status !== 400 || place.lastId === undefined)
        return note(`was rejected with status ${response.status}`)
      note('cannot be resumed; notifications may have been missed')
      place.lastId = undefined
      continue
    }
    if (opened && place.lastId === undefined) events.onMissed?.()
    opened = true
    onOpen()
    const since = performance.now()
    if (await readNotifications(response, place, options, note, invalid))
      return note(`sent ${invalid.inRow} invalid messages in a row (limits.clientInvalid)`)
    backoff.learn(place, performance.now() - since)
  }
}

/** Reads one connection. Returns true if it has too many invalid events. */
async function readNotifications(
  response: Response,
  place: Place,
  { limits, signal, leftovers, events }: ListenOptions,
  note: (text: string) => void,
  invalid: { inRow: number; noted: boolean },
): Promise<boolean> {
  const maxBytes = limits.clientBytes
  place.begin()
  return readStream(response, {
    maxBytes,
    signal,
    leftovers,
    onEvent(event) {
      if (place.reach(event) && isMessageEvent(event)) for (const message of read(event)) take(message)
      return invalid.inRow >= limits.clientInvalid
    },
    onRetry: (ms) => place.ask(ms),
    onOversize: (isEnd) =>
      note(
        isEnd
          ? 'was closed, because the server sent megabytes without a message'
          : `contained an event of more than ${maxBytes} bytes, which was skipped`,
      ),
  })

  function read({ data }: ReadEvent): readonly Message[] {
    try {
      const messages = readReceived(data, limits)
      invalid.inRow = 0
      return messages
    } catch {
      invalid.inRow++
      if (!invalid.noted) note('contained something that is not a message')
      invalid.noted = true
      return []
    }
  }

  function take(message: Message): void {
    if (message.method !== undefined) events.onMessage(message)
  }
}
