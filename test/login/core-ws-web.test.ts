import { expect, test, vi } from 'vitest'
import { connect } from '../../src/client.ts'
import { testAuth } from './core-auth.ts'
import { failure } from './core-guarded.ts'

// What bundlers choose for browsers.
vi.mock('#ws', () => import('../../src/transport/ws/socket-web.ts'))

test('a runtime whose WebSockets send no headers rejects auth before it connects or logs in', async () => {
  const auth = testAuth('good')
  const error = await failure(connect('ws://127.0.0.1:9/mcp', { auth }))
  expect(error).toMatchObject({ kind: 'bad_option' })
  expect(error.message).toBe(
    'connect auth: this runtime sends no credentials with a WebSocket; connect over HTTP',
  )
  expect(auth.asked.servers).toEqual([])
})
