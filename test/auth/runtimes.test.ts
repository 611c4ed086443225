import { expect, onTestFinished, test } from 'vitest'
import { headed } from '../http/messages.ts'
import { serveUnder, type Started } from '../mounts/runtimes.ts'
import { startWorker } from '../mounts/worker.ts'
import { as, callTool, textOf } from './server.ts'

const SERVER = './exported/guarded.ts'

const RUNTIMES: Readonly<Record<string, () => Promise<Started>>> = {
  workerd: () => startWorker(SERVER),
  'deno serve': () => serveUnder('deno', SERVER),
  bun: () => serveUnder('bun', SERVER),
}

test.each(Object.entries(RUNTIMES))(
  '%s authenticates callers, serves the metadata, and ends streams whose token expires',
  async (_, start) => {
    const { url, stop } = await start()
    onTestFinished(stop)
    const rejected = await callTool(url, 'who')
    expect(rejected.status).toBe(401)
    const named = /resource_metadata="https:\/\/mcp\.example\/mcp(.*)"/.exec(
      rejected.headers.get('www-authenticate') ?? '',
    )?.[1]
    expect(await (await fetch(`${url}${named}`)).json()).toMatchObject({
      resource: 'https://mcp.example/mcp',
    })
    const known = await Promise.all(Array.from({ length: 5 }, () => callTool(url, 'who', as('harbour-key'))))
    expect(await Promise.all(known.map(textOf))).toEqual(Array(5).fill('ann'))
    expect((await callTool(url, 'who', as('other-key'))).status).toBe(401)
    const { body, headers } = headed('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const listening = await fetch(url, { method: 'POST', body, headers: { ...headers, ...as('soon-1') } })
    expect(listening.status).toBe(200)
    // It would otherwise go on forever.
    expect(await listening.text()).toContain('notifications/subscriptions/acknowledged')
    expect((await callTool(url, 'who', as('harbour-key'))).status).toBe(200)
  },
)
