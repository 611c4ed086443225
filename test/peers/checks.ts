import { expect } from 'vitest'
import type { Revision } from 'pierhead'
import { McpError, ToolError, type Change, type Client, type Progress } from '../../src/client.ts'
import { ROOTS, type Feature, type Met } from './peer.ts'

/** One thing that our client must be able to do with a server that offers it. */
export interface Check {
  readonly title: string
  readonly needs?: Feature
  readonly since?: Revision
  run(met: Met): Promise<void>
}

let names = 0

export const CHECKS: readonly Check[] = [
  {
    title: 'learns who the server is and what it offers [S2-13-C2] [R030] [R042]',
    run: async ({ client, revision }) => {
      const { info, capabilities } = await client.server()
      expect(info).toMatchObject({ name: 'peer', version: '3.2.1' })
      for (const part of ['tools', 'resources', 'prompts']) expect(capabilities).toHaveProperty(part)
      expect(revision).toBeDefined()
      await client.ping()
    },
  },
  {
    title: 'reads the instructions',
    needs: 'instructions',
    run: async ({ client }) => {
      expect((await client.server()).instructions).toBe('Call echo first.')
    },
  },
  {
    title: 'lists tools, resources, templates and prompts [R182] [S4-14-10]',
    run: async ({ client }) => {
      const tools = await all(client.tools())
      expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'add', 'fail', 'count']))
      expect(tools.find(({ name }) => name === 'echo')?.inputSchema).toMatchObject({
        type: 'object',
        properties: { text: { type: 'string' } },
        required: ['text'],
      })
      const uris = (await all(client.resources())).map(({ uri }) => uri)
      expect(uris).toEqual(expect.arrayContaining(['note://hello', 'note://logo']))
      const templates = (await all(client.templates())).map(({ uriTemplate }) => uriTemplate)
      expect(templates).toEqual(['city://{name}'])
      const prompts = await all(client.prompts())
      expect(prompts.find(({ name }) => name === 'greet')?.arguments).toMatchObject([
        { name: 'name', required: true },
      ])
    },
  },
  {
    title: 'sees the hints of tools [R151]',
    needs: 'hints',
    run: async ({ client }) => {
      const tools = await all(client.tools())
      expect(tools.find(({ name }) => name === 'echo')?.annotations).toMatchObject({ readOnlyHint: true })
    },
  },
  {
    title: 'calls a tool and gets its text [S2-13-C8]',
    run: async ({ client }) => {
      const text = 'hällo 👋 \u2028 "quoted"\n'
      expect(await client.call('echo', { text })).toBe(text)
    },
  },
  {
    title: 'gets structured output, checked against the schema of the tool [R150]',
    needs: 'structured',
    run: async ({ client }) => {
      await all(client.tools())
      expect(await client.call('add', { a: 1, b: 2 })).toEqual({ sum: 3 })
      const raw = await client.callRaw('add', { a: 2, b: 2 })
      expect(raw.structuredContent).toEqual({ sum: 4 })
    },
  },
  {
    title: 'gets what a tool says when it fails [S2-13-C4]',
    run: async ({ client }) => {
      const error = await client.call('fail').catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ToolError)
      expect((error as Error).message).toContain('The disk is full')
      expect(await client.callRaw('fail')).toMatchObject({ isError: true })
      const crash = await client.call('crash').catch((thrown: unknown) => thrown)
      expect(crash).toBeInstanceOf(Error)
    },
  },
  {
    title: 'is told of what does not exist, in one class of errors [R174] [S2-13-C4]',
    run: async ({ client }) => {
      const failures = [
        client.call('nothing'),
        client.read('note://nothing'),
        client.prompt('nothing'),
        client.request('no/such/method'),
      ]
      for (const outcome of await Promise.allSettled(failures)) {
        const error: unknown = outcome.status === 'rejected' ? outcome.reason : undefined
        expect(error instanceof McpError || error instanceof ToolError).toBe(true)
      }
    },
  },
  {
    title: 'is told of arguments that break the schema',
    run: async ({ client }) => {
      await expect(client.call('echo', { text: 1 })).rejects.toThrow(/text|string/)
    },
  },
  {
    title: 'gets images and embedded resources',
    run: async ({ client }) => {
      const { content } = await client.callRaw('gallery')
      expect(content).toMatchObject([
        { type: 'text', text: 'All kinds' },
        { type: 'image', mimeType: 'image/png', data: expect.any(String) },
        { type: 'resource', resource: { uri: 'note://hello', text: 'Hello' } },
      ])
    },
  },
  {
    title: 'reads text, bytes and templates',
    run: async ({ client }) => {
      expect((await client.read('note://hello')).contents).toMatchObject([
        { uri: 'note://hello', text: 'Hello' },
      ])
      const [logo] = (await client.read('note://logo')).contents
      expect(logo).toMatchObject({ uri: 'note://logo', mimeType: 'image/png', blob: 'iVBORw0KGgo=' })
      expect((await client.read('city://Rome')).contents).toMatchObject([{ text: 'city Rome' }])
    },
  },
  {
    title: 'gets prompts and completes what goes into them',
    run: async ({ client }) => {
      const { messages } = await client.prompt('greet', { name: 'Zoe' })
      expect(messages).toMatchObject([{ role: 'user', content: { type: 'text', text: 'Greet Zoe' } }])
      const inPrompt = await client.complete('greet', { name: 'name', value: 'Par' })
      expect(inPrompt.values).toEqual(['Paris', 'Parma'])
      const inTemplate = await client.complete('city://{name}', { name: 'name', value: 'R' })
      expect(inTemplate.values).toEqual(['Rome'])
    },
  },
  {
    title: 'follows progress',
    needs: 'progress',
    run: async ({ client }) => {
      const told: Progress[] = []
      expect(await client.call('count', { to: 3 }, { onProgress: (one) => told.push(one) })).toBe('counted')
      expect(told).toMatchObject([1, 2, 3].map((progress) => ({ progress, total: 3 })))
    },
  },
  {
    title: 'cancels a call, of which the server hears [R067]',
    needs: 'cancel',
    run: async ({ client }) => {
      const name = `n${++names}`
      const stop = new AbortController()
      const options = { signal: stop.signal, onProgress: () => stop.abort() }
      const error = await client.call('wait', { name }, options).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ kind: 'cancelled' })
      expect(await client.call('ended', { name })).toBe('it was cancelled')
    },
  },
  {
    title: 'has many calls in flight at once [S2-13-C3] [S2-1.2-3]',
    run: async ({ client }) => {
      const texts = Array.from({ length: 100 }, (_, index) => `text ${index}`)
      expect(await Promise.all(texts.map((text) => client.call('echo', { text })))).toEqual(texts)
    },
  },
  {
    title: 'gets log messages [S2-13-C5]',
    needs: 'log',
    run: async ({ client, heard }) => {
      await client.setLogLevel('debug')
      await client.call('speak')
      const says = (word: string) => (value: unknown) => JSON.stringify(value).includes(word)
      expect(await heard.next('log', says('quiet'))).toMatchObject({ level: 'info' })
      expect(await heard.next('log', says('loud'))).toMatchObject({ level: 'error' })
    },
  },
  {
    title: 'gets log messages from a level on [S2-13-C5]',
    needs: 'levels',
    run: async ({ client, heard }) => {
      await client.setLogLevel('error')
      await client.call('speak')
      const loud = await heard.next('log')
      expect(loud).toMatchObject({ level: 'error' })
      expect(JSON.stringify(loud)).toContain('loud')
    },
  },
  {
    title:
      'answers a form, with the defaults of what was left out [R200] [R213] [S2-9.4-8] [S4-13-2] [S4-1-6]',
    needs: 'elicit',
    run: async ({ client, asked }) => {
      asked.length = 0
      const answer = JSON.parse(String(await client.call('ask'))) as unknown
      expect(answer).toMatchObject({ action: 'accept', content: { name: 'Zoe', size: 'l' } })
      expect(asked).toMatchObject([{ kind: 'elicit', question: { message: 'Who?' } }])
    },
  },
  {
    title: 'is asked to visit a URL, which it only hands on [R215] [S2-9.4-8]',
    needs: 'visit',
    run: async ({ client, asked }) => {
      asked.length = 0
      expect(await client.call('visit')).toBe('accept')
      expect(asked).toMatchObject([{ kind: 'visit', question: { url: 'https://example.com/pay' } }])
    },
  },
  {
    title: 'is told that the user is done at a URL [R217]',
    needs: 'elicited',
    run: async ({ client, heard }) => {
      await client.call('visit')
      expect(await heard.next('elicited')).toMatchObject({ elicitationId: expect.any(String) })
    },
  },
  {
    title: 'lets its model answer [R200] [R204] [S2-9.4-6] [S4-12-2]',
    needs: 'sample',
    run: async ({ client, asked }) => {
      asked.length = 0
      const answer = JSON.parse(String(await client.call('joke'))) as unknown
      expect(answer).toMatchObject({ role: 'assistant', content: { text: 'Knock knock' }, model: 'm' })
      expect(asked).toMatchObject([{ kind: 'sample', question: { maxTokens: 50 } }])
    },
  },
  {
    title:
      'gives out its roots, and says when they changed [R200] [R201] [R202] [S2-9.4-4] [S4-11-1] [S4-11-2] [S4-11-3]',
    needs: 'roots',
    run: async ({ client }) => {
      // Some servers ask in the background, and ask again only when they are told of a change.
      await client.rootsChanged()
      await expect.poll(async () => JSON.parse(String(await client.call('folders')))).toEqual(ROOTS)
    },
  },
  {
    title: 'hears that lists changed [S2-13-C5]',
    needs: 'changes',
    run: async ({ client }) => {
      for (const kind of ['tools', 'prompts', 'resources'] as const) {
        const change = await firstChange(client, { [kind]: true }, () =>
          client.call('grow').catch(() => undefined),
        )
        expect(change).toEqual({ kind })
      }
    },
  },
  {
    title: 'hears that a resource changed [S2-13-C5] [S2-13-C6]',
    needs: 'updates',
    run: async ({ client }) => {
      const change = await firstChange(client, { resources: ['note://hello'] }, () => client.call('touch'))
      expect(change).toEqual({ kind: 'resource', uri: 'note://hello' })
    },
  },
]

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}

/** Brings about a change until it is told: when a server begins to tell is not visible from outside. */
async function firstChange(
  client: Client,
  watched: Parameters<Client['watch']>[0],
  bringAbout: () => Promise<unknown>,
): Promise<Change | undefined> {
  const timer = setInterval(() => void bringAbout().catch(() => undefined), 100)
  try {
    for await (const change of client.watch(watched)) return change
    return undefined
  } finally {
    clearInterval(timer)
  }
}
