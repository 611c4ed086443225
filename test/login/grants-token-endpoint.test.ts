import type { AuthorizationServer } from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPrivateKey } from '../../src/auth/client/private-key.ts'
import { chooseAuthentication, type TokenClient } from '../../src/auth/client/token-endpoint.ts'
import { readTokens, requestGrant } from '../../src/auth/client/token-request.ts'
import { TokenError } from '../../src/auth/client/token-error.ts'
import { serve } from '../auth/serve.ts'
import { startSmallIssuer, type SmallIssuer } from '../auth/small-issuer.ts'
import { contextOf, everythingOf, failureOf, SERVER, serveTokens, type Told } from './grants-context.ts'
import { createClientKey, SECRET } from './grants-issuer.ts'

const TOKEN = { access_token: 'an-access-token', token_type: 'Bearer', expires_in: 60 }
let small: SmallIssuer
let key: TokenClient['key']

beforeAll(async () => {
  small = await startSmallIssuer(SERVER)
  key = await readPrivateKey('a test', (await createClientKey('ES256')).pem, undefined)
})
afterAll(() => small.close())

const robot: TokenClient = { clientId: 'robot-1' }

/** Requests tokens from an issuer that lists these methods. */
async function ask(
  client: TokenClient,
  methods: readonly string[] | undefined,
): Promise<{ form: Record<string, string>; authorization: string | undefined; steps: readonly string[] }> {
  const { metadata, asked } = serveTokens(
    small,
    () => ({ body: TOKEN }),
    methods && { token_endpoint_auth_methods_supported: [...methods] },
  )
  const context = contextOf(metadata)
  await requestGrant(context, client, 'some-grant', {})
  const [first] = asked
  return {
    form: Object.fromEntries(first!.form),
    authorization: first!.headers.authorization,
    steps: context.steps,
  }
}

const basic = (text: string): string => `Basic ${btoa(text)}`

test('the client authenticates as the metadata of the issuer says: basic, post or none [R290]', async () => {
  const client = { ...robot, secret: SECRET }
  const grant = { grant_type: 'some-grant' }
  expect(await ask(client, ['client_secret_basic'])).toMatchObject({
    form: grant,
    authorization: basic('robot-1:the+secret+of+robots%3A+50%25+%2B+more%2C+and-long_enough.'),
  })
  expect(await ask(client, ['client_secret_post'])).toMatchObject({
    form: { ...grant, client_id: 'robot-1', client_secret: SECRET },
    authorization: undefined,
  })
  const none = await ask(client, ['none'])
  expect(none).toMatchObject({ form: { ...grant, client_id: 'robot-1' }, authorization: undefined })
  expect(none.form).not.toHaveProperty('client_secret')
})

test('ids and secrets with usual characters are the same for issuers that do not decode them', async () => {
  const client = { clientId: 'robot-1_a.b', secret: 'long-Secret_1.2' }
  expect((await ask(client, undefined)).authorization).toBe(basic('robot-1_a.b:long-Secret_1.2'))
})

describe('the method of authentication', () => {
  const secret = { ...robot, secret: SECRET }
  const both = (): TokenClient => ({ ...secret, key })
  const rows: readonly (readonly [string, () => TokenClient, readonly string[] | undefined, string])[] = [
    ['without a list, a secret', () => secret, undefined, 'client_secret_basic'],
    ['without a list, a key', () => ({ ...robot, key }), undefined, 'private_key_jwt'],
    ['without a list, nothing', () => robot, undefined, 'none'],
    ['basic before post', () => secret, ['client_secret_post', 'client_secret_basic'], 'client_secret_basic'],
    ['post', () => secret, ['private_key_jwt', 'client_secret_post'], 'client_secret_post'],
    ['a key before a secret', both, ['client_secret_basic', 'private_key_jwt'], 'private_key_jwt'],
    ['a secret, since the key is not listed', both, ['client_secret_post'], 'client_secret_post'],
    // Issuers often forget to list it.
    ['nothing to authenticate with', () => robot, ['client_secret_basic'], 'none'],
    [
      'the choice of the issuer at registration',
      () => ({ ...secret, authMethod: 'client_secret_post' }),
      ['client_secret_basic'],
      'client_secret_post',
    ],
    ['none at registration', () => ({ ...secret, authMethod: 'none' }), ['client_secret_basic'], 'none'],
  ]
  test.each(rows)('%s', (_, client, methods, method) => {
    expect(chooseAuthentication(listing(methods), client()).method).toBe(method)
  })

  const impossible: readonly (readonly [string, () => TokenClient, readonly string[], string])[] = [
    ['a secret', () => secret, ['private_key_jwt', 'tls_client_auth'], 'client_secret_basic'],
    ['a key', () => ({ ...robot, key }), ['client_secret_basic'], 'private_key_jwt'],
    [
      'a method that is not known',
      () => ({ ...secret, authMethod: 'tls_client_auth' }),
      ['tls_client_auth'],
      'tls_client_auth',
    ],
    ['a missing secret', () => ({ ...robot, authMethod: 'client_secret_post' }), [], 'client_secret_post'],
  ]
  test.each(impossible)(
    'is an error for %s if the issuer accepts only others',
    (_, client, methods, word) => {
      const choose = (): unknown => chooseAuthentication(listing(methods), client())
      expect(choose).toThrow(TokenError)
      expect(choose).toThrow('https://id.example')
      expect(choose).toThrow(word)
    },
  )

  test('ignores a list that is not one', () => {
    const odd = { issuer: 'https://id.example', token_endpoint_auth_methods_supported: 'none' as never }
    expect(chooseAuthentication(odd, secret).method).toBe('client_secret_basic')
  })

  test('is an error for a key whose algorithm the issuer does not accept', () => {
    const issuer = {
      ...listing(['private_key_jwt']),
      token_endpoint_auth_signing_alg_values_supported: ['RS256'],
    }
    const choose = (): unknown => chooseAuthentication(issuer, { ...robot, key })
    expect(choose).toThrow('ES256')
    expect(choose).toThrow('RS256')
  })
})

