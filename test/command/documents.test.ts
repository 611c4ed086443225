import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'pierhead'
import { connect } from 'pierhead/client'
import { sqlite } from 'pierhead/stores'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { DOCUMENTS } from '../../src/cli/documents.ts'
import { DevLog } from '../../src/cli/dev/events.ts'
import type { Io } from '../../src/cli/io.ts'
import { Output } from '../../src/cli/output.ts'
import { line, spawnLine, type Outcome } from './line.ts'
import { linkPackages, programFolder } from './program-folder.ts'

let [cwd, url] = ['', '']

beforeEach(async () => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'pierhead-documents-')))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  const app = createServer({ name: 'sums', version: '1.0.0', log: () => undefined })
  app.tool('add', { description: 'Adds two numbers and returns the sum.' }, () => '3')
  ;({ url = '' } = await app.listen({ http: { port: 0 } }))
  onTestFinished(() => app.close())
})

function run(
  args: readonly string[],
  more: { terminal?: boolean; env?: Record<string, string> } = {},
): Promise<Outcome> {
  return line(args, { cwd, terminal: more.terminal, env: { HOME: cwd, ...more.env } })
}

/** The document that a line prints. */
async function printed(...args: string[]): Promise<Record<string, unknown>> {
  return JSON.parse((await run(args)).stdout)
}

/** The members of each document of a command, as its description names them. */
function membersOf(name: string): readonly (readonly string[])[] {
  const documents = (DOCUMENTS[name] ?? '').replaceAll(/: \[\{[^}]*\}\]/g, '')
  return Array.from(documents.matchAll(/\{ ([^}]*) \}/g), ([, list = '']) => list.split(', '))
}

describe('the JSON of a command', () => {
  it('is described for each, also in its help', async () => {
    for (const { name } of COMMANDS) {
      const text = DOCUMENTS[name]
      expect([name, typeof text]).toEqual([name, 'string'])
      const { stdout } = await run([...name.split(' '), '--help'])
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`JSON: ${text}`.replaceAll(/\s+/g, ' '))
    }
  })

  it('has the members that the description names', async () => {
    const lines: readonly (readonly string[])[] = [
      ['info', url],
      ['ping', url],
      ['list', url],
      ['doctor', url],
      ['auth', 'status'],
      ['keys', 'create', 'a.pem'],
      ['keys', 'show', 'a.pem'],
      ['install', url, '--client', 'cursor', '--yes'],
      ['install', url, '--client', 'cursor', '--print'],
      ['install', '--client', 'cursor', '--undo', '--yes'],
    ]
    for (const args of lines) {
      const document = await printed(...args)
      const name = args.slice(0, ['auth', 'keys'].includes(args[0] ?? '') ? 2 : 1).join(' ')
      for (const key of Object.keys(document)) expect(DOCUMENTS[name]).toContain(key)
      for (const [key, value] of Object.entries(document))
        expect(typeof value === 'boolean' ? key : 'isFine').toMatch(/^(?:is|has)[A-Z]/)
    }
  })

  it('has exactly the members that the description names, and whole paths, for add, test and dev', async () => {
    const home = realpathSync(programFolder({}))
    await line(['create', 'films', '--no-install'], { cwd: home })
    const own = join(home, 'films')
    linkPackages(own)
    const inProject = async (...args: string[]): Promise<Record<string, unknown>> =>
      JSON.parse((await spawnLine(args, { cwd: own })).stdout)
    const added = await inProject('add', 'tool', 'word-count')
    const tested = await inProject('test')
    const fixtures = join(own, 'fixtures', 'add.json')
    writeFileSync(fixtures, '[{ "input": { "a": 1, "b": 2 } }]')
    const updated = await inProject('test', 'add', '--update')
    expect(Object.keys(added)).toEqual(membersOf('add')[0])
    expect([Object.keys(tested), Object.keys(updated)]).toEqual(membersOf('test'))
    expect(added).toMatchObject({ isChanged: true })
    expect(updated['files']).toEqual([fixtures])
    for (const file of added['files'] as readonly string[]) expect(existsSync(file)).toBe(true)

    let text = ''
    const stdout = { write: (more: string) => (text += more) !== '' }
    const io = { stdout, stderr: stdout, env: {}, cwd: own, stdin: process.stdin } as unknown as Io
    const log = new DevLog(io, new Output(io, { json: true }), { isStdio: false, json: true, root: own })
    log.add({ event: 'listening', file: 'server.ts' })
    log.add({ event: 'reloading', files: ['tools/add.ts'] })
    log.add({ event: 'failed', message: 'no', where: 'server.ts:1:2', isServed: false })
    expect(
      text
        .trim()
        .split('\n')
        .map((one) => JSON.parse(one) as unknown),
    ).toMatchObject([
      { file: join(own, 'server.ts') },
      { files: [join(own, 'tools', 'add.ts')] },
      { where: `${join(own, 'server.ts')}:1:2` },
    ])
  }, 120_000)

  it('has whole paths, a target, and no secrets', async () => {
    const file = join(cwd, 'a.pem')
    expect(await printed('keys', 'create', 'a.pem')).toMatchObject({ file, isNew: true })
    expect(await printed('keys', 'create', 'a.pem')).toMatchObject({ file, isNew: false })
    const status = await run(['auth', 'status'], { env: { PIERHEAD_TOKEN: 'hush-hush' } })
    expect(JSON.parse(status.stdout)).toMatchObject({ hasToken: true, logins: [] })
    expect(status.stdout).not.toContain('hush')
    const login = await run(['auth', 'login', url, '--json'], { terminal: true })
    expect(JSON.parse(login.stdout)).toEqual({ target: url, isNew: false, logins: [] })
  })
})

