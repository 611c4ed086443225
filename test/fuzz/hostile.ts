import type { Client } from '../../src/client.ts'
import type { Answers } from '../../src/client/answers.ts'
import { McpError, ToolError } from '../../src/client.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import { methodRow } from '../../src/protocol/methods.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { corpus, toWire } from '../corpus/corpus.ts'
import { claim } from './fuzz.ts'
import { spell } from './json-text.ts'
import { mutateText, mutateValue } from './mutate.ts'
import type { Random } from './random.ts'
import { messageText } from './seeds.ts'
import { HIDDEN, Raw } from './values.ts'

/** Stands for the id of the request that is answered. */
const ID = '1234509876'

type Use = (client: Client) => Promise<unknown>
/** What a client does. */
export const USES: ReadonlyMap<string, Use> = new Map<string, Use>([
  ['tools/call', calling],
  ['tools/list', (client) => all(client.tools())],
  ['resources/list', (client) => all(client.resources())],
  ['resources/templates/list', (client) => all(client.templates())],
  ['prompts/list', (client) => all(client.prompts())],
  ['resources/read', (client) => client.read('harbour://map')],
  ['prompts/get', (client) => client.prompt('greet', { who: 'you' })],
  ['completion/complete', (client) => client.complete('greet', { name: 'who', value: 'a' })],
  ['ping', (client) => client.ping()],
  ['resources/subscribe', subscribing],
])

/** How the client answers what servers ask. */
export const ANSWERS: Answers = {
  elicit: () => ({ action: 'accept', content: { ship: 'Dorothea' } }) as const,
  elicitUrl: () => ({ action: 'accept' }) as const,
  sample: () => ({ role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' }),
  roots: [{ uri: 'file:///srv' }],
}

/** Texts that a hostile server sends when it is asked something; the id of what was asked goes where `withId` puts it. */
export function anyAnswers(method: string, revision: Revision, random: Random): readonly string[] {
  return Array.from({ length: 1 + random.few(3) }, () =>
    random.oneIn(4) ? noise(revision, random) : answer(method, revision, random),
  )
}

export function withId(text: string, id: unknown): string {
  return text.replaceAll(ID, JSON.stringify(id))
}

/** The first answer of a server of a revision, whole. */
export function greeting(method: string, revision: Revision): JsonObject | undefined {
  const capabilities = {
    tools: { listChanged: true },
    resources: { subscribe: true },
    prompts: {},
    completions: {},
    logging: {},
  }
  if (method === 'initialize' && revision !== '2026-07-28')
    return { protocolVersion: revision, capabilities, serverInfo: { name: 'hostile', version: '1' } }
  if (method !== 'server/discover' || revision !== '2026-07-28') return undefined
  return {
    resultType: 'complete',
    supportedVersions: [revision],
    capabilities,
    ttlMs: 0,
    cacheScope: 'public',
    _meta: { [META.serverInfo]: { name: 'hostile', version: '1' } },
  }
}

/** Uses a client; what it throws must be an error that it throws on purpose, and it must end. */
export async function using(client: Client, method: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Error>((resolve) => {
    timer = setTimeout(() => resolve(new Error('the client waits for ever')), 10_000)
  })
  const use = USES.get(method)!
  const outcome = await Promise.race([late, use(client).catch((thrown: unknown) => thrown)])
  const closed = await Promise.race([late, client.close().catch((thrown: unknown) => thrown)])
  clearTimeout(timer)
  for (const ended of [outcome, closed]) {
    if (ended instanceof Error && !(ended instanceof McpError) && !(ended instanceof ToolError)) throw ended
    if (ended instanceof McpError) claim(!HIDDEN.test(ended.message), 'an error prints control characters')
  }
  claim(Object.keys(Object.prototype).length === 0, 'every object was changed')
}

/** Where a server says no, the newest revision asks it again and again: only closing ends that. */
async function subscribing(client: Client): Promise<void> {
  const ending = setTimeout(() => void client.close(), 3)
  const stop = await client.subscribe('note://one', () => undefined).finally(() => clearTimeout(ending))
  await stop()
}

/** What is known of tools decides what is checked, and sent in headers. */
async function calling(client: Client): Promise<void> {
  const tools = await all(client.tools())
  await client.call(tools[0]?.name ?? 'berths', { text: 'x' }, { onProgress: () => undefined })
}

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

const RESULTS = new Map<string, readonly JsonObject[]>()

function answer(method: string, revision: Revision, random: Random): string {
  const key = `${revision} ${method}`
  const known = RESULTS.get(key) ?? resultsOf(method, revision)
  RESULTS.set(key, known)
  const message: JsonObject = { ...random.pick(known), id: new Raw(ID) }
  const part = random.oneIn(3) ? message : { ...message, result: mutateValue(message['result'], random) }
  const text = spell(random.oneIn(4) ? mutateValue(message, random) : part, random)
  return random.oneIn(8) ? mutateText(text, random) : text
}

function resultsOf(method: string, revision: Revision): readonly JsonObject[] {
  const results = corpus(revision)
    .filter((example) => example.kind === 'result' && example.method === method)
    .map((example) => toWire(example, revision))
  const asking = {
    resultType: 'input_required',
    requestState: 's',
    inputRequests: {
      a: {
        method: 'elicitation/create',
        params: { message: 'm', requestedSchema: { type: 'object', properties: {} } },
      },
    },
  }
  const more =
    revision === '2026-07-28' && methodRow(method)?.rounds === true
      ? [{ jsonrpc: '2.0', result: asking }]
      : []
  return [
    ...results,
    ...more,
    { jsonrpc: '2.0', result: {} },
    { jsonrpc: '2.0', error: { code: -32602, message: 'no', data: { x: 1 } } },
  ]
}

/** Questions, notifications and answers that nobody waits for. */
function noise(revision: Revision, random: Random): string {
  if (random.oneIn(2)) return messageText(random)
  const asked = corpus(revision).filter(
    ({ kind, method }) => kind !== 'result' && methodRow(method)?.from !== 'client',
  )
  const message = toWire(random.pick(asked), revision)
  return spell(random.oneIn(3) ? message : mutateValue(message, random), random)
}
