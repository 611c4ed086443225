import { resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connect, type Client } from 'pierhead/client'
import { Dev, isRunning, Project, versionOf } from './dev-project.ts'
import { line } from './line.ts'
import { Terminal } from './terminal.ts'

const HUNG = "import { writeFileSync } from 'node:fs'\nwriteFileSync('pid', String(process.pid))\nfor (;;);\n"

async function client(url: string): Promise<Client> {
  const one = await connect(url)
  onTestFinished(() => one.close())
  return one
}

interface RawMessage {
  readonly method?: string
  readonly result?: object
}

const kindOf = ({ method }: RawMessage): string => method ?? 'result'

interface Listening {
  readonly messages: readonly RawMessage[]
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>
  /** Closes the connection. */
  leave(): void
}

/** Listens with a plain request at 2026-07-28. Resolves when the stream is open. */
async function listen(url: string, id: number | string): Promise<Listening> {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { _meta, notifications: { toolsListChanged: true } }
  const { status, body } = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params }),
    signal: stop.signal,
  })
  expect(status).toBe(200)
  const messages: RawMessage[] = []
  const read = async (): Promise<void> => {
    let text = ''
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      text += new TextDecoder().decode(chunk)
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const one of lines)
        if (one.startsWith('data: {')) messages.push(JSON.parse(one.slice('data: '.length)) as RawMessage)
    }
  }
  const ended = read()
  // The end of the test also ends it.
  ended.catch(() => undefined)
  return { messages, ended, leave: () => stop.abort() }
}

/** Waits until the hung program runs, and answers its process. */
async function hung(project: Project): Promise<number> {
  await expect.poll(() => project.read('pid'), { timeout: 60_000 }).toMatch(/^\d+$/)
  return Number(project.read('pid'))
}

describe('a save while a program hangs in its start', () => {
  it.each([[[]], [['--stdio', '--json']]])('ends it at once: %j', { timeout: 120_000 }, async (args) => {
    const project = new Project(HUNG)
    const dev = new Dev(project, ['--start-time', '10m', ...args])
    const isStdio = args.length > 0
    const pid = await hung(project)
    project.save('server.ts', versionOf('first'))
    await dev.when(() => [dev.stderr, JSON.stringify(dev.events)].join('').includes('"event":"listening"'))
    expect(isRunning(pid)).toBe(false)
    expect(isStdio ? dev.stderr : JSON.stringify(dev.events)).not.toContain('"failed"')
  })

  it(
    'leaves the old one in service, and shows no end of the hung one after the new one',
    { timeout: 120_000 },
    async () => {
      const project = new Project(versionOf('first'))
      const dev = new Dev(project, ['--start-time', '10m'])
      const one = await client(await dev.url())
      project.save('server.ts', HUNG)
      const pid = await hung(project)
      expect(await one.call('version')).toBe('first')
      project.save('server.ts', versionOf('second'))
      await dev.until('reloaded')
      expect(await one.call('version')).toBe('second')
      await expect.poll(() => isRunning(pid)).toBe(false)
      expect(dev.events.map(({ event }) => event)).not.toContain('failed')
      expect(dev.events.map(({ event }) => event)).not.toContain('warning')
    },
  )

  it('or one that took too long shows one failure', { timeout: 120_000 }, async () => {
    const project = new Project(versionOf('first'))
    const dev = new Dev(project, ['--start-time', '10s'])
    await dev.url()
    project.save('server.ts', HUNG)
    await dev.until('failed')
    project.save('server.ts', versionOf('second'))
    await dev.until('reloaded')
    expect(dev.events.filter(({ event }) => event === 'failed')).toHaveLength(1)
  })
})

