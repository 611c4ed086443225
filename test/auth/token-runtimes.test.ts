import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { headed } from '../http/messages.ts'
import { serveUnder, type Started } from '../mounts/runtimes.ts'
import { OLDEST_DATE, startWorker } from '../mounts/worker.ts'
import { createProver } from './proofs.ts'
import { goodClaims, KEYS, startSmallIssuer, type SmallIssuer } from './small-issuer.ts'

const resource = 'https://mcp.example/mcp'
const ENTRY = 'exported/protected.ts'

const RUNTIMES: Readonly<Record<string, () => Promise<Started>>> = {
  'workerd without nodejs_compat': () => startWorker(ENTRY),
  'workerd at the oldest date': () => startWorker(ENTRY, { date: OLDEST_DATE }),
  // It asks the issuer.
  'deno serve': () => serveUnder('deno', ENTRY, ['--allow-net']),
  bun: () => serveUnder('bun', ENTRY),
}

describe.each(Object.entries(RUNTIMES))('%s', (_, start) => {
  let server: Started
  let issuer: SmallIssuer
  beforeAll(async () => {
    issuer = await startSmallIssuer(resource)
    server = await start()
  })
  afterAll(async () => {
    await issuer.close()
    await server.stop()
  })

  function who(headers: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Response> {
    const { body, headers: own } = headed('tools/call', { name: 'who' })
    return fetch(server.url, {
      method: 'POST',
      body,
      headers: { ...own, 'x-issuer': issuer.url, ...headers },
      ...(signal && { signal }),
    })
  }

  function bearer(token: string): { readonly authorization: string } {
    return { authorization: `Bearer ${token}` }
  }

  test('tokens are verified, and many at once cause one fetch of the keys', async () => {
    const tokens = await Promise.all(Array.from({ length: 10 }, () => issuer.sign()))
    const replies = await Promise.all(tokens.map((token) => who(bearer(token))))
    for (const reply of replies) {
      expect(reply.status).toBe(200)
      expect(await reply.text()).toContain(`ada of ${issuer.url}`)
    }
    expect(issuer.requests.filter((path) => path === KEYS)).toHaveLength(1)
    const [known = ''] = tokens
    expect((await who(bearer(known))).status).toBe(200)
    for (const change of [{ aud: 'x' }, { exp: 1 }, { iss: 'https://evil.example' }])
      expect((await who(bearer(await issuer.sign(change)))).status).toBe(401)
    expect((await who({})).status).toBe(401)
  })

  test('a client that leaves while the keys are fetched keeps nobody else waiting', async () => {
    const slow = await startSmallIssuer(resource)
    try {
      let reply: (() => void) | undefined
      slow.instead.set(KEYS, (__, response) => {
        reply = () => void response.end(JSON.stringify({ keys: slow.keys }))
      })
      const ask = async (signal?: AbortSignal): Promise<number> => {
        const headers = { 'x-issuer': slow.url, ...bearer(await slow.sign()) }
        return (await who(headers, signal)).status
      }
      const leaving = new AbortController()
      const first = ask(leaving.signal).catch(() => 'left')
      await expect.poll(() => reply).toBeDefined()
      const second = ask()
      leaving.abort()
      expect(await first).toBe('left')
      // Long enough for the runtime to notice.
      await new Promise((resolve) => setTimeout(resolve, 300))
      slow.instead.clear()
      reply?.()
      expect(await second).toBe(200)
      expect(await ask()).toBe(200)
    } finally {
      await slow.close()
    }
  })

  test('a token that is bound to a key needs a proof with a nonce, once', async () => {
    const prover = await createProver()
    const token = await issuer.sign({ cnf: { jkt: prover.jkt } })
    const authorization = `DPoP ${token}`
    const request = { token, method: 'POST', url: new URL('/mcp', resource).href }
    const first = await who({ authorization, dpop: await prover.prove(request) })
    expect(first.status).toBe(401)
    const nonce = first.headers.get('dpop-nonce')
    const dpop = await prover.prove(request, { nonce })
    expect((await who({ authorization, dpop })).status).toBe(200)
    expect((await who({ authorization, dpop })).status).toBe(401)
    expect((await who(bearer(token))).status).toBe(401)
  })

  test('the issuer is asked about tokens', async () => {
    issuer.metadata = { introspection_endpoint: `${issuer.url}/introspect` }
    let isActive = true
    issuer.instead.set('/introspect', (__, response) =>
      response.end(JSON.stringify({ ...goodClaims(issuer.url, resource), active: isActive })),
    )
    const mode = { 'x-mode': 'introspection' }
    expect((await who({ ...mode, ...bearer('one') })).status).toBe(200)
    isActive = false
    expect((await who({ ...mode, ...bearer('two') })).status).toBe(401)
  })
})
