import { describe, expect, test } from 'vitest'
import { createServer, type App, type McpError } from '../../src/index.ts'
import { serviceOf } from '../../src/app/app.ts'
import type { Context } from '../../src/server/context.ts'
import { findResource, toWork } from '../../src/server/resources.ts'
import { Likeness, resembles } from '../../src/uri-template/likeness.ts'
import { LooseUri, looseSpelling } from '../../src/uri-template/loose.ts'
import { parseTemplate } from '../../src/uri-template/parse.ts'
import { open } from '../harness/client.ts'
import { processorMs } from '../harness/processor.ts'

const RESTRICTED = { visible: () => false }

/** 100 templates, 20 of them restricted, before two that are open. */
function hundred(text: (at: number) => string): App {
  const app = createServer({ name: 'hundred', version: '1', log: () => undefined })
  for (let at = 0; at < 100; at++) app.resource(text(at), at % 5 === 0 ? RESTRICTED : {}, () => 'x')
  return app.resource('docs://{+rest}', {}, () => 'open').resource('{+all}', {}, () => 'open')
}

/** The context of a request. */
async function contextOf(app: App): Promise<Context> {
  let seen: Context | undefined
  app.use('resources/read', (context, next) => {
    seen = context
    return next()
  })
  const client = await open(app as never, { transport: 'memory', revision: '2025-11-25' })
  await client.post(client.requestText('x', 'resources/read', { uri: 'docs://a' }))
  await client.close()
  return seen as Context
}

/** The steps that a request with these URIs takes. */
function stepsOf(app: App, context: Context, uris: readonly string[]): number {
  const { resources, templates } = serviceOf(app)
  const lists = { resources, templates, ttlMs: 0 }
  const work = toWork(lists, uris)
  try {
    for (const uri of uris) findResource(lists, uri, context, work)
  } catch (error) {
    if ((error as McpError).kind !== 'uri_too_costly') throw error
  }
  return work.steps
}

const TEMPLATES: Readonly<Record<string, (at: number) => string>> = {
  'with literals first': (at) => `docs://k${at}/{id}`,
  'with literals between': (at) => `docs://{+user}/k${at}/{+id}`,
  'of variables alone': (at) => `docs://{a}/{b}/{c}/{d${at}}`,
  'of any scheme': (at) => `{scheme}://{host}/{+path}/{d${at}}`,
  'with lists and queries': (at) => `docs://{host}{/path*}{.ext}{?q${at},r*}{#f}`,
}

const FILLINGS = [
  'a',
  '/',
  'a//',
  '%25%25',
  '%2F',
  '%EF%B7%BA',
  'aB',
  '/./',
  '..',
  '/..',
  'k1/',
  '?',
  '%7B%7D',
  '.a',
  '@:',
]
const LONG = FILLINGS.flatMap((filling) =>
  ['', '!', '/k5/a'].map((end) => `docs://${filling.repeat((8180 - end.length) / filling.length)}${end}`),
)

describe.each(Object.entries(TEMPLATES))('among 100 templates %s', (_, text) => {
  test('M.uri-redos no single URI takes more than a few million steps', async () => {
    const app = hundred(text)
    const context = await contextOf(app)
    for (const uri of LONG) expect(stepsOf(app, context, [uri])).toBeLessThan(2_600_000)
  })

  test('M.uri-redos the steps of many URIs of one message count together', async () => {
    const app = hundred(text)
    const context = await contextOf(app)
    const many = (uri: string, count: number, length: number): string[] =>
      Array.from({ length: count }, (_one, at) => `${uri.slice(0, length)}${at}`)
    for (const uri of LONG.filter((_one, at) => at % 9 === 0)) {
      expect(stepsOf(app, context, many(uri, 150, 58))).toBeLessThan(2_600_000)
      expect(stepsOf(app, context, many(uri, 100, 8100))).toBeLessThan(17_000_000)
    }
  })
})

test('M.uri-redos the loose spelling of a URI takes time in proportion to its length, whatever it is made of', async () => {
  const halves = [...FILLINGS, ':', '[', ']', '[:]', '1:', '@', '.', '%20', '%E4%B8%80', '|'].map((filling) =>
    filling.repeat(4000 / filling.length),
  )
  const uris = halves.flatMap((one) =>
    ['', ']', '[', '/', ':1'].map((middle) => `docs://[${one}${middle}${one}`),
  )
  for (const uri of [...LONG, ...uris]) {
    const ms = await processorMs(() => {
      for (let times = 0; times < 20; times++) looseSpelling(uri)
    })
    expect([uri.slice(0, 20), ms < 200]).toEqual([uri.slice(0, 20), true])
  }
})

test('M.uri-redos a thousand usual URIs are found among 100 templates', async () => {
  const app = hundred((at) => `docs://{user}/k${at}/{id}`)
  app.resource('docs://fixed', {}, () => 'x')
  const client = await open(app as never, { transport: 'memory', revision: '2026-07-28' })
  const uris = Array.from({ length: 1000 }, (_, at) => `docs://somebody/k${(at % 99) + 1}/a-document-${at}`)
  await client.follow({ uris })
  expect(app.counts.get('uri_too_costly')).toBeUndefined()
  await client.close()
})

test('a short URI is found among ten thousand templates that are not open to everybody', async () => {
  const app = createServer({ name: 'many', version: '1', log: () => undefined })
  for (let at = 0; at < 10_000; at++)
    app.resource(`crm://t${at}/orders/{id}`, { visible: () => true }, ({ id }) => id)
  const client = await open(app as never, { transport: 'memory', revision: '2025-11-25' })
  const read = client.request('resources/read', { uri: 'crm://t9999/orders/47' })
  await expect(read).resolves.toMatchObject({ contents: [{ text: '47' }] })
  await client.close()
})

test('M.template-closed a URI that would be too long once its slashes are encoded belongs to the restricted template', () => {
  const template = parseTemplate('docs://private/{id}')
  const by = parseTemplate('docs://{+path}')
  for (const count of [1, 2000, 4000]) {
    const likeness = new Likeness(new LooseUri(`docs:///private${'/a'.repeat(count)}`), by)
    expect([count, resembles(template, likeness, { steps: 0 })]).toEqual([count, true])
  }
})
