import { PassThrough } from 'node:stream'
import { afterAll, expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { META } from '../../src/protocol/meta.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { serveStdio } from '../../src/transport/stdio/server.ts'
import { ENVELOPE, initialize, message } from '../http/messages.ts'
import { closeListeners } from '../harness/connection-http.ts'
import type { AnyApp } from '../harness/connection.ts'
import { scenario } from '../harness/scenario.ts'
import { until } from '../hostile/peer.ts'
import { dial, echo, KINDS as SOCKET_KINDS, serveOver, type SocketKind } from '../tcp/wire.ts'
import { expectAlive, expectRefused, target } from './target.ts'
import { createServer } from '../../src/index.ts'
import { heldBuffers } from '../harness/memory.ts'

afterAll(() => closeListeners())

/** A server on two streams, of which whatever bytes go in. */
class Lines {
  readonly #input = new PassThrough({ highWaterMark: 1 << 20 })
  readonly #server: ReturnType<typeof serveStdio>
  said = ''

  constructor(app: AnyApp) {
    const output = new PassThrough()
    this.#server = serveStdio(serviceOf(app), { limits: app.limits, input: this.#input, output })
    output.on('data', (chunk: Buffer) => void (this.said += chunk.toString('utf8')))
  }

  async write(...pieces: readonly (string | Uint8Array)[]): Promise<void> {
    for (const piece of pieces) {
      if (!this.#input.write(piece)) await new Promise((resolve) => this.#input.once('drain', resolve))
    }
  }

  /** The messages that have come once there are so many. */
  async heard(
    count: number,
  ): Promise<readonly { readonly id?: unknown; readonly error?: { readonly code: number } }[]> {
    await until(() => this.said.split('\n').length > count, 10_000)
    return this.said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id?: unknown })
  }

  async close(): Promise<void> {
    this.#input.end()
    await this.#server.closed
  }
}

/** Lines over any transport that has them. */
interface Pipe {
  said: string
  write(...pieces: readonly (string | Uint8Array)[]): Promise<void>
  heard(
    count: number,
  ): Promise<readonly { readonly id?: unknown; readonly error?: { readonly code: number } | undefined }[]>
  close(): Promise<void>
}

type Kind = 'stdio' | SocketKind
const KINDS: readonly (readonly [Kind, Revision])[] = [
  ...REVISIONS.map((revision) => ['stdio', revision] as const),
  ...SOCKET_KINDS,
]

async function openPipe(kind: Kind, app: AnyApp = target().app): Promise<Pipe> {
  if (kind === 'stdio') return new Lines(app)
  const wire = await dial(await serveOver(kind, app))
  return Object.assign(wire, { close: async () => void wire.socket.destroy() })
}

/** On a socket, only a client that has sent a message may send what is none. */
async function openLines(kind: Kind, revision: Revision, app?: AnyApp): Promise<Pipe> {
  const lines = await openPipe(kind, app)
  if (revision === '2026-07-28' && kind === 'stdio') return lines
  await lines.write(`${revision === '2026-07-28' ? echo(revision, 1) : initialize(revision)}\n`)
  await lines.heard(1)
  lines.said = ''
  return lines
}

test.each(KINDS)(
  'L.blank L.crlf L.bom L.bytes L.500 over %s at %s lines are read however they are written and cut [R068] [S2-10.3-1]',
  async (kind, revision) => {
    const begun = await openPipe(kind)
    await begun.write(
      '\ufeff',
      revision === '2026-07-28' ? `${echo(revision, 1)}\r\n` : `${initialize(revision)}\r\n`,
    )
    await begun.write('\n\r\n   \t\r\n\n', `${echo(revision, 2)}\r\n`, `  ${echo(revision, 3)}  \n`)
    expect((await begun.heard(3)).map(({ id }) => id)).toEqual([1, 2, 3])
    await begun.close()
    const lines = await openLines(kind, revision)
    for (const byte of Buffer.from(`${echo(revision, 4, 'grüße 🚢')}\n`))
      await lines.write(Uint8Array.of(byte))
    expect(JSON.stringify(await lines.heard(1))).toContain('grüße 🚢')
    await lines.write(Array.from({ length: 500 }, (_, at) => `${echo(revision, 1000 + at)}\n`).join(''))
    expect(new Set((await lines.heard(501)).map(({ id }) => id)).size).toBe(501)
    await lines.close()
  },
)

