import { expect, test } from 'vitest'
import { connect, type Client } from '../../src/client.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import { scripted, type Peer, type Scripted } from './scripted.ts'

const URI = 'note://a'

/** A server whose lists and resources may be cached for a minute. */
function caching(state: { version: string; onListen: (id: unknown, peer: Peer) => void }): Scripted {
  return scripted('2026-07-28', ({ id, method, params }, peer) => {
    const kept = { resultType: 'complete', ttlMs: 60_000, cacheScope: 'public' }
    if (method === 'tools/list')
      peer.reply({ ...kept, tools: [{ name: state.version, inputSchema: { type: 'object' } }] })
    else if (method === 'resources/read')
      peer.reply({ ...kept, contents: [{ uri: URI, text: state.version }] })
    else if (method === 'subscriptions/listen') {
      const { notifications } = params as { readonly notifications: JsonObject }
      const sent = { notifications, _meta: { [META.subscriptionId]: id } }
      peer.send({ method: 'notifications/subscriptions/acknowledged', params: sent })
      state.onListen(id, peer)
    } else return false
    return true
  })
}

async function seen(client: Client): Promise<unknown> {
  const [tool] = await client.tools().toArray()
  const { contents } = await client.read(URI)
  return [tool?.name, (contents[0] as { readonly text: string }).text]
}

test('what changed while a subscription was interrupted is not answered from the cache', async () => {
  const streams: Peer[] = []
  const state = { version: 'old', onListen: (_: unknown, peer: Peer) => void streams.push(peer) }
  await using client = await connect(caching(state))
  const changes = client.watch({ tools: true, resources: [URI] })
  const first = changes.next()
  await expect.poll(() => streams.length).toBe(1)
  expect(await seen(client)).toEqual(['old', 'old'])
  // The server goes on in another process, whose lists differ.
  streams[0]?.reply({ resultType: 'complete' })
  state.version = 'new'
  await first
  expect(await seen(client)).toEqual(['new', 'new'])
  await changes.return()
})
