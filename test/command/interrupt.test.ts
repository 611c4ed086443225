import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createServer } from 'pierhead'
import { connect } from 'pierhead/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Invocation } from '../../src/cli/command.ts'
import { untilInterrupted } from '../../src/cli/interrupted-call.ts'
import { COMMAND, line, spawnLine } from './line.ts'
import { programFolder } from './program-folder.ts'
import { Terminal } from './terminal.ts'

describe('Ctrl-C', () => {
  it('leaves a task alone, and says how to find it', async () => {
    const controller = new AbortController()
    const app = createServer({
      name: 'films',
      version: '1.0.0',
      log: () => undefined,
      limits: { drainMs: 1 },
    })
    app.tool('render', { task: 'required' }, () => new Promise<string>(() => undefined))
    // The command follows the task when it knows its id.
    const isFollowing = (method = ''): boolean => method === 'subscriptions/listen' || method === 'tasks/get'
    app.use({ observer: { start: ({ method }) => void (isFollowing(method) && controller.abort()) } })
    const { url = '' } = await app.listen({ http: { port: 0 } })
    onTestFinished(() => app.close())
    const { code, stderr } = await line(['call', url, 'render'], { signal: controller.signal })
    expect(code).toBe(130)
    const [, id = ''] = /^Task (\S+) is still running: pierhead tasks show (?:\S+) \1$/m.exec(stderr) ?? []
    expect(stderr).toContain(`pierhead tasks show ${url} ${id}`)
    await using client = await connect(url)
    expect(await (await client.resume(id)).status()).toMatchObject({ status: 'working' })
  })

  it.skipIf(process.platform === 'win32')(
    'says that a task of a program goes on if its store keeps it, and how to find it then',
    async () => {
      const cwd = programFolder({
        'server.mjs': `import { createServer } from 'pierhead'
import { sqlite } from 'pierhead/stores'
const app = createServer({ name: 'films', version: '1.0.0', store: sqlite('films.db'), limits: { drainMs: 1 } })
app.tool('render', { task: { mode: 'required', onRestart: 'retry' } }, () => new Promise(() => undefined))
const isFollowing = (method) => method === 'subscriptions/listen' || method === 'tasks/get'
app.use({ observer: { start: ({ method }) => void (isFollowing(method) && console.error('followed')) } })
export default app
`,
      })
      const args = [...COMMAND, 'call', 'server.mjs', 'render', '--verbose']
      const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
      let stderr = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text
        if (text.includes('followed')) child.kill('SIGINT')
      })
      const [code] = (await once(child, 'close')) as [number]
      expect({ code, stderr }).toMatchObject({ code: 130, stderr: expect.stringContaining('with it. If') })
      const [, id = ''] = /pierhead tasks show server\.mjs (\S+)/.exec(stderr) ?? []
      const shown = await spawnLine(['tasks', 'show', 'server.mjs', id], { cwd })
      expect(JSON.parse(shown.stdout)).toMatchObject({ task: { id, status: 'working' } })
    },
  )

  it.skipIf(process.platform === 'win32').each([
    ['--store=sqlite:x', '--server URL -- --store=sqlite:x'],
    ['-h; id', "--server URL -- '-h; id'"],
    ['a -b', "URL 'a -b'"],
  ])('suggests a command that takes the id %s as an id', async (id, words) => {
    const controller = new AbortController()
    const url = 'http://127.0.0.1:1/mcp'
    let stderr = ''
    const output = { status: () => undefined, note: (text: string) => (stderr += text) }
    const invocation = { io: { signal: controller.signal }, output } as unknown as Invocation
    await untilInterrupted(invocation, { label: url, target: { url }, from: 'url' }, ({ onTask }) => {
      onTask?.(id)
      controller.abort()
      return Promise.resolve()
    })
    const shown = words.replace('URL', url)
    expect(stderr).toContain(`pierhead tasks show ${shown}`)
    const args = ['tasks', 'show', ...(words.startsWith('--') ? ['--server', url, '--', id] : [url, id])]
    expect(await line(args)).toMatchObject({ code: 4 })
  })

  it.each([
    ['C-c', /code 130/, undefined],
    ['Escape', /code 0/, 'cancel'],
  ])(
    'at a question ends the call, and Esc closes the question: %s',
    { timeout: 300_000 },
    async (key, code, text) => {
      using terminal = new Terminal(`interrupt-${key}`, resolve('.'), { NO_COLOR: '1' })
      const server = join(import.meta.dirname, 'asking-server.ts')
      terminal.type(
        `node --import tsx --conditions=pierhead-source src/cli/main.ts call order -- node --import tsx --conditions=pierhead-source ${server}; echo "code $?"`,
      )
      await terminal.shows('Will you answer?')
      terminal.press(key)
      const screen = await terminal.shows(/code \d+/)
      expect(screen).toMatch(code)
      expect(/^(?:cancel|decline)$/m.exec(screen)?.[0]).toBe(text)
    },
  )
})
