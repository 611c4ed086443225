import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createServer, type Running } from 'pierhead'
import { book } from '../../examples/client/book.ts'
import { connectCarefully } from '../../examples/client/careful.ts'
import { outcome } from '../../examples/client/failures.ts'
import { ask, consult, follow, inventory } from '../../examples/client/many.ts'
import { introduce } from '../../examples/client/pinned.ts'
import { highest, serve } from '../../examples/client/typed.ts'
import { visit } from '../../examples/client/visit.ts'
import { createHarbour } from '../../examples/demo/harbour.ts'
import { selfSigned } from '../harness/certificates.ts'

let running: Running
beforeAll(async () => {
  running = await createHarbour().listen({ http: { port: 0 } })
})
afterAll(() => running.close())

test('the visitor sees the harbour', async () => {
  expect(await visit(running.url as string)).toEqual([
    'harbour speaks 2026-07-28',
    'tool tide',
    'tool radio',
    'tool book',
    'tide {"metres":3,"rising":true}',
    'heard A1: Petrel',
    'heard A2: nobody here',
    'heard B1: nobody here',
    '3 berths answered',
    'Berth A1 is taken by Petrel.',
  ])
})

test('a client that knows the tools by type finds the highest tide', async () => {
  const { url, close } = await serve()
  expect(await highest(url as string)).toBe('Saint-Malo')
  await close()
})

test('the booker books a berth and is notified', async () => {
  expect(await book(createHarbour(), 'B1', 'Gull')).toEqual(['B1 changed', 'Berth B1 is booked for Gull.'])
})

test('the careful client asks first', async () => {
  const asked: string[] = []
  await using client = await connectCarefully(createHarbour(), async (tool) => asked.push(tool) === 1)
  expect(await client.call('tide', { hour: 0 })).toMatchObject({ metres: 3 })
  await expect(client.call('radio')).rejects.toThrow('radio was not approved')
  expect(asked).toEqual(['tide', 'radio'])
})

test('the inventory names tools and failures', async () => {
  const config = {
    mcpServers: {
      harbour: { type: 'http', url: running.url as string },
      gone: { command: 'no-such-program-anywhere' },
    },
  }
  const lines = await inventory(config)
  expect(lines.slice(0, 3)).toEqual(['harbour__tide', 'harbour__radio', 'harbour__book'])
  expect(lines[3]).toMatch(/^gone failed: cannot connect to/)
})

test('a model chooses among the tools of all servers', async () => {
  const config = { mcpServers: { 'the harbour': { url: running.url as string } } }
  const chosen = await ask(config, async (tools) => {
    const { name } = tools.find((tool) => tool.name.endsWith('tide')) ?? { name: 'none' }
    expect(name).toBe('the_harbour-tide')
    return { name, input: { hour: 0 } }
  })
  expect(chosen).toMatchObject({ metres: 3 })
})

test('the resources of all servers are followed', async () => {
  const app = createHarbour()
  const harbour = await app.listen({ http: { port: 0 } })
  const stop = new AbortController()
  const printed: string[] = []
  const config = { mcpServers: { harbour: { url: harbour.url as string } } }
  const timer = setInterval(() => app.updated('harbour://berths'), 20)
  await follow(
    config,
    (line) => {
      printed.push(line)
      if (line.includes('changed')) stop.abort()
    },
    stop.signal,
  )
  clearInterval(timer)
  await harbour.close()
  expect(printed).toContain('harbour has harbour://berths, application/json')
  expect(printed.at(-1)).toBe('harbour changed harbour://berths')
})

test('the user sees which server asks', async () => {
  const app = createServer({ name: 'notes', version: '1', log: () => undefined }).tool(
    'clear',
    {},
    async (_, { elicit }) => (await elicit('Delete all notes?', { type: 'object', properties: {} })).action,
  )
  const notes = await app.listen({ http: { port: 0 } })
  const asked: string[] = []
  const config = { mcpServers: { notes: { url: notes.url as string } } }
  const action = await consult(config, 'notes__clear', async (question) => asked.push(question) > 1)
  await notes.close()
  expect(action).toBe('decline')
  expect(asked).toEqual(['notes: Delete all notes?'])
})

test('every failure is distinguished', async () => {
  const told = (tool: string, input = {}): Promise<string> => outcome(running.url as string, tool, input)
  expect(await told('tide', { hour: 0 })).toBe('{"metres":3,"rising":true}')
  expect(await told('book', { berth: 'A1' })).toBe('the tool failed: Berth A1 is taken by Petrel.')
  expect(await told('tides')).toMatch(/^look at client\.tools\(\) again: tool "tides" does not exist/)
  expect(await outcome({ command: 'no-such-program-anywhere' }, 'tide', {})).toMatch(/^not reached: Correct/)
})

test('with mutual pinning the client is identified by its fingerprint', async () => {
  const [server, anna] = [selfSigned('server'), selfSigned('anna')]
  const app = createServer({ name: 'secure', version: '1', log: () => undefined }).tool(
    'who',
    {},
    (_, { auth }) => String(auth?.sub),
  )
  const folder = await mkdtemp(join(tmpdir(), 'pierhead-pinned-'))
  const files = { key: join(folder, 'key'), cert: join(folder, 'crt') }
  await Promise.all([writeFile(files.key, anna.key), writeFile(files.cert, anna.cert)])
  const tls = { key: server.key, cert: server.cert, pin: anna.fingerprint }
  const secure = await app.listen({ tcp: { port: 0, tls } })
  const address = secure.addresses.tcp as string
  try {
    expect(await introduce(address, files, server.fingerprint)).toBe(anna.fingerprint)
    await expect(introduce(address, files, anna.fingerprint)).rejects.toThrow('which is not in tls.pin')
  } finally {
    await secure.close()
    await rm(folder, { recursive: true })
  }
})
