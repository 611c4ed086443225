import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { ensureProgram } from '../../tools/programs.ts'
import { freePort } from '../harness/free-port.ts'

const CONF = 'examples/deploy/nginx.conf'

/** Starts nginx with the configuration of the compose file until the test is over, and returns its URL. */
export async function startNginx(ports: readonly number[]): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'nginx-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const port = await freePort()
  const site = readFileSync(CONF, 'utf8')
    // Addresses need no look-up, and nginx before 1.27.3 knows no "resolve".
    .replace(/server node:3000 resolve(.*;)/, (_, rest: string) =>
      ports.map((each) => `server 127.0.0.1:${each}${rest}`).join(' '),
    )
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const places = paths.map((name) => `${name}_temp_path ${home};`).join(' ')
  const around = `daemon off; pid ${home}/pid; error_log stderr; events {} http { access_log off; ${places}\n${site}}`
  writeFileSync(join(home, 'nginx.conf'), around)
  const child = spawn(ensureProgram('nginx'), ['-p', home, '-c', join(home, 'nginx.conf')], {
    stdio: 'ignore',
  })
  onTestFinished(async () => {
    child.kill('SIGQUIT')
    await once(child, 'exit')
  })
  const url = `http://localhost:${port}/mcp`
  const status = (): Promise<number> =>
    fetch(url, { method: 'PUT' }).then(
      (reply) => reply.status,
      () => 0,
    )
  await expect.poll(status).toBe(405)
  return url
}
