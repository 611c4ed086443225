import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { urlDoor } from '../../src/validate/door.ts'
import { officialOutcomes } from '../../src/validate/official.ts'
import { SUITE_VERSION } from '../../src/validate/suite.ts'
import type { Report } from '../../src/validate/result.ts'
import type { Outcome } from '../../src/validate/run.ts'
import { line } from '../command/line.ts'
import { serveEverywhere, type Served } from './faulty-door.ts'
import { createFixture } from './fixture.ts'

let served: Served
let url: URL

beforeAll(async () => {
  served = await serveEverywhere(createFixture())
  url = served.addresses.http
})
afterAll(() => served.close())

const LIST = `Required for 2025-11-25 (5 scenarios, frozen):

Server scenarios (test against a server):
  - ping
  - tools-list
  - tools-call-image
  - prompts-list
  - dns-rebinding-protection
  - server-initialize

Client scenarios (test against a client):
  - initialize

Run and reported, but never scored:
  extension (2):
    - auth/dpop [client]
    - server-session-lifecycle [server]
`
const CHECKS: Readonly<Record<string, readonly object[]>> = {
  ping: [{ id: 'ping', status: 'SUCCESS' }],
  'tools-list': [
    { id: 'tools-list', status: 'FAILURE', errorMessage: 'a tool has no name' },
    { id: 'order', status: 'WARNING', description: 'the order changes' },
  ],
  'tools-call-image': [{ id: 'image', status: 'FAILURE', errorMessage: 'unknown tool' }],
  'dns-rebinding-protection': [
    { id: 'wire-schema-valid', status: 'SUCCESS' },
    { id: 'skipped', status: 'SKIPPED' },
  ],
  'server-session-lifecycle': [{ id: 'delete', status: 'FAILURE', errorMessage: 'status 500' }],
  'prompts-list': [{ id: 'prompts-list', status: 'SUCCESS' }],
}

/** A suite that knows the results before. */
async function fakeSuite(args: readonly string[]): Promise<string> {
  if (args[0] === 'list') return LIST
  const folder = args[args.indexOf('-o') + 1] ?? ''
  for (const [name, checks] of Object.entries(CHECKS)) {
    mkdirSync(join(folder, `server-${name}-2026-11-18T07-01-08-836Z`))
    writeFileSync(
      join(folder, `server-${name}-2026-11-18T07-01-08-836Z`, 'checks.json'),
      JSON.stringify(checks),
    )
  }
  return 'done'
}

function run(target: URL): Promise<readonly Outcome[]> {
  return officialOutcomes({ door: urlDoor(target, {}), revisions: ['2025-11-25'], ms: 2_000, run: fakeSuite })
}

describe('results of the official suite', () => {
  test('each scenario is an outcome, and those that need the server of the suite do not apply', async () => {
    const outcomes = await run(url)
    expect(outcomes.map(({ id, is, level }) => `${id} ${level} ${is}`)).toEqual([
      'official:ping must passed',
      'official:tools-list must failed',
      'official:tools-call-image must absent',
      'official:prompts-list must passed',
      'official:dns-rebinding-protection must unchecked',
      'official:server-initialize must failed',
      'official:server-session-lifecycle convention failed',
    ])
    expect(outcomes[1]?.found).toBe('tools-list: a tool has no name; order: the order changes')
    expect(outcomes[5]?.found).toBe('the scenario ended before it wrote its checks')
  })

  test('the server of the suite gets all scenarios, and others only those that fit their capabilities', async () => {
    const app = createServer({ name: 'suite', version: '1.0.0' })
    app.tool('test_simple_text', { description: 'Returns a text' }, () => 'text')
    const running = await app.listen({ http: { port: 0, host: '127.0.0.1' } })
    onTestFinished(() => running.close())
    const outcomes = await run(new URL(String(running.url)))
    const states = Object.fromEntries(outcomes.map(({ id, is }) => [id, is]))
    expect(states).toMatchObject({
      'official:tools-call-image': 'failed',
      'official:prompts-list': 'absent',
    })
  })

  test('a suite that lists nothing is an error', async () => {
    const door = urlDoor(url, {})
    const running = officialOutcomes({ door, revisions: ['2025-11-25'], ms: 2_000, run: async () => '' })
    await expect(running).rejects.toThrow('the suite lists no scenarios')
  })
})

