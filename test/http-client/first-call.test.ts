import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { connect, type ConnectOptions } from '../../src/client.ts'
import { events, json, result, serve } from './peer.ts'

const REVISION = '2025-11-25'

/** How long after the stream for questions was asked for the first call of a client came, and whether the stream was open by then. */
async function firstCall(
  answerStream: (response: ServerResponse, open: () => void) => void,
  answers: ConnectOptions['answers'],
): Promise<{ readonly waited: number; readonly isOpen: boolean }> {
  let asked = Number.POSITIVE_INFINITY
  let called = 0
  let isOpen = false
  let wasOpen = false
  const peer = await serve(({ verb, message: { id, method } }, response) => {
    if (verb === 'GET') {
      asked = performance.now()
      return answerStream(response, () => (isOpen = true))
    }
    if (method === 'tools/call') [called, wasOpen] = [performance.now(), isOpen]
    const server = {
      protocolVersion: REVISION,
      capabilities: { tools: {} },
      serverInfo: { name: 'x', version: '1' },
    }
    if (method === 'initialize') json(response, result(id, server), 200, { 'mcp-session-id': 's' })
    else if (id === undefined) response.writeHead(202).end()
    else json(response, result(id, { content: [], tools: [] }))
  })
  const client = await connect(peer.url, { revision: REVISION, ...(answers !== undefined && { answers }) })
  onTestFinished(() => client.close())
  await client.call('any')
  return { waited: called - asked, isOpen: wasOpen }
}

const answers = { roots: [] }
const openLate = (response: ServerResponse, open: () => void): void =>
  void setTimeout(() => {
    open()
    events(response)
  }, 300)

// Servers drop questions of the first call that they cannot send at once.
test('the first call of a client that can be asked waits until the stream for questions is open', async () => {
  expect(await firstCall(openLate, answers)).toMatchObject({ isOpen: true })
})

test('it waits for about a second at most', async () => {
  const { waited, isOpen } = await firstCall(() => undefined, answers)
  expect([isOpen, waited > 900, waited < 5000]).toEqual([false, true, true])
})

test('it does not wait if the server has no such stream', async () => {
  const { waited } = await firstCall((response) => void response.writeHead(405).end(), answers)
  expect(waited).toBeLessThan(900)
})

test('the first call of a client that cannot be asked does not wait', async () => {
  expect(await firstCall(openLate, undefined)).toMatchObject({ isOpen: false })
})
