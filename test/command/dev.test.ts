import { createServer as createNetServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connect, type Client } from 'pierhead/client'
import { Dev, isRunning, Project, versionOf } from './dev-project.ts'
import { line } from './line.ts'

async function client(url: string, revision: '2025-11-25' | '2026-07-28'): Promise<Client> {
  const one = await connect(url, { revision })
  onTestFinished(() => one.close())
  return one
}

/** Watches the lists of a client. Resolves when the server has confirmed it, with the kinds of changes. */
async function watchLists(one: Client): Promise<string[]> {
  const kinds: string[] = []
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  await new Promise<void>((onReady) => {
    void (async () => {
      for await (const { kind } of one.watch({ tools: true, onReady, signal: stop.signal })) kinds.push(kind)
    })()
  })
  return kinds
}

/** Begins a call of the slow tool. Resolves when it runs. */
async function begin(one: Client): Promise<{ readonly answer: Promise<unknown> }> {
  let answer: Promise<unknown> = Promise.resolve()
  await new Promise<void>((started) => {
    answer = one.call('slow', {}, { onProgress: () => started() })
  })
  return { answer }
}

describe('dev', () => {
  it.each(['2025-11-25', '2026-07-28'] as const)(
    'shows polls of a task only where its state changed, at %s',
    async (revision) => {
      const project = new Project(
        versionOf(
          'first',
          "app.tool('work', { task: 'required' }, async () => {\n  while (!existsSync('gate')) await new Promise((resolve) => setTimeout(resolve, 10))\n  return 'done'\n})",
        ),
      )
      const dev = new Dev(project, ['--no-types'])
      const one = await client(await dev.url(), revision)
      const { id: taskId = '' } = await one.start('work', {})
      for (let polls = 0; polls < 5; polls++) await one.request('tasks/get', { taskId })
      project.save('gate', '')
      await expect.poll(async () => (await one.request('tasks/get', { taskId }))['status']).toBe('completed')
      for (let polls = 0; polls < 3; polls++) await one.request('tasks/get', { taskId })
      await one.request('tasks/get', { taskId: 'x'.repeat(24) }).catch(() => undefined)
      // What comes after all polls.
      await one.call('version')
      await dev.when(() => dev.events.some((event) => event.event === 'call' && event.target === 'version'))
      const polls = dev.events.flatMap((event) =>
        event.event === 'call' && event.method === 'tasks/get' ? [event.state ?? event.outcome] : [],
      )
      expect(polls).toEqual(['working', 'completed', 'error'])
    },
  )

  it('reloads on save: running calls finish on the old code, later ones get the new one, and clients hear of changed lists', async () => {
    const project = new Project(versionOf('first'))
    const dev = new Dev(project)
    const url = await dev.url()
    const clients = [await client(url, '2025-11-25'), await client(url, '2026-07-28')]
    const changes = await Promise.all(clients.map(watchLists))
    const pids = [Number(await clients[0]?.call('pid'))]
    const slow = await Promise.all(clients.map(begin))
    project.save('server.ts', versionOf('second', "app.tool('added', {}, () => 'added')"))
    expect(await dev.until('reloaded')).toEqual({ event: 'reloaded', changed: ['tools'] })
    expect(await Promise.all(clients.map((one) => one.call('version')))).toEqual(['second', 'second'])
    expect(await Promise.all(clients.map((one) => one.call('added')))).toEqual(['added', 'added'])
    project.save('gate', '')
    expect(await Promise.all(slow.map(({ answer }) => answer))).toEqual(['first', 'first'])
    await expect.poll(() => changes.every((kinds) => kinds.includes('tools'))).toBe(true)
    // The old process ends by itself, and the new one with the command.
    await expect.poll(() => isRunning(pids[0] as number)).toBe(false)
    pids.push(Number(await clients[0]?.call('pid')))
    expect(await dev.interrupt()).toBe(0)
    expect(pids.filter(isRunning)).toEqual([])
  })

  it('sends the notification itself on the stream of a session, and only for lists that changed', async () => {
    const project = new Project(versionOf('first'))
    const dev = new Dev(project)
    const url = await dev.url()
    const session = await rawSession(url)
    project.save('server.ts', versionOf('second'))
    expect(await dev.until('reloaded')).toEqual({ event: 'reloaded', changed: [] })
    project.save('server.ts', versionOf('third', "app.prompt('bye', {}, () => 'Bye!')"))
    expect(await dev.until('reloaded', 2)).toEqual({ event: 'reloaded', changed: ['prompts'] })
    await expect.poll(() => session.methods).toEqual(['notifications/prompts/list_changed'])
  })

  it('shows calls as they happen, and never their arguments', async () => {
    const dev = new Dev(new Project(versionOf('first')), ['--no-json'])
    await dev.when(() => dev.stderr.includes('Ctrl-C ends it'))
    const [url = ''] = /http:\/\/\S+/.exec(dev.stderr) ?? []
    expect(dev.stderr).toContain(`npx pierhead call ${url}`)
    const one = await client(url, '2026-07-28')
    await one.call('version')
    await one.call('pid', { secret: 'swordfish' }).catch(() => undefined)
    await one.call('missing\u001b[31m').catch(() => undefined)
    await dev.when(
      () =>
        /tools\/call version ok/.test(dev.stderr) &&
        /tools\/call pid tool error/.test(dev.stderr) &&
        /missing\\u001b.* error/.test(dev.stderr),
    )
    expect(dev.stderr).not.toContain('swordfish')
    expect(dev.stderr).not.toContain('\u001b')
  })

  it('waits for a fix if the program does not start, and names the file and line', async () => {
    const project = new Project('const broken = (\n')
    const dev = new Dev(project)
    const first = await dev.until('failed')
    expect(first).toMatchObject({ isServed: false, where: expect.stringMatching(/^[/A-Z].*server\.ts:\d/) })
    project.save('server.ts', versionOf('first'))
    const one = await client(await dev.url(), '2026-07-28')
    project.save('server.ts', versionOf('second', 'undefinedFunction()'))
    expect(await dev.until('failed', 2)).toMatchObject({
      isServed: true,
      message: expect.stringContaining('undefinedFunction is not defined'),
      where: expect.stringMatching(/^[/A-Z].*server\.ts:14:/),
    })
    expect(await one.call('version')).toBe('first')
    project.save('server.ts', versionOf('third'))
    await dev.until('reloaded')
    expect(await one.call('version')).toBe('third')
  })

  it.each([
    ['process.exit(5)', 'the program ended with code 5 before it could serve'],
    ['for (;;);', 'did not start listening within 20 s'],
  ])('keeps the old program if the new one does %s', async (statement, message) => {
    const project = new Project(versionOf('first'))
    const dev = new Dev(project, ['--start-time', '20s'])
    const one = await client(await dev.url(), '2026-07-28')
    project.save('server.ts', versionOf('second', statement))
    expect(await dev.until('failed')).toMatchObject({
      isServed: true,
      message: expect.stringContaining(message),
    })
    expect(await one.call('version')).toBe('first')
  })

  it('starts a program again that ended, and takes a fix while it pauses', async () => {
    const project = new Project(versionOf('first'))
    const dev = new Dev(project)
    const one = await client(await dev.url(), '2026-07-28')
    for (const nth of [1, 2]) {
      await expect(one.call('exit')).rejects.toMatchObject({ kind: expect.any(String) })
      expect(await dev.until('warning', nth)).toMatchObject({
        message: expect.stringContaining('the program ended with code 3; the next one starts in'),
      })
      if (nth === 1) await dev.until('reloaded')
    }
    project.save('server.ts', versionOf('second'))
    await expect.poll(() => one.call('version').catch(() => 'none')).toBe('second')
  })

  it('shows type errors without waiting for them, and that they are gone', async () => {
    const project = new Project(versionOf('first', "const wrong: number = 'text'\nvoid wrong"))
    project.save(
      'tsconfig.json',
      '{ "compilerOptions": { "strict": true, "module": "nodenext", "target": "es2022", "skipLibCheck": true, "types": ["node"], "customConditions": ["pierhead-source"], "allowImportingTsExtensions": true, "noEmit": true, "lib": ["es2024", "esnext.disposable", "dom"] }, "include": ["server.ts"] }',
    )
    const dev = new Dev(project)
    expect(await (await client(await dev.url(), '2026-07-28')).call('version')).toBe('first')
    const { lines } = await dev.until('types')
    expect(lines.join('\n')).toMatch(/server\.ts\(14,7\): error TS2322/)
    project.save('server.ts', versionOf('first'))
    expect(await dev.until('types', 2)).toMatchObject({ errors: 0 })
  })

  it.each([
    ['typescript', 'typescript is not installed', 'npm install --save-dev typescript'],
    ['@types', 'there is no tsconfig.json', 'npx tsc --init, or --no-types to leave types alone'],
  ])('says why it does not check types, and what to do: without %s', async (name, reason, fix) => {
    const project = new Project(versionOf('first'))
    rmSync(join(project.home, 'node_modules', name))
    const dev = new Dev(project, ['--no-json'])
    await dev.when(() => dev.stderr.includes('serving server.ts'))
    expect(dev.stderr).toContain(`types are not checked, because ${reason}\nfix: ${fix}\n`)
  })

  it('ends with an error if the port is in use', async () => {
    const taken = createNetServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    onTestFinished(() => void taken.close())
    const { port } = taken.address() as AddressInfo
    const dev = new Dev(new Project(versionOf('first')), ['--port', String(port)])
    expect(await dev.exit()).toBe(2)
    expect(dev.stderr).toContain(`port ${port} is in use`)
  })

  it.each([
    [['dev', 'missing.ts'], 'there is no file missing.ts'],
    [['dev', '--port', 'x', 'package.json'], 'x is not a valid port'],
    [['dev', '--stdio', '--port', '1', 'package.json'], '--stdio has no port'],
    [['dev', '--start-time', 'soon', 'package.json'], 'is not a duration'],
  ])('rejects %j', async (args, text) => {
    const { code, stderr } = await line(args)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(text) })
  })

  it('leaves no process behind when it is interrupted while a program starts', async () => {
    const project = new Project(
      "import { writeFileSync } from 'node:fs'\nwriteFileSync('pid', String(process.pid))\nfor (;;);\n",
    )
    const dev = new Dev(project)
    await expect.poll(() => project.read('pid')).toMatch(/^\d+$/)
    const pid = Number(project.read('pid'))
    expect(await dev.interrupt()).toBe(0)
    await expect.poll(() => isRunning(pid)).toBe(false)
  })
})

