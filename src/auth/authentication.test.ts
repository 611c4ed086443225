import { expect, test } from 'vitest'
import { Leases } from '../rpc/leases.ts'
import type { HttpHead } from '../transport/http/server/parts.ts'
import { openAuthentication } from './authentication.ts'
import { bearer } from './bearer.ts'

test('a request with a known token is answered without a promise, on any connection', async () => {
  const method = bearer((token) => ({ sub: token }))
  const host = { path: '/mcp', verifyMs: 5000, leases: new Leases(), report: () => undefined }
  const { authenticate } = openAuthentication([method], host)
  const headOf = (token: string, connection?: object): HttpHead => ({
    method: 'POST',
    target: '/mcp',
    header: (name) => (name === 'authorization' ? `Bearer ${token}` : undefined),
    ...(connection && { connection }),
  })
  const [one, other] = [{}, {}]
  expect(authenticate(headOf('ann', one))).toBeInstanceOf(Promise)
  expect(await authenticate(headOf('ann', one))).toMatchObject({ auth: { sub: 'ann' } })
  await authenticate(headOf('bob', one))
  // Each with the connection's last token, with another one, and without a connection.
  for (const connection of [one, one, other, undefined])
    for (const sub of ['ann', 'bob'])
      expect(authenticate(headOf(sub, connection))).toMatchObject({ auth: { sub } })
})
