import { X509Certificate } from 'node:crypto'
import { request } from 'node:https'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { oauth } from '../../src/auth.ts'
import { createServer } from '../../src/index.ts'
import { createAuthority, type Identity } from '../harness/certificates.ts'
import { headed } from '../http/messages.ts'
import { startSmallIssuer, type SmallIssuer } from './small-issuer.ts'

const resource = 'https://mcp.example/mcp'
const authority = createAuthority('Harbour')
const [own, client, thief] = [
  authority.issue('localhost', ['127.0.0.1']),
  authority.issue('ada'),
  authority.issue('eve'),
]
let issuer: SmallIssuer
let calls = 0

beforeAll(async () => {
  issuer = await startSmallIssuer(resource)
})
afterAll(() => issuer.close())

function thumbprint({ cert }: Identity): string {
  const digits = new X509Certificate(cert).fingerprint256.replaceAll(':', '')
  return Buffer.from(digits, 'hex').toString('base64url')
}

/** Serves HTTPS that asks for client certificates; returns a caller of its tool, which gives the status. */
async function listen(): Promise<(token: string, identity: Identity) => Promise<number>> {
  const auth = oauth({ issuer: issuer.url, resource })
  const app = createServer({ name: 'bound', version: '1.0.0', auth }).tool(
    'who',
    {},
    (_, { auth: caller }) => {
      calls++
      return caller?.sub ?? 'nobody'
    },
  )
  const tls = { key: own.key, cert: own.cert, ca: authority.cert }
  const { url } = await app.listen({ http: { port: 0, tls }, onUncaught: 'exit' })
  onTestFinished(() => app.close())
  return (token, { key, cert }) => {
    const { body, headers } = headed('tools/call', { name: 'who' })
    return new Promise((resolve, reject) => {
      const options = { method: 'POST', key, cert, ca: authority.cert, agent: false }
      const asked = request(url as string, {
        ...options,
        headers: { ...headers, authorization: `Bearer ${token}` },
      })
      asked.once('response', (response) => resolve(response.resume().statusCode ?? 0))
      asked.once('error', reject)
      asked.end(body)
    })
  }
}

test('A.certificate-stolen a token that is bound to a certificate is accepted on connections with that certificate only', async () => {
  const call = await listen()
  const bound = await issuer.sign({ cnf: { 'x5t#S256': thumbprint(client) } })
  expect(await call(bound, client)).toBe(200)
  expect(calls).toBe(1)
  expect(await call(bound, thief)).toBe(401)
  expect(await call(await issuer.sign({ cnf: { 'x5t#S256': '' } }), client)).toBe(401)
  expect(calls).toBe(1)
  expect(await call(await issuer.sign(), thief)).toBe(200)
})
