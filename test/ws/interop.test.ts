import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { tools } from '../http/server.ts'
import { start } from './server.ts'

// The official client takes the WebSocket of its runtime, which older ones do not have.
beforeAll(() => void vi.stubGlobal('WebSocket', WebSocket))
afterAll(() => void vi.unstubAllGlobals())

test('the official v1 client uses a server over its own WebSocket transport', async () => {
  const { url } = await start(tools())
  const client = new Client({ name: 'official', version: '1' })
  await client.connect(new WebSocketClientTransport(new URL(url)))
  onTestFinished(() => client.close())
  expect(client.getServerVersion()).toMatchObject({ name: 'wire' })
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo', 'steps'])
  const progress: number[] = []
  const steps = client.callTool({ name: 'steps', arguments: { count: 3 } }, undefined, {
    onprogress: ({ progress: step }) => progress.push(step),
  })
  expect(await steps).toMatchObject({ content: [{ text: 'done' }] })
  expect(progress).toEqual([1, 2, 3])
})
