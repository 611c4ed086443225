import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type App } from 'pierhead'
import { bearer } from 'pierhead/auth'
import { connect, type Client } from 'pierhead/client'
import { token } from 'pierhead/auth/client'
import { sqlite } from 'pierhead/stores'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { Deferred } from '../../src/base/deferred.ts'
import { line, type Outcome } from './line.ts'

const CORE = ['--revision', '2025-11-25']
const env = { PIERHEAD_TOKEN: 'ann' }

let [file, url] = ['', '']
let app: App

beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-tasks-'))
  file = join(folder, 'films.db')
  const store = sqlite(file, { synchronous: 'normal' })
  app = createServer({
    name: 'films',
    version: '1.0.0',
    store,
    log: () => undefined,
    limits: { drainMs: 1 },
    auth: bearer((sub) => ({ sub, scopes: [] })),
  })
    .tool('render', { task: 'optional' }, () => 'a film')
    .tool('keyed', { task: { key: () => 'film 7' } }, () => 'a film')
    .tool('broken', { task: 'optional' }, () => {
      throw new Error('no \u001b[31mpower')
    })
    .tool('endless', { task: 'required' }, () => new Promise<string>(() => undefined)) as unknown as App
  url = (await app.listen({ http: { port: 0 } })).url ?? ''
  onTestFinished(async () => {
    await app.close()
    await store.close()
    rmSync(folder, { recursive: true })
  })
})

async function client(): Promise<Client> {
  const opened = await connect(url, { auth: token(() => 'ann'), revision: '2025-11-25' })
  onTestFinished(() => opened.close())
  return opened
}

/** Starts a task, and waits until it has ended. */
async function done(name: string): Promise<string> {
  const task = await (await client()).start(name, {})
  await task.result().catch(() => undefined)
  return task.id ?? ''
}

function tasks(args: readonly string[], terminal = false): Promise<Outcome> {
  return line(['tasks', ...args], { env, terminal })
}

function stored(args: readonly string[]): Promise<Outcome> {
  const [verb = '', ...others] = args
  return line(['tasks', verb, '--store', `sqlite:${file}`, '--name', 'films', ...others])
}

