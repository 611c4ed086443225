import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connect, type Client } from 'pierhead/client'
import type { DevEvent } from '../../src/cli/dev/events.ts'
import { isRunning, Project, versionOf } from './dev-project.ts'
import { COMMAND } from './line.ts'

interface Relayed {
  readonly client: Client
  /** What the command tells on stderr. */
  readonly events: DevEvent[]
  /** What else is on stderr. */
  readonly texts: string[]
  /** Waits for the nth event of a kind. */
  until(event: DevEvent['event'], nth?: number): Promise<DevEvent>
}

/** A client that starts `pierhead dev --stdio`. */
async function relayed(project: Project, revision: '2025-11-25' | '2026-07-28'): Promise<Relayed> {
  const events: DevEvent[] = []
  const texts: string[] = []
  const client = await connect(
    { command: process.execPath, args: [...COMMAND, 'dev', '--stdio', '--json'], cwd: project.home },
    { revision },
  )
  onTestFinished(() => client.close())
  client.on('stderr', (line) => {
    if (line.startsWith('{"event"')) events.push(JSON.parse(line) as DevEvent)
    else texts.push(line)
  })
  const found = (event: DevEvent['event'], nth: number): DevEvent | undefined =>
    events.filter((one) => one.event === event)[nth - 1]
  return {
    client,
    events,
    texts,
    async until(event, nth = 1) {
      await expect.poll(() => found(event, nth)).toBeDefined()
      return found(event, nth) as DevEvent
    },
  }
}

describe.each(['2025-11-25', '2026-07-28'] as const)('dev --stdio at %s', (revision) => {
  it('reloads on save: running calls finish, later ones get the new code, and subscriptions go on', async () => {
    const note =
      "app.resource('note://a', {}, () => 'a').tool('touch', {}, () => (app.updated('note://a'), 'touched'))"
    const project = new Project(versionOf('first', note))
    const { client, until, events } = await relayed(project, revision)
    const changes: string[] = []
    const updates: unknown[] = []
    const stop = new AbortController()
    onTestFinished(() => stop.abort())
    await new Promise<void>((onReady) => {
      void (async () => {
        for await (const change of client.watch({ tools: true, onReady, signal: stop.signal }))
          changes.push(change.kind)
      })()
    })
    await client.subscribe('note://a', (change) => void updates.push(change))
    const old = Number(await client.call('pid'))
    let slow: Promise<unknown> = Promise.resolve()
    await new Promise<void>((started) => {
      slow = client.call('slow', {}, { onProgress: () => started() })
    })
    project.save('server.ts', versionOf('second', `${note}\napp.tool('added', {}, () => 'added')`))
    expect(await until('reloaded')).toEqual({ event: 'reloaded', changed: ['tools'] })
    expect(await client.call('version')).toBe('second')
    expect(isRunning(old)).toBe(true)
    project.save('gate', '')
    expect(await slow).toBe('first')
    await expect.poll(() => changes).toEqual(['tools'])
    expect(await client.call('touch')).toBe('touched')
    await expect.poll(() => updates.length).toBe(1)
    await expect.poll(() => isRunning(old)).toBe(false)
    // A third program gets the same from the second one.
    project.save('server.ts', versionOf('third', note))
    await until('reloaded', 2)
    expect(await client.call('version')).toBe('third')
    await expect.poll(() => changes).toEqual(['tools', 'tools'])
    expect(await client.call('touch')).toBe('touched')
    await expect.poll(() => updates.length).toBe(2)
    const calls = events
      .filter(({ event }) => event === 'call')
      .map((call) => 'method' in call && call.method)
    // What the command itself says to new programs is not shown.
    expect(
      calls.filter((method) => method === 'initialize' || method === 'resources/subscribe'),
    ).toHaveLength(revision === '2025-11-25' ? 1 : 0)
    const last = Number(await client.call('pid'))
    await client.close()
    await expect.poll(() => isRunning(last)).toBe(false)
  })
})

describe('dev --stdio', () => {
  it.each([
    ['a line of its own', '\\n'],
    ['the line of a message', ''],
  ])('explains output on stdout in %s, and does not pass it on', async (_, end) => {
    const tool = `app.tool('log', {}, () => (console.log('by console'), writeSync(1, 'by force\\u001b[31m${end}'), 'done'))`
    const project = new Project(`import { writeSync } from 'node:fs'\n${versionOf('first', tool)}`)
    const { client, until, texts } = await relayed(project, '2025-11-25')
    expect(await client.call('log')).toBe('done')
    expect(await until('stdout')).toEqual({ event: 'stdout', text: 'by force\u001b[31m' })
    await expect.poll(() => texts.join('\n')).toContain('Use console.error, or ctx.log')
  })

  it('asks the client the questions of old and new programs, and gives each its answer', async () => {
    const asks = (version: string): string =>
      versionOf(
        version,
        `app.tool('ask', {}, async (_, { elicit }) => {
  const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
  const { content } = await elicit('${version}?', schema)
  return '${version}: ' + String(content?.name)
})`,
      )
    const project = new Project(asks('first'))
    const answers: { message: string; answer: () => void }[] = []
    const client = await connect(
      { command: process.execPath, args: [...COMMAND, 'dev', '--stdio', '--json'], cwd: project.home },
      {
        revision: '2025-11-25',
        answers: {
          elicit: ({ message }) =>
            new Promise((resolve) => {
              answers.push({
                message,
                answer: () => resolve({ action: 'accept', content: { name: `for ${message}` } }),
              })
            }),
        },
      },
    )
    onTestFinished(() => client.close())
    let text = ''
    client.on('stderr', (line) => (text += line))
    const first = client.call('ask')
    await expect.poll(() => answers.length).toBe(1)
    project.save('server.ts', asks('second'))
    await expect.poll(() => text).toContain('"reloaded"')
    const second = client.call('ask')
    await expect.poll(() => answers.length).toBe(2)
    for (const { answer } of answers.toReversed()) answer()
    expect(await Promise.all([first, second])).toEqual(['first: for first?', 'second: for second?'])
  })

  it('keeps the old program if the new one does not start, and starts one again that ended', async () => {
    const project = new Project(versionOf('first'))
    const { client, until } = await relayed(project, '2025-11-25')
    project.save('server.ts', versionOf('second', 'undefinedFunction()'))
    expect(await until('failed')).toMatchObject({
      isServed: true,
      where: expect.stringMatching(/^[/A-Z].*server\.ts:14:/),
    })
    expect(await client.call('version')).toBe('first')
    project.save('server.ts', versionOf('third'))
    await until('reloaded')
    await expect(client.call('exit')).rejects.toThrow(
      'the server program ended with code 3 during this request',
    )
    expect(await client.call('version')).toBe('third')
    expect(await until('warning')).toMatchObject({ message: expect.stringContaining('it starts again') })
  })

  it('waits for a fix before it answers the first message', async () => {
    const project = new Project(
      "import { writeFileSync } from 'node:fs'\nwriteFileSync('tried', '')\nbroken()\n",
    )
    const connecting = relayed(project, '2025-11-25')
    await expect.poll(() => existsSync(join(project.home, 'tried'))).toBe(true)
    project.save('server.ts', versionOf('first'))
    const { client } = await connecting
    expect(await client.call('version')).toBe('first')
  })
})
