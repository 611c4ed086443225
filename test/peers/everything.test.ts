import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ToolError, type Progress } from '../../src/client.ts'
import { meet, ROOTS, start, type Met, type Place } from './peer.ts'

const SCRIPT = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'))

/** The server does not say which port it was given. */
async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}

describe.each(['stdio', 'HTTP'] as const)('server-everything over %s', (transport) => {
  let place: Place = { command: process.execPath, args: [SCRIPT, 'stdio'] }
  let close: () => Promise<void> = async () => undefined
  let met: Met
  beforeAll(async () => {
    if (transport === 'HTTP') {
      const port = await freePort()
      const { lines, ...started } = await start([SCRIPT, 'streamableHttp'], { PORT: String(port) })
      close = () => started.close()
      for await (const line of lines) if (line.includes('listening')) break
      place = `http://127.0.0.1:${port}/mcp`
    }
    met = await meet(place, undefined)
  })
  afterAll(async () => {
    await met[Symbol.asyncDispose]()
    await close()
  })

  test('is found to speak 2025-11-25, and says who it is [R030]', async () => {
    const { revision, info, capabilities, instructions } = await met.client.server()
    expect(revision).toBe('2025-11-25')
    expect(info).toMatchObject({ name: 'mcp-servers/everything' })
    expect(capabilities).toMatchObject({ logging: {}, resources: { subscribe: true } })
    expect(instructions).toEqual(expect.any(String))
  })

  test('lists what it has, and tools that need what we declared [R200] [R182]', async () => {
    const names: string[] = []
    await expect
      .poll(async () => {
        names.length = 0
        for await (const { name } of met.client.tools()) names.push(name)
        return names
      })
      .toEqual(expect.arrayContaining(['trigger-sampling-request', 'get-roots-list']))
    expect(names).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-structured-content']))
    const resources: string[] = []
    for await (const { uri } of met.client.resources()) resources.push(uri)
    expect(resources.length).toBeGreaterThan(0)
    const templates: string[] = []
    for await (const { uriTemplate } of met.client.templates()) templates.push(uriTemplate)
    expect(templates).toContain('demo://resource/dynamic/text/{resourceId}')
    const prompts: string[] = []
    for await (const { name } of met.client.prompts()) prompts.push(name)
    expect(prompts).toEqual(expect.arrayContaining(['args-prompt', 'completable-prompt', 'simple-prompt']))
  })

  test('answers calls with text, pictures, links, annotations and structure [R150]', async () => {
    const { client } = met
    expect(await client.call('echo', { message: 'hi' })).toBe('Echo: hi')
    expect(await client.call('get-sum', { a: 2, b: 3 })).toContain('5')
    expect(await client.call('get-structured-content', { location: 'Chicago' })).toMatchObject({
      temperature: expect.any(Number),
    })
    const picture = await client.callRaw('get-tiny-image')
    expect(picture.content.map(({ type }) => type)).toContain('image')
    const links = await client.callRaw('get-resource-links', { count: 2 })
    expect(links.content.map(({ type }) => type)).toEqual(['text', 'resource_link', 'resource_link'])
    const annotated = await client.callRaw('get-annotated-message', { messageType: 'error' })
    expect(annotated.content).toMatchObject([{ annotations: { priority: 1 } }])
    const reference = await client.callRaw('get-resource-reference', { resourceType: 'Text', resourceId: 1 })
    expect(reference.content.map(({ type }) => type)).toContain('resource')
  })

  test('refuses what is wrong [S2-13-C4]', async () => {
    const { client } = met
    const wrong = await client.call('get-sum', { a: 'x' }).catch((error: unknown) => error)
    expect(wrong).toBeInstanceOf(ToolError)
    await expect(client.read('demo://nowhere')).rejects.toThrow(/not found/i)
    await expect(client.prompt('nothing')).rejects.toThrow(/not found/i)
  })

  test('gives resources, prompts and completions', async () => {
    const { client } = met
    const text = await client.read('demo://resource/dynamic/text/1')
    expect(text.contents).toMatchObject([{ text: expect.stringContaining('Resource 1') }])
    const blob = await client.read('demo://resource/dynamic/blob/2')
    expect(blob.contents).toMatchObject([{ blob: expect.any(String) }])
    const { messages } = await client.prompt('args-prompt', { city: 'Rome' })
    expect(messages).toMatchObject([{ content: { text: "What's weather in Rome?" } }])
    const owner = 'completable-prompt'
    expect((await client.complete(owner, { name: 'department', value: 'S' })).values).toEqual([
      'Sales',
      'Support',
    ])
    const known = { department: 'Sales' }
    expect((await client.complete(owner, { name: 'name', value: '' }, known)).values).toEqual([
      'David',
      'Eve',
      'Frank',
    ])
    const id = await client.complete('demo://resource/dynamic/text/{resourceId}', {
      name: 'resourceId',
      value: '7',
    })
    expect(id.values).toEqual(['7'])
  })

  test('tells of progress, and can be cancelled [R067]', async () => {
    const { client } = met
    const told: Progress[] = []
    const name = 'trigger-long-running-operation'
    await client.call(name, { duration: 0.3, steps: 3 }, { onProgress: (one) => told.push(one) })
    expect(told).toMatchObject([1, 2, 3].map((progress) => ({ progress, total: 3 })))
    const stop = new AbortController()
    const options = { signal: stop.signal, onProgress: () => stop.abort() }
    const cancelled = client.call(name, { duration: 2, steps: 20 }, options)
    await expect(cancelled).rejects.toMatchObject({ kind: 'cancelled' })
    expect(await client.call('echo', { message: 'after' })).toBe('Echo: after')
  })

  test('asks for a form, and gets the defaults of what was left out [R213] [S2-9.4-8]', async () => {
    const { content } = await met.client.callRaw('trigger-elicitation-request')
    const said = JSON.stringify(content)
    expect(said).toContain('Name: Zoe')
    expect(said).toContain('42')
    expect(met.asked).toContainEqual(expect.objectContaining({ kind: 'elicit' }))
  })

  test('asks for a visit of a URL [R215]', async () => {
    const { isError } = await met.client.callRaw('trigger-url-elicitation', {
      url: 'https://example.com/visit',
    })
    expect(isError).not.toBe(true)
    expect(met.asked).toContainEqual({
      kind: 'visit',
      question: expect.objectContaining({ url: 'https://example.com/visit' }),
    })
  })

  test('asks our model [S2-9.4-6]', async () => {
    const { content } = await met.client.callRaw('trigger-sampling-request', {
      prompt: 'A joke',
      maxTokens: 20,
    })
    expect(JSON.stringify(content)).toContain('Knock knock')
  })

  test('asks for our roots [S2-9.4-4]', async () => {
    await expect
      .poll(async () => JSON.stringify(await met.client.call('get-roots-list')))
      .toContain(ROOTS[0].uri)
  })

  test('tells of a resource that is watched, and sends log messages [S2-13-C5] [S2-13-C6]', async () => {
    const { client, heard } = met
    const uri = 'demo://resource/dynamic/text/1'
    await client.setLogLevel('debug')
    const changes = client.watch({ resources: [uri] })
    const first = changes.next()
    await heard.next('log', (value) => JSON.stringify(value).includes('Subscribe'))
    await client.call('toggle-subscriber-updates')
    expect((await first).value).toEqual({ kind: 'resource', uri })
    await changes.return()
    await client.call('toggle-subscriber-updates')
    await client.call('toggle-simulated-logging')
    await heard.next('log')
    await client.call('toggle-simulated-logging')
  })
})
