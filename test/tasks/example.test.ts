import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { begin, collect, order, publish } from '../../examples/tasks/client.ts'
import { createFilms, retryFailed } from '../../examples/tasks/films.ts'
import { createServer, type App } from '../../src/index.ts'
import { connect } from '../../src/client.ts'
import { sqlite } from '../../src/stores.ts'

const quiet = { log: () => undefined, limits: { drainMs: 1 } }

async function serve(app: App): Promise<string> {
  const { url } = await app.listen({ http: { port: 0 } })
  onTestFinished(() => app.close())
  return url as string
}

test('the example of the guide waits for a film, and asks where to show it', async () => {
  const url = await serve(createFilms(quiet))
  expect(await order(url)).toEqual({ file: 'Tides.mp4' })
  for (const revision of ['2025-11-25', '2026-07-28'] as const)
    expect(await publish(url, { revision })).toBe('"Tides" is shown at the Odeon.')
})

test('a film of the guide goes on after a restart of its server, and is collected then', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'films-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const store = () => {
    const opened = sqlite(join(folder, 'films.db'))
    onTestFinished(() => opened.close())
    return opened
  }
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  onTestFinished(() => log.mockRestore())
  const first = createFilms({ ...quiet, store: store() })
  const id = (await begin(await serve(first), 'Ebb', 4)) as string
  expect(log).toHaveBeenCalledWith('working')
  await first.close()
  const second = createFilms({ ...quiet, store: store() })
  expect(await collect(await serve(second), id)).toEqual({ file: 'Ebb.mp4' })
  expect((await second.tasks.show(id))?.attempt).toBe(2)
})

test('an operator of the guide retries films that failed', async () => {
  let isBroken = true
  const app = createServer({ name: 'films', version: '1', ...quiet }).tool(
    'render',
    { task: 'required' },
    () => {
      if (isBroken) throw new Error('no disk')
      return 'a film'
    },
  )
  await using client = await connect(app)
  const task = await client.start('render')
  await expect(task.result()).rejects.toThrow('failed')
  isBroken = false
  const [id, ...others] = await retryFailed(app)
  expect(others).toEqual([])
  const again = await client.resume(id as string)
  expect(await again.result()).toBe('a film')
})
