import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { Deferred } from '../../src/base/deferred.ts'
import { headed } from '../http/messages.ts'
import { guarded } from './core-guarded.ts'
import { logIn, record } from './engine-issuer.ts'
import { entryOf, expire, startWorld } from './engine-world.ts'

test('C.oauth-overlap logins that overlap keep state and verifier apart, and their answers cannot be exchanged', async () => {
  const [first, second] = [await startWorld(), await startWorld()]
  const waiting = [first, second].map((world) => {
    const page = new Deferred<URL>()
    const answer = new Deferred<URL>()
    const redirectUri = 'http://127.0.0.1:9/callback'
    const call = (): Promise<string> =>
      world.call('who', {
        redirectUri,
        open: (opened) => {
          page.resolve(opened)
          return answer.promise
        },
      })
    return { page, answer, call }
  })
  const calls = waiting.map(({ call }) => call())
  const pages = await Promise.all(waiting.map(({ page }) => page.promise))
  for (const name of ['state', 'code_challenge'])
    expect(new Set(pages.map(({ searchParams }) => searchParams.get(name))).size).toBe(2)
  // The last login is the first to end.
  waiting[1]!.answer.resolve(await logIn(pages[1]!))
  expect(await calls[1]).toBe('ann notes:read')
  waiting[0]!.answer.resolve(await logIn(pages[0]!))
  expect(await calls[0]).toBe('ann notes:read')

  const swapped = [await startWorld(), await startWorld()]
  const answers = [new Deferred<URL>(), new Deferred<URL>()]
  const failed = swapped.map((world, at) =>
    world.fail('who', {
      redirectUri: 'http://127.0.0.1:9/callback',
      open: async (page) => {
        answers[1 - at]!.resolve(await logIn(page))
        return answers[at]!.promise
      },
    }),
  )
  for (const error of await Promise.all(failed)) expect(error.kind).toBe('login_failed')
  for (const { issuer } of swapped) expect(issuer.log).toEqual(['registered'])
})

test('C.oauth-state-error an error without the state of the login is rejected, and its text is not shown', async () => {
  for (const change of [
    (params: URLSearchParams) => params.set('state', 'guessed'),
    (params: URLSearchParams) => params.delete('state'),
  ]) {
    const { fail, issuer } = await startWorld()
    const error = await fail('who', {
      open: async (page) => {
        const answer = await logIn(page, false)
        answer.searchParams.set('error_description', 'call 555-0100')
        change(answer.searchParams)
        return answer
      },
    })
    expect(error.message).toContain('state')
    expect(error.message).not.toContain('555')
    expect(issuer.log).toEqual(['registered'])
  }
})

test('C.oauth-query tokens are sent in headers and bodies, never in URLs, and a server does not take them from there [S4-6-9]', async () => {
  const world = await startWorld()
  const urls: string[] = []
  const fetching = globalThis.fetch
  const tokens: string[] = []
  const note = async (): Promise<void> => {
    const { tokens: stored } = await entryOf(world.vault)
    tokens.push(stored!.accessToken, stored!.refreshToken!)
  }
  const recorded = record(world.issuer, '/token')
  const fetch: typeof globalThis.fetch = (input, init) => {
    urls.push(new Request(input).url)
    return fetching(input, init)
  }
  {
    await using client = await connect(world.server.url.href, { auth: world.login(), fetch })
    await client.call('who')
    await note()
  }
  await expire(world.vault)
  await using client = await connect(world.server.url.href, { auth: world.login(), fetch })
  await client.call('write')
  await note()
  expect(recorded.length).toBeGreaterThan(1)
  expect(new Set(tokens).size).toBe(4)
  const all = [...urls, ...world.pages.map(({ href }) => href)].join('\n')
  expect(all).toContain('/token')
  for (const token of tokens) expect(all).not.toContain(token)

  const { http } = await guarded()
  const { body, headers } = headed('tools/call', { name: 'who' })
  const statusOf = async (url: string, more: Readonly<Record<string, string>> = {}): Promise<number> =>
    (await fetching(url, { method: 'POST', body, headers: { ...headers, ...more } })).status
  expect(await statusOf(http, { authorization: 'Bearer good' })).toBe(200)
  expect(await statusOf(`${http}?access_token=good`)).toBe(400)
})
