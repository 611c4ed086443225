import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import type { CommandTarget } from '../../src/client/target.ts'

const PROGRAM = fileURLToPath(new URL('slow.mjs', import.meta.url))
/** Less than a late program needs to start. */
const PROBE = '500ms'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slow-'))
})
afterAll(() => rm(folder, { recursive: true }))

interface Program {
  readonly target: CommandTarget
  /** What the program got, each time that it was started. */
  heard(): Promise<readonly string[]>
}

let programs = 0

/** A program under a name of its own, so that nothing is known of it yet. */
function program(...habits: readonly string[]): Program {
  const log = join(folder, String(++programs))
  return {
    target: { command: process.execPath, args: [PROGRAM, log, ...habits] },
    async heard() {
      const lines = (await readFile(log, 'utf8')).trim().split('\n').join(' ')
      return lines.split(/ ?started ?/).slice(1)
    },
  }
}

describe('a program that starts slowly', () => {
  test.each([
    ['and serves all revisions', ['late'], ['server/discover initialize server/discover tools/call']],
    [
      'and serves only the newest',
      ['late', 'newest'],
      ['server/discover initialize server/discover tools/call'],
    ],
    [
      'and serves no other after a handshake',
      ['late', 'pins'],
      ['server/discover initialize server/discover', 'server/discover tools/call'],
    ],
  ])('%s is served at the newest revision', async (_, habits, expected) => {
    const { target, heard } = program(...habits)
    await using client = await connect(target, { probe: PROBE })
    expect((await client.server()).revision).toBe('2026-07-28')
    expect(await client.call('era')).toBe('request')
    expect(await heard()).toEqual(expected)
  })

  test('is started only once when it is known to have the newest revision', async () => {
    const { target, heard } = program('late', 'pins')
    for (let turn = 0; turn < 2; turn++) {
      await using client = await connect(target, { probe: PROBE })
      expect((await client.server()).revision).toBe('2026-07-28')
    }
    expect((await heard()).slice(2)).toEqual(['server/discover'])
  })

  test.each(['refuses', 'ignores'])('and %s the newest revision gets a handshake', async (habit) => {
    const { target, heard } = program('late', habit)
    await using client = await connect(target, { probe: PROBE })
    expect((await client.server()).revision).toBe('2025-11-25')
    await client.call('era')
    expect(await heard()).toEqual(['server/discover initialize notifications/initialized tools/call'])
  })

  test('and exits at an unknown request is started again with a handshake', async () => {
    const { target, heard } = program('late', 'exits')
    await using client = await connect(target, { probe: PROBE })
    expect((await client.server()).revision).toBe('2025-11-25')
    await client.call('era')
    expect(await heard()).toEqual(['server/discover', 'initialize notifications/initialized tools/call'])
  })

  test('and needs longer than the default of probe is served at the newest revision', async () => {
    await using client = await connect(program('later').target)
    expect((await client.server()).revision).toBe('2026-07-28')
    expect(await client.call('era')).toBe('request')
  })
})

describe('an official server that starts slowly', () => {
  const late = (file: string, ...args: readonly string[]): CommandTarget => ({
    command: process.execPath,
    args: [
      '-e',
      `setTimeout(() => import(${JSON.stringify(import.meta.resolve(file))}), 1500)`,
      '--',
      ...args,
    ],
  })

  test('of the second generation is served at the newest revision', async () => {
    await using client = await connect(late('../../bench/subjects/official-v2-stdio.mjs'), { probe: PROBE })
    expect((await client.server()).revision).toBe('2026-07-28')
    expect((await client.callRaw('add', { a: 1, b: 2 })).isError).not.toBe(true)
    expect((await client.tools().toArray()).map(({ name }) => name)).toContain('add')
  })

  test('of the first generation is served at 2025-11-25', async () => {
    const everything = '@modelcontextprotocol/server-everything/dist/index.js'
    await using client = await connect(late(everything, 'stdio'), { probe: PROBE })
    expect((await client.server()).revision).toBe('2025-11-25')
    expect((await client.tools().toArray()).map(({ name }) => name)).toContain('echo')
  })
})

test('a program that ignores the first request gets a handshake when the time of the probe is over', async () => {
  const { target, heard } = program('ignores')
  await using client = await connect(target, { probe: PROBE })
  expect((await client.server()).revision).toBe('2025-11-25')
  await client.call('era')
  expect(await heard()).toEqual(['server/discover initialize notifications/initialized tools/call'])
})