describe('tasks of a store', () => {
  it('are in one member each, and retry tells of every id', async () => {
    const place = join(cwd, 'films.db')
    const store = sqlite(place, { synchronous: 'normal' })
    const app = createServer({ name: 'films', version: '1.0.0', store, log: () => undefined }).tool(
      'broken',
      { task: 'optional' },
      () => {
        throw new Error('no power')
      },
    )
    const { url: films = '' } = await app.listen({ http: { port: 0 } })
    const client = await connect(films, { revision: '2025-11-25' })
    onTestFinished(async () => {
      await client.close()
      await app.close()
      await store.close()
    })
    const task = await client.start('broken', {})
    await task.result().catch(() => undefined)
    const id = task.id ?? ''
    const end = ['--store', `sqlite:${place}`, '--name', 'films']
    expect(await printed('tasks', 'show', id, ...end)).toMatchObject({ task: { id, status: 'failed' } })
    const { code, stdout } = await run(['tasks', 'retry', 'absent', id, ...end])
    expect(code).toBe(6)
    expect(JSON.parse(stdout)).toEqual({
      tasks: [expect.objectContaining({ retryOf: id, tool: 'broken' })],
      failed: [{ id: 'absent', message: expect.any(String), hint: expect.any(String) }],
    })
    const shown = await run(['tasks', 'retry', 'absent', id, ...end], { terminal: true })
    expect(shown.stderr).toContain('absent: ')
    expect(shown.stdout).toContain('broken')
  })
})

describe('install --quiet', () => {
  it('shows the change to whoever is asked', async () => {
    writeFileSync(join(cwd, 'package.json'), '{"name":"x"}')
    const controller = new AbortController()
    const asked = line(['install', url, '--client', 'cursor', '--quiet'], {
      cwd,
      env: { HOME: cwd },
      terminal: true,
      signal: controller.signal,
    })
    controller.abort()
    expect((await asked).stderr).toContain(`+     "url": "${url}"`)
    const silent = await run(['install', url, '--client', 'cursor', '--quiet', '--yes'])
    expect(silent.stderr).toBe('')
  })
})
