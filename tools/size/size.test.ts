import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { bundleSingle, bundleSplit } from './bundle.ts'
import { LOGIN_HOOKS, loginCode } from './login-code.ts'
import type { Size } from './measure.ts'
import { PROGRAMS, programOf, requireInstalled, SUBJECTS, TASKS } from './programs.ts'
import { withSizes } from './page.ts'
import { linesOf, tableText } from './table.ts'
import { breaches, CLIENT_TARGETS, excessOf, kilobytes, SERVER_EXCESS } from './targets.ts'

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function sizes({ server = 1000, v2 = 1000, client = 1000, initial = 500 } = {}): readonly Size[] {
  return [
    { subject: 'Pierhead', task: TASKS.zod, single: server, initial: server, total: server },
    { subject: 'official v2', task: TASKS.zod, single: v2, initial: v2, total: v2 },
    { subject: 'Pierhead', task: TASKS.client, single: client, initial, total: client + 100 },
  ]
}

test('sizes at their targets exceed nothing', () => {
  const { single: client, initial } = CLIENT_TARGETS
  expect(breaches(sizes({ server: 116_000 + SERVER_EXCESS, v2: 116_000, client, initial }))).toEqual([])
})

test('a server that is larger than official v2 exceeds its target', () => {
  const most = 130_000
  expect(breaches(sizes({ server: most + 100, v2: most - SERVER_EXCESS }))).toEqual([
    'the stdio server with zod, as one file, is 130.1 KB, more than 130.0 KB',
  ])
})

test('the excess is the distance of our server from its target', () => {
  expect(excessOf(sizes({ server: 130_100, v2: 116_000 }))).toBe(14_100)
  expect(excessOf(sizes({ server: 115_000, v2: 116_000 }))).toBe(-1000)
})

test('a client exceeds its targets as one file and in its initial chunk', () => {
  const { single, initial } = CLIENT_TARGETS
  expect(breaches(sizes({ client: single + 100, initial: initial + 100 }))).toEqual([
    `the browser client, as one file, is ${kilobytes(single + 100)}, more than ${kilobytes(single)}`,
    `the initial chunk of the browser client is ${kilobytes(initial + 100)}, more than ${kilobytes(initial)}`,
  ])
})

test('a missing measurement is an error, not a met target', () => {
  const [own, , client] = sizes()
  expect(() => breaches([own!, client!])).toThrow(`official v2 was not measured: ${TASKS.zod}`)
})

test('the error for a peer that is not installed names the missing packages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'size-'))
  folders.push(folder)
  mkdirSync(join(folder, 'zod'))
  writeFileSync(join(folder, 'zod', 'package.json'), '{}')
  const peer = programOf('official v2', TASKS.zod)
  expect(() => requireInstalled(peer, folder)).toThrow(
    'official v2 cannot be measured without @modelcontextprotocol/server: run npm install',
  )
})

test('every peer in the table is installed here', () => {
  for (const program of PROGRAMS) requireInstalled(program)
  expect(new Set(PROGRAMS.map(({ subject }) => subject))).toEqual(new Set(SUBJECTS))
})

test('a library has no program for a task that it does not support', () => {
  expect(() => programOf('tmcp', TASKS.client)).toThrow(`tmcp has no program for: ${TASKS.client}`)
})

test('the table has each size in its column and leaves out what was not measured', () => {
  const lines = linesOf(sizes({ server: 100_400, v2: 99_940 }))
  const find = (task: string, form: string) =>
    lines.find((line) => line.task === task && line.form === form)?.cells
  expect(find(TASKS.zod, 'one file, esbuild')).toEqual(['100', '', '99.9', ''])
  expect(find(TASKS.client, 'initial / all chunks, esbuild')).toEqual(['0.5 / 1.1', '', '', ''])
  expect(find(TASKS.client, 'initial / all chunks, Vite')).toEqual(['', '', '', ''])
  expect(tableText(sizes()).split('\n')[0]).toMatch(
    /^KB gzip, minified +Pierhead +official v1 +official v2 +tmcp$/,
  )
})

test('the page gets the table between its markers, and the rest stays', () => {
  const readme = withSizes(
    'a\n<!-- size -->\nold\n<!-- /size -->\nb',
    sizes({ v2: 99_940 }),
    'Measured today.',
  )
  expect(readme).toContain('|\n\nMeasured today.\n\n<!-- /size -->')
  expect(readme).toMatch(/^a\n<!-- size -->\n\n\| KB gzip[\s\S]*\| 99\.9 \|[\s\S]*<!-- \/size -->\nb$/)
  expect(readme).not.toContain('old')
  expect(() => withSizes('no markers', sizes(), '')).toThrow(
    'docs/benchmarks.md has no <!-- size --> markers',
  )
})

test('a dynamically imported module is in the single file but not in the initial chunk', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'size-'))
  folders.push(folder)
  writeFileSync(join(folder, 'first.js'), `export const first = 'first part'`)
  writeFileSync(join(folder, 'later.js'), `export const later = process.env.LATER + 'later part'`)
  const text = `import { first } from '${join(folder, 'first.js')}'
    console.log(first, import('${join(folder, 'later.js')}'))`
  const split = await bundleSplit({ text, platform: 'browser' })
  expect(split.code).toContain('first part')
  expect(split.code).not.toContain('later part')
  expect(split.later).toHaveLength(1)
  expect(split.initial).toBeLessThan(split.total)
  expect(split.nodeGlobals).toEqual(['process'])
  const single = await bundleSingle({ text, platform: 'browser' })
  expect([...single.inputs.keys()].filter((file) => file.endsWith('later.js'))).toHaveLength(1)
})

test.each(['browser', 'node'] as const)(
  'a client without auth has no code for logins, at the start or later, on the platform %s',
  async (platform) => {
    const client = { ...programOf('Pierhead', TASKS.client), platform, from: 'source' } as const
    const { inputs } = await bundleSingle(client)
    expect(loginCode(inputs)).toEqual([])
    expect([...inputs.keys()]).toEqual(expect.arrayContaining(Object.keys(LOGIN_HOOKS)))
    const text = `import { token } from 'pierhead/auth/client'\ntoken(() => 'x')\n${client.text}`
    expect(loginCode((await bundleSingle({ ...client, text })).inputs)).toContain(
      'src/auth/client/logins.ts is in a client without auth',
    )
  },
)

test('hooks for logins have a limit', () => {
  const file = 'src/rpc/logins.ts'
  const most = LOGIN_HOOKS[file] as number
  expect(loginCode(new Map([[file, most]]))).toEqual([])
  expect(loginCode(new Map([[file, most + 1]]))).toEqual([
    `${file} has ${most + 1} bytes in a client without auth, more than ${most}`,
  ])
})
