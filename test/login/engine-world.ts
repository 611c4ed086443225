import { introspection, oauth } from '../../src/auth.ts'
import {
  browser,
  memoryVault,
  type BrowserOptions,
  type LoginMethod,
  type Vault,
} from '../../src/auth-client.ts'
import type { McpError } from '../../src/index.ts'
import {
  INTROSPECTOR,
  logIn,
  startLoginIssuer,
  type IssuerOptions,
  type LoginIssuer,
} from './engine-issuer.ts'
import { callTool, openAuth, startProtected, type Protected } from './engine-server.ts'

/** The scopes that the server needs for everything. */
export const SCOPES: readonly string[] = ['notes:read']

/** A client that an issuer knows beforehand. */
export const DESK: Readonly<Record<string, unknown>> = {
  client_id: 'desk',
  token_endpoint_auth_method: 'none',
  application_type: 'native',
  redirect_uris: ['http://127.0.0.1/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
}

/** An issuer, a server that trusts it, and a person who logs in. */
export interface World {
  readonly issuer: LoginIssuer
  readonly server: Protected
  readonly vault: Vault
  /** The pages that were opened. */
  readonly pages: URL[]
  /** Opens a page, on which the person logs in. */
  open(page: URL): Promise<URL>
  /** The method of a client in this world. */
  login(options?: BrowserOptions): LoginMethod
  /** Calls a tool with a new client. */
  call(tool: string, options?: BrowserOptions): Promise<string>
  /** The error of the same. */
  fail(tool: string, options?: BrowserOptions): Promise<McpError>
}

/** Starts a world for one test. */
export async function startWorld(options: IssuerOptions = {}): Promise<World> {
  const issuer = await startLoginIssuer(options)
  const server = await startProtected((resource) =>
    options.opaque === true
      ? introspection({ issuer: issuer.url, resource, scopes: SCOPES, ...INTROSPECTOR })
      : oauth({ issuer: issuer.url, resource, scopes: SCOPES }),
  )
  const vault = memoryVault()
  const pages: URL[] = []
  const open = (page: URL): Promise<URL> => {
    pages.push(page)
    return logIn(page)
  }
  const login: World['login'] = (more) => browser({ vault, open, ...more })
  const call: World['call'] = (tool, more) => callTool(openAuth(login(more), server.url), server.url, tool)
  return {
    issuer,
    server,
    vault,
    pages,
    open,
    login,
    call,
    fail: (tool, more) =>
      call(tool, more).then(
        (text) => {
          throw new Error(`it succeeded: ${text}`)
        },
        (error: McpError) => error,
      ),
  }
}

/** The entry of a vault, by the issuer if there are several. */
export async function entryOf(
  vault: Vault,
  issuer: string = '',
): Promise<NonNullable<Awaited<ReturnType<Vault['read']>>>> {
  const key = (await vault.keys()).find((one) => one.includes(issuer))
  return (await vault.read(key as string))!
}

/** Makes the stored access token one that the client knows to have expired. */
export async function expire(vault: Vault): Promise<void> {
  const [key] = await vault.keys()
  await vault.update(key as string, async (current) => ({
    ...current,
    tokens: { ...current!.tokens!, expiresAt: Date.now() - 1_000 },
  }))
}
