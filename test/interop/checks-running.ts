import { expect } from 'vitest'
import { failure, type Check } from './check.ts'
import type { Json, Message, Peer } from './peer.ts'

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
const LEVEL_KEY = 'io.modelcontextprotocol/logLevel'
let places = 0

/** What happens while calls run: progress, log messages, cancellation, many at once, changes. */
export const RUNNING: readonly Check[] = [
  {
    title: 'hears of progress that only rises [R190] [R191] [S4-14-5] [S2-4.5-2] [S2-9.4-13]',
    run: async (peer, revision) => {
      const name = `count-${++places}`
      const heard: Json[] = []
      const onprogress = (progress: Json): void => {
        if (heard.push(progress) === 3) void peer.call('let-go', { name })
      }
      const result = await peer.call('count', { name, to: 3 }, { onprogress })
      const message = (step: number): Json => (revision >= '2025-03-26' ? { message: `step ${step}` } : {})
      expect(heard).toEqual([1, 2, 3].map((step) => ({ progress: step, total: 3, ...message(step) })))
      expect(textOf(result)).toBe(`let go of ${name}`)
    },
  },
  {
    title: 'hears of no progress that it did not ask for [R190]',
    run: async (peer) => {
      const name = `count-${++places}`
      await peer.call('let-go', { name })
      const before = peer.wire.received.length
      await peer.call('count', { name, to: 3 })
      expect(peer.wire.received.slice(before).map(({ method }) => method)).toEqual([undefined])
    },
  },
  {
    title:
      'cancels a call that told its progress: the handler is told, and nothing more arrives [R194] [S4-14-2] [S4-14-3]',
    run: async (peer) => {
      const name = `wait-${++places}`
      const stop = new AbortController()
      const waiting = peer.call(
        'wait',
        { name },
        { signal: stop.signal, onprogress: () => stop.abort('enough') },
      )
      await expectCancelled(peer, name, waiting)
    },
  },
  {
    title:
      'cancels a call that was silent: the handler is told, and nothing more arrives [R194] [S4-14-2] [S4-14-3]',
    run: async (peer) => {
      const name = `wait-${++places}`
      const stop = new AbortController()
      const waiting = peer.call('wait', { name }, { signal: stop.signal })
      await peer.call('await', { name: `start of ${name}` })
      stop.abort('enough')
      await expectCancelled(peer, name, waiting)
    },
  },
  {
    title:
      'has a hundred calls in flight, answered in any order, each with its own answer [S3-9-9] [S2-15-1] [R005] [R101]',
    run: async (peer) => {
      const place = `square-${++places}`
      const callers = Array.from({ length: 100 }, (_, index) => `caller ${index}`)
      const met = await Promise.all(callers.map((me) => peer.call('meet', { place, people: 100, me })))
      expect(met.map(textOf)).toEqual(callers)
    },
  },
  {
    title: 'gets log messages at and above the level that it asked for [R185] [R187] [S4-14-6] [S2-9.4-9]',
    run: async (peer, revision) => {
      for (const level of ['debug', 'warning', 'emergency'] as const) {
        if (revision < '2026-07-28') await peer.request('logging/setLevel', { level })
        await peer.call('speak', {}, revision < '2026-07-28' ? {} : { meta: { [LEVEL_KEY]: level } })
        expect(peer.heard.take('notifications/message').map(plainNotice)).toEqual(
          SPOKEN.slice(LEVELS.indexOf(level)),
        )
      }
    },
  },
  {
    title: 'gets no log message unless the request set a level [R186]',
    since: '2026-07-28',
    run: async (peer) => {
      await peer.call('speak')
      expect(peer.heard.take('notifications/message')).toEqual([])
    },
  },
  {
    title:
      'hears of each change of a resource it watches and of no other, until it stops [R175] [R176] [R228] [R229] [S3-9-8] [S3-5.2-3] [S3-5.2-4] [S4-8-6] [S2-3.4-2]',
    run: async (peer) => {
      const stop = await peer.watch('note://hello')
      for (const uri of ['note://hello', 'note://logo', 'note://hello']) await peer.call('touch', { uri })
      expect(plainNotice(await peer.heard.next(UPDATED))).toEqual({ uri: 'note://hello' })
      expect(plainNotice(await peer.heard.next(UPDATED))).toEqual({ uri: 'note://hello' })
      await stop()
      await peer.call('touch', { uri: 'note://hello' })
      await settled(peer)
      expect(peer.heard.take(UPDATED)).toEqual([])
    },
  },
  {
    title:
      'hears that lists changed, once per change, and sees the change [R156] [S2-3.1-2] [S2-4.1-1] [S2-5.1-1] [S4-8-7] [S4-9-5] [S4-10-7]',
    run: async (peer) => {
      const stop = await peer.watch('note://hello')
      try {
        for (const [tool, there] of [
          ['grow', true],
          ['shrink', false],
        ] as const) {
          await peer.call(tool)
          for (const kind of LIST_KINDS) {
            await peer.heard.next(`notifications/${kind}/list_changed`)
            const names = (await peer.all(kind)).map(({ name }) => name)
            expect(names.includes('extra')).toBe(there)
          }
        }
      } finally {
        await stop()
      }
      await settled(peer)
      for (const kind of LIST_KINDS) expect(peer.heard.take(`notifications/${kind}/list_changed`)).toEqual([])
    },
  },
]

const LIST_KINDS = ['tools', 'resources', 'prompts'] as const
const UPDATED = 'notifications/resources/updated'
const SPOKEN: readonly Json[] = [
  { level: 'debug', data: 'one' },
  { level: 'info', data: { message: 'two', at: 2 } },
  { level: 'notice', data: 'three' },
  { level: 'warning', data: 'four' },
  { level: 'error', data: 'five' },
  { level: 'critical', data: 'six' },
  { level: 'alert', data: 'seven' },
  { level: 'emergency', data: ['eight'], logger: 'siren' },
]

async function expectCancelled(peer: Peer, name: string, waiting: Promise<unknown>): Promise<void> {
  await failure(waiting)
  const { id } = peer.wire.sent.findLast(({ params }) => params?.['name'] === 'wait') as Message
  const before = peer.wire.received.length
  expect(textOf(await peer.call('await', { name: `end of ${name}` }))).toMatch(/cancelled|closed/)
  await settled(peer)
  const after = peer.wire.received.slice(before)
  expect(after.filter((one) => one.id === id || one.method !== undefined)).toEqual([])
  expect(after).toHaveLength(4)
}

/** Lets what the server sent before now arrive, on whichever stream it travels. */
async function settled(peer: Peer): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await peer.call('echo', { text: 'turn' })
}

function plainNotice(params: Json): Json {
  const { _meta, ...rest } = params
  return rest
}

/** The text of a result that is one block of text. */
export function textOf(result: Json): string {
  const [block, ...more] = result['content'] as { readonly text: string }[]
  if (block === undefined || more.length > 0) throw new Error('it should be one block')
  return block.text
}
