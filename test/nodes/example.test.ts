import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { ensureProgram } from '../../tools/programs.ts'

interface Example {
  readonly child: ChildProcess
  readonly url: string
  /** Kills a node. */
  kill(name: string): Promise<void>
}

function start(env: NodeJS.ProcessEnv): ChildProcess {
  const args = ['--import', 'tsx', '--conditions=pierhead-source', 'examples/nodes/start.ts']
  return spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Starts the example as its user does, and reads what it prints. */
async function startExample(): Promise<Example> {
  ensureProgram('redis-server')
  const child = start({ ...process.env, PORT: '0' })
  onTestFinished(async () => {
    if (child.exitCode !== null) return
    child.kill()
    await once(child, 'exit')
  })
  const lines: string[] = []
  let heard: () => void = () => undefined
  createInterface({ input: child.stdout! }).on('line', (line) => {
    lines.push(line)
    heard()
  })
  let errors = ''
  child.stderr!.on('data', (bytes: Buffer) => (errors += bytes))
  const find = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = lines.map((line) => pattern.exec(line)?.[1]).find((each) => each !== undefined)
      if (found !== undefined) return found
      if (child.exitCode !== null) throw new Error(`the example ended: ${errors}`)
      await new Promise<void>((resolve) => {
        heard = resolve
        child.once('exit', resolve)
      })
    }
  }
  const url = await find(/^MCP at (\S+)$/)
  return {
    child,
    url,
    async kill(name) {
      process.kill(Number(await find(new RegExp(`^node ${name} is process (\\d+)$`))), 'SIGKILL')
      await find(new RegExp(`^node (${name}) has ended$`))
    },
  }
}

test('two nodes serve a session in turn, and one of them goes on alone', { timeout: 90_000 }, async () => {
  const { child, url, kill } = await startExample()
  await using client = await connect(url, {
    revision: '2025-11-25',
    answers: { elicit: () => ({ action: 'accept', content: { ship: 'Gull' } }) },
  })
  const counts: string[] = []
  for (let call = 0; call < 4; call++) counts.push(String(await client.call('count')))
  expect(counts.map((each) => Number.parseInt(each, 10))).toEqual([1, 2, 3, 4])
  expect(new Set(counts.map((each) => each.split(' at ')[1]))).toEqual(new Set(['one', 'two']))

  // The answer arrives at the node that did not ask, and the change is heard over a stream of either.
  for (const berth of ['A1', 'A2', 'A3', 'A4', 'A5']) {
    let hear: () => void = () => undefined
    const changed = new Promise<void>((resolve) => (hear = resolve))
    await client.subscribe(`berth://${berth}`, hear)
    expect(await client.call('book', { berth })).toMatch(/^A\d is booked for Gull by (one|two)\.$/)
    await changed
    const { contents } = await client.read(`berth://${berth}`)
    expect(contents).toMatchObject([{ text: 'Gull' }])
  }

  await kill('two')
  for (const count of [5, 6, 7]) expect(await client.call('count')).toBe(`${count} at one`)
  expect(await client.call('book', { berth: 'B1' })).toBe('B1 is booked for Gull by one.')

  child.kill()
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('without Redis, the example says what to install', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'no-redis-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const child = start({ ...process.env, PATH: folder, PORT: '0' })
  let errors = ''
  child.stderr!.on('data', (bytes: Buffer) => (errors += bytes))
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(errors).toContain('apt-get install redis-server, brew install redis), or set REDIS_URL')
})

test('without the client for Redis, the example says how to install it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'no-client-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['start.ts', 'proxy.ts']) copyFileSync(`examples/nodes/${name}`, join(folder, name))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), 'start.ts'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes))
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(errors).toBe('the nodes need a client for Redis: npm install ioredis\n')
})

test('a node without Redis says what to set', async () => {
  const args = ['--import', 'tsx', '--conditions=pierhead-source', 'examples/nodes/server.ts']
  const { REDIS_URL: _, ...env } = process.env
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes))
  await once(child, 'exit')
  expect(errors).toContain('set REDIS_URL to the Redis of all nodes')
})
