import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { createServer, type Running } from '../../src/index.ts'
import { apps, health, subscriptions, toolCompletion, toolStream } from '../../src/extensions.ts'

const ABOUT = { name: 'official', version: '1.0.0' }
const HEALTH = 'dev.pierhead/health'
const STREAM = 'dev.pierhead/tools'
const Anything = z.looseObject({})

let running: Running
beforeAll(async () => {
  const app = createServer({ name: 'station', version: '1' })
    .tool('steps', {}, function* () {
      yield 'one'
      yield 'two'
    })
    .extend(health)
    .extend(apps)
    .extend(subscriptions)
    .extend(toolStream)
    .extend(toolCompletion)
  running = await app.listen({ http: { port: 0 } })
})
afterAll(() => running.close())

async function openV1(experimental: Record<string, object> = {}): Promise<ClientV1> {
  const client = new ClientV1(ABOUT, { capabilities: { experimental } })
  await client.connect(new HttpV1(new URL(running.url as string)) as Transport)
  return client
}

async function openV2(extensions: Record<string, Record<string, never>> = {}): Promise<ClientV2> {
  const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const
  const client = new ClientV2(ABOUT, { capabilities: { extensions }, ...pinned })
  await client.connect(new HttpV2(new URL(running.url as string)))
  return client
}

const RESULT = { content: [{ text: 'one' }, { text: 'two' }] }

test('official clients that know no extension list and call as ever, and are refused what they did not declare', async () => {
  const v1 = await openV1()
  expect(Object.keys(v1.getServerCapabilities() ?? {}).toSorted()).toEqual([
    'experimental',
    'logging',
    'tools',
  ])
  expect((await v1.listTools()).tools).toHaveLength(1)
  expect(await v1.callTool({ name: 'steps' })).toMatchObject(RESULT)
  await expect(v1.request({ method: `${HEALTH}/status` }, Anything)).rejects.toMatchObject({ code: -32601 })
  await v1.close()
  const v2 = await openV2()
  expect(Object.keys(v2.getServerCapabilities() ?? {}).toSorted()).toEqual(['extensions', 'logging', 'tools'])
  expect((await v2.listTools()).tools).toHaveLength(1)
  expect(await v2.callTool({ name: 'steps' })).toMatchObject(RESULT)
  // It takes the status 404 that goes with the error for a failure of HTTP.
  await expect(v2.request({ method: `${HEALTH}/status` }, Anything)).rejects.toThrow('-32601')
  await v2.close()
})

test('official clients that declare an extension use it, and hear pieces of content with their progress', async () => {
  const params = { name: 'steps' }
  const pieces: unknown[] = []
  const onprogress = (progress: object): void => void pieces.push(progress)
  const v1 = await openV1({ [HEALTH]: {}, [STREAM]: {} })
  expect(await v1.request({ method: `${HEALTH}/status` }, Anything)).toMatchObject({ status: 'ok' })
  const streamed = await v1.request({ method: `${STREAM}/stream`, params }, Anything, { onprogress })
  expect(streamed).toMatchObject(RESULT)
  await v1.close()
  const v2 = await openV2({ [HEALTH]: {}, [STREAM]: {} })
  expect(await v2.request({ method: `${HEALTH}/status` }, Anything)).toMatchObject({ status: 'ok' })
  expect(await v2.request({ method: `${STREAM}/stream`, params }, Anything, { onprogress })).toMatchObject(
    RESULT,
  )
  await v2.close()
  expect(pieces).toHaveLength(4)
})
