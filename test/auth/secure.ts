import { Agent, request, type RequestOptions } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { onTestFinished } from 'vitest'
import { connect, type ConnectOptions } from '../../src/client.ts'
import {
  createServer,
  type App,
  type ListenOptions,
  type Running,
  type TlsOptions,
  type TlsSource,
} from '../../src/index.ts'
import { createAuthority, type Authority, type Identity } from '../harness/certificates.ts'
import { headed } from '../http/messages.ts'

/** The transports that can use TLS. */
export const SECURE = ['http', 'ws', 'tcp'] as const
export type Secure = (typeof SECURE)[number]

export const authority: Authority = createAuthority('Harbour authority')
export const server: Identity = authority.issue('server', ['127.0.0.1'])

export const pair = ({ key, cert }: Identity): { readonly key: string; readonly cert: string } => ({
  key,
  cert,
})

/** The errors of clients that a server does not accept. */
export const REJECTED: RegExp = /^403|cannot connect|alert|socket hang up|ECONNRESET|EPIPE/

/** What a caller sees of the server: who it is to it, in JSON. */
export type Ask = (own?: Identity, ca?: string) => Promise<unknown>

export interface Listening {
  readonly app: App
  readonly running: Running
  readonly address: string
  /** Calls the server on a new connection, with a certificate or without; rejects if that fails. */
  readonly ask: Ask
}

/** A server whose tool `who` tells the caller what its handlers see of it. */
export function whoServer(log: (...line: readonly unknown[]) => void = () => undefined): App {
  return createServer({ name: 'secure', version: '1', log: (...line) => log(...line) })
    .tool('who', {}, (_, { auth }) => JSON.stringify(auth ?? null))
    .tool('write', { scopes: ['write'] }, () => 'written') as unknown as App
}

/** Listens on one transport with TLS until the test is over. */
export async function listenSecure(
  transport: Secure,
  tls: TlsOptions | TlsSource,
  app: App = whoServer(),
): Promise<Listening> {
  const options = { [transport]: { port: 0, tls } } as ListenOptions
  const running = await app.listen({ onUncaught: 'exit', ...options })
  onTestFinished(() => running.close())
  const address = running.addresses[transport] as string
  return { app, running, address, ask: (own, ca = authority.cert) => ask(address, own, ca) }
}

/** Calls a tool over a new connection; resolves with the JSON that it returns. */
async function ask(address: string, own: Identity | undefined, ca: string): Promise<unknown> {
  const tls = { ca, ...(own && pair(own)) }
  if (address.startsWith('https')) return askHttps(address, { ...tls, agent: false })
  return askClient(address, { tls, recovery: false, timeout: '5s' })
}

async function askClient(address: string, options: ConnectOptions): Promise<unknown> {
  const client = await connect(address, options)
  try {
    return JSON.parse((await client.call('who')) as string)
  } finally {
    await client.close()
  }
}

/** Calls the tool `who` over HTTPS; rejects with the status if that is an error. */
export async function askHttps(url: string, options: RequestOptions): Promise<unknown> {
  const { status, text } = await post(url, 'who', options)
  if (status !== 200) throw new Error(`${status}: ${text}`)
  const reply = JSON.parse(text) as { result: { content: [{ text: string }] } }
  return JSON.parse(reply.result.content[0].text)
}

export function post(
  url: string,
  tool: string,
  options: RequestOptions,
): Promise<{ readonly status: number; readonly text: string }> {
  const { body, headers } = headed('tools/call', { name: tool, arguments: {} })
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', headers, ...options }, (reply) => {
      let text = ''
      reply.on('data', (chunk: Buffer) => (text += chunk.toString()))
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }))
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

/** Calls the tool `who` on a TLS session that an earlier connection opened, if the server accepts that. */
export async function askResumed(
  url: string,
  own: Identity,
  session?: Buffer,
): Promise<{ readonly who: unknown; readonly isResumed: boolean; readonly session: Buffer }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, maxCachedSessions: 0 })
  let socket: TLSSocket | undefined
  let next: Buffer | undefined
  agent.on('keylog', (_, opened: TLSSocket) => {
    socket ??= opened.on('session', (ticket: Buffer) => (next ??= ticket))
  })
  try {
    const options = { agent, ca: authority.cert, ...pair(own), ...(session && { session }) }
    const who = await askHttps(url, options)
    const isResumed = socket?.isSessionReused() ?? false
    return { who, isResumed, session: next as Buffer }
  } finally {
    agent.destroy()
  }
}