describe('pierhead conformance', () => {
  // The suite needs a later Node than the oldest on which the tests run, and what takes its place does not.
  const own = Object.getOwnPropertyDescriptor(process, 'version') ?? {}
  beforeAll(() => void Object.defineProperty(process, 'version', { ...own, value: 'v22.0.0' }))
  afterAll(() => void Object.defineProperty(process, 'version', own))

  /** A project in which a program takes the place of the suite. */
  function projectWith(program: string): string {
    const cwd = mkdtempSync(join(tmpdir(), 'pierhead-official-'))
    onTestFinished(() => rmSync(cwd, { recursive: true }))
    const home = join(cwd, 'node_modules/@modelcontextprotocol/conformance')
    mkdirSync(join(cwd, 'node_modules/.bin'), { recursive: true })
    mkdirSync(home, { recursive: true })
    const about = {
      name: '@modelcontextprotocol/conformance',
      version: SUITE_VERSION,
      bin: { conformance: 'run.js' },
    }
    writeFileSync(join(cwd, 'package.json'), '{ "private": true }')
    writeFileSync(join(home, 'package.json'), JSON.stringify(about))
    const path = join(cwd, 'node_modules/.bin/conformance')
    for (const file of [path, join(home, 'run.js')]) {
      writeFileSync(file, `#!/usr/bin/env node\n${program}`)
      chmodSync(file, 0o755)
    }
    return cwd
  }

  const args = ['--allow-calls', '--target', '2025-11', '--rule', 'V001', '--rule', 'official:ping']

  test('merges the results of the suite with our own, and ends with 8 if one fails', async () => {
    const cwd = projectWith(`
      const { mkdirSync, writeFileSync } = require('node:fs')
      const args = process.argv.slice(2)
      if (args[0] === 'list') console.log(${JSON.stringify(LIST)})
      else {
        const folder = args[args.indexOf('-o') + 1] + '/server-ping-2026-11-18T07-01-08-836Z'
        mkdirSync(folder)
        writeFileSync(folder + '/checks.json', '[{"id":"ping","status":"FAILURE","errorMessage":"no answer"}]')
        process.exitCode = 1
      }`)
    const { code, stdout } = await line(['conformance', String(url), ...args], { cwd })
    const { outcomes, counts } = JSON.parse(stdout) as Report
    expect(code).toBe(8)
    expect(counts).toMatchObject({ passed: 1, failures: 1 })
    expect(outcomes.map(({ id, is, found }) => [id, is, found])).toEqual([
      ['V001', 'passed', undefined],
      ['official:ping', 'failed', 'ping: no answer'],
    ])
  })

  test.each([
    [
      'npm error code ENOTFOUND',
      'Without a network, install it in your project before: npm install --save-dev',
    ],
  ])('says what to do if the suite cannot be run: %s', async (message, hint) => {
    const cwd = projectWith(`console.error(${JSON.stringify(message)}); process.exitCode = 1`)
    const { code, stdout, stderr } = await line(['conformance', String(url), ...args], { cwd })
    expect(code).toBe(1)
    expect(stderr).toContain('the official suite could not be run: ')
    expect(stderr).toContain(hint)
    const { outcomes } = JSON.parse(stdout) as Report
    expect(outcomes.map(({ id, is }) => `${id} ${is}`)).toEqual(['V001 passed', 'official:suite unchecked'])
    expect(outcomes[1]?.found).toContain('the official suite could not be run: ')
  })

  test('does not run the suite if only our rules are asked for', async () => {
    const cwd = projectWith(`console.error('it ran'); process.exitCode = 1`)
    const own = ['--allow-calls', '--target', '2025-11', '--rule', 'V001']
    const { code, stdout } = await line(['conformance', String(url), ...own], { cwd })
    expect(code).toBe(0)
    expect((JSON.parse(stdout) as Report).outcomes.map(({ id }) => id)).toEqual(['V001'])
  })

  test('keeps the results of revisions that the suite was done with', async () => {
    const cwd = projectWith(`
      const { mkdirSync, writeFileSync } = require('node:fs')
      const args = process.argv.slice(2)
      if (args.includes('2026-07-28')) process.exitCode = 1
      else if (args[0] === 'list') console.log(${JSON.stringify(LIST)})
      else {
        const folder = args[args.indexOf('-o') + 1] + '/server-ping-2026-11-18T07-01-08-836Z'
        mkdirSync(folder)
        writeFileSync(folder + '/checks.json', '[{"id":"ping","status":"SUCCESS"}]')
      }`)
    const some = ['--allow-calls', '--rule', 'V001', '--rule', 'official:ping']
    const { code, stdout } = await line(['conformance', String(url), ...some], { cwd })
    expect(code).toBe(1)
    const suite = (JSON.parse(stdout) as Report).outcomes.filter(({ id }) => id.startsWith('official:'))
    expect(suite.map(({ id, is, revision }) => [id, is, revision])).toEqual([
      ['official:ping', 'passed', '2025-11-25'],
      ['official:suite', 'unchecked', '2026-07-28'],
    ])
  })

  test('wants a URL', async () => {
    const { code, stderr } = await line(['conformance', '--allow-calls', '--', 'node', 'server.js'])
    expect(code).toBe(2)
    expect(stderr).toContain('the official suite only tests servers over HTTP')
  })
})
