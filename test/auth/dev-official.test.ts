import { createServer as createHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
  type OAuthClientProvider as ProviderV2,
} from '@modelcontextprotocol/client'
import type { OAuthClientProvider as ProviderV1 } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { decodeJwt } from 'jose'
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from 'pierhead'
import type { DevAuth, DevAuthOptions } from 'pierhead/auth/dev'
import { selfSigned } from '../harness/certificates.ts'
import { REDIRECT, startDev } from './dev-flow.ts'

const ABOUT = { name: 'official', version: '1.0.0' }

interface Protected {
  readonly dev: DevAuth
  readonly url: URL
}

async function startServer(options: DevAuthOptions = {}): Promise<Protected> {
  const dev = await startDev({ scopes: ['notes'], ...options })
  const app = createServer({ name: 'notes', version: '1.0.0', auth: dev, log: () => undefined })
  app.tool('whoami', {}, (_input, ctx) => `${ctx.auth?.sub} ${ctx.auth?.scopes?.join(' ')}`)
  app.tool('purge', { scopes: ['notes:admin'] }, (_input, ctx) => `${ctx.auth?.scopes?.join(' ')}`)
  const running = await app.listen({ onUncaught: 'exit', http: { port: 0 } })
  onTestFinished(() => running.close())
  return { dev, url: new URL(running.url as string) }
}

type Stored = Record<string, unknown>

/** What a client keeps about a server: the part that both official clients ask of a program. */
class Keeper {
  readonly redirectUrl = REDIRECT
  readonly clientMetadata: {
    readonly client_name: string
    readonly redirect_uris: string[]
    readonly grant_types: string[]
    readonly token_endpoint_auth_method: string
  }
  readonly clientMetadataUrl?: string
  client: Stored | undefined
  kept: Stored | undefined
  /** The pages that the client wanted to open. */
  readonly opened: URL[] = []
  #verifier = ''
  #discovered: unknown

  constructor({
    document,
    refreshes = true,
  }: { readonly document?: string; readonly refreshes?: boolean } = {}) {
    this.clientMetadata = {
      client_name: 'Official client',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', ...(refreshes ? ['refresh_token'] : [])],
      token_endpoint_auth_method: 'none',
    }
    if (document !== undefined) this.clientMetadataUrl = document
  }

  state(): string {
    return 'state-1'
  }
  clientInformation(): never {
    return this.client as never
  }
  saveClientInformation(client: unknown): void {
    this.client = client as Stored
  }
  tokens(): never {
    return this.kept as never
  }
  saveTokens(tokens: unknown): void {
    this.kept = tokens as Stored
  }
  redirectToAuthorization(url: URL): void {
    this.opened.push(url)
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }
  codeVerifier(): string {
    return this.#verifier
  }
  saveDiscoveryState(state: unknown): void {
    this.#discovered = state
  }
  discoveryState(): never {
    return this.#discovered as never
  }
}

interface Session {
  call(tool: string): Promise<string>
  /** Completes the login that the client asked for last. */
  finish(answer: URLSearchParams): Promise<void>
  connect(): Promise<void>
}

function textOf(result: unknown): string {
  return (result as { readonly content: readonly { readonly text: string }[] }).content[0]?.text ?? ''
}

const OPENERS: Readonly<Record<string, (url: URL, keeper: Keeper) => Session>> = {
  'v1 client': (url, keeper) => {
    const transport = new HttpV1(url, { authProvider: keeper satisfies ProviderV1 })
    const client = new ClientV1(ABOUT)
    onTestFinished(() => client.close())
    return {
      call: async (name) => textOf(await client.callTool({ name, arguments: {} })),
      finish: (answer) => transport.finishAuth(answer.get('code') as string),
      connect: () => client.connect(transport as never),
    }
  },
  'v2 client': (url, keeper) => openV2(url, keeper),
  'v2 client at 2026-07-28': (url, keeper) => openV2(url, keeper, '2026-07-28'),
}

function openV2(url: URL, keeper: Keeper, pin?: '2026-07-28'): Session {
  const transport = new HttpV2(url, { authProvider: keeper satisfies ProviderV2 })
  const client = new ClientV2(ABOUT, pin === undefined ? {} : { versionNegotiation: { mode: { pin } } })
  onTestFinished(() => client.close())
  return {
    call: async (name) => textOf(await client.callTool({ name, arguments: {} })),
    finish: (answer) => transport.finishAuth(answer),
    connect: () => client.connect(transport),
  }
}

