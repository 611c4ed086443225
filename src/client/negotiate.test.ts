import { describe, expect, test } from 'vitest'
import { McpError, type ErrorKind } from '../errors/error.ts'
import type { ClientTransport } from '../rpc/client-transport.ts'
import { mayForget, negotiate } from './negotiate.ts'
import { createSender } from './encode-call.ts'

const failed = (kind: ErrorKind, status?: number): McpError =>
  new McpError(kind, 'failed', status === undefined ? {} : { data: { status } })

describe('whether a server that knew a handshake may have forgotten it', () => {
  test.each<ErrorKind>([
    'timeout',
    'connect_failed',
    'connection_closed',
    'stream_lost',
    'session_lost',
    'closed',
    'bad_option',
  ])('%s says nothing about what the server knows', (kind) => {
    expect(mayForget(failed(kind))).toBe(false)
  })

  test.each<ErrorKind>(['remote', 'unknown_method', 'bad_params', 'revision_unsupported', 'no_revision'])(
    '%s is the word of a server that may know no handshake any more',
    (kind) => {
      expect(mayForget(failed(kind))).toBe(true)
    },
  )

  test('of HTTP statuses only those that refuse what was not understood', () => {
    const statuses = [400, 401, 403, 404, 405, 406, 429, 500, 502, 503]
    expect(statuses.filter((status) => mayForget(failed('http_failed', status)))).toEqual([400, 404, 405])
    expect(mayForget(failed('http_failed'))).toBe(false)
  })

  test('an error that is not of the protocol is not the word of a server', () => {
    expect(mayForget(new TypeError('failed'))).toBe(false)
  })
})

describe('a server that is asked what it is', () => {
  test.each<ErrorKind>(['http_failed', 'connect_failed', 'no_revision'])(
    'and fails with %s without saying why is not asked in another way',
    async (kind) => {
      const error = new McpError(kind, 'failed')
      const asked: string[] = []
      const transport: ClientTransport = {
        cancels: 'itself',
        request: async ({ method }) => {
          asked.push(method)
          throw error
        },
        send: async () => undefined,
        agree: () => undefined,
        close: async () => undefined,
      }
      const opening = negotiate({
        open: async () => transport,
        events: { onMessage: () => undefined, onDown: () => undefined },
        sender: () => createSender({ name: 'asker', version: '1' }, {}),
        revision: undefined,
        remembered: undefined,
        timeoutMs: 60_000,
        probeMs: 60_000,
        signal: new AbortController().signal,
        nextId: () => 1,
      })
      await expect(opening).rejects.toBe(error)
      expect(asked).toEqual(['server/discover'])
    },
  )
})
