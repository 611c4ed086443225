import { toHttpUrl } from '../../base/http-url.ts'
import { clip } from '../../base/clip.ts'
import { badOption } from '../../base/options.ts'
import { mcpError } from '../../errors/error.ts'
import { LOGIN_FAILED } from '../../errors/login.ts'
import { oneLine } from '../../errors/printable.ts'
import type { AuthRequest, Authorization, ClientAuth } from '../../transport/http/client/auth-method.ts'
import { defineAuth } from './define-auth.ts'
import { discard } from './discard.ts'
import { Flight } from './flight.ts'
import { isTokenText } from './token-text.ts'
import { parseUrl } from '../../protocol/url.ts'

/** Describes the request for which a token is needed. */
export interface TokenQuestion {
  /** The URL of the server, to which the token is sent. */
  readonly server: URL
  /** The token that the server just rejected with 401; undefined at first. */
  readonly rejected: string | undefined
  /** Aborts when nobody waits for the request any more. */
  readonly signal: AbortSignal
}

/** Gives the current access token. */
export type TokenSource = (question: TokenQuestion) => string | Promise<string>

/**
 * Sends tokens that the program manages itself. The function is called for each request, even if the client has a cached result or an open WebSocket, and once more if the server rejects the token with 401: once for
 * all requests with that token. Another token may be that of another user, so the client then opens another WebSocket, stream or session for the request.
 *
 * @example
 * await connect('https://mcp.example/mcp', { auth: token(() => session.accessToken) })
 */
export function token(source: TokenSource): ClientAuth {
  if (typeof source !== 'function')
    throw badOption('token', 'it takes a function that returns the current token: token(() => accessToken)')
  return defineAuth({ name: 'token', open: ({ url }) => open(source, url) })
}

function open(source: TokenSource, url: URL): Authorization {
  const server = toHttpUrl(url)
  const failed = (problem: string, cause?: unknown): Error =>
    mcpError(
      LOGIN_FAILED,
      { server: server.origin + server.pathname, reason: `the function of token() ${problem}` },
      { cause },
    )
  const ask = async (signal: AbortSignal, rejected?: string): Promise<string> => {
    let given: unknown
    try {
      given = await source({ server: parseUrl(server), rejected, signal })
    } catch (thrown) {
      signal.throwIfAborted()
      throw failed(
        `failed: ${thrown instanceof Error ? oneLine(clip(thrown.message, 300)) : 'it threw something other than an error'}`,
        thrown,
      )
    }
    if (isTokenText(given)) return given
    const problem = typeof given === 'string' ? 'a text that is not a token' : typeof given
    throw failed(`must return a token, which has visible ASCII characters only, not ${problem}`)
  }
  /** The questions that are not answered yet, by the token that was rejected. */
  const asked = new Map<string, Flight<string>>()
  const askAgain = (request: AuthRequest, rejected: string): Promise<string> => {
    request.signal.throwIfAborted()
    const ended = (): void => {
      if (asked.get(rejected) === flight) asked.delete(rejected)
    }
    const flight = asked.get(rejected) ?? new Flight(({ signal }) => ask(signal, rejected), ended)
    asked.set(rejected, flight)
    return flight.join(request)
  }
  return {
    current: async (signal) => headersOf(await ask(signal)).authorization,
    async attempt(request, send) {
      if (request.url.origin !== server.origin) return send({})
      const first = await ask(request.signal)
      const reply = await send(headersOf(first))
      if (reply.status !== 401) return reply
      let second: string
      try {
        second = await askAgain(request, first)
      } catch (thrown) {
        await discard(reply)
        throw thrown
      }
      if (second === first) return reply
      await discard(reply)
      return send(headersOf(second))
    },
  }
}

function headersOf(accessToken: string): { readonly authorization: string } {
  return { authorization: `Bearer ${accessToken}` }
}
