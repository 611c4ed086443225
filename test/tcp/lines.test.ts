import { expect, test } from 'vitest'
import type { Revision } from '../../src/protocol/revisions.ts'
import { message, initialize } from '../http/messages.ts'
import { target } from '../security/target.ts'
import { dial, echo, greet, KINDS, serveOver, SOCKETS, type SocketKind, type Wire } from './wire.ts'

async function openLines(kind: SocketKind, revision: Revision): Promise<Wire> {
  return greet(await dial(await serveOver(kind, target().app)), revision)
}

test.each(KINDS)(
  'L.blank L.crlf L.bom L.bytes L.500 over %s at %s lines are read however they are written and cut [R068] [S2-10.3-1]',
  async (kind, revision) => {
    const address = await serveOver(kind, target().app)
    const begun = await dial(address)
    await begun.write(
      '\ufeff',
      revision === '2026-07-28' ? `${echo(revision, 1)}\r\n` : `${initialize(revision)}\r\n`,
    )
    await begun.write('\n\r\n   \t\r\n\n', `${echo(revision, 2)}\r\n`, `  ${echo(revision, 3)}  \n`)
    expect((await begun.heard(3)).map(({ id }) => id)).toEqual([1, 2, 3])
    const lines = await greet(await dial(address), revision)
    for (const byte of Buffer.from(`${echo(revision, 4, 'grüße 🚢')}\n`))
      await lines.write(Uint8Array.of(byte))
    expect(JSON.stringify(await lines.heard(1))).toContain('grüße 🚢')
    await lines.write(Array.from({ length: 500 }, (_, at) => `${echo(revision, 1000 + at)}\n`).join(''))
    expect(new Set((await lines.heard(501)).map(({ id }) => id)).size).toBe(501)
  },
)

test.each(KINDS)(
  'L.raw-newline L.two L.framing L.nul L.batch M.utf8-bad over %s at %s what is no message is answered as such, and the next one is served [R009] [R068]',
  async (kind, revision) => {
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
  },
)

test.each(SOCKETS)('L.before-initialize over %s a request before the handshake is refused', async (kind) => {
  const lines = await dial(await serveOver(kind, target().app))
  await lines.write(`${message('tools/list', {}, 1)}\n${echo('2026-07-28', 2)}\n`)
  expect(await lines.heard(2)).toMatchObject([
    { id: 1, error: { code: -32600 } },
    { id: 2, result: {} },
  ])
})

test.each(SOCKETS)(
  'over %s what is no MCP at all is refused line by line, and harms nobody else',
  async (kind) => {
    const address = await serveOver(kind, target().app)
    const bystander = await greet(await dial(address))
    const stranger = await dial(address)
    await stranger.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n', '\u0016\u0003\u0001\u0002\n', 'SSH-2.0-x\r\n')
    for (const { error } of await stranger.heard(4)) expect(error?.code).toBe(-32700)
    stranger.socket.destroy()
    await bystander.write(`${echo('2025-11-25', 5)}\n`)
    expect(await bystander.heard(1)).toMatchObject([{ id: 5, result: {} }])
  },
)

test('M.cross-talk sixteen clients with equal ids get each their own answers [S2-10.3-3]', async () => {
  const address = await serveOver('tcp', target().app)
  const wires = await Promise.all(Array.from({ length: 16 }, async () => greet(await dial(address))))
  await Promise.all(
    wires.map(async (wire, at) => {
      await wire.write(
        Array.from({ length: 50 }, (_, id) => `${echo('2025-11-25', id, `${at}/${id}`)}\n`).join(''),
      )
      const replies = await wire.heard(50)
      for (const { id, result } of replies)
        expect(result?.['content']).toEqual([{ type: 'text', text: `${at}/${String(id)}` }])
    }),
  )
})

test('200 clients that vanish in the middle of a message leave nothing behind [S2-10.3-3]', async () => {
  const { app } = target()
  const address = await serveOver('tcp', app)
  for (let round = 0; round < 10; round++) {
    const wires = await Promise.all(Array.from({ length: 20 }, () => dial(address)))
    await Promise.all(wires.map((wire) => wire.write(echo('2026-07-28', 1).slice(0, 50))))
    for (const wire of wires) wire.socket.resetAndDestroy()
  }
  const wire = await dial(address)
  await wire.write(`${echo('2026-07-28', 5)}\n`)
  expect(await wire.heard(1)).toMatchObject([{ id: 5, result: {} }])
  expect(app.service.load.running).toBe(0)
})
