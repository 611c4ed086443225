import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createNetServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect, type Client } from '../../src/client.ts'
import { ensureProgram } from '../../tools/programs.ts'

const CONF = readFileSync('examples/deploying/nginx.conf', 'utf8')

function endWithTest(child: ChildProcess): void {
  onTestFinished(async () => {
    if (child.exitCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
}

/** Starts the example, and returns its port. */
async function startServer(secret: string): Promise<number> {
  const args = ['--import', 'tsx', '--conditions', 'pierhead-source', 'examples/deploying/server.ts']
  const env = { ...process.env, PORT: '0', PIERHEAD_SECRET: secret }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  endWithTest(child)
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return Number(/:(\d+)\//.exec(line.toString())?.[1])
}

async function freePort(): Promise<number> {
  const server = createNetServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Starts nginx with the configuration of the guide in front of two servers, and returns its URL. */
async function startProxy(ports: readonly number[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'nginx-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const port = await freePort()
  const site = CONF.replace('3001', String(ports[0]))
    .replace('3002', String(ports[1]))
    .replace('8080', String(port))
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder};`)
    .join(' ')
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${paths} ${site} }`,
  )
  const child = spawn(ensureProgram('nginx'), ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  endWithTest(child)
  const url = `http://127.0.0.1:${port}/mcp`
  await expect
    .poll(() =>
      fetch(url, { method: 'PUT' }).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(405)
  return url
}

function open(url: string): Promise<Client> {
  return connect(url, {
    revision: '2026-07-28',
    recovery: false,
    answers: { elicit: () => ({ action: 'accept', content: { ship: 'Gull' } }) },
  })
}

describe('two processes behind nginx', { timeout: 120_000 }, () => {
  test('answer questions that the other one asked, if they share the secret', async () => {
    const secret = 'a secret that both of them have'
    const url = await startProxy([await startServer(secret), await startServer(secret)])
    const client = await open(url)
    onTestFinished(() => client.close())
    for (let count = 0; count < 4; count++) {
      const steps: string[] = []
      const onProgress = ({ message = '' }: { readonly message?: string | undefined }): void =>
        void steps.push(message)
      const said = await client.call('book', { berth: 'A2' }, { onProgress })
      expect(said).toMatch(/^A2 is booked for Gull by \d+, key [\da-f-]{36}\.$/)
      expect(steps).toEqual(['booking'])
    }
  })

  test('reject the questions of the other one otherwise', async () => {
    const url = await startProxy([
      await startServer('the secret of the first'),
      await startServer('the secret of the second'),
    ])
    const client = await open(url)
    onTestFinished(() => client.close())
    const ends: string[] = []
    for (let count = 0; count < 4; count++)
      ends.push(
        await client.call('book', { berth: 'A2' }).then(
          () => 'booked',
          () => 'rejected',
        ),
      )
    // The proxy takes turns, so every answer reaches the process that did not ask.
    expect(ends).toEqual(Array(4).fill('rejected'))
  })
})

test('the guide shows the configuration that the test uses', () => {
  const guide = readFileSync('docs/guides/deploying.md', 'utf8')
  const [, shown = ''] = /```nginx\n([\s\S]*?)```/.exec(guide) ?? []
  expect(shown.length).toBeGreaterThan(100)
  expect(CONF).toContain(shown.trimEnd())
})
