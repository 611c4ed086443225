import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { call } from '../http/messages.ts'
import { bundle } from '../harness/bundle.ts'
import { after, dial, greet } from './wire.ts'

const CONNECTIONS = 200

const folder = mkdtempSync(join(tmpdir(), 'pierhead-acceptors-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Starts processes that take connections on one port, and gives back where. */
async function startAcceptors(): Promise<string> {
  const outfile = bundle(new URL('acceptor-server.ts', import.meta.url), join(folder, 'server.mjs'))
  const primary = spawn(process.execPath, [outfile], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(primary, 'exit')
  after(async () => {
    primary.kill()
    await exited
  })
  const [printed] = (await once(primary.stdout, 'data')) as [Buffer]
  return printed.toString('utf8').trim()
}

test(`three processes accept on one port, and each of ${CONNECTIONS} connections that are open at once is answered [S2-10.3-3]`, async () => {
  const address = await startAcceptors()
  const wires = await Promise.all(Array.from({ length: CONNECTIONS }, () => dial(address)))
  await Promise.all(wires.map((wire) => greet(wire)))
  await Promise.all(wires.map((wire) => wire.write(`${call('who', {}, 2)}\n`)))
  const replies = (await Promise.all(wires.map((wire) => wire.heard(1)))).flat()
  for (const reply of replies) expect(reply).toMatchObject({ id: 2, result: { isError: false } })
  const pids = new Set(replies.map(({ result }) => JSON.stringify(result?.['content'])))
  expect(pids.size).toBe(3)
  expect(wires.filter(({ socket }) => socket.destroyed)).toEqual([])
})
