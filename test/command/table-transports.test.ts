import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, type Running } from 'pierhead'
import { createAuthority } from '../harness/certificates.ts'
import { line, spawnLine, type Outcome } from './line.ts'

const authority = createAuthority('Authority of the command')
const { key, cert } = authority.issue('server', ['localhost', '127.0.0.1'])

let folder = ''
const open: Running[] = []
let addresses: Readonly<Record<string, string>> = {}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pierhead-ways-'))
  writeFileSync(join(folder, 'ca.pem'), authority.cert)
  const app = createServer({ name: 'ways', version: '1.0.0', log: () => undefined })
  app.tool('add', { input: { type: 'object', properties: { a: { type: 'number' } } } }, ({ a }) => `${a}`)
  const path = join(folder, 'ways.sock')
  const plain = await app.listen({ http: { port: 0 }, ws: { port: 0 }, tcp: { port: 0 }, unix: { path } })
  const secure = await app.listen({ tcp: { port: 0, tls: { key, cert } } })
  open.push(plain, secure)
  addresses = {
    http: plain.url ?? '',
    ws: plain.addresses.ws ?? '',
    tcp: plain.addresses.tcp ?? '',
    unix: plain.addresses.unix ?? '',
    tls: secure.addresses.tcp ?? '',
  }
})

afterAll(async () => {
  for (const one of open) await one.close()
  rmSync(folder, { recursive: true })
})

describe.each(['http', 'ws', 'tcp', 'unix', 'tls'])('a server over %s', (kind) => {
  /** Certificates of an authority of one's own are for Node, which reads them when it starts. */
  function run(args: readonly string[]): Promise<Outcome> {
    if (kind !== 'tls') return line(args)
    return spawnLine(args, { env: { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') } })
  }

  it('is listed and called', async () => {
    const address = addresses[kind] ?? ''
    expect(address).toMatch(new RegExp(`^${kind}:`))
    const list = await run(['list', address])
    expect({ code: list.code, stderr: list.stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(list.stdout).tools).toMatchObject([{ name: 'add' }])
    const call = await run(['call', address, 'add', 'a=7'])
    expect(JSON.parse(call.stdout).content).toEqual([{ type: 'text', text: '7' }])
  })
})

describe('a server at 2025-11-25', () => {
  it('is listed and called [S1-0.2]', async () => {
    const only = ['--revision', '2025-11-25']
    const info = await line(['info', addresses['http'] ?? '', ...only])
    expect(JSON.parse(info.stdout)).toMatchObject({ revision: '2025-11-25', server: { name: 'ways' } })
    const call = await line(['call', addresses['http'] ?? '', 'add', 'a=7', ...only])
    expect(JSON.parse(call.stdout).content).toEqual([{ type: 'text', text: '7' }])
  })
})