function listing(methods: readonly string[] | undefined): AuthorizationServer {
  return {
    issuer: 'https://id.example',
    ...(methods && { token_endpoint_auth_methods_supported: [...methods] }),
  }
}

describe('what an issuer gives', () => {
  const read = async (body: object, scopes?: readonly string[]): Promise<unknown> => {
    const { metadata } = serveTokens(small, () => ({ body }))
    const context = contextOf(metadata, scopes ? { scopes } : {})
    return readTokens(await requestGrant(context, robot, 'some-grant', {}), context)
  }

  test('is read with each scope once, and with at most 1000', async () => {
    expect(await read({ ...TOKEN, scope: `${'a '.repeat(100_000)}z` })).toMatchObject({ scopes: ['a', 'z'] })
    const many = Array.from({ length: 1001 }, (_, at) => `s${at}`)
    expect(await read({ ...TOKEN, scope: many.join(' ') })).toMatchObject({ scopes: many.slice(0, 1000) })
  })

  test('is read with its scopes, type and time', async () => {
    const before = Date.now()
    const tokens = await read({ ...TOKEN, scope: 'a  b "', refresh_token: 'again' }, ['a', 'b', 'c'])
    expect(tokens).toMatchObject({
      accessToken: 'an-access-token',
      type: 'bearer',
      refreshToken: 'again',
      scopes: ['a', 'b'],
    })
    const { expiresAt } = tokens as { expiresAt: number }
    expect(expiresAt).toBeGreaterThanOrEqual(before + 60_000)
    expect(expiresAt).toBeLessThanOrEqual(Date.now() + 60_000)
  })

  test('has the scopes that were asked for, if it does not say otherwise', async () => {
    expect(await read({ access_token: 'a', token_type: 'bearer' }, ['a'])).toEqual({
      accessToken: 'a',
      type: 'bearer',
      scopes: ['a'],
      refreshToken: undefined,
      expiresAt: undefined,
    })
  })

  test('is rejected if the token cannot be sent in a header', async () => {
    const failure = await failureOf(read({ ...TOKEN, access_token: 'evil\r\nx: y' }))
    expect(failure).toBeInstanceOf(TokenError)
    expect(everythingOf(failure)).not.toContain('evil')
  })

  test('is rejected if the token is bound to a key and there is none', async () => {
    await expect(read({ ...TOKEN, token_type: 'DPoP' })).rejects.toThrow('dpop: true')
  })
})

