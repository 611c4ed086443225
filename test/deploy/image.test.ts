import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { connect } from '../../src/client.ts'
import { build, isStale } from '../../tools/build.ts'
import { nodeBinary } from '../../tools/nodes.ts'
import { pack } from '../../tools/package.ts'
import { freePort } from '../harness/free-port.ts'
import { startPostgres, type TestPostgres } from '../harness/postgres.ts'
import { startRedis, type TestRedis } from '../harness/redis.ts'
import { buildImage, environment, readDockerfile, type Image } from './dockerfile.ts'
import { startNginx } from './nginx.ts'

const run = promisify(execFile)
const DEPLOY = 'examples/deploy'
/** The user "node" of the image. */
const USER = 1000

let folder: string
let node: string
let image: Image
let packedFiles: readonly string[]
let redis: TestRedis
let database: TestPostgres

beforeAll(async () => {
  if (isStale()) await build()
  folder = mkdtempSync(join(tmpdir(), 'image-'))
  chmodSync(folder, 0o755)
  // The user of the image may not be able to read our own folders.
  mkdirSync(join(folder, 'bin'), { mode: 0o755 })
  const installed = await nodeBinary(24)
  node = join(folder, 'bin/node')
  copyFileSync(installed, node)
  const packed = pack(join(folder, 'packed'))
  // The context of the build: the examples as they are in the package, which depends on the package as it is now.
  const context = join(folder, 'context')
  cpSync('examples', context, { recursive: true })
  const settings = join(context, 'deploy/package.json')
  const file = `"pierhead": "file:${packed.path}"`
  writeFileSync(settings, readFileSync(settings, 'utf8').replace(/"pierhead": "[\d.]+"/, file))
  packedFiles = packed.files
  image = await buildImage(readDockerfile(`${DEPLOY}/Dockerfile`), {
    context,
    place: join(folder, 'stages'),
    node,
  })
  redis = await startRedis()
  database = await startPostgres()
}, 240_000)

afterAll(async () => {
  await redis?.close()
  await database?.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Container {
  readonly child: ChildProcess
  readonly port: number
  readonly env: Readonly<Record<string, string>>
}

/** The identity of a process in the image; only root can choose it. */
function asUser(): { readonly uid?: number; readonly gid?: number } {
  return process.getuid?.() === 0 ? { uid: USER, gid: USER } : {}
}

/** Starts the command of the image with the environment of the compose file, apart from addresses. */
async function start(more: Readonly<Record<string, string>> = {}): Promise<Container> {
  const { services } = parse(readFileSync(`${DEPLOY}/compose.yaml`, 'utf8')) as {
    readonly services: { readonly node: { readonly environment: Record<string, string> } }
  }
  const addresses = { PORT: `${await freePort()}`, REDIS_URL: redis.url, DATABASE_URL: database.url }
  const secret = { PIERHEAD_SECRET: 'a secret that all nodes have' }
  const env = { ...image.env, ...services.node.environment, ...addresses, ...secret, ...more }
  const [program = '', ...args] = image.command
  expect(program).toBe('node')
  const child = spawn(node, args, {
    cwd: image.folder,
    env: environment(env, node),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...asUser(),
  })
  let errors = ''
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes))
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith('listening on ')) {
      child.stdout.resume()
      return { child, port: Number(env.PORT), env }
    }
  throw new Error(`the container ended: ${errors}`)
}

/** Runs the health check of the image; answers whether it succeeds. */
function isHealthy({ env }: Container): Promise<boolean> {
  const [program = '', ...args] = image.health
  expect(program).toBe('node')
  return run(node, args, { cwd: image.folder, env: environment(env, node), ...asUser() }).then(
    () => true,
    () => false,
  )
}

/** The status of a path, asked as the kubelet does: at the address of the pod. */
function probe(port: number, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, headers: { host: `10.1.2.3:${port}` } },
      (reply) => {
        reply.resume()
        resolve(reply.statusCode)
      },
    )
    sent.once('error', reject).end()
  })
}

describe('the image of the Dockerfile, whose steps run without Docker', { timeout: 120_000 }, () => {
  test('is built on Node 24, and its server is not root', () => {
    expect([image.from, image.user]).toEqual(['node:24-alpine', 'node'])
    expect(image.env['PORT']).toBe(`${image.port}`)
  })

  test('needs only files that are in the package', () => {
    for (const name of [
      'deploy/Dockerfile',
      'deploy/compose.yaml',
      'deploy/kubernetes.yaml',
      'nodes/server.ts',
    ])
      expect(packedFiles).toContain(`examples/${name}`)
  })

  test('answers its health check and the probes of Kubernetes until it ends', async () => {
    const container = await start()
    expect(await isHealthy(container)).toBe(true)
    expect(await probe(container.port, '/healthz')).toBe(200)
    expect(await probe(container.port, '/readyz')).toBe(200)
    container.child.kill('SIGTERM')
    expect(await once(container.child, 'exit')).toEqual([0, null])
    expect(await isHealthy(container)).toBe(false)
  })

  test('without Redis, its command says what to set', async () => {
    await expect(start({ REDIS_URL: '' })).rejects.toThrow('set REDIS_URL')
  })

  test('two containers behind nginx serve a session, and one may stop', async () => {
    const containers = [await start({ NODE_NAME: 'one' }), await start({ NODE_NAME: 'two' })]
    const url = await startNginx(containers.map(({ port }) => port))
    await using client = await connect(url, {
      revision: '2025-11-25',
      answers: { elicit: () => ({ action: 'accept', content: { ship: 'Gull' } }) },
    })
    const seen = new Set<string>()
    for (let count = 1; count <= 6; count++) {
      const [said, where] = String(await client.call('count')).split(' at ')
      expect(said).toBe(`${count}`)
      seen.add(where!)
    }
    expect(seen).toEqual(new Set(['one', 'two']))
    let hear: () => void = () => undefined
    const changed = new Promise<void>((resolve) => (hear = resolve))
    await client.subscribe('berth://A1', hear)
    expect(await client.call('book', { berth: 'A1' })).toMatch(/^A1 is booked for Gull by (one|two)\.$/)
    await changed
    const steps: unknown[] = []
    const onProgress = ({ progress }: { readonly progress?: number | undefined }): void =>
      void steps.push(progress)
    expect(await client.call('unload', { crates: 3 }, { onProgress })).toBe('3 crates are on the quay.')
    const stopped = once(containers[0]!.child, 'exit')
    containers[0]!.child.kill('SIGTERM')
    // A connection that the system accepts in the very moment in which the node stops is lost, and nginx must not repeat its request.
    const failures: string[] = []
    for (let calls = 0; calls < 24; calls++)
      await client.call('where').catch((error: Error) => failures.push(error.message))
    expect(failures.filter((message) => !message.includes('status 502'))).toEqual([])
    expect(failures.length).toBeLessThan(2)
    expect(await stopped).toEqual([0, null])
    expect(await client.call('count')).toBe('7 at two')
  })

  test('nginx does not show health to clients', async () => {
    const { port } = await start()
    const url = await startNginx([port])
    for (const path of ['/healthz', '/readyz']) expect((await fetch(new URL(path, url))).status).toBe(404)
  })
})
