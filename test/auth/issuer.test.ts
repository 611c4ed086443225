import { afterAll, beforeAll, expect, test } from 'vitest'
import { introspection } from '../../src/auth/introspection.ts'
import { oauth } from '../../src/auth/oauth.ts'
import { startIssuer, type Issuer } from './issuer.ts'

const resource = 'https://mcp.example/mcp'
let issuer: Issuer

beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(() => issuer.close())

test('a token of a real issuer is accepted, with its scopes and its client', async () => {
  const method = oauth({ issuer: issuer.url, resource })
  const verdict = await method.verify(await issuer.token({ resource, scope: 'notes:read notes:write' }))
  expect(verdict).toMatchObject({
    auth: { sub: 'robot', clientId: 'robot', scopes: ['notes:read', 'notes:write'], issuer: issuer.url },
  })
})

test('a token of a real issuer for another resource is rejected', async () => {
  const method = oauth({ issuer: issuer.url, resource })
  const verdict = await method.verify(await issuer.token({ resource: 'https://other.example/mcp' }))
  expect(verdict).toMatchObject({ rejected: 'invalid', why: 'it is meant for another server' })
})

test('an opaque token is left to other methods, and introspection asks the issuer about it', async () => {
  const token = await issuer.token({ resource, opaque: true })
  expect(await oauth({ issuer: issuer.url, resource }).verify(token)).toBeUndefined()
  const { clientId, clientSecret } = issuer
  const method = introspection({ issuer: issuer.url, clientId, clientSecret, resource })
  expect(await method.verify(token)).toMatchObject({
    auth: { sub: 'client:robot', scopes: ['notes:read'], issuer: issuer.url },
  })
  await issuer.revoke(token)
  expect(await method.verify(token)).toMatchObject({ rejected: 'revoked' })
})