describe('an issuer that gives no tokens', () => {
  const secrets = { assertion: 'ey-very-secret-assertion', code_verifier: 'ver-ifier' }
  const fail = async (told: Told, method = 'client_secret_post'): Promise<TokenError> => {
    const { metadata } = serveTokens(small, () => told, {
      token_endpoint_auth_methods_supported: [method],
    })
    const client = { ...robot, secret: SECRET }
    const failure = await failureOf(requestGrant(contextOf(metadata), client, 'some-grant', secrets))
    expect(failure).toBeInstanceOf(TokenError)
    expect(failure.message).toContain(`${small.url}/token`)
    for (const secret of [...Object.values(secrets), SECRET])
      expect(everythingOf(failure)).not.toContain(secret)
    return failure as TokenError
  }

  test('is an error with its code, its description and what to do', async () => {
    const failure = await fail({
      status: 400,
      body: { error: 'invalid_client', error_description: 'unknown client' },
    })
    expect(failure).toMatchObject({ code: 'invalid_client', status: 400 })
    expect(failure.message).toContain('invalid_client')
    expect(failure.message).toContain('unknown client')
    expect(failure.message).toContain('clientId')
  })

  test('is the same error if the reply has a challenge', async () => {
    const failure = await fail({
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="id"' },
      body: { error: 'invalid_client', error_description: 'wrong secret' },
    })
    expect(failure).toMatchObject({ code: 'invalid_client', status: 401 })
    expect(failure.message).toContain('wrong secret')
  })

  test.each(['client_secret_post', 'client_secret_basic'])(
    'cannot make an error repeat secrets, control characters or long texts with %s',
    async (method) => {
      const text = `\u001b[2J ${secrets.assertion} ${SECRET} ${'x'.repeat(50)} ${'a b '.repeat(5000)}`
      const failure = await fail(
        { status: 400, body: { error: 'invalid_grant', error_description: text } },
        method,
      )
      expect(failure.code).toBe('invalid_grant')
      expect(failure.message).not.toContain('\u001b')
      expect(failure.message).not.toContain('x'.repeat(40))
      expect(failure.message.length).toBeLessThan(600)
    },
  )

  test('cannot make an error repeat a code that is not one', async () => {
    const failure = await fail({ status: 400, body: { error: `\u001b[2J${SECRET}` } })
    expect(failure).toMatchObject({ code: undefined, status: 400 })
    expect(failure.message).not.toContain('\u001b')
  })

  test('cannot make an error or a step repeat its metadata unchanged', async () => {
    const url = `${small.url}/token\u001b[2J`
    const listed = { token_endpoint_auth_methods_supported: [`\u001b[2J${'m'.repeat(9999)}`] }
    const strange = contextOf({ issuer: 'https://id.example/\u001b[2J', token_endpoint: url, ...listed })
    const failures = [
      await failureOf(requestGrant(strange, robot, 'some-grant', {})),
      await failureOf(requestGrant(strange, { ...robot, secret: SECRET }, 'some-grant', {})),
    ]
    const texts = [...failures.map(({ message }) => message), ...strange.steps]
    expect(texts).toHaveLength(3)
    for (const text of texts) {
      expect(text).not.toContain('\u001b')
      expect(text.length).toBeLessThan(1100)
    }
  })

  const odd: readonly (readonly [string, Told, string])[] = [
    ['a status', { status: 503, body: 'down' }, '503'],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' }, body: '' }, '302'],
    ['a challenge only', { status: 401, headers: { 'www-authenticate': 'Basic' }, body: 'no' }, '401'],
    ['text', { body: 'hello' }, 'JSON'],
    ['HTML', { headers: { 'content-type': 'text/html' }, body: '<p>' }, 'JSON'],
    ['a reply without a token', { body: { token_type: 'bearer' } }, 'access_token'],
    ['a token of another type', { body: { ...TOKEN, token_type: 'mac' } }, 'token_type'],
  ]
  test.each(odd)('is an error if it replies with %s', async (_, told, word) => {
    const failure = await fail(told)
    expect(failure.message).toContain(word)
    expect(failure.code).toBeUndefined()
    expect(everythingOf(failure)).not.toContain('an-access-token')
  })

  test('is an error if it cannot be reached', async () => {
    const { url, close } = await serve(() => {})
    await close()
    const metadata = { issuer: url, token_endpoint: `${url}/token` }
    const failure = await failureOf(requestGrant(contextOf(metadata), robot, 'some-grant', secrets))
    expect(failure).toBeInstanceOf(TokenError)
    expect(failure.message).toContain(`${url}/token`)
    expect(failure.message).toContain('ECONNREFUSED')
    expect(everythingOf(failure)).not.toContain(secrets.assertion)
  })

  test('is an error if it has no token endpoint, or one without https', async () => {
    const absent = contextOf({ issuer: 'https://id.example' })
    await expect(requestGrant(absent, robot, 'some-grant', {})).rejects.toThrow('token_endpoint')
    const open = contextOf(
      { issuer: 'https://id.example', token_endpoint: 'http://id.example/token' },
      {
        allowsHttp: false,
      },
    )
    await expect(requestGrant(open, robot, 'some-grant', {})).rejects.toThrow('HTTPS')
    expect([...absent.sent, ...open.sent]).toEqual([])
  })
})

test('a request for tokens ends when nobody waits', async () => {
  const controller = new AbortController()
  const { metadata } = serveTokens(small, () => {
    controller.abort(new Error('nobody waits'))
    return new Promise<Told>(() => {})
  })
  const context = contextOf(metadata, { signal: controller.signal })
  await expect(requestGrant(context, robot, 'some-grant', {})).rejects.toThrow('nobody waits')
})
