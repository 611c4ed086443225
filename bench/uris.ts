// Measures how long single messages with hostile URIs keep the processor busy, on servers with many templates.
// `STEP=n npx tsx --conditions=pierhead-source bench/uris.ts literal` takes each nth message, to servers with "literal" in their names.
import { createServer, type App } from '../src/index.ts'
import { open, type Client } from '../test/harness/client.ts'

/** The processor time of this process in milliseconds: other programs may have the processor meanwhile. */
function now(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const SCOPES = { scopes: ['secrets'] }

/** 100 templates, every fifth of which is restricted. */
function hundred(text: (at: number) => string, restricts = (at: number): boolean => at % 5 === 0): App {
  const app = createServer({ name: 'hundred', version: '1', log: () => undefined })
  for (let at = 0; at < 100; at++) app.resource(text(at), restricts(at) ? SCOPES : {}, () => 'x')
  return app.resource('docs://{+rest}', {}, () => 'open').resource('{+all}', {}, () => 'open')
}

function few(...closed: string[]): App {
  const app = createServer({ name: 'few', version: '1', log: () => undefined })
  for (const one of closed) app.resource(one, SCOPES, () => 'x')
  return app.resource('docs://{+rest}', {}, () => 'open').resource('{+all}', {}, () => 'open')
}

const SERVERS: Readonly<Record<string, () => App>> = {
  'open templates': () =>
    hundred(
      (at) => `docs://k${at}/{id}`,
      () => false,
    ),
  'literal first': () => hundred((at) => `docs://k${at}/{id}`),
  'variable first': () => hundred((at) => `docs://{user}/k${at}/{id}`),
  'reserved first': () => hundred((at) => `docs://{+user}/k${at}/{+id}`),
  'reserved, same text': () => hundred((at) => `docs://{+user}/{+id}/{c${at}}`),
  'all steps variable': () => hundred((at) => `docs://{a}/{b}/{c}/{d${at}}`),
  'any scheme': () => hundred((at) => `{scheme}://{host}/{+path}/{d${at}}`),
  'lists and queries': () => hundred((at) => `docs://{host}{/path*}{.ext}{?q${at},r*}{#f}`),
  'paths only': () => hundred((at) => `docs://{host}{/path*}{;p${at}}`),
  'unlike each other': () => hundred((at) => `docs://{+a}/${at % 10}{+b}/{c${at}}!`),
  'all restricted': () =>
    hundred(
      (at) => `docs://{+a}${at}/{b}{?q}`,
      () => true,
    ),
  'one private folder': () => few('docs://private/{+path}'),
  'one private list': () => few('docs://{user}/private{/path*}'),
  'one private chain': () => few('docs://{+a}{+b}{+c}{+d}x'),
  'fixed resources': () => {
    const app = few('docs://private/{+path}')
    for (let at = 0; at < 100; at++) app.resource(`docs://fixed/${at}`, SCOPES, () => 'x')
    return app
  },
}

const FILLINGS: readonly string[] = [
  'a',
  '/',
  '//a',
  'a/',
  '/0',
  '%25',
  '%25%25',
  '%2525',
  '%252F',
  '%2F',
  '%5C',
  '%EF%B7%BA',
  '\uFDFA',
  '\u0301',
  '%CC%81',
  '%E2%80%8B',
  'Aa',
  'aB/',
  '/.',
  '/..',
  'a/../',
  '/./',
  '%2e%2e/',
  '%252e/',
  '{a}',
  '%7B%7D',
  ':',
  ':80',
  '@',
  'a@',
  '?',
  '#',
  '?a=1&',
  ';a',
  '&q=1',
  ',',
  '.',
  '.a',
  '!',
  'k1/',
  '1/',
  '0/',
  '%61',
  '%20',
  '%09',
  '%00',
  '\\',
  'ü',
  '%C3%BC',
  '%F0%9F%98%80',
  '%FF',
  '%',
  ' ',
  'private/',
  '/private',
  '%E3%80%82',
  '%EF%BC%8F',
  '%E2%84%80',
  '|',
  'x',
  '[',
  '%F3%A0%80%81',
]
const STARTS = ['docs://', 'docs:', 'docs://private/', 'https://', 'DOCS://h/', 'file:///', '']
const ENDS = ['', '/', '!', '\u0000', '?x#y', '/%FF', '/k5/a', '/0/b', 'x']
const MAX_CHARS = 8192

function* hostileUris(bytes: number): Generator<string> {
  for (const start of STARTS)
    for (const filling of FILLINGS)
      for (const end of ENDS) {
        const size = Math.min(MAX_CHARS, bytes)
        const room = size - start.length - end.length
        yield start + filling.repeat(Math.floor(room / filling.length)) + end
      }
}

async function msOf(client: Client, method: string, params: object): Promise<number> {
  const text = client.requestText('cost', method, params as never)
  const begun = now()
  await client.post(text)
  return now() - begun
}

interface Worst {
  readonly ms: number
  readonly what: string
}

async function worstOf(
  messages: Iterable<readonly [string, object]>,
  client: Client,
  method: string,
): Promise<Worst> {
  let worst: Worst = { ms: 0, what: '' }
  for (const [what, params] of messages) {
    let ms = await msOf(client, method, params)
    // Other programs may have taken the processor.
    for (let again = 0; again < 3 && ms > worst.ms; again++)
      ms = Math.min(ms, await msOf(client, method, params))
    if (ms > worst.ms) worst = { ms, what }
  }
  return worst
}

function shown(uri: string): string {
  return JSON.stringify(`${uri.slice(0, 34)}…${uri.slice(-8)}`)
}

const STEP = Number(process.env['STEP'] ?? 1)

function* single(): Generator<readonly [string, object]> {
  let at = 0
  for (const uri of hostileUris(9000)) if (at++ % STEP === 0) yield [shown(uri), { uri }]
}

/** URIs that together have fewer than 10,000 bytes. */
function* lists(): Generator<readonly string[]> {
  for (const filling of FILLINGS)
    for (const start of ['docs://', 'docs://private/', 'docs://a//'])
      for (const count of [1, 10, 40, 150]) {
        const room = Math.floor(9600 / count) - start.length - 8
        const size = Buffer.byteLength(JSON.stringify(filling)) - 2
        const uris = Array.from(
          { length: count },
          (_, at) => `${start}${filling.repeat(Math.max(0, Math.floor(room / size)))}/k${at}`,
        )
        yield uris
      }
}

async function listenMs(client: Client, uris: readonly string[]): Promise<number> {
  const before = client.notices.length
  const begun = now()
  let isOver = false
  const listening = client.request('subscriptions/listen', {
    notifications: { resourceSubscriptions: uris },
  } as never)
  const over = listening.catch(() => undefined).then(() => (isOver = true))
  await Promise.race([over, client.until(() => isOver || client.notices.length > before)])
  return now() - begun
}

async function batchMs(client: Client, uris: readonly string[]): Promise<number> {
  const text = JSON.stringify(
    uris.map((uri, id) => ({ jsonrpc: '2.0', id, method: 'resources/read', params: { uri } })),
  )
  const begun = now()
  await client.post(text)
  return now() - begun
}

async function worstList(
  make: () => Promise<Client>,
  take: (client: Client, uris: readonly string[]) => Promise<number>,
): Promise<Worst> {
  let worst: Worst = { ms: 0, what: '' }
  let client = await make()
  let uses = 0
  for (const uris of lists()) {
    if (uses++ % STEP !== 0) continue
    if (uses % 20 === 0) {
      await client.close()
      client = await make()
    }
    let ms = await take(client, uris)
    for (let again = 0; again < 3 && ms > worst.ms; again++) ms = Math.min(ms, await take(client, uris))
    if (ms > worst.ms) worst = { ms, what: `${uris.length} × ${shown(uris[0] ?? '')}` }
  }
  await client.close()
  return worst
}

const only = process.argv[2] ?? ''
for (const [name, make] of Object.entries(SERVERS)) {
  if (!name.includes(only)) continue
  const app = make()
  const opened = (revision: '2025-03-26' | '2025-11-25' | '2026-07-28'): Promise<Client> =>
    open(app as never, { transport: 'memory', revision })
  const client = await opened('2025-11-25')
  for (let warm = 0; warm < 30; warm++)
    await msOf(client, 'resources/read', { uri: `docs://${'a/'.repeat(400)}` })
  const worsts: [string, Worst][] = []
  for (const method of ['resources/read', 'resources/subscribe', 'resources/unsubscribe'])
    worsts.push([method.slice(10), await worstOf(single(), client, method)])
  await client.close()
  worsts.push(['listen', await worstList(() => opened('2026-07-28'), listenMs)])
  worsts.push(['batch', await worstList(() => opened('2025-03-26'), batchMs)])
  console.log(name)
  for (const [method, { ms, what }] of worsts)
    console.log(`    ${method.padEnd(12)} ${ms.toFixed(1).padStart(7)} ms  ${what}`)
}
