import type { Revision } from '../../protocol/revisions.ts'
import { isResponse, type Message } from '../message.ts'
import type { Transport } from '../rule.ts'
import type { HttpExchange } from './http-exchange.ts'
import { Turn, type Channel } from './turn.ts'
import { usualAnswer, type Offer } from './usual.ts'
import type { Seen, Visit } from './visit.ts'

/** A connection of the client, for scenarios that write more than messages. */
export interface Connection {
  readonly stream: string
  /** Writes a text as it is, without a line end. */
  raw(text: string): Promise<void>
  /** Writes to stderr, over stdio. */
  stderr(text: string): void
  close(): void
}

/** What a server does in one visit. Everything that it leaves out is as the usual server does it. */
export interface Behaviour {
  /** Handles a message of the client. `false` leaves it to the usual server. */
  message?(turn: Turn): Promise<boolean> | boolean
  /** Handles an HTTP request before its message is looked at. `false` leaves it to the usual server. */
  http?(exchange: HttpExchange): Promise<boolean> | boolean
  /** Is called when the client has opened a connection: stdio, TCP, WebSocket. */
  opened?(connection: Connection, visit: Visit): void
  /** The text as it is written to a connection, with its line end. Default: the text and a newline. */
  line?(text: string): string
  /** Headers of the replies to POST, over HTTP. */
  readonly headers?: Readonly<{ [name: string]: string }> | undefined
  /** Changes what the server offers. */
  offer?(offer: Offer, visit: Visit): Offer
  /** Whether there is a web site beside the server, whose address is `visit.site`. */
  readonly hasSite?: boolean | undefined
  /** Handles a request to the site. `false` leaves it to the usual one, which answers everything with a JSON object. */
  site?(exchange: HttpExchange): boolean
}

/** A prescribed server. */
export interface Scenario {
  readonly name: string
  /** What the server does, in a sentence. */
  readonly does: string
  /** Where it can be played. */
  readonly revisions: readonly Revision[]
  readonly transports: readonly Transport[]
  /** The scenario of the official conformance suite whose client does the same. Default: `tools_call`. */
  readonly official?: string | undefined
  /** Whether its server speaks another revision, so that rules about all messages leave it out. */
  readonly isApart?: boolean | undefined
  /** Begins a visit; what the server remembers lives in the closure. */
  begin(): Behaviour
}

/** Reacts to what a client sent. */
export async function react(
  seen: Seen,
  channel: Channel,
  { visit, behaviour }: { readonly visit: Visit; readonly behaviour: Behaviour },
): Promise<void> {
  await Promise.all(
    seen.messages
      .filter((message) => !isResponse(message))
      .map(async (message: Message) => {
        const turn = new Turn(message, seen, visit, channel)
        if ((await behaviour.message?.(turn)) === true) return
        await usualAnswer(turn, behaviour)
      }),
  )
}