describe('dev', () => {
  it('shows a request without a token as that', async () => {
    const project = new Project(`
import { createServer } from 'pierhead'
import { bearer } from 'pierhead/auth'
export default createServer({ name: 'closed', version: '1.0.0', auth: bearer(() => undefined) })
`)
    const dev = new Dev(project)
    const url = await dev.url()
    await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
    expect(await dev.until('call')).toMatchObject({ method: 'request without a login', outcome: 'error' })
  })

  it('says on Ctrl-C that it ends, and not that others go on', { timeout: 120_000 }, async () => {
    const dev = new Dev(
      new Project(
        versionOf('first').replace("version: '1.0.0'", "version: '1.0.0', limits: { drainMs: 500 }"),
      ),
    )
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    }
    const url = await dev.url()
    const post = (message: object, more: object = {}): Promise<Response> =>
      fetch(url, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      })
    const clientInfo = { name: 'raw', version: '1.0.0' }
    const opened = await post({
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
    })
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    const params = { name: 'slow', arguments: {}, _meta: { progressToken: 1 } }
    // The headers come with the first progress.
    const slow = await post({ id: 2, method: 'tools/call', params }, session)
    const [text] = await Promise.all([slow.text(), dev.interrupt()])
    expect(text).toContain('"error"')
    expect(text).not.toContain('other nodes')
  })

  it('and watch tell only changes that happened, once', { timeout: 120_000 }, async () => {
    const project = new Project(versionOf('first'))
    const dev = new Dev(project)
    const url = await dev.url()
    const watched = line(['watch', url, '--count', '2'])
    await expect.poll(() => dev.events.filter(({ event }) => event === 'call').length).toBeGreaterThan(2)
    project.save('server.ts', versionOf('second'))
    await dev.until('reloaded')
    project.save('server.ts', versionOf('third', "app.tool('added', {}, () => 'added')"))
    await dev.until('reloaded', 2)
    project.save(
      'server.ts',
      versionOf('fourth', "app.tool('added', {}, () => 'a')\napp.prompt('bye', {}, () => 'Bye!')"),
    )
    await dev.until('reloaded', 3)
    const { stdout } = await watched
    expect(
      stdout
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text).kind),
    ).toEqual(['tools', 'prompts'])
  })

  it(
    'keeps the connection of subscriptions/listen over several reloads and a crash, and ends it with its result',
    { timeout: 300_000 },
    async () => {
      const touch = "app.tool('touch', {}, () => (app.changed('tools'), 'touched'))"
      const project = new Project(versionOf('first', touch))
      const dev = new Dev(project)
      const url = await dev.url()
      const [one, other] = [await listen(url, 1), await listen(url, 'other')]
      const kinds = ['notifications/subscriptions/acknowledged']
      await expect.poll(() => one.messages.map(kindOf)).toEqual(kinds)
      for (const [index, version] of ['second', 'third'].entries()) {
        project.save('server.ts', versionOf(version, touch))
        await dev.until('reloaded', index + 1)
        await (await client(url)).call('touch')
        kinds.push('notifications/tools/list_changed')
        await expect.poll(() => one.messages.map(kindOf)).toEqual(kinds)
        await expect.poll(() => other.messages.map(kindOf)).toEqual(kinds)
      }
      const cancelled = (): number =>
        dev.events.filter((event) => event.event === 'call' && event.outcome === 'cancelled').length
      expect(cancelled()).toBe(0)
      other.leave()
      await expect.poll(cancelled).toBe(1)
      // What a new program offers is news, too.
      project.save('server.ts', versionOf('fourth', `${touch}.tool('added', {}, () => 'added')`))
      expect(await dev.until('reloaded', 3)).toMatchObject({ changed: ['tools'] })
      kinds.push('notifications/tools/list_changed')
      await expect.poll(() => one.messages.map(kindOf)).toEqual(kinds)
      const pid = Number(await (await client(url)).call('pid'))
      process.kill(pid, 'SIGKILL')
      await expect.poll(async () => Number(await (await client(url)).call('pid'))).not.toBe(pid)
      // It may take a moment until the stream is open there.
      await expect
        .poll(async () => (await (await client(url)).call('touch'), one.messages.length))
        .toBeGreaterThan(kinds.length)
      expect(await dev.interrupt()).toBe(0)
      await one.ended
      expect(one.messages.at(-1)).toMatchObject({ id: 1, result: { resultType: 'complete' } })
      expect(cancelled()).toBe(1)
    },
  )

  it('and a client that is subscribed over HTTP go on in the new program', async () => {
    const note =
      "app.resource('note://a', {}, () => 'a').tool('touch', {}, () => (app.updated('note://a'), 'touched'))"
    const project = new Project(versionOf('first', note))
    const dev = new Dev(project)
    const one = await connect(await dev.url(), { revision: '2026-07-28' })
    onTestFinished(() => one.close())
    const updates: unknown[] = []
    await one.subscribe('note://a', (change) => void updates.push(change))
    const old = Number(await one.call('pid'))
    project.save('server.ts', versionOf('second', note))
    await dev.until('reloaded')
    await expect.poll(() => isRunning(old)).toBe(false)
    updates.length = 0
    // The client may be about to listen again.
    await expect.poll(async () => (await one.call('touch'), updates.length)).toBeGreaterThan(0)
  })

  it('reloads with r and Enter, and says only that', { timeout: 300_000 }, async () => {
    const project = new Project(versionOf('first'))
    using terminal = new Terminal('reload', project.home, { NO_COLOR: '1', PORT: '0' })
    const main = resolve('src/cli/main.ts')
    terminal.type(
      `node --import ${resolve('node_modules/tsx/dist/loader.mjs')} --conditions=pierhead-source ${main} dev --no-types`,
    )
    await terminal.shows('Ctrl-C ends it')
    terminal.type('r')
    expect(await terminal.shows('reloaded')).not.toContain('r changed')
    terminal.press('C-c')
  })
})
