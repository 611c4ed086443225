import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const LIMIT_MS = 30_000

/** The fixture server in a separate process, under the Node version of the project. */
export interface Fixture {
  /** The address in the form that the suite expects: with the name of this machine. */
  readonly url: string
  close(): Promise<void>
}

/** Starts the fixture server on a free port and waits until it listens. */
export async function startFixture(): Promise<Fixture> {
  const args = ['--conditions=pierhead-source', '--import', 'tsx', 'examples/conformance/server.ts']
  const env = { ...process.env, PORT: '0' }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const port = await listeningPort(child)
    return { url: `http://localhost:${port}/mcp`, close: () => end(child) }
  } catch (error) {
    await end(child)
    throw error
  }
}

async function listeningPort(child: ChildProcess): Promise<string> {
  const waiting = new AbortController()
  const timer = setTimeout(() => waiting.abort(), LIMIT_MS)
  const exited = once(child, 'exit', { signal: waiting.signal }).then(() => [''])
  const lines = createInterface({ input: child.stdout! })
  try {
    const [line] = (await Promise.race([once(lines, 'line', { signal: waiting.signal }), exited])) as [string]
    const url = /^listening at (\S+)$/.exec(line)?.[1]
    if (url === undefined) throw new Error('the fixture server did not start')
    return new URL(url).port
  } finally {
    clearTimeout(timer)
    exited.catch(() => {})
    waiting.abort()
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill()
  await exited
}