/** Opens a session and its stream with plain requests, and collects the notifications that arrive. */
async function rawSession(url: string): Promise<{ readonly methods: readonly string[] }> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1.0.0' },
  }
  const post = (message: object, more: object = {}): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
  const opened = await post({ id: 1, method: 'initialize', params })
  const session = {
    'mcp-session-id': opened.headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': '2025-11-25',
  }
  await post({ method: 'notifications/initialized' }, session)
  const methods: string[] = []
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  let last = ''
  const read = async (): Promise<void> => {
    const resumed = last === '' ? {} : { 'last-event-id': last }
    const { body } = await fetch(url, {
      headers: { accept: 'text/event-stream', ...session, ...resumed },
      signal: stop.signal,
    })
    for await (const chunk of (body as unknown as ReadableStream<Uint8Array>).pipeThrough(
      new TextDecoderStream() as never,
    ) as unknown as AsyncIterable<string>) {
      for (const [, id = last] of chunk.matchAll(/^id: ?(.*)$/gm)) last = id
      for (const [, method = ''] of chunk.matchAll(/"method":"([^"]+)"/g)) methods.push(method)
    }
  }
  const first = read()
  void (async () => {
    await first.catch(() => undefined)
    while (!stop.signal.aborted) await read().catch(() => undefined)
  })()
  return { methods }
}
