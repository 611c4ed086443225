import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { beforeAll, afterAll, expect, onTestFinished, test } from 'vitest'
import { oauth } from '../../src/auth.ts'
import { createProver, type Prover } from './proofs.ts'
import { callTool, listen, RESOURCE, server } from './server.ts'
import { startSmallIssuer, type SmallIssuer } from './small-issuer.ts'

let issuers: SmallIssuer[]
let prover: Prover

beforeAll(async () => {
  issuers = [await startSmallIssuer(RESOURCE), await startSmallIssuer(RESOURCE)]
  prover = await createProver()
})
afterAll(() => Promise.all(issuers.map((issuer) => issuer.close())))

/** Calls a tool with a token of an issuer and a proof. */
async function ask(
  url: string,
  issuer: SmallIssuer,
  claims: Readonly<Record<string, unknown>> = {},
): Promise<Response> {
  const token = await issuer.sign({ cnf: { jkt: prover.jkt } })
  const dpop = await prover.prove({ token, method: 'POST', url: RESOURCE }, claims)
  return callTool(url, 'who', { authorization: `DPoP ${token}`, dpop })
}

test('each method of a list gives its clients its own nonce', async () => {
  const { url } = await listen(
    issuers.map((issuer) => oauth({ issuer: issuer.url, resource: RESOURCE, dpop: { nonces: true } })),
  )
  for (const issuer of issuers) {
    const first = await ask(url, issuer)
    expect([first.status, first.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('error="use_dpop_nonce"'),
    ])
    const nonce = first.headers.get('dpop-nonce')
    const second = await ask(url, issuer, { nonce })
    expect([second.status, second.headers.get('dpop-nonce')]).toEqual([200, nonce])
  }
})

test('a proof for the resource is accepted at a mount with another path, once, and one for another URL is not', async () => {
  const [issuer] = issuers as [SmallIssuer]
  const app = server(oauth({ issuer: issuer.url, resource: RESOURCE }))
  const http = createHttp(express().use('/api', app.node({ sse: true }))).listen(0, '127.0.0.1')
  await new Promise((resolve) => http.once('listening', resolve))
  onTestFinished(async () => {
    await app.close()
    http.close()
  })
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/api`
  expect((await ask(url, issuer)).status).toBe(200)
  expect((await ask(url, issuer, { htu: 'https://mcp.example/api' })).status).toBe(200)
  expect((await ask(url, issuer, { htu: 'https://mcp.example/other' })).status).toBe(401)
  expect((await ask(url, issuer, { htu: 'https://evil.example/mcp' })).status).toBe(401)
})