describe('tasks of a server', () => {
  it('lists, shows and cancels those of the caller', async () => {
    const ended = await done('render')
    const { id = '' } = await (await client()).start('endless', {})
    const list = await tasks(['list', url])
    expect(JSON.parse(list.stdout).tasks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: ended, status: 'completed' }),
        expect.objectContaining({ id, status: 'working' }),
      ]),
    )
    const working = await tasks(['list', url, '--status', 'working', ...CORE], true)
    expect(working.stdout).toContain(id)
    expect(working.stdout).not.toContain(ended)
    const shown = await tasks(['show', url, ended])
    expect(JSON.parse(shown.stdout)).toMatchObject({
      task: { status: 'completed', outcome: { result: 'a film' } },
    })
    const cancelled = await tasks(['cancel', url, id])
    expect(JSON.parse(cancelled.stdout)).toMatchObject({ task: { id, status: 'cancelled' } })
    const again = await tasks(['cancel', url, id])
    expect(again).toMatchObject({ code: 6, stdout: expect.stringContaining('"exit":6') })
    expect(again.stderr).toContain('has ended already')
  })

  it.each([
    [[], 'does not offer 2025-11-25, the only revision with a list of tasks'],
    [['--revision', '2026-07-28'], 'revision 2026-07-28 has no list of tasks; leave out --revision'],
    [CORE, 'leave out the option revision'],
  ])('says why a server of 2026-07-28 lists none with %j', async (options, text) => {
    const newest = createServer({
      name: 'films',
      version: '1.0.0',
      revisions: ['2026-07-28'],
      log: () => undefined,
    })
    newest.tool('render', { task: 'optional' }, () => 'a film')
    const at = (await newest.listen({ http: { port: 0 } })).url ?? ''
    onTestFinished(() => newest.close())
    const { code, stderr } = await line(['tasks', 'list', at, ...options])
    expect(stderr).toContain(text)
    expect(code).toBe(6)
  })

  it('shows the key of a task and the number of its attempt from the store', async () => {
    const keyed = await done('keyed')
    const other = await done('render')
    const { tasks: listed } = JSON.parse((await stored(['list'])).stdout) as {
      readonly tasks: readonly object[]
    }
    expect(listed).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: keyed, key: 'film 7', attempt: 1 }),
        expect.not.objectContaining({ key: expect.anything() as string }),
      ]),
    )
    const shown = await stored(['show', keyed])
    expect(JSON.parse(shown.stdout).task).toMatchObject({ key: 'film 7', attempt: 1 })
    const show = async (id: string): Promise<string> =>
      (
        await line(['tasks', 'show', '--store', `sqlite:${file}`, '--name', 'films', id], {
          env,
          terminal: true,
        })
      ).stdout
    expect(await show(keyed)).toMatch(/^key +film 7$/m)
    expect(await show(keyed)).toMatch(/^attempt +1$/m)
    expect(await show(other)).not.toMatch(/^key/m)
  })

  it('takes an id that begins with a dash after --', async () => {
    const shown = await tasks(['show', '--server', url, '--', '-JG'])
    expect(shown.code).toBe(6)
    expect(shown.stderr).toContain('-JG')
    for (const verb of ['show', 'cancel', 'retry']) {
      const outcome = await stored([verb, '--', '-JG'])
      expect(outcome.code).toBe(6)
      expect(outcome.stderr).toContain('-JG')
    }
  })

  it('shows why a task failed, and nothing of the server raw', async () => {
    const id = await done('broken')
    for (const args of [
      ['show', url, id, ...CORE],
      ['list', url, ...CORE],
    ]) {
      const { code, stdout } = await tasks(args, true)
      expect(code).toBe(0)
      expect(stdout).toContain('failed')
      expect(stdout).not.toContain('\u001b')
    }
  })

  it('says that a server cannot retry', async () => {
    const retry = await tasks(['retry', url, 'x'])
    expect(retry).toMatchObject({ code: 2, stdout: expect.stringContaining('"exit":2') })
    expect(retry.stderr).toContain('--store')
  })

  it.each([
    [
      ['list', '--limit', 'many', 'http://127.0.0.1:1/mcp'],
      2,
      '--limit must be a whole number from 1 to 10000',
    ],
    [['list', '--status', 'broken', 'http://127.0.0.1:1/mcp'], 2, 'fix: '],
    [['show', 'http://127.0.0.1:1/mcp'], 2, 'the id is missing'],
    [['show', 'http://127.0.0.1:1/mcp', 'x'], 4, 'cannot connect'],
    [['list', 'http://127.0.0.1:1/mcp'], 4, 'cannot connect'],
    [['cancel', 'http://127.0.0.1:1/mcp', 'x'], 4, 'cannot connect'],
    [['list', '--store', 'sqlite:missing.db', '--name', 'films'], 2, 'there is no file'],
    [['list', '--store', 'sqlite:missing.db'], 2, '--store needs --name'],
    [['list', '--store', 'mysql://u:hush@h/d', '--name', 'films'], 2, '--store names no store'],
  ])('ends %j with %i', async (args, code, text) => {
    const outcome = await tasks(args)
    expect(outcome.stderr).toContain(text)
    expect(outcome.stderr).not.toContain('hush')
    expect(outcome.code).toBe(code)
  })

  it('knows no task of another caller', async () => {
    const id = await done('render')
    const { code, stdout } = await line(['tasks', 'show', url, id], { env: { PIERHEAD_TOKEN: 'bob' } })
    expect({ code, stdout }).toEqual({ code: 6, stdout: expect.stringContaining('"exit":6') })
  })
})