const CLIENTS = Object.entries(OPENERS)

/** Answers the last page that a client wanted to open. */
async function answer({ dev }: Protected, keeper: Keeper, sub: string): Promise<URLSearchParams> {
  return new URL(await dev.login(keeper.opened.at(-1) as URL, { sub })).searchParams
}

/** Logs in as a program would: the first connection fails, the second has a token. */
async function logIn(
  server: Protected,
  keeper: Keeper,
  open: (url: URL, keeper: Keeper) => Session,
): Promise<Session> {
  const first = open(server.url, keeper)
  await expect(first.connect()).rejects.toThrow(/unauthorized/i)
  await first.finish(await answer(server, keeper, 'alice'))
  const second = open(server.url, keeper)
  await second.connect()
  return second
}

test.each(CLIENTS)('the official %s registers, logs in and calls a tool', async (_, open) => {
  const server = await startServer()
  const keeper = new Keeper()
  const session = await logIn(server, keeper, open)
  expect(await session.call('whoami')).toBe('alice notes')
  const [page] = keeper.opened
  expect(page?.searchParams.get('resource')).toBe(server.url.href)
  expect(page?.searchParams.get('scope')).toBe('notes')
  expect(keeper.client).toHaveProperty('client_id')
  expect(decodeJwt(keeper.kept?.['access_token'] as string)).toMatchObject({ aud: server.url.href })
})

test.each(CLIENTS)('the official %s logs in with a metadata document', async (_, open) => {
  const server = await startServer()
  const document = await publish()
  const keeper = new Keeper({ document })
  const session = await logIn(server, keeper, open)
  expect(await session.call('whoami')).toBe('alice notes')
  expect(keeper.opened[0]?.searchParams.get('client_id')).toBe(document)
})

test.each(CLIENTS)('the official %s refreshes a token that was revoked', async (_, open) => {
  const server = await startServer()
  const keeper = new Keeper()
  const session = await logIn(server, keeper, open)
  const before = keeper.kept
  await server.dev.revoke(before?.['access_token'] as string)
  expect(await session.call('whoami')).toBe('alice notes')
  expect(keeper.kept?.['access_token']).not.toBe(before?.['access_token'])
  expect(keeper.kept?.['refresh_token']).not.toBe(before?.['refresh_token'])
  expect(keeper.opened).toHaveLength(1)
})

// The v1 client refreshes instead of asking for more scopes if it can, so it cannot here.
test.each(CLIENTS)('the official %s asks for more scopes when a tool needs them', async (name, open) => {
  const server = await startServer()
  const keeper = new Keeper({ refreshes: name !== 'v1 client' })
  const session = await logIn(server, keeper, open)
  await expect(session.call('purge')).rejects.toThrow(/unauthorized/i)
  expect(keeper.opened).toHaveLength(2)
  expect(keeper.opened[1]?.searchParams.get('scope')?.split(' ').toSorted()).toEqual(['notes', 'notes:admin'])
  await session.finish(await answer(server, keeper, 'alice'))
  expect((await session.call('purge')).split(' ').toSorted()).toEqual(['notes', 'notes:admin'])
})

test.each(CLIENTS)('the official %s is not let in when the user refuses', async (_, open) => {
  const server = await startServer()
  const keeper = new Keeper()
  const session = open(server.url, keeper)
  await expect(session.connect()).rejects.toThrow(/unauthorized/i)
  const refused = await server.dev.login(keeper.opened[0] as URL, 'deny')
  await expect(session.finish(new URL(refused).searchParams)).rejects.toThrow(
    /the user refused|authorizationCode is required/,
  )
  expect(keeper.kept).toBeUndefined()
})

/** Serves the metadata document of the official client over HTTPS, as these clients demand. */
async function publish(): Promise<string> {
  const { key, cert } = selfSigned('localhost', ['localhost', '127.0.0.1'])
  const server = createHttps({ key, cert }, (_request, response) => {
    const { clientMetadata } = new Keeper()
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ ...clientMetadata, client_id: url }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/client.json`
  return url
}
