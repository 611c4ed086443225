import { spawn } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { openLoopback, type Loopback } from '../../src/auth/client/loopback.ts'
import { findPeerOwner, ownUsers, type Peer } from '../../src/auth/client/peer-owner.ts'
import { pageFile } from '../../src/auth/client/page-file.ts'

const STATE = 'the-state-of-this-login'
const PAGE = new URL('https://id.example/authorize?state=abc')
const OWN = process.getuid?.() ?? 0
/** Root can become somebody else; anybody else is refused by a listener that expects another user. */
const OTHER = OWN === 0 ? 65_534 : OWN

async function open(users: readonly number[]): Promise<Loopback> {
  const loopback = await openLoopback({}, users)
  onTestFinished(() => loopback.close())
  return loopback
}

function get(url: string | URL): Promise<Response> {
  return fetch(url, { redirect: 'manual' })
}

/** Opens a URL in a process of another user, and resolves with the status and the Location. */
async function getAs(uid: number, url: string): Promise<string> {
  const code = `fetch('${url}', { redirect: 'manual' }).then((r) => process.stdout.write(r.status + ' ' + r.headers.get('location')))`
  const child = spawn(process.execPath, ['-e', code], {
    ...(uid !== OWN && { uid, gid: uid }),
    cwd: '/',
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const chunk of child.stdout) text += String(chunk)
  return text
}

test('[C.oauth-link] another user who reads the link from the arguments of the browser cannot open it', async () => {
  const loopback = await open(OTHER === OWN ? [OWN + 1] : [OWN])
  const answer = loopback.wait(STATE)
  const link = loopback.linkTo(PAGE)
  expect(link.isGuarded).toBe(true)
  expect(await getAs(OTHER, link.url.href)).toBe('403 null')
  expect(await getAs(OTHER, `${loopback.uri}?code=evil&state=${STATE}`)).toBe('403 null')
  loopback.close()
  expect(await Promise.race([answer, Promise.resolve('nothing')])).toBe('nothing')
})

test('[C.oauth-link] the login of the user goes on after another one tried to open its link', async () => {
  const loopback = await open([OWN])
  const answer = loopback.wait(STATE)
  const { url } = loopback.linkTo(PAGE)
  if (OTHER !== OWN) await getAs(OTHER, url.href)
  const led = await getAs(OWN, url.href)
  expect(led).toBe(`302 ${PAGE.href}`)
  expect((await get(`${loopback.uri}?code=good&state=${STATE}`)).status).toBe(200)
  expect((await answer).searchParams.get('code')).toBe('good')
})

test('[C.oauth-link] a program that hides its user by hanging up is refused', async () => {
  const loopback = await open([OWN])
  const answer = loopback.wait(STATE)
  const { port, host } = new URL(loopback.uri)
  const text = await new Promise<string>((resolve, reject) => {
    let read = ''
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('data', (chunk) => (read += String(chunk)))
    socket.on('end', () => resolve(read))
    socket.on('error', reject)
    socket.end(`GET /callback?code=evil&state=${STATE} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  })
  expect(text).toMatch(/^HTTP\/1\.1 403 /)
  await get(`${loopback.uri}?code=good&state=${STATE}`)
  expect((await answer).searchParams.get('code')).toBe('good')
})

test('a listener on ::1 knows the users of its connections too', async () => {
  const free = await openLoopback({})
  free.close()
  const uri = `http://[::1]:${new URL(free.uri).port}/cb`
  for (const [users, status] of [
    [[OWN], 302],
    [[OWN + 1], 403],
  ] as const) {
    const loopback = await openLoopback({ uri }, users)
    void loopback.wait(STATE)
    const { url, isGuarded } = loopback.linkTo(PAGE)
    expect(isGuarded).toBe(true)
    expect((await get(url)).status).toBe(status)
    loopback.close()
  }
})

const HEAD =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'

function row(local: string, remote: string, state: string, uid: number, inode = 77): string {
  return `  0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000 ${uid} 0 ${inode} 1 0000000000000000 20 4 30 10 -1`
}

const LISTENER = row('0100007F:1F90', '00000000:0000', '0A', 1000)
const SERVER = { address: '127.0.0.1', port: 8080 }
const PEER: Peer = {
  localAddress: '127.0.0.1',
  localPort: 8080,
  remoteAddress: '127.0.0.1',
  remotePort: 4660,
}

test.each([
  ['connected', [row('0100007F:1234', '0100007F:1F90', '01', 1001)], 1001],
  [
    'connected with an IPv6 socket',
    [row('0000000000000000FFFF00000100007F:1234', '0000000000000000FFFF00000100007F:1F90', '01', 1001)],
    1001,
  ],
  ['closed, whose row belongs to root', [row('0100007F:1234', '0100007F:1F90', '05', 0, 0)], undefined],
  ['gone', [], undefined],
  ['connected to another port', [row('0100007F:1234', '0100007F:1F91', '01', 1001)], undefined],
  ['our own end', [row('0100007F:1F90', '0100007F:1234', '01', 1000)], undefined],
  ['broken', ['  x', row('zz', 'yy', '01', 1001)], undefined],
])('the owner of a peer that is %s', (_, rows, uid) => {
  const tables = [HEAD, LISTENER, ...rows].join('\n')
  expect(findPeerOwner(SERVER, () => tables, 'LE')?.(PEER)).toBe(uid)
})

test('the owner of a peer is found on machines with another byte order', () => {
  const tables = [
    row('7F000001:1F90', '00000000:0000', '0A', 1000),
    row('7F000001:1234', '7F000001:1F90', '01', 1001),
  ].join('\n')
  expect(findPeerOwner(SERVER, () => tables, 'BE')?.(PEER)).toBe(1001)
})

test.each([
  ['cannot be read', () => undefined],
  ['does not show the listener', () => HEAD],
])('owners are unknown if the table of the system %s', (_, read) => {
  expect(findPeerOwner(SERVER, read, 'LE')).toBeUndefined()
})

test.each([
  [1000, undefined, [1000, 0]],
  // The variable means something only for root: others can set it to anything.
  [1000, '1001', [1000, 0]],
  [0, '1001', [0, 1001]],
])('the users of a login of user %i with SUDO_UID %j are %j', (uid, sudo, users) => {
  expect(ownUsers(uid, sudo)).toEqual(users)
})

test('without owners, the link is in a file that only its user can read, and that is removed after the login', async () => {
  const over = new AbortController()
  const link = new URL('http://127.0.0.1:4321/open/abc')
  const file = fileURLToPath(await pageFile(link, over.signal))
  expect(readFileSync(file, 'utf8')).toContain(`content="0; url=${link.href}"`)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
  over.abort()
  await expect.poll(() => existsSync(dirname(file))).toBe(false)
})

test('a login that is over leaves no file', async () => {
  const url = await pageFile(new URL('http://127.0.0.1:4321/open/abc'), AbortSignal.abort())
  await expect.poll(() => existsSync(dirname(fileURLToPath(url)))).toBe(false)
})