test.each(KINDS)(
  'L.raw-newline L.two L.framing L.nul L.batch M.utf8-bad L.before-initialize L.init-bad over %s at %s what is no message is answered as such, and the next one is served [R009] [R068]',
  async (kind, revision) => {
    const unasked = await openPipe(kind)
    const broken = message('initialize', { protocolVersion: 5, capabilities: 'all' }, 3)
    await unasked.write(`${message('tools/list', {}, 1)}\n${broken}\n${echo('2026-07-28', 2)}\n`)
    expect(await unasked.heard(3)).toMatchObject([
      { id: 1, error: { code: -32600 } },
      { id: 3, error: { code: -32602 } },
      { id: 2, result: {} },
    ])
    await unasked.close()
    const lines = await openLines(kind, revision)
    const sound = echo(revision, 9)
    const odd: readonly (readonly [string | Buffer, number, number])[] = [
      [`${sound.slice(0, 20)}\n${sound.slice(20)}\n`, -32700, 2],
      [`${sound} ${sound}\n`, -32700, 1],
      [`Content-Length: ${sound.length}\r\n\r\n${sound}\n`, -32700, 1],
      ['\0\0\0\u0001\u0002\n', -32700, 1],
      [Buffer.from(`${sound.replace('"x"', '"\u00ff"')}\n`, 'latin1'), -32700, 1],
      ...(revision === '2025-03-26' ? [] : [[`[${sound},${sound}]\n`, -32600, 1] as const]),
    ]
    for (const [text, code, refusals] of odd) {
      lines.said = ''
      await lines.write(text, `${echo(revision, 77)}\n`)
      const framed = text.toString().startsWith('Content') ? 1 : 0
      const replies = await lines.heard(refusals + framed + 1)
      expect(replies.slice(0, refusals).map(({ error }) => error?.code)).toEqual(
        Array.from({ length: refusals }, () => code),
      )
      expect(replies.at(-1)).toMatchObject({ id: 77, result: {} })
    }
    await lines.close()
  },
)

test.each(KINDS)(
  'L.line-64m over %s at %s a line of 64 MiB is refused, never held, and survived',
  async (kind, revision) => {
    const lines = await openLines(kind, revision, target({ tcpBytes: 10_485_760 }).app)
    const before = heldBuffers()
    const megabyte = Buffer.alloc(1_048_576, 'x')
    let most = 0
    for (let sent = 0; sent < 64; sent++) {
      await lines.write(megabyte)
      most = Math.max(most, heldBuffers() - before)
    }
    await lines.write('\n', `${echo(revision, 5)}\n`)
    expect(await lines.heard(2)).toMatchObject([{ error: { code: -32600 } }, { id: 5, result: {} }])
    // Both ends of a socket are in this process.
    expect(most).toBeLessThan(kind === 'stdio' ? 60_000_000 : 120_000_000)
    await lines.close()
  },
)

const attacked = target()

scenario(
  'N.meta N.capabilities N.version a request whose metadata is none is refused over every transport [R044] [R123]',
  attacked.app,
  async (client) => {
    const before = attacked.ran
    const { [META.protocolVersion]: _version, ...unversioned } = ENVELOPE
    const { [META.clientCapabilities]: _capabilities, ...incapable } = ENVELOPE
    const wrong: readonly [object, number][] = [
      [{ ...ENVELOPE, [META.protocolVersion]: '2099-01-01' }, -32022],
      [incapable, -32602],
      [{ ...ENVELOPE, [META.clientCapabilities]: 'all' }, -32602],
      [{ ...ENVELOPE, [META.clientCapabilities]: null }, -32602],
      [{ ...unversioned, [META.protocolVersion]: 5 }, -32602],
    ]
    for (const [_meta, code] of wrong) {
      const params = { name: 'echo', arguments: { text: 'x' }, _meta }
      await expectRefused(
        client,
        JSON.stringify({ jsonrpc: '2.0', id: 'spoilt', method: 'tools/call', params }),
        code,
      )
    }
    expect(attacked.ran).toBe(before)
    await expectAlive(client)
  },
  { since: '2026-07-28' },
)

scenario(
  'N.state-forged N.state-tamper a state that is forged or changed is refused over every transport [R226]',
  () =>
    createServer({ name: 'asks', version: '1', log: () => undefined }).tool(
      'ask',
      {},
      async (_, { elicit }) =>
        JSON.stringify(await elicit('Sure?', { type: 'object', properties: {} } as never, { key: 'sure' })),
    ) as AnyApp,
  async (client) => {
    const asked = await client.request('tools/call', { name: 'ask' }, { rounds: false })
    const state = asked['requestState'] as string
    const inputResponses = { sure: { action: 'accept', content: {} } }
    const params = { name: 'ask', inputResponses }
    const changed = [
      state.slice(1),
      `${state}A`,
      state.toLowerCase(),
      state.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A')),
    ]
    for (const requestState of ['', 'x', '{}', 'A'.repeat(80), ...changed]) {
      await expectRefused(
        client,
        client.requestText('spoilt', 'tools/call', { ...params, requestState }),
        -32602,
      )
    }
    const done = await client.request('tools/call', { ...params, requestState: state }, { rounds: false })
    expect(done).toMatchObject({ resultType: 'complete' })
  },
  { since: '2026-07-28', capabilities: { elicitation: {} } },
)

scenario(
  'N.listen-odd subscription filters that are none are refused over every transport [R012]',
  attacked.app,
  async (client) => {
    for (const notifications of [
      null,
      5,
      [],
      'all',
      { toolsListChanged: 'yes' },
      { resourceSubscriptions: 'item://1' },
      { resourceSubscriptions: [5] },
      { resourceSubscriptions: Array.from({ length: 1001 }, (_, at) => `item://${at}`) },
    ]) {
      await expectRefused(
        client,
        client.requestText('spoilt', 'subscriptions/listen', { notifications }),
        -32602,
      )
    }
    await expectAlive(client)
  },
  { since: '2026-07-28' },
)
