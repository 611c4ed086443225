import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { createServer as createNetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { beforeEach, expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { createAuthority } from '../harness/certificates.ts'
import type { AnyApp } from '../harness/connection.ts'
import { testTls } from '../harness/sockets.ts'
import { after, serve } from './wire.ts'

function make(): AnyApp {
  return createServer({ name: 'doors', version: '1', log: () => undefined }).tool(
    'hello',
    {},
    () => 'hello',
  ) as AnyApp
}

async function hello(address: string | undefined): Promise<unknown> {
  const client = await connect(address as string)
  const said = await client.call('hello')
  await client.close()
  return said
}

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pierhead-unix-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
})

test('one server listens on several transports at once, and reports their addresses [S2-0-4]', async () => {
  const unix = join(folder, 'mcp.sock')
  const http = { port: 0, sse: true }
  const { url, addresses } = await serve(make(), { http, ws: true, tcp: { port: 0 }, unix })
  expect(addresses.http).toBe(url)
  expect(addresses.unix).toBe(`unix:${unix}`)
  expect(Object.keys(addresses).toSorted()).toEqual(['http', 'sse', 'tcp', 'unix', 'ws'])
  expect(addresses.sse).toBe(new URL('/sse', url).href)
  for (const address of Object.values(addresses)) expect(await hello(address)).toBe('hello')
})

test('when one transport cannot be opened, none stays open', async () => {
  const taken = createNetServer().listen(0, '127.0.0.1')
  after(() => taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as { readonly port: number }
  const unix = join(folder, 'mcp.sock')
  writeFileSync(unix, 'a file')
  const free = await serve(make())
  const freePort = Number(new URL(free.addresses.tcp as string).port)
  await free.close()
  await expect(make().listen({ tcp: { port: freePort }, unix })).rejects.toThrow('is not a socket')
  expect(await hello((await serve(make(), { tcp: { port: freePort } })).addresses.tcp)).toBe('hello')
  await expect(make().listen({ tcp: { port } })).rejects.toThrow(`port ${port} is in use; choose another`)
})

test('the user chooses the port, which is on loopback by default [S2-10.3-4] [S4-4-6]', async () => {
  const { addresses } = await serve(make(), { tcp: { port: 0 } })
  expect(addresses.tcp).toMatch(/^tcp:\/\/127\.0\.0\.1:[1-9]\d*$/)
  const taken = createNetServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { readonly port: number }
  await new Promise((resolve) => taken.close(resolve))
  const chosen = await serve(make(), { tcp: { port } })
  expect(chosen.addresses.tcp).toBe(`tcp://127.0.0.1:${port}`)
  expect(await hello(`tcp://127.0.0.1:${port}`)).toBe('hello')
  const six = await serve(make(), { tcp: { port: 0, host: '::1' } })
  expect(six.addresses.tcp).toMatch(/^tcp:\/\/\[::1\]:\d+$/)
  expect(await hello(six.addresses.tcp)).toBe('hello')
})

test('a host beyond loopback needs client certificates, or insecure: true', async () => {
  const open = (more: object): Promise<unknown> =>
    make().listen({ tcp: { port: 0, host: '0.0.0.0', ...more } })
  const words = /"0\.0\.0\.0" can be reached by other machines.*tls: \{ key, cert, ca \}.*insecure: true/
  await expect(open({})).rejects.toThrow(words)
  await expect(open({ tls: testTls() })).rejects.toThrow(words)
  await expect(open({ host: '127.0.0.1.example.com' })).rejects.toThrow('can be reached by other machines')
  const { cert } = createAuthority('doors')
  for (const more of [{ insecure: true }, { tls: { ...testTls(), ca: cert } }])
    await serve(make(), { tcp: { port: 0, host: '0.0.0.0', ...more } })
})

test('invalid options are rejected, and the error says what to do', async () => {
  const open = (options: object): Promise<unknown> => make().listen(options as never)
  await expect(open({ tcp: {} })).rejects.toThrow(
    'listen tcp: port is missing; it must be a whole number from 0 to 65535',
  )
  await expect(open({ tcp: { port: 70_000 } })).rejects.toThrow(
    'listen tcp: port must be a whole number from 0 to 65535 (0 means any free port), not 70000',
  )
  await expect(open({ tcp: { prot: 0 } })).rejects.toThrow('did you mean "port"?')
  await expect(open({ tcp: true })).rejects.toThrow(
    'listen: tcp must be false, or an object with options, such as { port: 4000 }, not true',
  )
  await expect(open({ unix: '' })).rejects.toThrow('path must be the path of a socket file')
  await expect(open({ unix: { path: 5 } })).rejects.toThrow('path must be the path of a socket file')
  await expect(open({ unix: { path: 'x', mod: 1 } })).rejects.toThrow('did you mean "mode"?')
  await expect(open({ tcp: { port: 0, host: '203.0.113.1', insecure: true } })).rejects.toThrow(
    'no such address',
  )
  await expect(open({ unix: join(folder, 'none', 'x.sock') })).rejects.toThrow('the directory does not exist')
  await expect(open({ unix: join(folder, 'x'.repeat(200)) })).rejects.toThrow('choose a shorter one')
})

test('a socket file is for its owner alone from the start, and removed when the server closes', async () => {
  const path = join(folder, 'mcp.sock')
  const before = process.umask()
  const running = await make().listen({ unix: path })
  expect(process.umask()).toBe(before)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(await hello(running.addresses.unix)).toBe('hello')
  await running.close()
  expect(existsSync(path)).toBe(false)
  const shared = await serve(make(), { unix: { path, mode: 0o660 } })
  expect(statSync(path).mode & 0o777).toBe(0o660)
  expect(await hello(shared.addresses.unix)).toBe('hello')
})

test('a socket file that a dead server left is replaced; one that is in use, or is something else, is not', async () => {
  const path = join(folder, 'mcp.sock')
  const dying = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  spawnSync(process.execPath, ['-e', dying])
  expect(lstatSync(path).isSocket()).toBe(true)
  const running = await serve(make(), { unix: path })
  expect(await hello(running.addresses.unix)).toBe('hello')
  await expect(make().listen({ unix: path })).rejects.toThrow('a server is already listening there')
  expect(await hello(running.addresses.unix)).toBe('hello')
  const file = join(folder, 'file')
  writeFileSync(file, 'precious')
  const link = join(folder, 'link')
  symlinkSync(file, link)
  for (const other of [file, link, folder])
    await expect(make().listen({ unix: other })).rejects.toThrow('exists and is not a socket')
  expect(statSync(file).size).toBe(8)
})

test('a path with unusual characters is an address like any other', async () => {
  const path = join(folder, 'ä b%20#?.sock')
  const { addresses } = await serve(make(), { unix: path })
  expect(addresses.unix).toContain('%C3%A4%20b%2520%23%3F.sock')
  expect(await hello(addresses.unix)).toBe('hello')
})

test('a client without permission for a socket gets an error that says so', async () => {
  const path = join(folder, 'mcp.sock')
  await serve(make(), { unix: path })
  chmodSync(path, 0)
  const outcome = await hello(`unix:${path}`).catch((error: Error) => error.message)
  // The system asks administrators for no permission.
  expect(outcome).toMatch(process.getuid?.() === 0 ? 'hello' : 'this user may not use the socket')
})
