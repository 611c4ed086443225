import { describe, expect, test } from 'vitest'
import { McpError, type ErrorKind } from '../errors/error.ts'
import type { ClientTransport } from '../rpc/client-transport.ts'
import { mayLackHandshake } from './handshake.ts'
import { negotiate } from './negotiate.ts'
import { createSender } from './encode-call.ts'

const failed = (kind: ErrorKind, status?: number): McpError =>
  new McpError(kind, 'failed', status === undefined ? {} : { data: { status } })

describe('whether an error means that the server may no longer support the handshake', () => {
  test.each<ErrorKind>([
    'timeout',
    'connect_failed',
    'connection_closed',
    'stream_lost',
    'session_lost',
    'closed',
    'bad_option',
  ])('%s does not', (kind) => {
    expect(mayLackHandshake(failed(kind))).toBe(false)
  })

  test.each<ErrorKind>(['remote', 'unknown_method', 'bad_params', 'revision_unsupported', 'no_revision'])(
    '%s does',
    (kind) => {
      expect(mayLackHandshake(failed(kind))).toBe(true)
    },
  )

  test('only HTTP statuses for requests that were not understood do', () => {
    const statuses = [400, 401, 403, 404, 405, 406, 429, 500, 502, 503]
    expect(statuses.filter((status) => mayLackHandshake(failed('http_failed', status)))).toEqual([
      400, 404, 405,
    ])
    expect(mayLackHandshake(failed('http_failed'))).toBe(false)
  })

  test('an error that is not a protocol error does not', () => {
    expect(mayLackHandshake(new TypeError('failed'))).toBe(false)
  })
})

describe('a server that fails server/discover', () => {
  test.each<ErrorKind>(['http_failed', 'connect_failed', 'no_revision'])(
    'with %s and no reason is not sent an initialize',
    async (kind) => {
      const error = new McpError(kind, 'failed')
      const methods: string[] = []
      const transport: ClientTransport = {
        cancels: 'itself',
        request: async ({ method }) => {
          methods.push(method)
          throw error
        },
        send: async () => undefined,
        agree: () => undefined,
        close: async () => undefined,
      }
      const opening = negotiate({
        open: async () => transport,
        events: { onMessage: () => undefined, onDown: () => undefined },
        sender: () => createSender({ name: 'test', version: '1' }, {}),
        revision: undefined,
        remembered: undefined,
        timeoutMs: 60_000,
        probeMs: 60_000,
        signal: new AbortController().signal,
        nextId: () => 1,
      })
      await expect(opening).rejects.toBe(error)
      expect(methods).toEqual(['server/discover'])
    },
  )
})
