import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { AuthOption } from '../../src/app/auth.ts'
import { createServer } from '../../src/index.ts'
import type { Authorization, ClientAuth } from '../../src/transport/http/client/auth-method.ts'
import { headed } from '../http/messages.ts'

/** A protected server on loopback. */
export interface Protected {
  readonly url: URL
  /** The token and status of every request so far, such as `none 401`. */
  readonly replies: { readonly token: string | undefined; readonly status: number }[]
  /** Tokens that the server does not accept any more. */
  readonly rejected: Set<string | undefined>
  /** How the server authenticates callers from now on. */
  protect(auth: AuthOption): void
}

/** Starts a server on a free port whose tools say who calls; `write` needs the scope `notes:write`. */
export async function startProtected(authFor: (resource: string) => AuthOption): Promise<Protected> {
  const replies: Protected['replies'] = []
  const rejected: Protected['rejected'] = new Set()
  const http = createHttp((request, response) => {
    const [, token] = / (.+)$/.exec(request.headers.authorization ?? '') ?? []
    response.once('finish', () => {
      if (request.method === 'POST') replies.push({ token, status: response.statusCode })
    })
    if (rejected.has(token)) delete request.headers.authorization
    handle(request, response)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  })
  const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)
  const mount = (auth: AuthOption): ReturnType<ReturnType<typeof createServer>['node']> => {
    const app = createServer({ name: 'notes', version: '1.0.0', log: () => undefined, auth })
      .tool('who', {}, (_, context) => `${context.auth?.sub} ${context.auth?.scopes?.join(' ')}`)
      .tool('write', { scopes: ['notes:write'] }, (_, context) => `${context.auth?.scopes?.join(' ')}`)
    onTestFinished(() => app.close())
    return app.node()
  }
  let handle = mount(authFor(url.href))
  return { url, replies, rejected, protect: (auth) => void (handle = mount(auth)) }
}

/** Credentials of a client as the transport opens them, until the test is over. */
export function openAuth(auth: ClientAuth, url: URL, warnings: string[] = []): Authorization {
  const opened = auth.open({ url, warn: (text) => void warnings.push(text) })
  onTestFinished(() => opened.close?.())
  return opened
}

export interface CallOptions {
  readonly signal?: AbortSignal
  pause?(): () => void
  during?(step: () => string | undefined): () => void
}

/** Calls a tool with credentials. Resolves with its text, or rejects with the status. */
export async function callTool(
  authorization: Authorization,
  url: URL,
  name: string,
  { signal = new AbortController().signal, ...clock }: CallOptions = {},
): Promise<string> {
  const { body, headers: own } = headed('tools/call', { name })
  const request = { verb: 'POST', url, signal, ...clock }
  const reply = await authorization.attempt(request, (headers) =>
    fetch(url, { method: 'POST', body, headers: { ...own, ...headers }, signal }),
  )
  if (reply.status !== 200) throw new Error(`status ${reply.status}`)
  const { result } = (await reply.json()) as {
    readonly result: { readonly content: readonly { text: string }[] }
  }
  return result.content[0]?.text as string
}
