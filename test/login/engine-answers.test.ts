import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { changeMetadata, logIn, record } from './engine-issuer.ts'
import { entryOf, startWorld } from './engine-world.ts'

/** Logs in, and changes the answer on its way back. */
function tampering(change: (answer: URL) => void): (page: URL) => Promise<URL> {
  return async (page) => {
    const answer = await logIn(page)
    change(answer)
    return answer
  }
}

test('C.oauth-iss C.oauth-error-text the answer of another issuer is rejected before its code is sent anywhere, and its text is not shown', async () => {
  const { issuer, fail, vault } = await startWorld()
  const error = await fail('who', {
    open: tampering(({ searchParams }) => {
      searchParams.set('iss', 'https://evil.example')
      searchParams.set('error', 'access_denied')
      searchParams.set('error_description', 'call 555-0100')
    }),
  })
  expect(error.kind).toBe('login_failed')
  expect(error.message).toContain('another issuer')
  expect(error.message).not.toContain('555')
  expect(issuer.log).toEqual(['registered'])
  expect((await entryOf(vault)).tokens).toBeUndefined()
})

test.each([
  ['equal but for a slash', (iss: string) => `${iss}/`],
  ['equal but for upper case', (iss: string) => iss.replace('http', 'HTTP')],
  ['empty', () => ''],
])('C.oauth-iss an issuer of the answer that is %s is another one', async (_, change) => {
  const { issuer, fail } = await startWorld()
  const open = tampering(({ searchParams }) => searchParams.set('iss', change(issuer.url)))
  expect((await fail('who', { open })).message).toContain('another issuer')
  expect(issuer.log).toEqual(['registered'])
})

test('an answer without the issuer is rejected if the metadata promises it', async () => {
  const { issuer, fail } = await startWorld()
  const error = await fail('who', { open: tampering(({ searchParams }) => searchParams.delete('iss')) })
  expect(error.message).toContain('"iss" (issuer) missing')
  expect(issuer.log).toEqual(['registered'])
})

test('an answer without the issuer is accepted if the metadata does not promise it', async () => {
  const { issuer, call } = await startWorld()
  await changeMetadata(issuer, { authorization_response_iss_parameter_supported: undefined })
  const open = tampering(({ searchParams }) => searchParams.delete('iss'))
  expect(await call('who', { open })).toBe('ann notes:read')
})

test.each([
  ['another state', (params: URLSearchParams) => params.set('state', 'guessed')],
  ['no state', (params: URLSearchParams) => params.delete('state')],
  ['two states', (params: URLSearchParams) => params.append('state', 'second')],
  ['two codes', (params: URLSearchParams) => params.append('code', 'second')],
])('C.oauth-state an answer with %s is rejected', async (_, change) => {
  const { issuer, fail } = await startWorld()
  const error = await fail('who', { open: tampering(({ searchParams }) => change(searchParams)) })
  expect(error.kind).toBe('login_failed')
  expect(issuer.log).toEqual(['registered'])
})

test('C.oauth-callback-twice the answer of an earlier login is not accepted for a later one', async () => {
  const { issuer, call, fail, server, vault } = await startWorld()
  let first: URL | undefined
  const redirectUri = 'http://127.0.0.1:9/callback'
  const remember = tampering((answer) => void (first = answer))
  await call('who', { redirectUri, open: remember })
  for (const key of await vault.keys()) await vault.update(key, () => Promise.resolve(undefined))
  const error = await fail('who', { redirectUri, open: () => first })
  expect(error.message).toContain('state')
  expect(issuer.log.filter((line) => line.startsWith('grant'))).toEqual(['grant authorization_code'])
  expect(server.replies.at(-1)?.status).toBe(401)
})

test('a code that someone else already used gives no tokens', async () => {
  const { issuer, fail, vault } = await startWorld()
  // The first exchange succeeds, but its reply goes to someone else.
  const used = record(issuer, '/token', again)
  async function again(): Promise<Response> {
    issuer.instead.delete('/token')
    return fetch(`${issuer.url}/token`, { method: 'POST', ...used[0] })
  }
  expect((await fail('who')).message).toContain('invalid_grant')
  expect(issuer.log).toEqual(['registered', 'grant authorization_code', 'refused authorization_code'])
  expect((await entryOf(vault)).tokens).toBeUndefined()
})

test('if the user denies the consent, the error says so, and the next call asks again', async () => {
  const { issuer, fail, call, pages } = await startWorld()
  const error = await fail('who', { open: (page) => logIn(page, false) })
  expect(error.message).toContain('access_denied')
  expect(issuer.log).toEqual(['registered'])
  expect(await call('who')).toBe('ann notes:read')
  expect(pages).toHaveLength(1)
})

test('if the server rejects a token that was just issued, the error lists the whole login', async () => {
  const { issuer, server, fail } = await startWorld()
  const reject = record(issuer, '/token', async (reply) => {
    const tokens = (await reply.json()) as { readonly access_token: string }
    server.rejected.add(tokens.access_token)
    return Response.json(tokens)
  })
  const error = await fail('who')
  expect(reject).toHaveLength(1)
  expect(error.message).toContain(`the server rejects the token that ${issuer.url} just issued`)
  expect(error.message).toContain('exchange the code')
  expect(error.message.split('\n').at(-1)).toContain('failed: send the request with the new token')
})

test('a failed login lists its steps and the one that failed, without secrets', async () => {
  const { issuer, fail } = await startWorld()
  const secrets: string[] = []
  const open = tampering(({ searchParams }) => {
    secrets.push(searchParams.get('code') as string, searchParams.get('state') as string)
  })
  issuer.instead.set('/token', (request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const sent = new URLSearchParams(body)
      for (const name of ['code', 'code_verifier']) secrets.push(sent.get(name) as string)
      response.writeHead(400, { 'content-type': 'application/json' })
      // Some issuers repeat what they were sent.
      response.end(
        JSON.stringify({ error: 'invalid_grant', error_description: `\u001b[31munknown: ${body}` }),
      )
    })
  })
  const error = await fail('who', { open })
  expect(error.kind).toBe('login_failed')
  const steps = error.message.split('\n').slice(1)
  expect(steps.length).toBeGreaterThan(4)
  expect(steps[0]).toContain('401')
  expect(steps.filter((line) => line.includes('failed:'))).toEqual([steps.at(-1)])
  expect(steps.at(-1)).toContain(`failed: exchange the code at ${issuer.url}/token`)
  const shown = inspect(error, { depth: 20, showHidden: true })
  expect(secrets).toHaveLength(4)
  for (const secret of secrets) expect(shown).not.toContain(secret)
  expect(error.message).not.toContain('\u001b')
})
