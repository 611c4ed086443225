import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startProxy } from './proxy.ts'

// Starts Redis, two nodes and a proxy: node examples/nodes/start.ts
const folder = mkdtempSync(join(tmpdir(), 'nodes-'))
const children: ChildProcess[] = []
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop(0))

try {
  await import('ioredis').catch(() => {
    throw new Error('the nodes need a client for Redis: npm install ioredis')
  })
  const REDIS_URL = process.env['REDIS_URL'] ?? (await startRedis())
  const ports = [await startNode('one', REDIS_URL), await startNode('two', REDIS_URL)]
  console.log(`MCP at ${await startProxy(ports, Number(process.env['PORT'] ?? 3000))}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  await stop(1)
}

/** A Redis of our own, which loses nothing that it has accepted. */
async function startRedis(): Promise<string> {
  const port = await freePort()
  const place = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder]
  const files = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always']
  const child = spawn('redis-server', [...place, ...files], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  child.once('error', () => undefined)
  for await (const line of createInterface({ input: child.stdout }))
    if (line.includes('Ready to accept connections')) return `redis://127.0.0.1:${port}`
  const help = 'install it (apt-get install redis-server, brew install redis), or set REDIS_URL'
  throw new Error(`redis-server did not start: ${help}`)
}

/** A node at a port of its own. */
async function startNode(name: string, REDIS_URL: string): Promise<number> {
  const program = join(import.meta.dirname, 'server.ts')
  const env = { ...process.env, NODE_NAME: name, PORT: '0', REDIS_URL }
  const child = spawn(process.execPath, [...process.execArgv, program], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  child.once('exit', () => console.log(`node ${name} has ended`))
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^listening on (\S+)/.exec(line)?.[1]
    if (url === undefined) continue
    console.log(`node ${name} is process ${child.pid}`)
    child.stdout.resume()
    return Number(new URL(url).port)
  }
  throw new Error(`node ${name} did not start`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Ends the nodes before Redis, which they still need. */
async function stop(code: number): Promise<never> {
  for (const child of children.toReversed()) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) continue
    child.kill()
    await once(child, 'exit')
  }
  rmSync(folder, { recursive: true, force: true })
  process.exit(code)
}
