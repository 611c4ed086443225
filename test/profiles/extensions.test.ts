import { expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { connect } from '../../src/client.ts'
import { apps, health, subscriptions, toolCompletion, toolStream } from '../../src/extensions.ts'
import { createServer, type App } from '../../src/index.ts'
import { erlmcp } from '../../src/profiles.ts'
import { VENDOR } from '../../src/protocol/meta.ts'
import { METHODS } from '../../src/protocol/methods.ts'

function createApp(): App {
  return createServer({ name: 'extended', version: '1', profile: erlmcp })
    .tool('spell', { description: 'Letter by letter' }, function* () {
      yield 'a'
      yield 'b'
    })
    .extend(health)
    .extend(apps([]))
    .extend(subscriptions)
    .extend(toolStream)
    .extend(toolCompletion({}))
}

const service = serviceOf(createApp())
const methods = [...service.methods.keys(), ...service.interceptors.keys()].filter((method) =>
  method.startsWith(`${VENDOR}/`),
)

test.each(methods)('%s is known without our prefix', (method) => {
  const { adapter } = erlmcp.dialects['2025-11-25']
  const bare = method.slice(VENDOR.length + 1)
  expect(adapter?.decodeRequest({ method: bare, params: {} }).method).toBe(method)
})

test('tools/stream, health/status and subscriptions/list are answered by these names, declared or not [S2-4.1-2] [S2-9.4-2] [S2-9.4-11] [S2-9.4-12]', async () => {
  const client = await connect(createApp(), { profile: erlmcp })
  const pieces: unknown[] = []
  const onProgress = (progress: object): void => void pieces.push(progress)
  const spelt = await client.request('tools/stream', { name: 'spell', arguments: {} }, { onProgress })
  expect(spelt).toMatchObject({ content: [{ text: 'a' }, { text: 'b' }] })
  expect(pieces).toHaveLength(2)
  expect(await client.request('health/status')).toMatchObject({ status: 'ok' })
  expect(await client.request('subscriptions/list')).toEqual({ subscriptions: [] })
  await client.close()
})

test('more than thirty methods are known, those of extensions included [S2-0-2]', () => {
  expect(Object.keys(METHODS).length + methods.length).toBeGreaterThan(30)
})
