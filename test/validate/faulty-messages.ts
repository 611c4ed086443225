import { messagesIn, parsed, type Message } from '../../src/validate/message.ts'
import type { Fault, Instead } from './fault.ts'

/** Applies a fault to the texts that a client and a server exchange on one connection. */
export class FaultyMessages {
  readonly #fault: Fault | undefined
  readonly #requests = new Map<unknown, Message>()

  constructor(fault: Fault | undefined) {
    this.#fault = fault
  }

  /** A text of the client: what to answer in the place of the server, or undefined to pass it on. */
  fromClient(text: string, headers: Readonly<Record<string, string>> = {}): readonly string[] | undefined {
    const value = parsed(text)
    if (value === undefined || Array.isArray(value)) {
      const instead = this.#fault?.answerText?.(text)
      if (instead !== undefined) return textsOf(instead)
    }
    for (const message of messagesIn(value)) {
      if (message['id'] !== undefined) this.#requests.set(message['id'], message)
      const instead = Array.isArray(value) ? undefined : this.#fault?.answer?.(message, headers)
      if (instead !== undefined) return textsOf(instead)
    }
    return undefined
  }

  /** A text of the server, changed. */
  fromServer(text: string): readonly string[] {
    const change = this.#fault?.message?.bind(this.#fault)
    const value = parsed(text)
    if (change === undefined || typeof value !== 'object' || value === null || Array.isArray(value))
      return [text]
    const message = value as Message
    // Requests of the server have ids of their own, which may be those of requests of the client.
    const request = 'method' in message ? undefined : this.#requests.get(message['id'])
    const instead = change(message, request)
    return instead === message ? [text] : textsOf(instead)
  }
}

function textsOf(instead: Instead): readonly string[] {
  if (instead === undefined || instead === '') return []
  const all = (Array.isArray(instead) ? instead : [instead]) as readonly (Message | string)[]
  return all.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
}
