import { expect, onTestFinished } from 'vitest'
import type { AuthOption } from '../../src/app/auth.ts'
import { createServer, type App } from '../../src/index.ts'
import { headed } from '../http/messages.ts'
import { send, type Received, type Sent } from '../http/wire.ts'

/** A protected server on loopback, and what it did. */
export interface Guarded {
  readonly port: number
  readonly app: Pick<App, 'revoke'>
  /** How often a handler ran. */
  calls(): number
  /** Everything that it logged. */
  log(): string
  /** Calls a tool at 2026-07-28 with these headers. */
  call(headers: Sent['headers'], more?: Omit<Sent, 'headers'> & { readonly tool?: string }): Promise<Received>
}

/** Starts a protected server for the rest of a test. */
export async function guard(auth: AuthOption): Promise<Guarded> {
  let calls = 0
  const logged: string[] = []
  const log = (level: string, text: string, facts?: object): void =>
    void logged.push(`${level}: ${text} ${describe(facts)}`)
  const app = createServer({ name: 'guarded', version: '1.0.0', log, auth })
    .tool('who', {}, (_, { auth: caller }) => {
      calls++
      return JSON.stringify(caller ?? null)
    })
    .tool('write', { scopes: ['notes:write'] }, () => {
      calls++
      return 'written'
    })
  const { url } = await app.listen({ http: { port: 0 }, onUncaught: 'exit' })
  onTestFinished(() => app.close())
  const port = Number(new URL(url as string).port)

  const call: Guarded['call'] = (headers, { tool = 'who', ...more } = {}) => {
    const { body, headers: own } = headed('tools/call', { name: tool })
    return send(port, { body, headers: { ...own, ...headers }, ...more })
  }
  return {
    port,
    app,
    calls: () => calls,
    log: () => logged.join('\n'),
    call,
  }
}

/** Expects that a request with a token is rejected, that no handler runs, and that nobody learns anything about the token. */
export async function expectRejected(
  server: Guarded,
  token: string,
  status: number,
  error: string | undefined,
  headers: Sent['headers'] = { authorization: `Bearer ${token}` },
): Promise<Received> {
  const before = server.calls()
  const reply = await server.call(headers)
  const challenge = reply.headers['www-authenticate'] ?? ''
  expect({ status: reply.status, error: /error="([^"]*)"/.exec(challenge)?.[1] }).toEqual({ status, error })
  expect(server.calls()).toBe(before)
  const told = [reply.text, JSON.stringify(reply.headers), server.log()].join('\n')
  for (const part of [token, ...token.split('.')]) if (part.length > 6) expect(told).not.toContain(part)
  return reply
}

/** Facts of a log line with all their errors. */
function describe(facts: object = {}): string {
  return JSON.stringify(facts, (_, value: unknown) =>
    value instanceof Error ? [value.message, value.stack, value.cause, Object.entries(value)] : value,
  )
}

/** The caller that the tool saw. */
export function callerOf({ json }: Received): Readonly<Record<string, unknown>> {
  const { result } = json as { result: { content: { text: string }[] } }
  return JSON.parse(result.content[0]?.text ?? '') as Readonly<Record<string, unknown>>
}