describe('tasks wait', () => {
  it.each(['2025-11-25', '2026-07-28'])('prints the result as call does, at %s', async (revision) => {
    const gate = new Deferred<string>()
    app.tool('gated', { task: 'required' }, () => gate.promise)
    const opened = await connect(url, { auth: token(() => 'ann'), revision: revision as '2026-07-28' })
    onTestFinished(() => opened.close())
    const task = await opened.start('gated', {})
    const asked = new Deferred<void>()
    app.use({ observer: { end: ({ method }) => void (method?.startsWith('tasks/') && asked.resolve()) } })
    const waiting = tasks(['wait', url, task.id ?? '', '--revision', revision])
    await asked.promise
    gate.resolve('a film')
    const { code, stdout, stderr } = await waiting
    const called = await line(['call', url, 'render', '--revision', revision], { env })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout).content).toEqual([{ type: 'text', text: 'a film' }])
    expect(JSON.parse(stdout).content).toEqual(JSON.parse(called.stdout).content)
    expect((await tasks(['wait', url, task.id ?? '', '--revision', revision], true)).stdout).toBe('a film\n')
  })

  it('ends with 5 where the tool failed, and with 6 for what is no task or was cancelled', async () => {
    const failed = await done('broken')
    for (const outcome of [await tasks(['wait', url, failed, ...CORE]), await stored(['wait', failed])]) {
      expect(outcome.code).toBe(5)
      expect(JSON.parse(outcome.stdout)).toMatchObject({ isError: true })
    }
    const { id = '' } = await (await client()).start('endless', {})
    await tasks(['cancel', url, id])
    for (const one of [id, 'no-such-id']) {
      expect((await tasks(['wait', url, one])).code).toBe(6)
      expect((await stored(['wait', one])).code).toBe(6)
    }
  })

  it('ends with 7 after --total, and the task goes on', async () => {
    const { id = '' } = await (await client()).start('endless', {})
    for (const outcome of [
      await tasks(['wait', url, id, '--total', '1s']),
      await line(['tasks', 'wait', id, '--store', `sqlite:${file}`, '--name', 'films', '--total', '1s']),
    ])
      expect(outcome.code).toBe(7)
    expect((await app.tasks.show(id))?.status).toBe('working')
  })

  it('waits for a task of a store', async () => {
    const gate = new Deferred<string>()
    app.tool('gated', { task: 'required' }, () => gate.promise)
    const { id = '' } = await (await client()).start('gated', {})
    const waiting = stored(['wait', id])
    gate.resolve('a film')
    const { code, stdout } = await waiting
    expect(code).toBe(0)
    expect(JSON.parse(stdout).content).toEqual([{ type: 'text', text: 'a film' }])
  })
})

describe('tasks of a store', () => {
  it('names the servers that have tasks, where that in --name has none', async () => {
    await done('render')
    const wrong = await line(['tasks', 'list', '--store', `sqlite:${file}`, '--name', 'film'])
    expect(wrong.code).toBe(0)
    expect(JSON.parse(wrong.stdout)).toEqual({ tasks: [] })
    expect(wrong.stderr).toBe(
      'warning: the store has no tasks of a server named "film", only of films; did you mean "films"?\n',
    )
    expect((await stored(['list', '--status', 'failed'])).stderr).toBe('')
    const remote = await tasks(['list', url, ...CORE, '--name', 'films'])
    expect(remote.code).toBe(2)
    expect(remote.stderr).toContain('--name is only for --store')
  })

  it('lists, shows, cancels and retries those of all callers', async () => {
    const failed = await done('broken')
    const { id: running = '' } = await (await client()).start('endless', {})
    const list = await stored(['list', '--status', 'failed'])
    expect(JSON.parse(list.stdout).tasks).toMatchObject([{ id: failed, tool: 'broken' }])
    const shown = await stored(['show', failed])
    expect(JSON.parse(shown.stdout)).toMatchObject({ task: { id: failed, attempt: 1, arguments: {} } })
    const cancelled = await stored(['cancel', running])
    expect(JSON.parse(cancelled.stdout)).toMatchObject({ task: { id: running, status: 'cancelled' } })
    const retried = await stored(['retry', failed])
    const [again] = JSON.parse(retried.stdout).tasks
    expect(again.tool).toBe('broken')
    expect(again.id).not.toBe(failed)
    // The server that listens does the work.
    await expect.poll(async () => (await app.tasks.show(again.id))?.status).toBe('failed')
    const wrong = await stored(['retry', running])
    expect(wrong).toMatchObject({ code: 6, stdout: expect.stringContaining('"exit":6') })
    expect(await stored(['show', 'no-such-id'])).toMatchObject({
      code: 6,
      stdout: expect.stringContaining('"exit":6'),
    })
  })
})
