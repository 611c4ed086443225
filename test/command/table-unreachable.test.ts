import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectJson } from './hostile-text.ts'
import { line } from './line.ts'
import { lineOf, talking, withoutSuite } from './table.ts'

let cwd = ''
let back = (): void => undefined

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'pierhead-away-'))
  back = withoutSuite(cwd)
})

afterAll(() => {
  back()
  rmSync(cwd, { recursive: true })
})

/** A port on which nothing listens, but something did just now. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  return port
}

const TARGETS: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  http: async () => [`http://127.0.0.1:${await closedPort()}/mcp`],
  ws: async () => [`ws://127.0.0.1:${await closedPort()}/mcp`],
  tcp: async () => [`tcp://127.0.0.1:${await closedPort()}`],
  unix: async () => [`unix:${join(cwd, 'none.sock')}`],
  program: async () => ['--', 'no-such-program-of-pierhead'],
}

describe.each(talking())('pierhead %s of a server that cannot be reached', (name) => {
  it.each(Object.keys(TARGETS))('over %s ends with its exit code and a fix', async (kind) => {
    const target = (await TARGETS[kind]?.()) ?? []
    const { code, stdout, stderr } = await line(lineOf(name, target, '--timeout', '20s'), { cwd })
    // The doctor prints what it finds as data, and the suite of conformance only knows HTTP.
    const [expected, text] =
      name === 'doctor' ? [8, stdout] : [name === 'conformance' && kind !== 'http' ? 2 : 4, stderr]
    expect({ code, text }).toEqual({ code: expected, text: expect.stringMatching(/"?fix"?: /) })
    expectJson({ code, stdout, stderr }, false)
  })
})

describe.each(['http', 'ws'])('pierhead auth login of a server that cannot be reached over %s', (kind) => {
  it('ends with its exit code and a fix', async () => {
    const [url = ''] = (await TARGETS[kind]?.()) ?? []
    const env = { HOME: cwd, USERPROFILE: cwd }
    const { code, stderr } = await line(['auth', 'login', url], { cwd, env, terminal: true })
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('fix: ') })
  })
})
