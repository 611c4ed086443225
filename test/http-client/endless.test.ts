import { connect } from 'pierhead/client'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startWorker } from '../mounts/worker.ts'
import { serveEndless, type Endless } from './endless.ts'

let server: Endless

beforeAll(async () => void (server = await serveEndless()))
afterAll(() => server.close())

const FLAGS = { 'without nodejs_compat': [], 'with nodejs_compat': ['nodejs_compat'] }

test.each(Object.entries(FLAGS))(
  'a Worker %s stays responsive while a server sends an endless stream',
  async (_, flags) => {
    const { port, stop } = await startWorker('exported/caller.ts', { flags })
    onTestFinished(stop)
    const visit = async (path: string, query = '', ms = 30_000): Promise<string> => {
      const target = encodeURIComponent(`${server.origin}/mcp?${query}`)
      const response = await fetch(`http://127.0.0.1:${port}${path}?ms=${ms}&url=${target}`)
      return response.text()
    }
    expect(await visit('/call')).toBe('"answer"')
    const calls = [
      visit('/call', 'post=notifications', 1000),
      visit('/call', 'post=comments'),
      visit('/gist', 'gist=comments'),
      visit('/call', 'get=notifications'),
    ]
    expect(await visit('/ping')).toBe('pong')
    expect(await Promise.all(calls)).toEqual(['timeout', 'answer_too_large', 'answer_too_large', '"answer"'])
    expect(await visit('/ping')).toBe('pong')
  },
  60_000,
)

test('a stream for notifications that sends only comments is closed, and calls go on', async () => {
  const client = await connect(`${server.origin}/mcp?get=comments`, { limits: { clientBytes: 100_000 } })
  onTestFinished(() => client.close())
  const warning = new Promise((resolve) => client.on('warning', resolve))
  expect(await warning).toContain('the server sent megabytes without a message')
  expect(await client.call('any', {})).toBe('answer')
})
