import { spawn } from 'node:child_process'
import { expect, it, onTestFinished } from 'vitest'
import { COMMAND } from './line.ts'
import { programFolder } from './program-folder.ts'

const SERVER = `import cluster from 'node:cluster'
import { createServer } from 'pierhead'
const app = createServer({ name: 'slow', version: '1.0.0' })
const wait = () => {
  console.error('waiting')
  return new Promise((resolve) => setTimeout(resolve, 600_000))
}
`

/** Programs that wait for ten minutes before their server listens, or after it. */
const PROGRAMS = {
  'import.mjs': `${SERVER}await wait()\nexport default app\n`,
  'later.mjs': `${SERVER}void wait().then(() => app.listen())\n`,
  'start.mjs': `${SERVER.replace("'1.0.0'", "'1.0.0', onStart: () => wait()")}export default app\n`,
  'worker.mjs': `${SERVER}if (cluster.isWorker) await wait()\nexport default app\n`,
  'after.mjs': `${SERVER}await app.listen({ http: { port: 0 } })\nawait wait()\n`,
}

/** Starts the command as a terminal does, sends a signal once the program waits, and tells how it ended and what it printed after that. */
async function endedBy(
  signal: 'SIGINT' | 'SIGTERM',
  args: readonly string[],
  waits: number,
): Promise<{ readonly code: unknown; readonly printed: string }> {
  const cwd = programFolder(PROGRAMS)
  const child = spawn(process.execPath, [...COMMAND, 'run', ...args], {
    cwd,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const toAll = (name: NodeJS.Signals): boolean => {
    try {
      return process.kill(-(child.pid ?? 0), name)
    } catch {
      return false
    }
  }
  onTestFinished(() => void toAll('SIGKILL'))
  let text = ''
  const closed = new Promise((resolve) => child.on('close', resolve))
  await new Promise<void>((begun, failed) => {
    const read = (chunk: string): void => {
      text += chunk
      if (text.split('waiting').length > waits) begun()
    }
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', read)
    child.on('exit', (code) => failed(new Error(`ended with ${String(code)}: ${text}`)))
  })
  text = ''
  toAll(signal)
  const code = await Promise.race([closed, new Promise((late) => setTimeout(late, 20_000, 'still running'))])
  return { code, printed: text }
}

it.each([
  ['SIGINT', 130, ['import.mjs', '--port', '0'], 1],
  ['SIGTERM', 143, ['import.mjs', '--stdio'], 1],
  ['SIGINT', 130, ['later.mjs'], 1],
  ['SIGTERM', 143, ['start.mjs', '--port', '0'], 1],
  ['SIGINT', 130, ['worker.mjs', '--port', '0', '--workers', '2'], 2],
  ['SIGTERM', 143, ['worker.mjs', '--port', '0', '--workers', '2'], 2],
  // The server already listens, so it closes.
  ['SIGTERM', 0, ['after.mjs'], 1],
] as const)('%s ends with %i, quietly, while a program starts: %j', async (signal, code, args, waits) => {
  expect(await endedBy(signal, args, waits)).toEqual({ code, printed: '' })
})
