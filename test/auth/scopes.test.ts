import { describe, expect, test } from 'vitest'
import { bearer, type BearerOptions } from '../../src/auth.ts'
import { expandScopes } from '../../src/auth/scopes.ts'
import type { App, Context } from '../../src/index.ts'
import { headed, type Headed } from '../http/messages.ts'
import { as, callTool, listen, reports, RESOURCE, textOf } from './server.ts'

const METADATA = 'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"'

/** Tokens are lists of scopes, separated by dots. */
function byName(options: BearerOptions = {}): ReturnType<typeof bearer> {
  return bearer((token) => ({ sub: token, scopes: token.split('.') }), options)
}

function ask(url: string, { body, headers }: Headed, token: string): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { ...headers, ...as(token) } })
}

describe('an item with scopes', () => {
  function defined(app: App): void {
    app
      .resource('notes://one', { scopes: ['notes'] }, () => 'text')
      .resource('notes://all/{id}', { scopes: ['notes'] }, () => 'text')
      .prompt('plan', { scopes: ['plans'] }, () => 'text')
  }

  test.each<readonly [string, Headed, string]>([
    ['tool', headed('tools/call', { name: 'write' }), 'use read write'],
    ['resource', headed('resources/read', { uri: 'notes://one' }), 'use notes'],
    ['resource template', headed('resources/read', { uri: 'notes://all/1' }), 'use notes'],
    ['prompt', headed('prompts/get', { name: 'plan' }), 'use plans'],
  ])('a %s asks for all scopes at once, with those of the server', async (_, asked, scope) => {
    const { app, url } = await listen(byName({ resource: RESOURCE, scopes: ['use'] }))
    defined(app)
    const reply = await ask(url, asked, 'use')
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([
      403,
      `Bearer error="insufficient_scope", scope="${scope}", ${METADATA}`,
    ])
    expect(await reply.json()).toMatchObject({ error: { data: { refusal: { name: 'AUTHZ_FORBIDDEN' } } } })
    expect((await ask(url, asked, scope.replaceAll(' ', '.'))).status).toBe(200)
  })

  test('and `visible` is in the list exactly if it can be called', async () => {
    const { app, url } = await listen(byName({ includes: { admin: ['audit'] } }))
    const visible = ({ auth }: Context): boolean => auth?.scopes?.includes('audit') === true
    app.tool('logs', { visible, scopes: ['audit'] }, () => 'the log')
    const names = async (token: string): Promise<string[]> => {
      const reply = await ask(url, headed('tools/list'), token)
      return ((await reply.json()) as { result: { tools: { name: string }[] } }).result.tools.map(
        ({ name }) => name,
      )
    }
    for (const [token, may] of Object.entries({ audit: true, admin: true, read: false })) {
      const called = (await (await callTool(url, 'logs', as(token))).json()) as {
        error?: { message: string }
      }
      expect([token, (await names(token)).includes('logs'), called.error === undefined]).toEqual([
        token,
        may,
        may,
      ])
    }
  })

  test('does not make the server warn of callers without authentication, since there are none', async () => {
    reports.length = 0
    const { url } = await listen(byName())
    await callTool(url, 'write', as('nothing'))
    expect(reports).toEqual([])
  })
})

describe('a scope that includes others', () => {
  const includes = { admin: ['write', 'audit'], write: ['read'] }

  test('counts for the server, for items, for lists and in ctx.auth', async () => {
    const { url } = await listen(byName({ scopes: ['read'], includes }))
    expect((await callTool(url, 'write', as('admin'))).status).toBe(200)
    expect((await callTool(url, 'write', as('write'))).status).toBe(200)
    expect((await callTool(url, 'write', as('read'))).status).toBe(403)
    expect((await callTool(url, 'who', as('audit'))).status).toBe(403)
    const auth = JSON.parse(await textOf(await callTool(url, 'auth', as('admin'))))
    expect(auth.scopes.toSorted()).toEqual(['admin', 'audit', 'read', 'write'])
  })

  test('may be part of a circle, and its name may be that of a member of every object', () => {
    expect(expandScopes(['a'], { a: ['b'], b: ['a', 'c'] }).toSorted()).toEqual(['a', 'b', 'c'])
    expect(expandScopes(['constructor', '__proto__'], {})).toEqual(['constructor', '__proto__'])
    expect(expandScopes([], { a: ['b'] })).toEqual([])
  })
})
