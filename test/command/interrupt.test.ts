import { join, resolve } from 'node:path'
import { createServer } from 'pierhead'
import { connect } from 'pierhead/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { line } from './line.ts'
import { Terminal } from './terminal.ts'

describe('Ctrl-C', () => {
  it('leaves a task alone, and says how to find it', async () => {
    let begin: () => void = () => undefined
    const began = new Promise<void>((resolve) => (begin = resolve))
    const app = createServer({
      name: 'films',
      version: '1.0.0',
      log: () => undefined,
      limits: { drainMs: 1 },
    })
    app.tool('render', { task: 'required' }, () => {
      begin()
      return new Promise<string>(() => undefined)
    })
    const { url = '' } = await app.listen({ http: { port: 0 } })
    onTestFinished(() => app.close())
    const controller = new AbortController()
    const ended = line(['call', url, 'render'], { signal: controller.signal })
    await began
    // The command hears of the task a moment after it has begun.
    const { code, stderr } = await new Promise<Awaited<typeof ended>>((done) => {
      void ended.then(done)
      setTimeout(() => controller.abort(), 1_000)
    })
    expect(code).toBe(130)
    const [, id = ''] = /^Task (\S+) is still running: pierhead tasks show (?:\S+) \1$/m.exec(stderr) ?? []
    expect(stderr).toContain(`pierhead tasks show ${url} ${id}`)
    await using client = await connect(url)
    expect(await (await client.resume(id)).status()).toMatchObject({ status: 'working' })
  })

  it.each([
    ['C-c', /code 130/, undefined],
    ['Escape', /code 0/, 'decline'],
  ])('at a question ends the call, and Esc declines: %s', { timeout: 300_000 }, async (key, code, text) => {
    using terminal = new Terminal(`interrupt-${key}`, resolve('.'), { NO_COLOR: '1' })
    const server = join(import.meta.dirname, 'asking-server.ts')
    terminal.type(
      `node --import tsx --conditions=pierhead-source src/cli/main.ts call order -- node --import tsx --conditions=pierhead-source ${server}; echo "code $?"`,
    )
    await terminal.shows('Will you answer?')
    terminal.press(key)
    const screen = await terminal.shows(/code \d+/)
    expect(screen).toMatch(code)
    if (text !== undefined) expect(screen).toContain(text)
    else expect(screen).not.toMatch(/^(?:cancel|decline)$/m)
  })
})
