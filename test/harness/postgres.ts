import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { pause } from '../../src/base/backoff.ts'
import { ensureProgram } from '../../tools/programs.ts'
import { freePort } from './free-port.ts'

/** A PostgreSQL of its own for tests. */
export interface TestPostgres {
  readonly url: string
  /** Ends the server at once, as a crash does. */
  kill(): Promise<void>
  /** Stops the server from answering, without closing its connections. */
  freeze(): void
  thaw(): void
  /** Starts it again at the same port, with what is on the disk. */
  restart(): Promise<void>
  /** Runs statements, and answers the rows of the last one. */
  sql(text: string, ...values: readonly unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Ends the server, and removes its files. */
  close(): Promise<void>
}

const USER = 'postgres'

/** Starts a PostgreSQL at a free port. It does not run as root, so root starts it as its own user. */
export async function startPostgres(...settings: readonly string[]): Promise<TestPostgres> {
  const programs = dirname(realpathSync(ensureProgram('postgres')))
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-postgres-'))
  const data = join(folder, 'data')
  chmodSync(folder, 0o700)
  if (isRoot()) chownSync(folder, idOf('-u'), idOf('-g'))
  const initdb = [
    join(programs, 'initdb'),
    '-D',
    data,
    '-A',
    'trust',
    '-U',
    USER,
    '-E',
    'UTF8',
    '--no-locale',
  ]
  const [program = '', ...args] = asUser([...initdb, '--no-sync'])
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd: '/' })
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`)
  const port = await freePort()
  const url = `postgres://${USER}@127.0.0.1:${port}/postgres`
  let child: ChildProcess | undefined
  const start = async (): Promise<void> => {
    const place = ['-D', data, '-p', `${port}`, '-k', folder, '-c', 'listen_addresses=127.0.0.1']
    const given = ['fsync=off', 'max_connections=200', ...settings].flatMap((setting) => ['-c', setting])
    const [command = '', ...rest] = asUser([join(programs, 'postgres'), ...place, ...given])
    child = spawn(command, rest, { stdio: 'ignore', cwd: '/' })
    while ((await sql('SELECT 1').catch(() => [])).length === 0) {
      if (child.exitCode !== null) throw new Error(`postgres ended with exit code ${child.exitCode}`)
      await pause(20)
    }
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }
  const sql: TestPostgres['sql'] = async (text, ...values) => {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 2000 })
    client.on('error', () => {})
    try {
      await client.connect()
      return (await client.query(text, values.length > 0 ? [...values] : undefined)).rows
    } finally {
      await client.end().catch(() => {})
    }
  }
  // The process of a test may end before its hooks run.
  process.once('exit', () => void child?.kill('SIGQUIT'))
  await start().catch(async (error: unknown) => {
    await end('SIGQUIT')
    throw error
  })
  return {
    url,
    // All processes of the server end without writing anything; SIGKILL would leave some of them.
    kill: () => end('SIGQUIT'),
    freeze: () => signalAll(child, 'SIGSTOP'),
    thaw: () => signalAll(child, 'SIGCONT'),
    restart: start,
    sql,
    async close() {
      signalAll(child, 'SIGCONT')
      await end('SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Sends a signal to the server and the processes of its connections. */
function signalAll(child: ChildProcess | undefined, signal: NodeJS.Signals): void {
  if (child?.pid === undefined) return
  const { stdout } = spawnSync('pgrep', ['-P', `${child.pid}`], { encoding: 'utf8' })
  for (const pid of [child.pid, ...stdout.split('\n').filter(Boolean).map(Number)]) {
    try {
      process.kill(pid, signal)
    } catch {
      // It ended meanwhile.
    }
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

function asUser(command: readonly string[]): readonly string[] {
  return isRoot() ? ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups', ...command] : command
}

function idOf(kind: '-u' | '-g'): number {
  return Number(spawnSync('id', [kind, USER], { encoding: 'utf8' }).stdout)
}
