import { expect, onTestFinished, test, vi } from 'vitest'
import { SharedClient } from '../../src/transport/http/server/shared-client.ts'
import { initialize, message } from '../http/messages.ts'
import { Gate } from '../http/server.ts'
import { frame, handshake, OPCODE, Raw } from '../ws/raw.ts'
import { open } from '../ws/server.ts'
import { startNodes, type TestNode } from './nodes.ts'

const TRY_LATER = 1013

const idOf = ({ head }: Raw): string => /^mcp-session-id: (.*)$/im.exec(head)?.[1]?.trim() ?? ''

test('a connection is closed if its session ends while the connection opens', async () => {
  const { nodes } = await startNodes({ listen: { http: { port: 0 }, ws: true } })
  const [one, two] = nodes as [TestNode, TestNode]
  const first = await open(one.port, { 'last-event-id': '0' })
  first.write(frame(initialize()))
  await first.until(() => first.texts.length === 1)
  const gate = new Gate()
  two.view.delay = async (step) => {
    if (step !== 'changes.publish') return
    gate.enter()
    await gate.opened
  }
  const opening = open(two.port, { 'last-event-id': '1', 'mcp-session-id': idOf(first) })
  await gate.entered
  const close = vi.spyOn(SharedClient.prototype, 'close')
  onTestFinished(() => close.mockRestore())
  first.write(frame(Buffer.from([3, 232]), { opcode: OPCODE.close }))
  // Both nodes forget it.
  await vi.waitFor(() => expect(new Set(close.mock.contexts).size).toBe(2))
  gate.open()
  const second = await opening
  expect(idOf(second)).toBe(idOf(first))
  expect(await second.closeCode()).toBe(TRY_LATER)
})

test('a node does not take over a session for a client that left before the store answered', async () => {
  const { nodes, stores } = await startNodes({ listen: { http: { port: 0 }, ws: true } })
  const [one, two] = nodes as [TestNode, TestNode]
  const first = await open(one.port, { 'last-event-id': '0' })
  first.write(frame(initialize()))
  await first.until(() => first.texts.length === 1)
  const gate = new Gate()
  two.view.delay = async (step) => {
    if (step !== 'sessions.use') return
    gate.enter()
    await gate.opened
  }
  const gone = new Raw(two.port)
  gone.write(handshake(two.port, { 'last-event-id': '1', 'mcp-session-id': idOf(first) }))
  await gate.entered
  gone.socket.destroy()
  await gone.closed
  // The node hears of that before it answers another client.
  await open(two.port)
  gate.open()
  await vi.waitFor(() => expect(stores.exchanges).toContainEqual({ node: 'node 2', step: 'events.head' }))
  const other = await open(two.port, { 'last-event-id': '0' })
  other.write(frame(initialize()))
  await other.until(() => other.texts.length === 1)
  first.write(frame(message('ping', {}, 2)))
  await first.until(() => first.texts.length === 2)
  expect(first.frames.map(({ opcode }) => opcode)).not.toContain(OPCODE.close)
})
