import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import type { App } from '../../src/index.ts'
import { tools } from '../http/server.ts'
import { ENDS, tour } from './tour.ts'

type Example = { readonly start: (app: App, port: number) => Server | Promise<Server> }

const FOLDER = new URL('../../examples/frameworks/', import.meta.url)
const NAMES = readdirSync(FOLDER).map((file) => file.replace('.ts', ''))

async function serve(name: string): Promise<string> {
  const { start } = (await import(`../../examples/frameworks/${name}.ts`)) as Example
  const app = tools()
  const server = await start(app, 0)
  if (!server.listening) await once(server, 'listening')
  onTestFinished(async () => {
    await app.close()
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

describe.each(NAMES)('the example %s', (name) => {
  test('does everything that a mount must do', async () => {
    expect(await tour(fetch, await serve(name))).toEqual(ENDS)
  })

  test.each(REVISIONS.filter((revision) => revision > '2024-11-05'))(
    'serves our client at %s',
    async (revision) => {
      const client = await connect(await serve(name), { revision })
      onTestFinished(() => client.close())
      const steps: unknown[] = []
      const onProgress = ({ progress }: { readonly progress?: number | undefined }): void =>
        void steps.push(progress)
      expect(await client.call('steps', { count: 3 }, { onProgress })).toBe('done')
      expect(steps).toEqual([1, 2, 3])
    },
  )

  test('serves the official client', async () => {
    const client = new Client({ name: 'official', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(await serve(name))))
    onTestFinished(() => client.close())
    const { content } = await client.callTool({ name: 'echo', arguments: { text: 'grüße' } })
    expect(content).toEqual([{ type: 'text', text: 'grüße' }])
  })
})

test('the guide shows every example', () => {
  const guide = readFileSync(new URL('../../docs/guides/frameworks.md', import.meta.url), 'utf8')
  expect(NAMES.filter((name) => !guide.includes(`from examples/frameworks/${name}.ts`))).toEqual([])
})

/** The package behind every framework and runtime that a page may name. A new name needs a row, and a test with the real one. */
const PACKAGES: Readonly<Record<string, string>> = {
  express: 'express',
  fastify: 'fastify',
  koa: 'koa',
  hono: 'hono',
  bun: 'bun',
  deno: 'deno',
  workers: 'miniflare',
  workerd: 'miniflare',
}
const OTHERS =
  'next\\.js|nuxt|nest(?:js)?|h3|nitro|hapi|restify|elysia|svelte(?:kit)?|remix|astro|lambda|vercel|netlify'

test('every framework and runtime that the README and the guides name is tested with its real package', () => {
  const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const guides = readdirSync(new URL('../../docs/guides', import.meta.url))
  const pages = ['README.md', ...guides.map((name) => `docs/guides/${name}`)].map(read).join('\n')
  const pattern = new RegExp(`\\b(?:${Object.keys(PACKAGES).join('|')}|${OTHERS})\\b`, 'gi')
  const named = new Set((pages.match(pattern) ?? []).map((name) => name.toLowerCase()))
  expect([...named]).toEqual(expect.arrayContaining(['express', 'fastify', 'koa', 'hono']))
  const { devDependencies } = JSON.parse(read('package.json')) as {
    readonly devDependencies: Readonly<Record<string, string>>
  }
  const files = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.ts'))
  const tests = files.map((name) => read(`test/mounts/${name}`))
  for (const name of named) {
    const used = PACKAGES[name] ?? 'no package'
    expect([name, devDependencies[used]]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+$/)])
    const isTested = tests.some(
      (text) => text.includes(`from '${used}'`) || text.includes(`startUnder('${used}')`),
    )
    expect([name, isTested]).toEqual([name, true])
  }
})
