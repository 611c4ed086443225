import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { meet, ROOTS, start } from './peer.ts'

const TIMES = 20
const EVERYTHING = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'))
const V1 = new URL('./servers/v1.mjs', import.meta.url).pathname

const urls = new Map<string, string>()
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  const port = await freePort()
  const everything = await start([EVERYTHING, 'streamableHttp'], { PORT: String(port) })
  closing.push(() => everything.close())
  for await (const line of everything.lines) if (line.includes('listening')) break
  urls.set('everything', `http://127.0.0.1:${port}/mcp`)
  const v1 = await start([V1, 'http'])
  closing.push(() => v1.close())
  for await (const line of v1.lines) {
    const [, url] = /^listening on (.*)$/.exec(line) ?? []
    if (url === undefined) continue
    urls.set('v1', url)
    break
  }
})
afterAll(() => Promise.all(closing.map((close) => close())))

// These servers send questions on the stream for notifications, and drop them while it is not open.
test.each([
  ['everything', 'get-roots-list', ROOTS[0].uri],
  ['v1', 'folders', ROOTS[0].uri],
  ['v1', 'ask', 'Zoe'],
] as const)(
  'a question of %s in the first call after connect is answered · %s',
  async (server, tool, said) => {
    for (let time = 0; time < TIMES; time++) {
      await using met = await meet(urls.get(server) as string, undefined)
      expect(JSON.stringify(await met.client.call(tool, {}, { timeout: '5s' }))).toContain(said)
    }
  },
)

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
