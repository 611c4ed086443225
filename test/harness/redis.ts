import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureProgram } from '../../tools/programs.ts'
import { freePort } from './free-port.ts'

/** A Redis of its own for tests, which writes every change to the disk. */
export interface TestRedis {
  readonly url: string
  readonly port: number
  /** Ends the server at once, as a crash does. */
  kill(): Promise<void>
  /** Stops the server from answering, without closing its connections. */
  freeze(): void
  thaw(): void
  /** Starts it again at the same port, with what is on the disk. */
  restart(): Promise<void>
  /** Sends a command, and answers the reply as it is. */
  send(...command: readonly string[]): Promise<string>
  /** Ends the server, and removes its files. */
  close(): Promise<void>
}

/** Starts a Redis at a free port. */
export async function startRedis(...options: readonly string[]): Promise<TestRedis> {
  const program = ensureProgram('redis-server')
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-redis-'))
  const port = await freePort()
  let child: ChildProcess | undefined
  const start = async (): Promise<void> => {
    const files = ['--dir', folder, '--appendonly', 'yes', '--appendfsync', 'always', '--save', '']
    child = spawn(program, ['--port', `${port}`, '--bind', '127.0.0.1', ...files, ...options], {
      stdio: 'ignore',
    })
    while (!/^(\+PONG|-NOAUTH)/.test(await send(port, ['PING']).catch(() => ''))) {
      if (child.exitCode !== null) throw new Error(`redis-server ended with exit code ${child.exitCode}`)
      await new Promise((resolve) => void setTimeout(resolve, 20))
    }
  }
  const end = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  // The process of a test may end before its hooks run.
  process.once('exit', () => void child?.kill('SIGKILL'))
  await start().catch(async (error: unknown) => {
    await end()
    throw error
  })
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    kill: end,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    restart: start,
    send: (...command) => send(port, command),
    async close() {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Sends one command over a connection of its own. The answer must be short. */
async function send(port: number, command: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    socket.write(
      `*${command.length}\r\n${command.map((text) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`).join('')}`,
    )
    const [reply] = (await once(socket, 'data')) as [Buffer]
    return reply.toString()
  } finally {
    socket.destroy()
  }
}
